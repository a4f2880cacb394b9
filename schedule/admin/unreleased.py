"""The page of an edition's unreleased changes: lists, releases, plans, discards and undoes."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.request_keys import parse_key
from content.times import validate_year
from content.unreleased.plan import planned, read_version
from content.unreleased.worker_report import is_worker_running
from content.write_conflicts import retry_conflicts
from editorial.access import access_for
from editorial.current_edition import editions_for, format_moment, requested_edition, working_on
from editorial.history_views import may_release
from editorial.model_admin import ContentAdmin
from schedule.admin.clashes import clash_context
from schedule.admin.releases import AnnounceForm, ReleaseAdmin
from schedule.admin.unreleased_rows import CHOICE, MAX_LISTED_CLASHES, ChangeList, discarded_context
from schedule.models import ReleasePlan, UnreleasedChange
from schedule.releases import announced_program, pending_release
from schedule.unreleased import releasing, tasks, undo
from schedule.unreleased.conflicts import RefusedError
from schedule.unreleased.new_clashes import NewClashesError
from schedule.unreleased.releasing import Announcement


def unreleased_address(edition: Edition) -> str:
    return reverse("admin:schedule_release_working_copy", query={"edition": edition.pk})


class MomentForm(forms.Form):
    release_at = forms.DateTimeField(label=_("Release at"), validators=[validate_year])

    def clean_release_at(self) -> datetime:
        at: datetime = self.cleaned_data["release_at"]
        if at <= timezone.now():
            raise forms.ValidationError(gettext("Choose a moment in the future."))
        return at


def unreleased_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Show the unreleased changes of an edition; with POST, carry out a button."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    edition = requested_edition(request)
    if edition is None:
        messages.warning(request, gettext("There are no editions yet."))
        return redirect("admin:schedule_release_changelist")
    if not access_for(request).may_all_rows("view", UnreleasedChange, edition):
        raise PermissionDenied
    with working_on(edition):
        return UnreleasedPage(model_admin, request, edition).handle()


def refuse_invalid(form: forms.Form) -> None:
    if not form.is_valid():
        raise RefusedError(*(str(error) for errors in form.errors.values() for error in errors))


class UnreleasedPage:
    """A request to the page."""

    def __init__(self, model_admin: ContentAdmin, request: HttpRequest, edition: Edition) -> None:
        self.model_admin, self.request, self.edition = model_admin, request, edition
        self.at = timezone.now()
        self.plan = self.find_plan()
        self.may_release = may_release(request, edition)
        self.errors: list[str] = []
        self.form: AnnounceForm | None = None
        self.moment_form = MomentForm()

    def find_plan(self) -> ReleasePlan | None:
        rows = ReleasePlan.objects.filter(edition=self.edition)
        return rows.select_related("edition", "released_set").first()

    def handle(self) -> HttpResponse:
        if self.request.method == "POST":
            if not self.may_release:
                raise PermissionDenied
            button = BUTTONS.get(self.request.POST.get("act", ""))
            try:
                response = self.press(button) if button else None
            except NewClashesError as error:
                return self.ask_about_clashes(error)
            except RefusedError as error:
                self.errors, self.plan = error.reasons, self.find_plan()
            else:
                if response is not None:
                    return response
        return self.render_page()

    # Buttons

    @retry_conflicts
    @transaction.atomic
    def press(self, button: "Button") -> HttpResponse | None:
        return button(self)

    @property
    def open_plan(self) -> ReleasePlan:
        if self.plan is None or not self.plan.is_open:
            raise RefusedError(gettext("Changes are public at once. Nothing waits for a release."))
        return self.plan

    @property
    def seen(self) -> str:
        return self.request.POST.get("seen_version", "")

    @property
    def chosen_keys(self) -> list[int]:
        """The keys of the ticked changes."""
        return [key for value in self.request.POST.getlist("row") if (key := parse_key(value))]

    @property
    def choices(self) -> dict[str, str]:
        fields = self.request.POST.items()
        return {name.removeprefix(CHOICE): str(value) for name, value in fields if name.startswith(CHOICE)}

    @property
    def confirmed(self) -> list[str]:
        """The keys of the new clashes that the user has confirmed."""
        return self.request.POST.get("confirmed_clashes", "").split()

    def open(self) -> HttpResponse:
        releasing.let_changes_wait(self.edition, self.request.user, self.at)
        return self.redirect_with_message(gettext("Changes of the schedule now wait for a release."))

    def close(self) -> HttpResponse:
        releasing.publish_at_once(self.open_plan)
        return self.redirect_with_message(gettext("Changes of the schedule are now public at once."))

    def announcement(self) -> Announcement | None:
        """Return the announcement, if one is requested. Raises if the changes are not those shown."""
        releasing.refuse_unseen(self.open_plan, self.seen)
        if "announce" not in self.request.POST:
            return None
        self.form = self.announce_form(self.request.POST)
        if not self.form.is_bound:
            raise RefusedError(gettext("The program changed after you opened this page. Review it again."))
        refuse_invalid(self.form)
        return Announcement(**self.form.announcement)

    def announce_form(self, data: Any = None) -> AnnounceForm:
        """Return the form of the release to announce, with the changes that visitors will see."""
        before = announced_program(self.edition, self.at)
        with planned(self.edition):
            return AnnounceForm(pending_release(self.edition, self.at, before), self.edition, data)

    def release(self) -> HttpResponse:
        return self.release_changes(choices=self.choices, announcement=self.announcement())

    def release_chosen(self) -> HttpResponse:
        if not self.chosen_keys:
            raise RefusedError(gettext("Choose the changes that you want to release."))
        return self.release_changes(choices=self.choices, chosen=self.chosen_keys)

    def release_changes(self, **values: Any) -> HttpResponse:
        result = releasing.release(
            self.open_plan,
            self.request.user,
            timezone.now(),
            seen=self.seen,
            confirmed=self.confirmed,
            **values,
        )
        message = ngettext(
            "%(count)d change is public.", "%(count)d changes are public.", result.change_count
        )
        message %= {"count": result.change_count}
        if result.release:
            message += " " + gettext("%(release)s is announced.") % {"release": result.release}
        return self.redirect_with_message(message)

    def plan_release(self) -> HttpResponse:
        self.moment_form = MomentForm(self.request.POST)
        refuse_invalid(self.moment_form)
        moment = self.moment_form.cleaned_data["release_at"]
        releasing.plan_release(
            self.open_plan,
            self.request.user,
            moment,
            self.at,
            seen=self.seen,
            announcement=self.announcement(),
            confirmed=self.confirmed,
        )
        tasks.enqueue_release(moment)
        message = gettext("Everything will be released at %(at)s, with what is changed until then.")
        return self.redirect_with_message(message % {"at": format_moment(moment, self.edition)})

    def unplan(self) -> HttpResponse:
        releasing.cancel_planned_release(self.open_plan)
        return self.redirect_with_message(gettext("No release is planned any more."))

    def undo(self) -> HttpResponse:
        """Ask for confirmation; then undo the last release."""
        if self.plan is None:
            raise RefusedError(gettext("Nothing was released."))
        if "confirmed" not in self.request.POST:
            return self.page("undo", gettext("Undo the release"), plan=self.plan, last=self.last_release())
        seen = parse_key(self.request.POST.get("released_set")) or 0
        undone = undo.undo_release(self.plan, self.request.user, self.at, seen=seen)
        message = ngettext(
            "The release is undone: %(count)d change waits again.",
            "The release is undone: %(count)d changes wait again.",
            undone.change_count,
        )
        parts = [message % {"count": undone.change_count}]
        if undone.is_withdrawn:
            parts.append(gettext("Its announcement is withdrawn."))
        messages.success(self.request, " ".join(parts))
        for row in undone.kept:
            messages.warning(self.request, f"{row.words}: {row.reason}")
        return redirect(unreleased_address(self.edition))

    def discard(self) -> HttpResponse | None:
        """Ask for confirmation; then discard the chosen changes, or all."""
        chosen = None if "all" in self.request.POST else self.chosen_keys
        if chosen is not None and not chosen:
            raise RefusedError(gettext("Choose the changes that you want to discard."))
        if "confirmed" not in self.request.POST:
            title = gettext("Discard unreleased changes")
            return self.page("discard", title, **discarded_context(self.edition, chosen))
        count = releasing.discard(self.open_plan, seen=self.seen, chosen=chosen)
        message = ngettext("%(count)d change discarded.", "%(count)d changes discarded.", count)
        return self.redirect_with_message(message % {"count": count})

    # Further pages

    def page(self, name: str, title: str, **context: Any) -> HttpResponse:
        page_context = self.model_admin.page_context(
            self.request,
            title,
            edition=self.edition,
            seen_version=self.seen,
            back=unreleased_address(self.edition),
            schedule_state="both",
            **context,
        )
        template = f"admin/schedule/release/{name}.html"
        return TemplateResponse(self.request, template, page_context).render()

    def ask_about_clashes(self, error: NewClashesError) -> HttpResponse:
        """Ask whether to release with these new clashes; the answer repeats the request."""
        repeated = [
            (name, value)
            for name, values in self.request.POST.lists()
            if name not in ("act", "csrfmiddlewaretoken", "confirmed_clashes")
            for value in values
        ]
        return self.page(
            "new_clashes",
            gettext("Release with new clashes?"),
            clashes=[clash_context(clash) for clash in error.clashes[:MAX_LISTED_CLASHES]],
            clash_count=len(error.clashes),
            more=len(error.clashes[MAX_LISTED_CLASHES:]),
            repeated=repeated,
            keys=" ".join(error.keys),
            act=self.request.POST.get("act", ""),
        )

    def redirect_with_message(self, message: str) -> HttpResponse:
        messages.success(self.request, message)
        return redirect(unreleased_address(self.edition))

    # The page

    def render_page(self) -> HttpResponse:
        plan = self.plan if self.plan and self.plan.is_open else None
        context: dict[str, Any] = {
            "edition": self.edition,
            "schedule_state": "both",
            "editions": editions_for(self.request),
            "plan": plan,
            "may_release": self.may_release,
            "errors": self.errors,
            "last": self.last_release(),
            "undoable": undo.undoable_set(self.plan, self.at) if self.plan else None,
        }
        if plan is not None:
            context |= self.open_context(plan)
        title = gettext("Unreleased changes of %(edition)s") % {"edition": self.edition}
        page_context = self.model_admin.page_context(self.request, title, **context)
        status = 409 if self.errors else 200
        template = "admin/schedule/release/unreleased.html"
        return TemplateResponse(self.request, template, page_context, status=status).render()

    def last_release(self) -> str:
        if self.plan is None or self.plan.released_at is None:
            return ""
        return releasing.already_released(self.plan)

    def open_context(self, plan: ReleasePlan) -> dict[str, Any]:
        # Before the changes that the page shows: what comes later is not in it.
        version = read_version(self.edition.pk)
        changes = ChangeList(self.request, self.edition, self.choices)
        form = self.form if self.form and self.form.is_bound else None
        if form is None and self.may_release and changes.changes:
            form = self.announce_form()
        return {
            **changes.context(),
            "seen_version": version,
            "form": form,
            "text_help_url": reverse("admin:text_help"),
            "planned": format_moment(plan.release_at, self.edition) if plan.release_at else "",
            "moment_form": self.moment_form,
            "no_worker": "" if is_worker_running(self.at) else str(releasing.NO_WORKER),
            "preview_url": self.edition.get_preview_url(reverse("schedule:index", args=[self.edition.slug])),
        }


type Button = Callable[[UnreleasedPage], HttpResponse | None]

BUTTONS: dict[str, Button] = {
    "open": UnreleasedPage.open,
    "close": UnreleasedPage.close,
    "release": UnreleasedPage.release,
    "release_chosen": UnreleasedPage.release_chosen,
    "plan": UnreleasedPage.plan_release,
    "unplan": UnreleasedPage.unplan,
    "undo": UnreleasedPage.undo,
    "discard": UnreleasedPage.discard,
}

ReleaseAdmin.pages.append(("working-copy/", "working_copy", unreleased_view))
