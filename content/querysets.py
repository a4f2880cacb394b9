"""Conditions for public rows, on which `published()` is based, and the queryset that records bulk changes."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from content import deletion, preview_context, revision
from content.changed import stamping
from content.history import changed_rows, recording
from content.preview_context import GATES
from content.row_values import (
    PARKED_FROM,
    Values,
    owner_fields,
    read_values,
    read_values_by_key,
    recorded_fields,
    related_model,
    to_json_value,
)

if TYPE_CHECKING:
    from conference.models import Edition
    from content.models import Content


def at_or_now(at: datetime | None) -> datetime:
    """Return `at`, or now if it is `None`."""
    return at or timezone.now()


def is_gate_open(prefix: str, gate: str, at: datetime | None) -> Q:
    """Return the condition that this gate of the edition is open, or that a preview opens it."""
    is_due = Q(**{f"{prefix}{gate}__lte": at_or_now(at)})
    previewed_edition = preview_context.edition_with_open_gate(gate)
    return is_due | Q(**{f"{prefix}pk": previewed_edition}) if previewed_edition else is_due


def or_draft(public: Q, prefix: str = "") -> Q:
    """Extend the condition `public` to drafts in a preview. `prefix` leads to the row with the status."""
    key = preview_context.edition_with_drafts()
    return public | Q(**{f"{prefix}status": "draft", f"{prefix}edition": key}) if key else public


def has_status(statuses: Collection[str], prefix: str = "") -> Q:
    """Return the condition that the row at `prefix` has one of these statuses; in a preview drafts match too.

    In the planned state of an edition, its rows match by the status that they have after the next release.
    """
    public = or_draft(Q(**{f"{prefix}status__in": statuses}), prefix)
    edition = preview_context.planned_edition()
    if edition is None:
        return public
    names = shown_statuses(statuses)
    planned = Q(**{f"{prefix}on_release__in": names}) | Q(
        **{f"{prefix}on_release": "", f"{prefix}status__in": names}
    )
    is_planned = Q(**{f"{prefix}edition": edition})
    return (is_planned & planned) | (~is_planned & public)


def shown_statuses(statuses: Collection[str]) -> tuple[str, ...]:
    """Return the statuses that are shown of the edition whose planned state is read."""
    has_drafts = preview_context.edition_with_drafts() == preview_context.planned_edition()
    return (*statuses, "draft") if has_drafts else (*statuses,)


def is_released(prefix: str = "", edition: str = "edition") -> Q:
    """Return the condition that the row at `prefix`, which has no status, isn't added or is removed later.

    `edition` is the lookup of its edition from `prefix`.
    """
    public = Q(**{f"{prefix}on_release__in": ("", "removed")})
    key = preview_context.planned_edition()
    if key is None:
        return public
    is_planned = Q(**{f"{prefix}{edition}": key})
    return (is_planned & Q(**{f"{prefix}on_release__in": ("", "added")})) | (~is_planned & public)


def or_upcoming(name: str, at: datetime | None) -> Q:
    """Return the condition that the time in this field has come, or that a preview shows the row."""
    is_due, key = Q(**{f"{name}__lte": at_or_now(at)}), preview_context.edition_with_drafts()
    return is_due | Q(edition=key) if key else is_due


def edition_public(prefix: str, at: datetime | None) -> Q:
    """Return the condition that the edition at `prefix`, such as "edition__", is public."""
    return is_gate_open(prefix, "public_from", at)


def papers_public(prefix: str, at: datetime | None) -> Q:
    """Return the condition that the edition's papers, topics and awards are public."""
    return edition_public(prefix, at) & is_gate_open(prefix, "papers_public_from", at)


def schedule_public(prefix: str, at: datetime | None) -> Q:
    """Return the condition that the edition's timetable is public."""
    return edition_public(prefix, at) & is_gate_open(prefix, "schedule_public_from", at)


def public_parts(edition: "Edition", at: datetime | None = None) -> tuple[object, ...]:
    """Return which parts of an edition are public. Cache keys contain this and the revision.

    A preview adds another item, so that its cache entries are never served to the public.
    """
    now = at_or_now(at)
    opening_times = ((gate, getattr(edition, gate)) for gate in GATES)
    is_public = [
        preview_context.edition_with_open_gate(gate) == edition.pk
        or (opens_at is not None and opens_at <= now)
        for gate, opens_at in opening_times
    ]
    return (*is_public, *preview_context.cache_key_part())


def published_rows(model: type[models.Model], relation: str, at: datetime | None) -> Any:
    """Return the published rows of a related model, without importing it."""
    manager: Any = related_model(model, relation)._default_manager
    return manager.published(at)


def in_order(rows: Any, lock: bool) -> dict[int, int]:
    """Return positions by key from rows of (position, key), in order."""
    rows = rows.select_for_update(no_key=True, of=("self",)) if lock else rows
    return {key: position for position, key in sorted(rows)}


