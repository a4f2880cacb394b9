"""Publishing in the admin: a page that shows what visitors would see, and previews."""

from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from conference.publishing import (
    PUBLISH_SCOPES,
    PublishedRows,
    PublishScope,
    published_counts,
    rows_of_scope,
    set_gates,
)
from conference.request_edition import SESSION_KEY, next_page, visible_edition
from content.history.timeline import field_label
from content.preview_context import GATES
from editorial.access import access_for
from editorial.current_edition import LIST_FILTER, format_moment, working_on
from editorial.desk import OPEN, open_checks, switch_state, switches
from editorial.form_fields import ZonedField, ZonedWidget
from editorial.model_admin import ContentAdmin

CHANGED = _("Someone changed this after you opened the page. Review it again before you decide.")
NOW, LATER, NEVER = "now", "later", "never"


class PublishForm(forms.Form):
    """Form of the moment at which a part becomes public; `was` is the version of the gates before."""

    when = forms.ChoiceField(
        label=_("When"),
        choices=[(NOW, _("Now")), (LATER, _("At a set time"))],
        widget=forms.RadioSelect,
        initial=NOW,
    )
    moment = ZonedField(label=_("Moment"), required=False, widget=ZonedWidget)
    site = forms.BooleanField(label=_("Publish the site too: nothing is visible without it."), required=False)
    drafts = forms.BooleanField(label=_("Publish these drafts too"), required=False)
    was = forms.CharField(widget=forms.HiddenInput, required=False)

    def clean(self) -> dict[str, object] | None:
        cleaned_data = super().clean() or {}
        if cleaned_data.get("when") == LATER and "moment" in cleaned_data and cleaned_data["moment"] is None:
            self.add_error("moment", gettext("Enter a date and a time."))
        return cleaned_data

    def at(self, now: datetime) -> datetime:
        moment: datetime = self.cleaned_data["moment"] if self.cleaned_data["when"] == LATER else now
        return moment


