"""Going public in the admin: a page that says what visitors would see, now or at a moment; and back again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from conference.publishing import (
    PUBLISH_SCOPES,
    PublishedCount,
    PublishedRows,
    PublishScope,
    published_counts,
    rows_of_scope,
    set_gates,
)
from content.preview_context import GATES
from editorial.access import access_for
from editorial.current_edition import LIST_FILTER, working_on
from editorial.desk import DeskCount as Line
from editorial.desk import Switch, switches, waiting_of
from editorial.form_fields import ZonedField, ZonedWidget
from editorial.model_admin import moment as written

CHANGED = _("Somebody changed this after you opened the page. Look again, then decide.")
NOW, LATER, NEVER = "now", "later", "never"


class PublishForm(forms.Form):
    """From when a part is public. `was` carries along what stood there when the page was drawn."""

    when = forms.ChoiceField(
        label=_("When"),
        choices=[(NOW, _("Now")), (LATER, _("At a set time"))],
        widget=forms.RadioSelect,
        initial=NOW,
    )
    moment = ZonedField(label=_("Moment"), required=False, widget=ZonedWidget)
    site = forms.BooleanField(label=_("The site too: without it nothing is seen."), required=False)
    drafts = forms.BooleanField(label=_("Publish these drafts too"), required=False)
    was = forms.CharField(widget=forms.HiddenInput, required=False)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or {}
        if cleaned.get("when") == LATER and "moment" in cleaned and cleaned["moment"] is None:
            self.add_error("moment", gettext("Give the day and the time."))
        return cleaned

    def at(self, now: datetime) -> datetime:
        """Return the moment that was chosen."""
        moment: datetime = self.cleaned_data["moment"] if self.cleaned_data["when"] == LATER else now
        return moment


@dataclass(frozen=True, slots=True)
class Drafts:
    """Drafts that stay behind, and where they are listed."""

    words: str
    address: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """What going public would show, and what a chair should know before."""

    seen: list[PublishedCount]
    # What appears only when other parts are public, too.
    held: int
    drafts: list[Drafts]
    waiting: list[Line]


class PublishAdmin(admin.ModelAdmin[Any]):
    """Editions that go public."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.publish_view)
        return [path("<int:key>/publish/", view, name="conference_edition_publish"), *super().get_urls()]

    def publish_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Show what a part of an edition would show; with POST, let it go public, or take it back."""
        edition = self.get_object(request, str(key))
        part = PUBLISH_SCOPES.get(request.GET.get("part", "everything"))
        if edition is None or part is None:
            raise Http404("No such edition, or no such part.")
        if not self.has_change_permission(request, edition):
            raise PermissionDenied
        with working_on(edition):
            return self.asked(request, edition, part, timezone.now())

    def asked(
        self, request: HttpRequest, edition: Edition, part: PublishScope, now: datetime
    ) -> HttpResponse:
        """Do what was asked for, or show the page that asks."""
        if request.method != "POST":
            return self.page(request, edition, part, PublishForm(initial=begun(edition, part, now)), now)
        if request.POST.get("was") != state_of(edition):
            messages.warning(request, CHANGED)
            return redirect(address(edition, part))
        if "take_back" in request.POST:
            return self.taken_back(request, edition, part)
        form = PublishForm(request.POST)
        if not form.is_valid():
            return self.page(request, edition, part, form, now)
        return self.published(request, edition, part, form, now)

    def published(
        self, request: HttpRequest, edition: Edition, part: PublishScope, form: PublishForm, now: datetime
    ) -> HttpResponse:
        """Let the part go public, and say so."""
        at = form.at(now)
        gates = [
            gate for gate in GATES if gate in part.gates or (form.cleaned_data["site"] and gate == GATES[0])
        ]
        behind = self.drafts(request, edition, part) if form.cleaned_data["drafts"] else []
        count = set_gates(edition, gates, at, [rows for _shown, rows in behind])
        self.log_change(request, edition, [{"changed": {"fields": gates}}])
        words = gettext("%(edition)s: %(part)s, public since %(when)s.")
        if at > now:
            words = gettext("%(edition)s: %(part)s, public from %(when)s.")
        said = words % {"edition": edition, "part": part.label, "when": written(at, edition)}
        if count:
            drafts = ngettext("%(count)d draft was published.", "%(count)d drafts were published.", count)
            said = f"{said} {drafts % {'count': count}}"
        messages.success(request, said)
        return redirect(desk_of(edition))

    def taken_back(self, request: HttpRequest, edition: Edition, part: PublishScope) -> HttpResponse:
        """Hide the part, and say so."""
        set_gates(edition, part.gates, None)
        self.log_change(request, edition, [{"changed": {"fields": [*part.gates]}}])
        words = gettext("%(edition)s: %(part)s, no longer public.")
        messages.success(request, words % {"edition": edition, "part": part.label})
        return redirect(desk_of(edition))

    def drafts(
        self, request: HttpRequest, edition: Edition, part: PublishScope
    ) -> list[tuple[PublishedRows, Any]]:
        """Return the drafts of the part that this user may publish: of each kind all, or none."""
        access = access_for(request)
        return [
            (shown, shown.drafts(self.admin_site.get_model_admin(shown.model).get_queryset(request), edition))
            for shown in rows_of_scope(part)
            if shown.has_drafts and access.may_all("change", shown.model, edition)
        ]

    def page(
        self, request: HttpRequest, edition: Edition, part: PublishScope, form: PublishForm, now: datetime
    ) -> HttpResponse:
        """Show the page that asks."""
        moments = [getattr(edition, gate) for gate in part.gates]
        site = edition.public_from
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Publish: %(edition)s") % {"edition": edition},
            "opts": self.opts,
            "edition": edition,
            "form": form,
            "media": self.media + form.media,
            "part": part,
            "parts": PUBLISH_SCOPES.values(),
            "switches": states(edition, part, now),
            "outlook": self.outlook(request, edition, part, now),
            "is_open": all(one is not None and one <= now for one in [*moments, site]),
            "is_set": any(moments),
            "asks_for_site": GATES[0] not in part.gates and (site is None or site > now),
            "site_from": written(site, edition) if site else "",
            "now": written(now, edition),
            "desk_url": desk_of(edition),
        }
        return TemplateResponse(request, "admin/conference/edition/publish.html", context).render()

    def outlook(self, request: HttpRequest, edition: Edition, part: PublishScope, now: datetime) -> Outlook:
        """Return what the part would show. One query or two for each kind of row, and the desk's own."""
        shown = rows_of_scope(part)
        seen = published_counts(edition, shown, now, {*part.gates, GATES[0]})
        at_most = sum(one.count for one in published_counts(edition, shown, now, GATES))
        drafts = [(one, rows.count()) for one, rows in self.drafts(request, edition, part)]
        apps = {one.model._meta.app_label for one in shown}
        lines = waiting_of(edition, lambda model: access_for(request).may_all("view", model, edition))
        return Outlook(
            [one for one in seen if one.count],
            at_most - sum(one.count for one in seen),
            [
                Drafts(PublishedCount(one, count).words, drafts_address(one, edition))
                for one, count in drafts
                if count
            ],
            [line for line in lines if line.app in apps],
        )


