"""The page of an edition's working copy: lists, releases and discards pending changes."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.history.timeline import RowLabels, field_label, shown_value
from content.request_keys import parse_key
from content.row_values import Key, content_model
from editorial.access import access_for
from editorial.current_edition import editions_for, format_moment, requested_edition, working_on
from editorial.model_admin import ContentAdmin
from schedule import clashes
from schedule.admin.clashes import clash_context
from schedule.admin.releases import AnnounceForm
from schedule.admin.working_pages import may_release, may_undo, working_copy_address
from schedule.models import Session, WorkingCopy
from schedule.releases import pending_release
from schedule.working_copy import history, tasks
from schedule.working_copy import release as releasing
from schedule.working_copy.block import pending_rows, show_working_copy
from schedule.working_copy.pending import PendingRow
from schedule.working_copy.release import MINE, THEIRS, Announcement, PendingConflict, RefusedError

ROWS_PER_PAGE = 100
MAX_LISTED_CLASHES = 50
VERBS = {"created": _("New"), "changed": _("Changed"), "deleted": _("Deleted")}


class MomentForm(forms.Form):
    release_at = forms.DateTimeField(label=_("Release at"))

    def clean_release_at(self) -> datetime:
        at: datetime = self.cleaned_data["release_at"]
        if at <= timezone.now():
            raise forms.ValidationError(gettext("Choose a moment in the future."))
        return at


def working_copy_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Show the working copy of an edition; with POST, carry out a button."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    edition = requested_edition(request)
    if edition is None:
        messages.warning(request, gettext("There are no editions yet."))
        return redirect("admin:schedule_release_changelist")
    if not access_for(request).may_all_rows("view", Session, edition):
        raise PermissionDenied
    with working_on(edition):
        return WorkingCopyPage(model_admin, request, edition).handle()


def refuse_invalid(form: forms.Form) -> None:
    if not form.is_valid():
        raise RefusedError(*(str(error) for errors in form.errors.values() for error in errors))


class WorkingCopyPage:
    """A request to the page."""

    def __init__(self, model_admin: ContentAdmin, request: HttpRequest, edition: Edition) -> None:
        self.model_admin, self.request, self.edition = model_admin, request, edition
        self.at = timezone.now()
        copies = WorkingCopy.objects.filter(edition=edition).select_related("edition")
        self.copy: WorkingCopy | None = copies.first()
        self.may_release = may_release(request, edition)
        self.errors: list[str] = []
        self.form: AnnounceForm | None = None
        self.moment_form = MomentForm()

    def handle(self) -> HttpResponse:
        if self.request.method == "POST":
            if not self.may_release:
                raise PermissionDenied
            act = BUTTONS.get(self.request.POST.get("act", ""))
            try:
                with transaction.atomic():
                    done = act(self) if act else None
            except RefusedError as error:
                self.errors = error.reasons
                done = None
                self.copy = (
                    WorkingCopy.objects.select_related("edition").get(edition=self.edition)
                    if self.copy
                    else None
                )
            if done is not None:
                return done
        return self.render_page()

    # Buttons

    @property
    def open_working_copy(self) -> WorkingCopy:
        if self.copy is None or not self.copy.is_open:
            raise RefusedError(gettext("The working copy is switched off."))
        return self.copy

    @property
    def seen_version(self) -> int:
        shown = self.request.POST.get("seen_version", "")
        return 0 if shown == "0" else parse_key(shown) or -1

    @property
    def chosen_keys(self) -> list[Key]:
        """The keys of the ticked rows."""
        found: list[Key] = []
        for line in self.request.POST.getlist("row"):
            model, _colon, text = line.rpartition(":")
            if key := parse_key(text):
                found.append((model, key))
        return found

    @property
    def choices(self) -> dict[str, str]:
        prefix = "choice-"
        sent = self.request.POST.items()
        return {name.removeprefix(prefix): str(value) for name, value in sent if name.startswith(prefix)}

    def open(self) -> HttpResponse:
        releasing.open_copy(self.edition, self.request.user, self.at)
        return self.redirect_with_message(
            gettext("The working copy is switched on: changes of the schedule wait for a release.")
        )

    def close(self) -> HttpResponse:
        releasing.close_copy(self.open_working_copy)
        return self.redirect_with_message(
            gettext("The working copy is switched off: changes are public at once.")
        )

    def announcement(self) -> Announcement | None:
        """Return the announcement, if one is requested. Raises if the changes are not those shown."""
        releasing.lock_current(self.open_working_copy, self.seen_version)
        if "announce" not in self.request.POST:
            return None
        with show_working_copy([self.open_working_copy]):
            self.form = AnnounceForm(pending_release(self.edition, self.at), self.edition, self.request.POST)
        if not self.form.is_bound:
            raise RefusedError(gettext("The program changed after you opened this page. Review it again."))
        refuse_invalid(self.form)
        return Announcement(**self.form.announcement)

    def release(self) -> HttpResponse:
        return self.released(choices=self.choices, announcement=self.announcement())

    def release_chosen(self) -> HttpResponse:
        if not self.chosen_keys:
            raise RefusedError(gettext("Choose the changes that you want to release."))
        return self.released(choices=self.choices, chosen=self.chosen_keys)

    def released(self, **values: Any) -> HttpResponse:
        found = releasing.release(
            self.open_working_copy, self.request.user, timezone.now(), seen=self.seen_version, **values
        )
        said = ngettext("%(count)d change is public.", "%(count)d changes are public.", found.row_count)
        words = said % {"count": found.row_count}
        if found.release:
            words += " " + gettext("%(release)s is announced.") % {"release": found.release}
        return self.redirect_with_message(words)

    def plan(self) -> HttpResponse:
        self.moment_form = MomentForm(self.request.POST)
        refuse_invalid(self.moment_form)
        at = self.moment_form.cleaned_data["release_at"]
        found = self.announcement()
        releasing.plan_release(
            self.open_working_copy, self.request.user, at, seen=self.seen_version, announcement=found
        )
        tasks.enqueue_release(at)
        words = gettext("The working copy will be released at %(at)s, with what is changed until then.")
        return self.redirect_with_message(words % {"at": format_moment(at, self.edition)})

    def unplan(self) -> HttpResponse:
        releasing.plan_release(self.open_working_copy, self.request.user, None)
        return self.redirect_with_message(gettext("No release is planned any more."))

    def discard(self) -> HttpResponse | None:
        """Ask for confirmation; then discard the chosen changes, or all."""
        chosen = None if "all" in self.request.POST else self.chosen_keys
        if chosen is not None and not chosen:
            raise RefusedError(gettext("Choose the changes that you want to discard."))
        if "confirmed" not in self.request.POST:
            return self.confirmation(chosen)
        count = releasing.discard(self.open_working_copy, seen=self.seen_version, chosen=chosen)
        said = ngettext("%(count)d change discarded.", "%(count)d changes discarded.", count)
        return self.redirect_with_message(said % {"count": count})

    def confirmation(self, chosen: list[Key] | None) -> HttpResponse:
        rows = pending_rows([self.open_working_copy])
        going = [row for name, row in rows.items() if chosen is None or name in chosen]
        context = self.model_admin.page_context(
            self.request,
            gettext("Discard changes of the working copy"),
            edition=self.edition,
            copy=self.open_working_copy,
            seen_version=self.seen_version,
            is_all=chosen is None,
            going=going,
            back=working_copy_address(self.open_working_copy),
        )
        return TemplateResponse(self.request, "admin/schedule/release/discard.html", context)

    def redirect_with_message(self, words: str) -> HttpResponse:
        messages.success(self.request, words)
        address = reverse("admin:schedule_release_working_copy", query={"edition": self.edition.pk})
        return redirect(address)

    # The page

    def render_page(self) -> HttpResponse:
        copy = self.copy if self.copy and self.copy.is_open else None
        context: dict[str, Any] = {
            "edition": self.edition,
            "editions": editions_for(self.request),
            "copy": copy,
            "may_release": self.may_release,
            "errors": self.errors,
            "last": self.last_release(),
        }
        if copy is not None:
            context |= self.open_context(copy)
        title = gettext("Working copy of %(edition)s") % {"edition": self.edition}
        framed = self.model_admin.page_context(self.request, title, **context)
        status = 409 if self.errors else 200
        page = TemplateResponse(
            self.request, "admin/schedule/release/working_copy.html", framed, status=status
        )
        return page.render()

    def last_release(self) -> str:
        if self.copy is None or self.copy.released_at is None:
            return ""
        return releasing.already_released(self.copy)

    def open_context(self, copy: WorkingCopy) -> dict[str, Any]:
        pending = pending_rows([copy])
        conflicts = releasing.find_conflicts(pending, releasing.public_rows(pending))
        listed = Paginator([*pending.values()], ROWS_PER_PAGE).get_page(self.request.GET.get("p", ""))
        asked = history.referenced_rows([*listed, *(one.row for one in conflicts)])
        public, before = RowLabels(asked), clashes.cached_clashes(self.edition).all
        with show_working_copy([copy], pending):
            form = AnnounceForm(pending_release(self.edition, self.at), self.edition)
            # `form` already has the changes, so only the clashes and labels are read here.
            after = clashes.cached_clashes(self.edition).all
            names = history.merge_labels(public, RowLabels(asked))
        new, solved = clashes.new_and_solved(before, after)
        clashing = {one.row.name for one in conflicts}
        sets = copy.sets.exclude(rows=[]).order_by("-pk")
        return {
            "rows": [
                {
                    "line": row.line,
                    "what": content_model(row.model)._meta.verbose_name,
                    "label": row.label,
                    "verb": VERBS[row.kind],
                    "is_changed": row.kind == "changed",
                    "by": ", ".join(row.by),
                    "at": format_moment(row.at, self.edition),
                    "fields": history.change_lines(row, names, self.edition),
                    "address": self.address(row),
                    "is_conflict": row.name in clashing,
                }
                for row in listed
            ],
            "page_obj": listed,
            "count": len(pending),
            "conflicts": [self.conflict(one, names) for one in conflicts],
            "form": self.form if self.form and self.form.is_bound else form,
            "text_help_url": reverse("admin:text_help"),
            "new_clashes": [clash_context(clash) for clash in new[:MAX_LISTED_CLASHES]],
            "new_clash_count": len(new),
            "solved_count": len(solved),
            "sets": [
                {
                    "one": one,
                    "at": format_moment(one.at, self.edition),
                    "count": len(one.rows),
                    "undo": reverse("admin:take_back", args=[one.act]) if may_undo(self.request, one) else "",
                }
                for one in sets
            ],
            "planned": format_moment(copy.release_at, self.edition) if copy.release_at else "",
            "moment_form": self.moment_form,
            "preview_url": self.edition.get_preview_url(reverse("schedule:index", args=[self.edition.slug])),
        }

    def address(self, row: PendingRow) -> str:
        meta = content_model(row.model)._meta
        return (
            ""
            if row.kind == "deleted"
            else reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.key])
        )

    def conflict(self, one: PendingConflict, names: RowLabels) -> dict[str, Any]:
        sides = [
            shown_value(one.row.model, one.field, value, names, self.edition) if one.field else ""
            for value in (one.public, one.mine)
        ]
        return {
            "name": f"choice-{one.line}",
            "label": one.row.label,
            "field": field_label(one.row.model, one.field) if one.field else "",
            "public": sides[0],
            "mine": sides[1],
            "reason": one.reason,
            "is_deletion": one.row.kind == "deleted",
            "MINE": MINE,
            "THEIRS": THEIRS,
            "chosen": self.request.POST.get(f"choice-{one.line}", "" if one.field else THEIRS),
        }


BUTTONS: dict[str, Callable[[WorkingCopyPage], HttpResponse | None]] = {
    "open": WorkingCopyPage.open,
    "close": WorkingCopyPage.close,
    "release": WorkingCopyPage.release,
    "release_chosen": WorkingCopyPage.release_chosen,
    "plan": WorkingCopyPage.plan,
    "unplan": WorkingCopyPage.unplan,
    "discard": WorkingCopyPage.discard,
}
