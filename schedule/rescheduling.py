"""When something in the timetable last moved, as calendars need to know it. Not who may see it.

The moment is stored with the row: calendars derive SEQUENCE and LAST-MODIFIED from it, so it never goes back.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Greatest
from django.utils import timezone

from content.querysets import ContentQuerySet

SECOND = timedelta(seconds=1)
FIELD = "rescheduled_at"
# The columns that move, rename or cancel an appointment; a model has those that concern it.
CALENDAR_FIELDS = ("title", "start", "end", "room_id", "session_id", "parent_id", "status")


def this_second() -> datetime:
    """Return the present moment as calendars write it."""
    return timezone.now().replace(microsecond=0)


def set_null(collector: Any, field: Any, sub_objs: Any, using: str) -> None:
    """The `on_delete` of rooms and sessions: what loses its place with them has moved."""
    # First the moment, as the rows are found through the place that they lose.
    collector.add_field_update(field.model._meta.get_field(FIELD), this_second(), sub_objs)
    models.SET_NULL(collector, field, sub_objs, using)


set_null.lazy_sub_objs = True  # type: ignore[attr-defined]


class Rescheduled(models.Model):
    """A row that remembers when one of its calendar fields last took another value."""

    unrecorded_fields: ClassVar[tuple[str, ...]] = (FIELD,)

    rescheduled_at = models.DateTimeField(default=this_second, editable=False)

    class Meta:
        abstract = True

    # The calendar fields as the database has them, as far as they were read.
    _stored: dict[str, object]

    def save(self, *args: object, **kwargs: Any) -> None:
        if kwargs.get("update_fields") is not None:
            kwargs["update_fields"] = {*kwargs["update_fields"], FIELD}
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
        columns = self._meta.concrete_fields
        read = {c.attname for c in columns if fields is None or {c.name, c.attname} & {*fields}}
        known = vars(self).get("_stored", {})
        now = {name: value for name, value in self._calendar_values().items() if name in read}
        self._stored = {**known, **now}

    def derive(self) -> None:
        super().derive()  # type: ignore[misc]
        self.note_move()

    def note_move(self) -> None:
        """Advance `rescheduled_at`, by a second at least, if a calendar field differs from what is stored."""
        now = self._calendar_values()
        if "_stored" in vars(self) and any(self._stored.get(name, self) != now[name] for name in now):
            self.rescheduled_at = max(this_second(), self.rescheduled_at + SECOND)
        self._stored = now

    def _calendar_values(self) -> dict[str, object]:
        return {name: vars(self)[name] for name in CALENDAR_FIELDS if name in vars(self)}


class RescheduledQuerySet(ContentQuerySet[Any]):
    """Rows whose bulk changes note what moved, as single saves do."""

    def update(self, **kwargs: object) -> int:
        moved = {self._column(name): value for name, value in kwargs.items()}
        moved = {name: value for name, value in moved.items() if name in CALENDAR_FIELDS}
        if moved and FIELD not in kwargs:
            later = Greatest(Value(this_second()), F(FIELD) + Value(SECOND))
            kwargs[FIELD] = Case(When(_unmoved(moved), then=F(FIELD)), default=later)
        return super().update(**kwargs)

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_update(
        self, objs: Iterable[object], fields: Iterable[str], batch_size: int | None = None
    ) -> int:
        return super().bulk_update(objs, [*dict.fromkeys([*fields, FIELD])], batch_size=batch_size)

    def _column(self, name: str) -> str:
        return getattr(self.model._meta.get_field(name), "attname", name)


def _unmoved(values: dict[str, object]) -> Q:
    """Rows that have these values already."""
    same = Q()
    for name, value in values.items():
        key = value.pk if isinstance(value, models.Model) else value
        same &= Q(**{f"{name}__isnull": True}) if key is None else Q(**{name: key})
    return same
