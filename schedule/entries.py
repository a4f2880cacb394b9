"""Base of sessions and presentations: cancellation, and the moment of the last move.

Calendars derive SEQUENCE and LAST-MODIFIED from that moment, so it never decreases.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce, Greatest
from django.db.models.lookups import Exact, IsNull
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

import markup
from content.array_lookup import AnyOf
from content.publicity.tombstones import Tombstone
from content.unreleased import plan
from content.unreleased.rows import Releasable, ReleasableQuerySet

SECOND = timedelta(seconds=1)
MOVED, REASON = "rescheduled_at", "cancellation_reason"
# The columns whose changes move, rename or cancel an entry, as far as a model has them.
CALENDAR_FIELDS = ("title", "start", "end", "room_id", "session_id", "parent_id", "status")


class Status(models.TextChoices):
    DRAFT = "draft", _("Draft")
    PUBLISHED = "published", _("Published")
    CANCELLED = "cancelled", _("Canceled")


def this_second() -> datetime:
    return timezone.now().replace(microsecond=0)


def set_null(collector: Any, field: Any, sub_objs: Any, using: str) -> None:
    """Set foreign keys to rooms or sessions to null on deletion, and record that the rows have moved."""
    # Set the moment first: the rows are found by the foreign key that is set to null.
    collector.add_field_update(field.model._meta.get_field(MOVED), this_second(), sub_objs)
    models.SET_NULL(collector, field, sub_objs, using)


set_null.lazy_sub_objs = True  # type: ignore[attr-defined]


class TimetableEntry(Releasable):
    """A row that can be canceled, and stores when one of its calendar fields last changed."""

    unrecorded_fields: ClassVar[tuple[str, ...]] = (MOVED, "on_release")

    # Empty until it moves: creating a row or editing a draft is no move.
    rescheduled_at = models.DateTimeField(null=True, blank=True, editable=False)
    cancellation_reason = models.CharField(
        _("reason for cancellation"),
        max_length=200,
        blank=True,
        help_text=_("Shown next to what is canceled, such as “The speaker is ill.”"),
    )

    class Meta:
        abstract = True

    title: Any
    title_html: Any
    abstract: Any
    abstract_html: Any
    status: Any
    # The calendar fields as read from the database.
    _stored: dict[str, object]

    def save(self, *args: object, **kwargs: Any) -> None:
        names = kwargs.get("update_fields")
        if names is not None:
            kwargs["update_fields"] = {*names, MOVED, *([REASON] if "status" in names else [])}
        if self._state.adding:
            date_recreated([self])
        super().save(*args, **kwargs)

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], **kwargs: Any
    ) -> Self:
        row = super().from_db(db, field_names, values, **kwargs)
        row._stored = row._calendar_values()
        return row

    def refresh_from_db(
        self,
        using: str | None = None,
        fields: Iterable[str] | None = None,
        from_queryset: models.QuerySet[Any] | None = None,
    ) -> None:
        super().refresh_from_db(using, fields, from_queryset)
        loaded_values = {
            name: value
            for name, value in self._calendar_values().items()
            if fields is None or {name, name.removesuffix("_id")} & {*fields}
        }
        self._stored = {**vars(self).get("_stored", {}), **loaded_values}

    def derive(self) -> None:
        super().derive()  # type: ignore[misc]
        values = self._calendar_values()
        if "_stored" in vars(self) and any(self._stored.get(name, self) != values[name] for name in values):
            last_move, now = self.rescheduled_at, this_second()
            if last_move or self._stored.get("status") != Status.DRAFT:
                self.rescheduled_at = max(now, last_move + SECOND) if last_move else now
        self._stored = values
        if values.get("status", Status.CANCELLED) != Status.CANCELLED:
            self.cancellation_reason = ""
        self.title_html, self.abstract_html = markup.inline(self.title), markup.block(self.abstract)

    def _calendar_values(self) -> dict[str, object]:
        return {name: vars(self)[name] for name in CALENDAR_FIELDS if name in vars(self)}

    @property
    def container(self) -> "TimetableEntry | None":
        """The row that contains it; if that is canceled, so is this one."""
        return None

    @property
    def cancelled(self) -> bool:
        """Return whether it, or the row that contains it, is canceled."""
        return self.status == Status.CANCELLED or (self.container is not None and self.container.cancelled)

    @property
    def why_cancelled(self) -> str:
        """Its own reason, else that of the row that contains it; empty without one."""
        if self.status == Status.CANCELLED and self.cancellation_reason:
            return self.cancellation_reason
        return self.container.why_cancelled if self.container else ""


def date_recreated(rows: Iterable[Any]) -> None:
    """Set `rescheduled_at` of new rows whose uid a public row had: calendars have that event. One query."""
    new_rows = {(row.edition_id, row.uid): row for row in rows if row.rescheduled_at is None}
    if not new_rows:
        return
    label = next(iter(new_rows.values()))._meta.label_lower
    editions = {edition for edition, _uid in new_rows}
    uids = {uid for _edition, uid in new_rows}
    tombstones = Tombstone.objects.filter(AnyOf("uid", uids), model=label, edition_key__in=editions, part="")
    for key in tombstones.order_by().values_list("edition_key", "uid"):
        if key in new_rows:
            new_rows[key].rescheduled_at = this_second()


class EntryQuerySet(ReleasableQuerySet):
    """Entries whose bulk changes update `rescheduled_at` and clear reasons, as `save()` does."""

    def of_kind(self, kind: str) -> Self:
        """Return the rows of a kind, or of one that counts as it."""
        return self.filter(plan.match(self.model, kind=kind) | plan.match(self.model, counts_as=kind))

    def update(self, **kwargs: object) -> int:
        status: Any = kwargs.get("status", Status.CANCELLED)
        if hasattr(status, "resolve_expression"):
            is_called_off = When(Exact(status, Value(Status.CANCELLED)), then=F(REASON))
            kwargs.setdefault(REASON, Case(is_called_off, default=Value("")))
        elif status != Status.CANCELLED:
            kwargs.setdefault(REASON, "")
        columns = {name: getattr(self.model._meta.get_field(name), "attname", name) for name in kwargs}
        calendar_values = {columns[name]: kwargs[name] for name in kwargs if columns[name] in CALENDAR_FIELDS}
        if calendar_values and MOVED not in kwargs:
            now = Value(this_second())
            next_move = Greatest(now, Coalesce(F(MOVED) + Value(SECOND), now))
            is_unmoved_draft = Q(**{f"{MOVED}__isnull": True}, status=Status.DRAFT)
            kwargs[MOVED] = Case(
                When(_has_values(calendar_values) | is_unmoved_draft, then=F(MOVED)), default=next_move
            )
        return super().update(**kwargs)

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[object]:
        rows = [*objs]
        date_recreated(rows)
        return super().bulk_create(rows, *args, **kwargs)

    def bulk_update(
        self, objs: Iterable[object], fields: Iterable[str], batch_size: int | None = None
    ) -> int:
        names = [*fields]
        automatic_fields = [MOVED, REASON] if "status" in names else [MOVED]
        return super().bulk_update(objs, [*dict.fromkeys([*names, *automatic_fields])], batch_size=batch_size)


def _has_values(values: dict[str, object]) -> Q:
    condition = Q()
    for name, value in values.items():
        stored = value.pk if isinstance(value, models.Model) else value
        is_equal = Q(**{f"{name}__isnull": True}) if stored is None else Q(**{name: stored})
        if hasattr(value, "resolve_expression"):
            is_equal |= Q(Exact(IsNull(F(name), True), True), Exact(IsNull(value, True), True))
        condition &= is_equal
    return condition
