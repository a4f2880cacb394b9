"""Publishing of parts of an edition: the parts, the rows that each would publish, and remaining drafts.

Higher apps register their rows. The pages of the admin are in `conference.admin.publish`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content import revision
from content.history.recording import single_change_set
from content.preview_context import GATES, PreviewScope, preview_as

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


@dataclass(frozen=True, slots=True)
class PublishScope:
    """A part that is published at once: its gates, `label` for headings and `phrase` for sentences."""

    name: str
    label: "StrPromise"
    phrase: "StrPromise"
    gates: tuple[str, ...]


SITE, PAPERS, SCHEDULE = GATES
PUBLISH_SCOPES = {
    scope.name: scope
    for scope in (
        PublishScope("everything", _("Everything"), _("everything"), GATES),
        PublishScope("site", _("Site"), _("the site"), (SITE,)),
        PublishScope("papers", _("Papers"), _("the papers"), (PAPERS,)),
        PublishScope("schedule", _("Schedule"), _("the schedule"), (SCHEDULE,)),
    )
}


@dataclass(frozen=True, slots=True)
class PublishedRows:
    """Rows that a gate publishes. `label` is an `ngettext_lazy()` of `count`; `lookup` finds the edition."""

    model: type[Model]
    gate: str
    label: "StrPromise"
    lookup: str = "edition"
    position: int = 50

    def describe(self, count: int) -> str:
        """Return a count such as 1,200 papers."""
        return f"{count:,} {self.label % {'count': count}}"

    def public(self, edition: Edition, at: datetime) -> QuerySet[Model]:
        rows: QuerySet[Model] = self.model._default_manager.published(at)  # type: ignore[attr-defined]
        return rows.filter(**{self.lookup: edition})

    @property
    def has_drafts(self) -> bool:
        return any(field.name == "status" for field in self.model._meta.fields)

    def drafts(self, rows: QuerySet[Model], edition: Edition) -> QuerySet[Model]:
        """Return the drafts among the rows, as a queryset that can be updated."""
        draft_rows = rows.filter(status="draft", **{self.lookup: edition}) if self.has_drafts else rows.none()
        # Use a plain queryset, because one with joins cannot be updated.
        return self.model._default_manager.filter(pk__in=draft_rows.order_by().values("pk"))


# Registered by the apps, and listed by `position`.
PUBLISHED_ROWS: list[PublishedRows] = []


def rows_of_scope(scope: PublishScope) -> list[PublishedRows]:
    kinds = [kind for kind in PUBLISHED_ROWS if kind.gate in scope.gates]
    return sorted(kinds, key=lambda kind: kind.position)


def published_counts(
    edition: Edition, kinds: Iterable[PublishedRows], at: datetime, open_gates: Iterable[str]
) -> list[tuple[PublishedRows, int]]:
    """Return the number of visible rows of each kind, with `open_gates` open. One query per kind."""
    with preview_as(PreviewScope(edition.pk, frozenset(open_gates))):
        return [(kind, kind.public(edition, at).count()) for kind in kinds]


def set_gates(
    edition: Edition, gates: Iterable[str], at: datetime | None, drafts: Iterable[QuerySet[Model]] = ()
) -> int:
    """Open gates from a moment on, or close them (`None`); publish drafts, and return their number.

    This is a single change set, and a single revision for caches. Raises `ValidationError`, and leaves the
    edition unchanged, if the edition is invalid.
    """
    gate_names = [*gates]
    moments_before = {name: getattr(edition, name) for name in gate_names}
    with single_change_set(), revision.lock():
        for name in gate_names:
            setattr(edition, name, at)
        try:
            edition.full_clean()
        except ValidationError:
            for name, moment in moments_before.items():
                setattr(edition, name, moment)
            raise
        edition.save(update_fields=gate_names)
        return sum(rows.update(status="published") for rows in drafts)