def begun(edition: Edition, part: PublishScope, now: datetime) -> dict[str, Any]:
    """Return what the form begins with: the moment that is set, to be kept if it is still to come."""
    moments = [moment for gate in part.gates if (moment := getattr(edition, gate))]
    latest = max(moments, default=None)
    return {
        "when": LATER if latest and latest > now else NOW,
        "moment": latest,
        "site": edition.public_from is None,
        "was": state_of(edition),
    }


def state_of(edition: Edition) -> str:
    """Return the moments of all gates as text, to see whether somebody changed one meanwhile."""
    moments = (getattr(edition, gate) for gate in GATES)
    return " ".join(one.isoformat() if one else NEVER for one in moments)


def states(edition: Edition, part: PublishScope, now: datetime) -> list[Switch]:
    """Return the switches of a part."""
    return [switch for gate, switch in zip(GATES, switches(edition, now), strict=True) if gate in part.gates]


def address(edition: Edition, part: PublishScope) -> str:
    """Return the address of the page that publishes a part."""
    return (
        f"{reverse('admin:conference_edition_publish', args=[edition.pk])}?{urlencode({'part': part.name})}"
    )


def desk_of(edition: Edition) -> str:
    return f"{reverse('admin:index')}?{urlencode({'edition': edition.pk})}"


def drafts_address(shown: PublishedRows, edition: Edition) -> str:
    """Return the address of the list of drafts."""
    meta = shown.model._meta
    page = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    return f"{page}?{urlencode([(LIST_FILTER, edition.pk), ('status__exact', 'draft')])}"
