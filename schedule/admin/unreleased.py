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
from content.times import validate_year
from editorial.access import access_for
from editorial.current_edition import editions_for, format_moment, requested_edition, working_on
from editorial.model_admin import ContentAdmin
from schedule import clashes
from schedule.admin.clashes import clash_context
from schedule.admin.releases import AnnounceForm, ReleaseAdmin
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
    release_at = forms.DateTimeField(label=_("Release at"), validators=[validate_year])

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
        self.copy = self.find_copy()
        self.may_release = may_release(request, edition)
        self.errors: list[str] = []
        self.form: AnnounceForm | None = None
        self.moment_form = MomentForm()

    def find_copy(self) -> WorkingCopy | None:
        return WorkingCopy.objects.filter(edition=self.edition).select_related("edition").first()

    def handle(self) -> HttpResponse:
        if self.request.method == "POST":
            if not self.may_release:
                raise PermissionDenied
            button = BUTTONS.get(self.request.POST.get("act", ""))
            try:
                with transaction.atomic():
                    response = button(self) if button else None
            except RefusedError as error:
                self.errors, self.copy = error.reasons, self.find_copy()
            else:
                if response is not None:
                    return response
        return self.render_page()

    # Buttons

    @property
    def open_working_copy(self) -> WorkingCopy:
        if self.copy is None or not self.copy.is_open:
            raise RefusedError(gettext("The working copy is switched off."))
        return self.copy

    @property
    def seen_version(self) -> int:
        version = self.request.POST.get("seen_version", "")
        return 0 if version == "0" else parse_key(version) or -1

    @property
    def chosen_keys(self) -> list[Key]:
        """The keys of the ticked rows."""
        keys: list[Key] = []
        for line in self.request.POST.getlist("row"):
            model, _colon, key_text = line.rpartition(":")
            if key := parse_key(key_text):
                keys.append((model, key))
        return keys

    @property
    def choices(self) -> dict[str, str]:
        prefix = "choice-"
        fields = self.request.POST.items()
        return {name.removeprefix(prefix): str(value) for name, value in fields if name.startswith(prefix)}

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
        return self.release_changes(choices=self.choices, announcement=self.announcement())

    def release_chosen(self) -> HttpResponse:
        if not self.chosen_keys:
            raise RefusedError(gettext("Choose the changes that you want to release."))
        return self.release_changes(choices=self.choices, chosen=self.chosen_keys)

    def release_changes(self, **values: Any) -> HttpResponse:
        result = releasing.release(
            self.open_working_copy, self.request.user, timezone.now(), seen=self.seen_version, **values
        )
        message = ngettext("%(count)d change is public.", "%(count)d changes are public.", result.row_count)
        message %= {"count": result.row_count}
        if result.release:
            message += " " + gettext("%(release)s is announced.") % {"release": result.release}
        return self.redirect_with_message(message)

    def plan(self) -> HttpResponse:
        self.moment_form = MomentForm(self.request.POST)
        refuse_invalid(self.moment_form)
        at = self.moment_form.cleaned_data["release_at"]
        announcement = self.announcement()
        releasing.plan_release(
            self.open_working_copy, self.request.user, at, seen=self.seen_version, announcement=announcement
        )
        tasks.enqueue_release(at)
        message = gettext("The working copy will be released at %(at)s, with what is changed until then.")
        return self.redirect_with_message(message % {"at": format_moment(at, self.edition)})

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
        message = ngettext("%(count)d change discarded.", "%(count)d changes discarded.", count)
        return self.redirect_with_message(message % {"count": count})

    def confirmation(self, chosen: list[Key] | None) -> HttpResponse:
        rows = pending_rows([self.open_working_copy])
        discarded_rows = [row for key, row in rows.items() if chosen is None or key in chosen]
        context = self.model_admin.page_context(
            self.request,
            gettext("Discard changes of the working copy"),
            edition=self.edition,
            copy=self.open_working_copy,
            seen_version=self.seen_version,
            is_all=chosen is None,
            discarded_rows=discarded_rows,
            back=working_copy_address(self.edition),
        )
        return TemplateResponse(self.request, "admin/schedule/release/discard.html", context)

    def redirect_with_message(self, message: str) -> HttpResponse:
        messages.success(self.request, message)
        return redirect(working_copy_address(self.edition))

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
        page_context = self.model_admin.page_context(self.request, title, **context)
        status = 409 if self.errors else 200
        response = TemplateResponse(
            self.request, "admin/schedule/release/working_copy.html", page_context, status=status
        )
        return response.render()

    def last_release(self) -> str:
        if self.copy is None or self.copy.released_at is None:
            return ""
        return releasing.already_released(self.copy)

    def open_context(self, copy: WorkingCopy) -> dict[str, Any]:
        pending = pending_rows([copy])
        conflicts = releasing.find_conflicts(pending, releasing.public_rows(pending))
        page = Paginator([*pending.values()], ROWS_PER_PAGE).get_page(self.request.GET.get("p", ""))
        referenced_rows = history.referenced_rows([*page, *(conflict.row for conflict in conflicts)])
        public_labels, clashes_before = RowLabels(referenced_rows), clashes.cached_clashes(self.edition).all
        with show_working_copy([copy], pending):
            form = AnnounceForm(pending_release(self.edition, self.at), self.edition)
            # `form` already has the changes, so only the clashes and labels are read here.
            clashes_after = clashes.cached_clashes(self.edition).all
            labels = history.merge_labels(public_labels, RowLabels(referenced_rows))
        new, solved = clashes.new_and_solved(clashes_before, clashes_after)
        conflicting_keys = {conflict.row.name for conflict in conflicts}
        change_sets = copy.sets.exclude(rows=[]).order_by("-pk")
        return {
            "rows": [
                {
                    "line": row.line,
                    "model_name": content_model(row.model)._meta.verbose_name,
                    "label": row.label,
                    "verb": VERBS[row.kind],
                    "is_changed": row.kind == "changed",
                    "by": ", ".join(row.by),
                    "at": format_moment(row.at, self.edition),
                    "fields": history.change_lines(row, labels, self.edition),
                    "address": self.address(row),
                    "is_conflict": row.name in conflicting_keys,
                }
                for row in page
            ],
            "page_obj": page,
            "count": len(pending),
            "conflicts": [self.conflict(conflict, labels) for conflict in conflicts],
            "form": self.form if self.form and self.form.is_bound else form,
            "text_help_url": reverse("admin:text_help"),
            "new_clashes": [clash_context(clash) for clash in new[:MAX_LISTED_CLASHES]],
            "new_clash_count": len(new),
            "solved_count": len(solved),
            "sets": [
                {
                    "change_set": change_set,
                    "at": format_moment(change_set.at, self.edition),
                    "count": len(change_set.rows),
                    "undo": reverse("admin:take_back", args=[change_set.act])
                    if may_undo(self.request, change_set)
                    else "",
                }
                for change_set in change_sets
            ],
            "planned": format_moment(copy.release_at, self.edition) if copy.release_at else "",
            "moment_form": self.moment_form,
            "preview_url": self.edition.get_preview_url(reverse("schedule:index", args=[self.edition.slug])),
        }

    def address(self, row: PendingRow) -> str:
        if row.kind == "deleted":
            return ""
        meta = content_model(row.model)._meta
        return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.key])

    def conflict(self, conflict: PendingConflict, labels: RowLabels) -> dict[str, Any]:
        sides = [
            shown_value(conflict.row.model, conflict.field, value, labels, self.edition)
            if conflict.field
            else ""
            for value in (conflict.public, conflict.mine)
        ]
        return {
            "name": f"choice-{conflict.line}",
            "label": conflict.row.label,
            "field": field_label(conflict.row.model, conflict.field) if conflict.field else "",
            "public": sides[0],
            "mine": sides[1],
            "reason": conflict.reason,
            "is_deletion": conflict.row.kind == "deleted",
            "MINE": MINE,
            "THEIRS": THEIRS,
            "chosen": self.request.POST.get(f"choice-{conflict.line}", "" if conflict.field else THEIRS),
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

ReleaseAdmin.pages.append(("working-copy/", "working_copy", working_copy_view))
