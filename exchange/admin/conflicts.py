"""Admin of conflicts: fields changed both here and in the file, to decide singly or in bulk."""

from collections import defaultdict
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext, ngettext_lazy, pgettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.history.timeline import word_diff
from content.models import Content
from content.ordering import lock_owners_of, move_to
from content.unreleased.plan import planned
from content.versions import value_mark
from editorial.access import ScopedAdmin, access_for
from editorial.current_edition import format_moment, working_on
from editorial.desk import CHECKS, Check
from editorial.model_admin import POSITION, render_response
from editorial.sections import DeskSection
from exchange.admin.imports import ReadOnlyAdmin
from exchange.imports.compare import PERSON_LISTS
from exchange.imports.kinds import KINDS
from exchange.imports.rows import in_batches
from exchange.jobs.conflicts import CannotTakeError, Outcome, RowFinder, current_value, decide, mark_decided
from exchange.jobs.import_permissions import as_importer, publication_refusal
from exchange.jobs.preview import record_field_label, row_address, value_in_words
from exchange.models import Conflict, Decision, with_run

MAX_SHOWN_CHARS = 80
MAX_SHOWN_CONFLICTS = 50


def shorten_value(conflict: Conflict, value: object) -> str:
    # The list of conflicts shows keys, since resolving names would need queries.
    text = value_in_words(KINDS[conflict.provenance.kind], conflict.field, value, lambda kind, key: key, None)
    return Truncator(text).chars(MAX_SHOWN_CHARS)


def compare_values(conflict: Conflict, row: Content | None) -> dict[str, object]:
    """Return the three values for a page, in the zone of the edition. `seen` detects later changes."""
    kind, edition = KINDS[conflict.provenance.kind], conflict.run.edition
    ours = current_value(kind, row, conflict.field, edition) if row is not None else conflict.ours
    values: tuple[Any, ...] = (conflict.base, ours, conflict.theirs)
    finder, listing = RowFinder(edition), kind.listing(conflict.field)
    # Parts with a printed name are shown by it.
    if listing and "person" in listing.columns and not listing.has_printed_name:
        finder.learn_people(part["person"] for parts in values for part in parts or ())

    def name_row(kind: str, key: str) -> str:
        try:
            return str(finder.row(kind, key))
        except CannotTakeError:
            return key

    base_text, our_text, their_text = (
        value_in_words(kind, conflict.field, value, name_row, edition) for value in values
    )
    if conflict.base is None:
        base_text = gettext("Never imported before")
        our_diff, their_diff = word_diff(our_text, their_text)
    else:
        our_diff, their_diff = word_diff(base_text, our_text)[1], word_diff(base_text, their_text)[1]
    return {
        "base": base_text,
        "ours": our_diff,
        "theirs": their_diff,
        "title": record_field_label(kind, conflict.field),
        "mark": value_mark(ours),
        "is_settled": ours == conflict.theirs,
        "has_moved": ours != conflict.ours,
    }


CHECKS.append(
    Check(
        Conflict,
        ngettext_lazy("import conflict to decide", "import conflicts to decide", "count"),
        lambda rows: rows.undecided(),
        (("state", "open"),),
        "run__edition",
        "run__edition__id__exact",
        position=40,
    )
)


