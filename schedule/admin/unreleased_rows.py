"""What the page of unreleased changes lists: changed rows, conflicts, clashes, and who changed what."""

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.array_lookup import AnyOf
from content.history import ChangeSet, RowChange
from content.history.timeline import RowLabels, field_changes, field_label, referenced_keys, shown_value
from content.row_values import Key
from content.unreleased.diversion import PUBLIC_STATUSES
from content.unreleased.plan import planned, public_at_once
from editorial.current_edition import format_moment
from editorial.history_views import may_take_back
from schedule.admin.clashes import clash_context
from schedule.models import UnreleasedChange
from schedule.unreleased.conflicts import MINE, THEIRS, Conflict, attach_rows, find_conflicts
from schedule.unreleased.models import PART_OWNERS, TARGETS, OnRelease, is_new, waiting_model
from schedule.unreleased.new_clashes import changed_by_release

CHANGES_PER_PAGE = 100
MAX_LISTED_CLASHES = 50
MAX_LISTED_CONFLICTS = 100
MAX_LISTED_DISCARDS = 200
MAX_LISTED_SETS = 100
# The prefix of the names of the choices between conflicting values in the form.
CHOICE = "choice-"
NEW, CHANGED, REMOVED, CANCELLED = _("New"), _("Changed"), _("Removed"), _("Canceled")


def verb_of(change: UnreleasedChange) -> str:
    if change.on_release == OnRelease.REMOVED:
        return str(REMOVED)
    if is_new(change):
        return str(NEW)
    return str(CANCELLED if change.on_release == OnRelease.CANCELLED else CHANGED)


def form_address(change: UnreleasedChange) -> str:
    """Return the address of the form that shows the row."""
    name, key = change.target, change.target_key
    # People are on the form of their session or talk.
    if owner := PART_OWNERS.get(name):
        name, key = owner, getattr(change.row, f"{owner}_id")
    meta = waiting_model(name)._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[key])


def references_of(changes: Iterable[UnreleasedChange]) -> list[Key]:
    """Return the rows that the shown values of these changes refer to."""
    return [key for change in changes for value in change.shown_values for key in referenced_keys(*value)]


def field_lines(change: UnreleasedChange, labels: RowLabels, edition: Edition) -> list[dict[str, str]]:
    """Return the fields of a change with both values."""
    return [
        line
        for value in change.shown_values
        for line in field_changes(value.model, {value.name: value.pair}, labels, edition)
    ]


def change_labels(edition: Edition, changes: Iterable[UnreleasedChange], more: Any = ()) -> RowLabels:
    """Return the labels of the rows of these changes and of `more`, as they will be after the release."""
    with planned(edition):
        return RowLabels([*(change.row_key for change in changes), *more])


def discarded_context(edition: Edition, chosen: list[int] | None) -> dict[str, Any]:
    """Return the number of the chosen changes, or of all, and the first ones with label and author."""
    rows = UnreleasedChange.objects.filter(edition=edition)
    changes = list(rows if chosen is None else rows.filter(AnyOf("pk", chosen)))
    listed = changes[:MAX_LISTED_DISCARDS]
    labels = change_labels(edition, listed)
    return {
        "is_all": chosen is None,
        "keys": [] if chosen is None else [change.pk for change in changes],
        "count": len(changes),
        "more": len(changes) - len(listed),
        "changes": [(labels.get_label(*change.row_key), change.by_name) for change in listed],
    }


class ChangeList:
    """The unreleased changes of an edition. `choices` are those between conflicting values.

    The number of queries, and of rows that are shown, is the same for any number of changes.
    """

    def __init__(self, request: HttpRequest, edition: Edition, choices: dict[str, str]) -> None:
        self.request, self.edition, self.choices = request, edition, choices
        self.changes = [*UnreleasedChange.objects.filter(edition=edition).order_by("pk")]
        self.conflicts = find_conflicts(self.changes)
        self.page = Paginator(self.changes, CHANGES_PER_PAGE).get_page(request.GET.get("p", ""))
        listed_conflicts = self.conflicts[:MAX_LISTED_CONFLICTS]
        shown_changes = [*self.page, *(conflict.change for conflict in listed_conflicts)]
        shown = [*{change.pk: change for change in shown_changes}.values()]
        attach_rows(shown)
        self.labels = change_labels(edition, shown, references_of(shown))
        self.conflicting = {conflict.change.pk for conflict in self.conflicts}

    def context(self) -> dict[str, Any]:
        new, solved = changed_by_release(self.edition, self.changes)
        return {
            "rows": [self.row(change) for change in self.page],
            "page_obj": self.page,
            "count": len(self.changes),
            "conflicts": [self.conflict(conflict) for conflict in self.conflicts[:MAX_LISTED_CONFLICTS]],
            "conflict_count": len(self.conflicts),
            "more_conflicts": len(self.conflicts[MAX_LISTED_CONFLICTS:]),
            "new_clashes": [clash_context(clash) for clash in new[:MAX_LISTED_CLASHES]],
            "new_clash_count": len(new),
            "solved_count": len(solved),
            "sets": [*self.change_sets()],
        }

    def row(self, change: UnreleasedChange) -> dict[str, Any]:
        name, key = change.row_key
        return {
            "key": change.pk,
            "model_name": waiting_model(change.target)._meta.verbose_name,
            "label": self.labels.get_label(name, key),
            "verb": verb_of(change),
            "is_new": is_new(change),
            "by": change.by_name,
            "at": format_moment(change.at, self.edition),
            "fields": field_lines(change, self.labels, self.edition),
            "address": form_address(change),
            "is_conflict": change.pk in self.conflicting,
        }

    def conflict(self, conflict: Conflict) -> dict[str, Any]:
        name, key = conflict.change.row_key
        public, mine = (
            shown_value(name, conflict.field, value, self.labels, self.edition)
            for value in (conflict.public, conflict.mine)
        )
        return {
            "name": f"{CHOICE}{conflict.line}",
            "label": self.labels.get_label(name, key),
            "field": field_label(name, conflict.field),
            "public": public,
            "mine": mine,
            "MINE": MINE,
            "THEIRS": THEIRS,
            "chosen": self.choices.get(conflict.line, ""),
        }

    def change_sets(self) -> Iterable[dict[str, Any]]:
        """Yield the edits that made the changes, the newest first, with their numbers of rows."""
        waiting = UnreleasedChange.objects.filter(edition=self.edition).order_by()
        condition = Q(model=UnreleasedChange._meta.label_lower, object_id__in=waiting.values("pk"))
        for name in TARGETS:
            rows = waiting.filter(**{f"{name}__isnull": False}, on_release__in=PUBLIC_STATUSES)
            label = waiting_model(name)._meta.label_lower
            condition |= Q(model=label, kind="created", object_id__in=rows.values(f"{name}_id"))
        counts = dict(
            RowChange.objects.filter(condition, edition_key=self.edition.pk)
            .order_by("-change_set")
            .values_list("change_set")
            .annotate(Count("pk"))[:MAX_LISTED_SETS]
        )
        change_sets = [*ChangeSet.objects.filter(pk__in=counts).order_by("-pk")]
        at_once = public_at_once(change_sets)
        for change_set in change_sets:
            is_revertible = not change_set.reference and may_take_back(
                self.request, change_set, self.edition, was_public=change_set.pk in at_once
            )
            yield {
                "change_set": change_set,
                "at": format_moment(change_set.at, self.edition),
                "count": counts[change_set.pk],
                "undo": reverse("admin:take_back", args=[change_set.pk]) if is_revertible else "",
            }