class ContentQuerySet[M: "Content"](models.QuerySet[M]):
    """A queryset whose bulk changes derive text and advance revisions as single saves do."""

    def published_related(self, relation: str, at: datetime | None = None) -> Any:
        return published_rows(self.model, relation, at)

    def grouped(self, field: str) -> dict[str, list[M]]:
        """Return the rows by the value of a field, in the order in which the values first appear."""
        groups: dict[str, list[M]] = {}
        for row in self:
            groups.setdefault(getattr(row, field), []).append(row)
        return groups

    def get_edition_keys(self) -> set[int | None]:
        """Return the keys of the editions these rows belong to; `{None}` for rows of the whole site."""
        if not (lookup := self.model.edition_lookup):
            return {None}
        return set(self.order_by().values_list(lookup, flat=True).distinct())

    def update(self, **kwargs: object) -> int:
        with recording.single_change_set() as log:
            editions = self.get_edition_keys()
            before = self._stored_values(kwargs)
            log.watch.before_write(self.model, before, kwargs)
            tied_editions = revision.editions_tied_to([self.model], editions)
            stamping.stamp_losing(log, self.model, before, kwargs.keys())
            count = super().update(**kwargs)
            names = {self.model._meta.get_field(name).name for name in kwargs}
            changed_rows.add_columns(self.model._meta.label_lower, names)
            if before:
                self._record_changes(log, before, kwargs, editions)
            if count and self.model.advances_revision:
                revision.advance({*editions, *tied_editions})
        return count

    update.alters_data = True  # type: ignore[attr-defined]

    def _stored_values(self, updated_names: Iterable[str]) -> dict[int, Values]:
        """Lock the rows, and return the stored values of the recorded fields to be written, by key."""
        fields = recorded_fields(self.model)
        names = {self.model._meta.get_field(name).name for name in updated_names} & fields.keys()
        return read_values(self._locked(), sorted(names.union(owner_fields(self.model)))) if names else {}

    def _locked(self) -> models.QuerySet[M]:
        """Return the rows with the lock of a writer: others may still refer to them."""
        rows: models.QuerySet[M] = self
        if self.query.distinct or self.query.group_by is not None or self.query.combinator:
            rows = self.model._base_manager.filter(pk__in=self.order_by().values("pk"))
        return rows.select_for_update(no_key=True, of=("self",))

    def _record_changes(
        self, log: recording.Log, before: dict[int, Values], updated_values: Values, editions: set[int | None]
    ) -> None:
        fields = recorded_fields(self.model)
        new_values = {self.model._meta.get_field(name).name: value for name, value in updated_values.items()}
        new_values = {name: value for name, value in new_values.items() if name in fields}
        after: dict[int, Values] = {}
        if any(hasattr(value, "resolve_expression") for value in new_values.values()):
            after = read_values_by_key(self.model, before, new_values)
        else:
            python_values = {
                name: fields[name].to_python(to_json_value(value)) for name, value in new_values.items()
            }
            json_values = {name: to_json_value(value) for name, value in python_values.items()}
            after = dict.fromkeys(before, json_values)
        common_edition = next(iter(editions)) if len(editions) == 1 else None
        editions_by_key = recording.editions_by_row(self.model, before) if len(editions) > 1 else {}
        for key, values in before.items():
            edition = editions_by_key.get(key, common_edition)
            log.record_changed(self.model, key, values, after.get(key, {}), edition)

    def parts_of(self, name: str, owner: models.Model) -> Self:
        """Return the rows that belong to a row by the foreign key `name`."""
        return self.filter(**{name: owner})

    def positions(self, *, lock: bool = False) -> dict[int, int]:
        """Return the positions of ordered rows by key, in order; `lock` the rows by key until the end."""
        return in_order(self.order_by("pk").values_list("position", "pk"), lock)

    def set_positions(self, positions: Mapping[int, int]) -> None:
        """Set the positions of these rows, by key. They are unique in between too."""
        self.order_by().update(position=models.F("position") + PARKED_FROM)
        cases = [models.When(pk=key, then=models.Value(place)) for key, place in positions.items()]
        if cases:
            self.order_by().update(position=models.Case(*cases, output_field=models.PositiveIntegerField()))

    def delete(self) -> tuple[int, dict[str, int]]:
        with recording.single_change_set() as log:
            editions = self.get_edition_keys()
            deleted = deletion.delete(self._to_delete(), self, log, editions)
            self._result_cache = None
        return deleted

    def _to_delete(self) -> Self:
        query: Any = self
        if self.query.is_sliced or self.query.distinct_fields or query._fields is not None:
            raise TypeError("Cannot delete slices, distinct rows or values.")
        rows = query._chain()
        rows._for_write = True
        rows.query.select_for_update = rows.query.select_related = False
        rows.query.clear_ordering(force=True)
        deletable: Self = rows
        return deletable

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        rows = list(objs)
        for row in rows:
            row.derive()
        with recording.single_change_set() as log:
            log.watch.before_creation(rows)
            for row in rows:
                stamping.stamp_new(log, row)
            created = super().bulk_create(rows, *args, **kwargs)
            for row in rows:
                log.record_created(row)
            log.watch.after_creation(rows)
            if rows and self.model.advances_revision:
                revision.advance({row.get_edition_key() for row in rows})
        return created

    def bulk_update(self, objs: Iterable[M], fields: Iterable[str], batch_size: int | None = None) -> int:
        rows = list(objs)
        for row in rows:
            row.derive()
        names = [*dict.fromkeys([*fields, *self.model.derived_fields])]
        changed_fields = {*names} - {*self.model.derived_fields}
        tags: set[str] = set()
        if changed_fields <= {*self.model.descriptive_fields}:
            tags.update(*(row.cache_tags(changed_fields) for row in rows))
        with recording.single_change_set(), revision.lock(), revision.invalidate_only(tags or None):
            count = super().bulk_update(rows, names, batch_size=batch_size)
            if rows and self.model.advances_revision:
                revision.advance({row.get_edition_key() for row in rows})
        return count