class OpenFilter(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Conflict]) -> list[tuple[str, str]]:
        return [("open", pgettext("conflicts", "Open")), ("decided", pgettext("conflicts", "Decided"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        is_open = {"open": True, "decided": False}.get(self.value() or "")
        return queryset if is_open is None else queryset.filter(resolved_at__isnull=is_open)


def signed_in_user(request: HttpRequest) -> User:
    """Return the account of a request. Raises `PermissionDenied` without one."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


@admin.register(Conflict)
class ConflictAdmin(ReadOnlyAdmin):
    desk_section = DeskSection.IMPORTS
    list_display = ["label", "kind", "shown_field", "ours_short", "theirs_short", "created", "decision"]
    list_filter = [OpenFilter, "run__edition", "provenance__kind", "field"]
    search_fields = ["label"]
    actions = ["keep_ours", "take_theirs"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conflict]:
        return with_run(super().get_queryset(request).select_related("provenance"))

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return ScopedAdmin.has_change_permission(self, request, obj)

    @admin.display(description=_("kind"), ordering="provenance__kind")
    def kind(self, conflict: Conflict) -> str:
        return conflict.provenance.get_kind_display()

    @admin.display(description=_("field"), ordering="field")
    def shown_field(self, conflict: Conflict) -> str:
        return record_field_label(KINDS[conflict.provenance.kind], conflict.field)

    def full_label(self, conflict: Conflict) -> str:
        return f"{conflict.label}, {self.shown_field(conflict)}"

    @admin.display(description=_("here"))
    def ours_short(self, conflict: Conflict) -> str:
        return shorten_value(conflict, conflict.ours)

    @admin.display(description=_("in the file"))
    def theirs_short(self, conflict: Conflict) -> str:
        return shorten_value(conflict, conflict.theirs)

    @admin.display(description=_("created at"), ordering="created_at")
    def created(self, conflict: Conflict) -> str:
        return format_moment(conflict.created_at, conflict.run.edition)

    # Rows

    def rows_of(
        self, request: HttpRequest, conflicts: list[Conflict], *, is_locking: bool = False
    ) -> dict[tuple[str, int], Content]:
        """Return the rows that the account may change, by kind and primary key. One query per kind."""
        access = as_importer(access_for(request))
        keys: dict[str, set[int]] = defaultdict(set)
        for conflict in conflicts:
            keys[conflict.provenance.kind].add(conflict.provenance.object_id)
        rows_by_key: dict[tuple[str, int], Content] = {}
        for kind, row_keys in keys.items():
            model = KINDS[kind].model
            for batch in in_batches(sorted(row_keys)):
                if is_locking:
                    lock_owners_of(model._base_manager.filter(pk__in=batch))
                    locked = model._base_manager.select_for_update().order_by("pk")
                    list(locked.filter(pk__in=batch).values_list("pk"))
                rows = access.rows(model._default_manager.filter(pk__in=batch), "change")
                rows_by_key |= {(kind, row.pk): row for row in rows}
        return rows_by_key

    # One by one

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Show the three values side by side; with POST, decide."""
        with transaction.atomic():
            conflict = self.conflict(request, object_id)
            edition, is_post = conflict.run.edition, request.method == "POST"
            with working_on(edition), planned(edition, for_edits=is_post):
                return render_response(self.decision_page(request, conflict))

    def conflict(self, request: HttpRequest, object_id: str) -> Conflict:
        conflict = self.get_object(request, object_id)
        if conflict is None:
            raise Http404("No such conflict.")
        if not self.has_view_or_change_permission(request, conflict):
            raise PermissionDenied
        rows = Conflict.objects.select_related("provenance", "run__edition", "decided_by")
        if request.method == "POST":
            rows = rows.select_for_update(of=("self",))
        return rows.get(pk=conflict.pk)

    def decision_page(self, request: HttpRequest, conflict: Conflict) -> HttpResponse:
        key = conflict.provenance.kind, conflict.provenance.object_id
        row = self.rows_of(request, [conflict], is_locking=request.method == "POST").get(key)
        sides = compare_values(conflict, row)
        may_decide = conflict.resolved_at is None and self.has_change_permission(request, conflict)
        form = self.edit_form(request, conflict, row) if may_decide and row is not None else None
        reasons: list[str] = []
        if request.method == "POST":
            if not may_decide:
                raise PermissionDenied
            if request.POST.get("seen") != sides["mark"]:
                reasons = [gettext("It was changed here in the meantime. Review it again, then decide.")]
            elif not (reasons := self.apply_decision(request, conflict, row, form)):
                return self.redirect_to_next(request, conflict)
        context = self.page_context(
            request,
            gettext("Conflict: %(label)s") % {"label": conflict.label},
            conflict=conflict,
            sides=sides,
            reasons=reasons,
            has_row=row is not None,
            row_address=row_address(*key)
            if row is not None and access_for(request).may("view", type(row), row)
            else "",
            may=may_decide,
            form=form,
            edit=next(iter(form), None) if form is not None else None,
            choice=request.POST.get("decision", ""),
            open_count=self.open_conflicts(request, conflict).count(),
        )
        return TemplateResponse(request, "admin/exchange/conflict/decide.html", context)

    def edit_form(self, request: HttpRequest, conflict: Conflict, row: Content) -> ModelForm[Content] | None:
        """Return the form of the row with this field only, or `None` for lists, which have a larger form."""
        model_admin = self.admin_site.get_model_admin(type(row))
        if KINDS[conflict.provenance.kind].listing(conflict.field) or conflict.field in PERSON_LISTS:
            return None
        form_class = model_admin.get_form(request, row, change=True, fields=[conflict.field])
        if conflict.field not in form_class.base_fields:
            return None
        data = request.POST if request.POST.get("decision") == Decision.EDITED else None
        return form_class(data, instance=row, prefix="edit")

    def apply_decision(
        self, request: HttpRequest, conflict: Conflict, row: Content | None, form: ModelForm[Content] | None
    ) -> list[str]:
        """Apply the chosen decision. Return the reasons if it is not possible."""
        choice = request.POST.get("decision", "")
        if choice == Decision.EDITED and form is not None:
            if not form.is_valid():
                return [gettext("The edited value can’t be saved. The problem is shown below.")]
            if refusal := self.publication_refusal(request, conflict, form):
                return [refusal]
            form.save()
            if conflict.field == POSITION:
                positioned_row: Any = row
                move_to(positioned_row, form.cleaned_data[POSITION] or 0)
            mark_decided([conflict], Decision.EDITED, signed_in_user(request))
            return []
        if choice not in (Decision.OURS, Decision.THEIRS):
            return [gettext("Choose a value.")]
        rows = {(conflict.provenance.kind, row.pk): row} if row is not None else {}
        outcome = decide([conflict], choice, rows, signed_in_user(request))
        return [reason for _conflict, reason in outcome.refused]

    def publication_refusal(self, request: HttpRequest, conflict: Conflict, form: ModelForm[Content]) -> str:
        """Return why the account may not save an edited status; empty if it may."""
        if conflict.field != "status":
            return ""
        stored = type(form.instance)._base_manager.get(pk=form.instance.pk)
        kind, edition = KINDS[conflict.provenance.kind], conflict.run.edition
        return publication_refusal(kind, stored, form.cleaned_data, request.user, edition)

    def open_conflicts(self, request: HttpRequest, conflict: Conflict) -> QuerySet[Conflict]:
        rows = self.get_queryset(request)
        return rows.filter(resolved_at__isnull=True, run__edition=conflict.run.edition)

    def redirect_to_next(self, request: HttpRequest, conflict: Conflict) -> HttpResponse:
        messages.success(request, gettext("Decided: %(label)s.") % {"label": self.full_label(conflict)})
        remaining = self.open_conflicts(request, conflict)
        next_conflict = (
            remaining.filter(pk__lt=conflict.pk).order_by("-pk").first() or remaining.order_by("-pk").first()
        )
        if next_conflict is None:
            return redirect("admin:exchange_conflict_changelist")
        return redirect("admin:exchange_conflict_change", next_conflict.pk)

    # In bulk

    @admin.action(permissions=["change"], description=_("Keep the current value"))
    def keep_ours(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> HttpResponseBase | None:
        return self.decide_in_bulk(request, queryset, Decision.OURS, "keep_ours")

    @admin.action(permissions=["change"], description=_("Use the file's value"))
    def take_theirs(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> HttpResponseBase | None:
        return self.decide_in_bulk(request, queryset, Decision.THEIRS, "take_theirs")

    def decide_in_bulk(
        self, request: HttpRequest, queryset: QuerySet[Conflict], decision: str, action: str
    ) -> HttpResponseBase | None:
        """Ask for confirmation of a decision; apply it if confirmed."""
        if "confirmed" in request.POST:
            self.report_outcome(request, self.decide_all(request, queryset, decision))
            return None
        conflicts, _rows = self.decidable(request, queryset)
        context = self.page_context(
            request,
            gettext("Decide conflicts together"),
            decision=Decision(decision),
            action=action,
            checkbox=ACTION_CHECKBOX_NAME,
            conflicts=conflicts,
            listed_conflicts=[
                (conflict, self.shown_field(conflict), self.ours_short(conflict), self.theirs_short(conflict))
                for conflict in conflicts[:MAX_SHOWN_CONFLICTS]
            ],
            more=max(len(conflicts) - MAX_SHOWN_CONFLICTS, 0),
            left_out=queryset.count() - len(conflicts),
        )
        return TemplateResponse(request, "admin/exchange/conflict/together.html", context)

    @transaction.atomic
    def decide_all(self, request: HttpRequest, queryset: QuerySet[Conflict], decision: str) -> Outcome:
        """Decide the conflicts of each edition, compared with its planned state."""
        outcome = Outcome()
        keys = queryset.order_by().values("run__edition")
        for edition in Edition.objects.filter(pk__in=keys).order_by("pk"):
            with planned(edition, for_edits=True):
                of_edition = queryset.filter(run__edition=edition)
                conflicts, rows = self.decidable(request, of_edition, is_locking=True)
                decided = decide(conflicts, decision, rows, signed_in_user(request))
            outcome.done += decided.done
            outcome.refused += decided.refused
        return outcome

    def decidable(
        self, request: HttpRequest, queryset: QuerySet[Conflict], *, is_locking: bool = False
    ) -> tuple[list[Conflict], dict[tuple[str, int], Content]]:
        """Return the undecided conflicts whose rows the account may change, and the rows."""
        conflicts = list(queryset.filter(resolved_at__isnull=True))
        rows = self.rows_of(request, conflicts, is_locking=is_locking)
        return [
            conflict
            for conflict in conflicts
            if (conflict.provenance.kind, conflict.provenance.object_id) in rows
        ], rows

    def report_outcome(self, request: HttpRequest, outcome: Outcome) -> None:
        message = ngettext("%(count)d conflict decided.", "%(count)d conflicts decided.", outcome.done)
        if outcome.done:
            messages.success(request, message % {"count": outcome.done})
        for conflict, reason in outcome.refused[:MAX_SHOWN_CONFLICTS]:
            messages.warning(
                request,
                gettext("Not decided: %(label)s. %(reason)s")
                % {"label": self.full_label(conflict), "reason": reason},
            )
        if not (outcome.done or outcome.refused):
            messages.warning(
                request,
                gettext("Nothing was decided: everything was already decided, or you can’t change it."),
            )