def publish_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Show what a part of an edition would publish; with POST, publish or unpublish it."""
    edition = model_admin.get_object(request, str(key))
    part = PUBLISH_SCOPES.get(request.GET.get("part", "everything"))
    if edition is None or part is None:
        raise Http404("No such edition, or no such part.")
    if not model_admin.has_change_permission(request, edition):
        raise PermissionDenied
    with working_on(edition):
        return PublishPage(model_admin, request, edition, part, timezone.now()).respond()


@dataclass(frozen=True, slots=True)
class PublishPage:
    """A request to the page of a part of an edition."""

    model_admin: ContentAdmin
    request: HttpRequest
    edition: Edition
    part: PublishScope
    now: datetime

    def respond(self) -> HttpResponse:
        request = self.request
        if request.method != "POST":
            return self.render(PublishForm(initial=self.initial()))
        if request.POST.get("was") != gates_version(self.edition):
            messages.warning(request, CHANGED)
            return redirect(request.get_full_path())
        is_unpublishing = "take_back" in request.POST
        form = PublishForm(initial=self.initial()) if is_unpublishing else PublishForm(request.POST)
        if not is_unpublishing and not form.is_valid():
            return self.render(form)
        try:
            return self.unpublish() if is_unpublishing else self.go_public(form)
        except ValidationError as error:
            self.warn_of_invalid_edition(error)
        return self.render(form)

    def go_public(self, form: PublishForm) -> HttpResponse:
        edition, part, at = self.edition, self.part, form.at(self.now)
        gates = [
            gate for gate in GATES if gate in part.gates or (form.cleaned_data["site"] and gate == GATES[0])
        ]
        drafts = self.drafts() if form.cleaned_data["drafts"] else []
        count = set_gates(edition, gates, at, [rows for _kind, rows in drafts])
        self.model_admin.log_change(self.request, edition, [{"changed": {"fields": gates}}])
        message = gettext("%(edition)s: %(part)s, public since %(when)s.")
        if at > self.now:
            message = gettext("%(edition)s: %(part)s, public from %(when)s.")
        text = message % {"edition": edition, "part": part.label, "when": format_moment(at, edition)}
        if count:
            draft_message = ngettext(
                "%(count)d draft was published.", "%(count)d drafts were published.", count
            )
            text = f"{text} {draft_message % {'count': count}}"
        messages.success(self.request, text)
        return redirect(desk_url(edition))

    def unpublish(self) -> HttpResponse:
        edition, part = self.edition, self.part
        set_gates(edition, part.gates, None)
        self.model_admin.log_change(self.request, edition, [{"changed": {"fields": [*part.gates]}}])
        message = gettext("%(edition)s: %(part)s, no longer public.")
        messages.success(self.request, message % {"edition": edition, "part": part.label})
        return redirect(desk_url(edition))

    def warn_of_invalid_edition(self, error: ValidationError) -> None:
        """List the fields that validation refuses, as it can for rows of an earlier version of Plenary."""
        meta = self.edition._meta
        problems = [
            message if name == NON_FIELD_ERRORS else f"{field_label(meta.label_lower, name)}: {message}"
            for name, field_messages in error.message_dict.items()
            for message in field_messages
        ]
        text = gettext("Nothing was changed, because the edition has errors. Correct them and try again.")
        form_url = self.model_admin.page_address("change", self.edition.pk)
        link = format_html('<a href="{}">{}</a>', form_url, self.edition)
        messages.error(self.request, format_html("{} {}: {}", text, link, " ".join(problems)))

    def drafts(self) -> list[tuple[PublishedRows, QuerySet[Model]]]:
        """Return the drafts that this user may publish, by kind; a kind needs permission for all its rows."""
        access, site = access_for(self.request), self.model_admin.admin_site
        return [
            (kind, kind.drafts(site.get_model_admin(kind.model).get_queryset(self.request), self.edition))
            for kind in rows_of_scope(self.part)
            if kind.has_drafts and access.may_all_rows("change", kind.model, self.edition)
        ]

    def render(self, form: PublishForm) -> HttpResponse:
        edition, part, now = self.edition, self.part, self.now
        moments = [getattr(edition, gate) for gate in part.gates]
        site = edition.public_from
        title = gettext("Publish: %(edition)s") % {"edition": edition}
        context = self.model_admin.page_context(self.request, title) | {
            "edition": edition,
            "is_public": switch_state(edition.public_from, now) == OPEN,
            "form": form,
            "media": self.model_admin.media + form.media,
            "part": part,
            "parts": PUBLISH_SCOPES.values(),
            "switches": [
                switch
                for gate, switch in zip(GATES, switches(edition, now), strict=True)
                if gate in part.gates
            ],
            "outlook": self.outlook(),
            "is_open": all(moment is not None and moment <= now for moment in [*moments, site]),
            "is_set": any(moments),
            "asks_for_site": GATES[0] not in part.gates and (site is None or site > now),
            "site_from": format_moment(site, edition) if site else "",
            "now": format_moment(now, edition),
            "desk_url": desk_url(edition),
        }
        return TemplateResponse(self.request, "admin/conference/edition/publish.html", context).render()

    def outlook(self) -> dict[str, object]:
        """Return the counts of rows that would be public. Up to three queries per kind, and the desk's own.

        `hidden_count` counts rows that need other parts to be public, too; `open_checks` are of the desk.
        """
        edition, part, access = self.edition, self.part, access_for(self.request)
        kinds = rows_of_scope(part)
        visible_counts = published_counts(edition, kinds, self.now, {*part.gates, GATES[0]})
        fully_open_counts = published_counts(edition, kinds, self.now, GATES)
        drafts = [(kind, rows.count()) for kind, rows in self.drafts()]
        apps = {kind.model._meta.app_label for kind in kinds}
        checks = open_checks(edition, lambda model: access.may_all_rows("view", model, edition))
        return {
            "visible": [kind.describe(count) for kind, count in visible_counts if count],
            "hidden_count": sum(count for _, count in fully_open_counts)
            - sum(count for _, count in visible_counts),
            "drafts": [
                {"label": kind.describe(count), "address": drafts_url(kind, edition)}
                for kind, count in drafts
                if count
            ],
            "open_checks": [check for check in checks if check.app in apps],
        }

    def initial(self) -> dict[str, object]:
        """Return the initial values of the form, with the latest moment of the gates, if any is set."""
        moments = [moment for gate in self.part.gates if (moment := getattr(self.edition, gate))]
        latest = max(moments, default=None)
        return {
            "when": LATER if latest and latest > self.now else NOW,
            "moment": latest,
            "site": self.edition.public_from is None,
            "was": gates_version(self.edition),
        }


def gates_version(edition: Edition) -> str:
    """Return the moments of all gates as text, to detect concurrent changes."""
    moments = (getattr(edition, gate) for gate in GATES)
    return " ".join(moment.isoformat() if moment else NEVER for moment in moments)


def desk_url(edition: Edition) -> str:
    return reverse("admin:index", query={"edition": edition.pk})


def drafts_url(kind: PublishedRows, edition: Edition) -> str:
    meta = kind.model._meta
    query = {LIST_FILTER: edition.pk, "status__exact": "draft"}
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist", query=query)


def preview_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Start a preview, and redirect to the page in `next`."""
    edition = get_edition(request, key)
    request.session[SESSION_KEY] = edition.pk
    return redirect(next_page(request, edition))


def as_public_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """End the preview in this session, and redirect to the page in `next`."""
    edition = get_edition(request, key)
    request.session.pop(SESSION_KEY, None)
    return redirect(next_page(request, edition))


def get_edition(request: HttpRequest, key: int) -> Edition:
    edition = visible_edition(request, key)
    if edition is None:
        raise Http404("No such edition.")
    return edition
