"""Base of models whose rows may wait for the next release, and of their querysets."""

from collections import namedtuple
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from content.array_lookup import AnyOf
from content.history.recording import single_change_set
from content.querysets import ContentQuerySet, in_order
from content.unreleased import diversion, plan


class Releasable(models.Model):
    """A row whose changes may wait for the next release of its edition's schedule."""

    # The fields of public rows whose changes wait.
    waiting_fields: ClassVar[frozenset[str]] = frozenset()
    # Whether the deletion of public rows waits.
    removal_waits: ClassVar[bool] = True

    # The status that it takes with the next release, or `added` or `removed`; empty if it keeps its status.
    on_release = models.CharField(
        _("with the release"), max_length=9, blank=True, default="", db_default="", editable=False
    )

    class Meta:
        abstract = True

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        names = None if update_fields is None else {*update_fields}

        def write(written: Collection[str] | None) -> None:
            with plan.settled():
                super(Releasable, self).save(*args, update_fields=written, **kwargs)

        if self._state.adding:
            diversion.save_new(self, partial(write, names))
        else:
            diversion.save_existing(self, names, write)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete the row; a public one is removed with the release if changes wait."""
        model, keys = type(self), [self.pk]
        editions = diversion.editions_that_hold_removals(model, keys)
        if editions and diversion.remove_with_release(model, keys, editions):
            return 0, {}
        return super().delete(*args, **kwargs)

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], **kwargs: Any
    ) -> Self:
        row = super().from_db(db, field_names, values, **kwargs)
        if current := plan.current():
            current.lay_over(row)
        diversion.remember(row)
        return row

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        super().refresh_from_db(*args, **kwargs)
        if current := plan.current():
            current.lay_over(self)
        diversion.remember(self)


class ReleasableQuerySet(ContentQuerySet[Any]):
    """Queryset that asks for planned values, and whose writes become unreleased changes where these wait."""

    # Reading: inside of `planned()`, values are those after the next release.

    def value(self, path: str) -> Any:
        """Return the expression of the value at a path, such as "session__start"."""
        return plan.value_of(self.model, path)

    def matching(self, **lookups: object) -> Self:
        """Filter by lookups, such as `session__start__gte=`."""
        return self.filter(plan.match(self.model, **lookups))

    def rows(self, *columns: str) -> Iterable[Any]:
        """Return named tuples of these columns, which may be annotations."""
        if plan.current() is None:
            return self.values_list(*columns, named=True)
        values = {name: self.value(name) for name in columns if name not in self.query.annotations}
        changed = {f"planned_{name}": value for name, value in values.items() if not isinstance(value, F)}
        names = [f"planned_{name}" if f"planned_{name}" in changed else name for name in columns]
        row: Any = namedtuple("Row", columns)  # type: ignore[misc] # as `values_list()` does
        return [row._make(found) for found in self.annotate(**changed).values_list(*names)]

    def select_related(self, *fields: Any) -> Self:
        """Fetch relations in the same query; where they may be planned, in a further one."""
        apart = [name for name in fields if plan.current() and plan.passes_waiting_field(self.model, name)]
        if not apart:
            return super().select_related(*fields)
        joined = [name for name in fields if name not in apart]
        rows = super().select_related(*joined) if joined else self
        return rows.prefetch_related(*apart)

    def standing(self) -> Self:
        """Leave out the rows that are removed with the release, in the planned state."""
        current = plan.current()
        if current is None:
            return self
        return self.exclude(
            **{self.model.edition_lookup: current.edition.pk, "on_release": diversion.REMOVED}
        )

    def parts_of(self, name: str, owner: models.Model) -> Self:
        """Return the rows that belong to a row in the planned state, in its order."""
        if plan.current() is None:
            return super().parts_of(name, owner)
        rows = self.matching(**{name: owner.pk}).standing()
        return rows.order_by(self.value("position"), "pk") if hasattr(self.model, "siblings_of") else rows

    def positions(self, *, lock: bool = False) -> dict[int, int]:
        return in_order(self.order_by("pk").values_list(self.value("position"), "pk"), lock)

    # Writing

    def set_positions(self, positions: Mapping[int, int]) -> None:
        if not diversion.waiting_editions(self.get_edition_keys()):
            super().set_positions(positions)
            return
        rows = [row for row in self.order_by("pk") if row.position != positions.get(row.pk, row.position)]
        for row in rows:
            row.position = positions[row.pk]
        self.model._default_manager.bulk_update(rows, ["position"])

    def update(self, **kwargs: Any) -> int:
        is_concerned = diversion.is_concerned(self.model, kwargs)
        editions = diversion.waiting_editions(self.get_edition_keys()) if is_concerned else set()
        if not editions:
            return super().update(**kwargs)
        rows = [*self.order_by("pk")]
        computed = {
            name: dict(self.order_by().annotate(computed_value=value).values_list("pk", "computed_value"))
            for name, value in kwargs.items()
            if hasattr(value, "resolve_expression")
        }
        for row in rows:
            for name, value in kwargs.items():
                setattr(row, name, computed[name][row.pk] if name in computed else value)
        with single_change_set():
            held = diversion.hold_back(rows, [*kwargs], editions)
            for written, keys in _by_written_names(rows, [*kwargs], held).items():
                chosen = self.model._default_manager.filter(AnyOf("pk", keys))
                with plan.settled():
                    super(ReleasableQuerySet, chosen).update(**{name: kwargs[name] for name in written})
        return len(rows)

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        rows = [*objs]
        edits = diversion.hold_back_new(rows)
        if not edits:
            return super().bulk_create(rows, *args, **kwargs)
        with single_change_set():
            created = super().bulk_create(rows, *args, **kwargs)
            diversion.finish_new(edits)
        return created

    def bulk_update(self, objs: Iterable[Any], fields: Iterable[str], batch_size: int | None = None) -> int:
        rows, names = [*objs], [*fields]
        editions = diversion.editions_that_hold(rows, names)
        if not editions:
            with plan.settled():
                return super().bulk_update(rows, names, batch_size=batch_size)
        with single_change_set():
            held = diversion.hold_back(rows, names, editions)
            with diversion.showing_public(held, rows), plan.settled():
                for written, keys in _by_written_names(rows, names, held).items():
                    chosen = [row for row in rows if row.pk in keys]
                    chosen = diversion.without_unchanged(chosen, written, held)
                    super().bulk_update(chosen, written, batch_size=batch_size)
        return len(rows)

    def delete(self) -> tuple[int, dict[str, int]]:
        keys = [*self.order_by().values_list("pk", flat=True)]
        editions = diversion.editions_that_hold_removals(self.model, keys)
        if not editions:
            return super().delete()
        with single_change_set():
            removed = diversion.remove_with_release(self.model, keys, editions)
            return super(ReleasableQuerySet, self.exclude(AnyOf("pk", removed))).delete()

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]


def _by_written_names(
    rows: Iterable[Any], names: list[str], held: dict[int, plan.Columns]
) -> dict[tuple[str, ...], set[int]]:
    """Return the keys of the rows by the fields that are written to them; others of `names` wait."""
    keys: dict[tuple[str, ...], set[int]] = {}
    for row in rows:
        columns = held.get(row.pk, {})
        written = tuple(name for name in names if plan.column_of(type(row), name) not in columns)
        if written:
            keys.setdefault(written, set()).add(row.pk)
    return keys
