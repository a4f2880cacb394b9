"""Which rows of the history were public and are no longer: until when, and with which values.

As the program computed it until tombstones recorded it; only the migration of earlier rows reads it. The rules say
when rows are public in terms that the history records: the row's values, the gates of its edition, the rows that it
belongs to.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import batched
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.migrations.state import StateApps
from django.db.models import Q
from django.db.models.fields.json import KeyTransform

from content.array_lookup import AnyOf
from content.row_values import BATCH_ROWS, Values, read_values_by_key, related_model

CREATED, CHANGED, DELETED = "created", "changed", "deleted"
ERASURE, COMMAND = "erase_personal_data", "command"
GATES = ("public_from", "papers_public_from", "schedule_public_from")
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
# The gates that open an edition's pages, its papers, its timetable.
SITE, PAPERS, SCHEDULE = GATES[:1], (GATES[0], GATES[1]), (GATES[0], GATES[2])
EDITION, WITHDRAWN = "edition", "withdrawn"


@dataclass(frozen=True, slots=True)
class PublicWhen:
    """The rule for when rows of a model are public: they have the values `having`, and the gates are open.

    `within`: foreign keys whose targets, if set, must be public too. A row without an edition of its own
    belongs to the target's. `since`: the field with the time from which a row is public.
    """

    gates: tuple[str, ...]
    having: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    since: str = ""

    @property
    def columns(self) -> set[str]:
        return {*self.having, *self.within, *filter(None, [self.since])}


RULES = {
    "conference.page": PublicWhen(SITE, {"status": ("published",)}),
    "conference.sponsor": PublicWhen(SITE, {"status": ("published",)}),
    "conference.announcement": PublicWhen(SITE, {"status": ("published",)}, since="published_at"),
    "conference.keydate": PublicWhen(SITE, {"status": ("published",)}),
    "papers.paper": PublicWhen(PAPERS, {"status": ("published",)}),
    "papers.material": PublicWhen(PAPERS, {"visible": (True,)}, within=("paper",)),
    "papers.award": PublicWhen(PAPERS, {"status": ("published",)}),
    "schedule.session": PublicWhen(SCHEDULE, {"status": ("published", "cancelled")}, within=("parent",)),
    "schedule.presentation": PublicWhen(
        SCHEDULE, {"status": ("published", "cancelled")}, within=("session", "paper")
    ),
    "schedule.release": PublicWhen(SCHEDULE, since="published_at"),
}
# The models of the migration.
_state: list[StateApps] = []


def read_with(apps: StateApps) -> None:
    """Read the models of this state of the migrations."""
    _state[:] = [apps]


def _rule(model: Any) -> PublicWhen | None:
    return RULES.get(model._meta.label_lower)


def _edition_lookup(model: Any) -> str:
    return "paper__edition" if model._meta.label_lower == "papers.material" else EDITION


class Span(NamedTuple):
    """The values of a row in a half-open span of time; `edition` is the key of its edition."""

    start: datetime
    end: datetime
    values: Values
    edition: int | None = None


class FormerState(NamedTuple):
    """A row that was public: its last public values, when that ended, and since when it is reported."""

    key: int
    values: Values
    edition: int | None
    ended: datetime
    until: datetime


def formerly_public(
    model: Any, keys: Iterable[int], columns: Collection[str], at: datetime
) -> list[FormerState]:
    """Return the rows that ceased to be public because they were deleted or withdrawn, sorted by `until`.

    Rows are also returned if a row that they belong to was. Not returned are rows that became drafts, were
    hidden or postponed, or whose gate was closed, nor rows that belong to such. Titles are empty if the row
    ceased to be public before the last erasure of a person.
    """
    states = [state for state in _reported_states(model, keys, columns, at).values() if state]
    last_erasure = _last_erasure() if states else EARLIEST
    states = [
        state._replace(values=_without_title(state.values)) if state.ended <= last_erasure else state
        for state in states
    ]
    return sorted(states, key=lambda state: (state.until, state.key))


def _last_erasure() -> datetime:
    """Return when a person was last erased, whose name older texts may still contain."""
    erasures = _state[0].get_model("content", "ChangeSet").objects.filter(origin=COMMAND, detail=ERASURE)
    return erasures.order_by("-at").values_list("at", flat=True).first() or EARLIEST


def _without_title(values: Values) -> Values:
    return {name: "" if name in ("title", "name") else value for name, value in values.items()}


# The reported state by primary key; `None` if the row is public.
type Reported = dict[int, FormerState | None]


def _reported_states(
    model: Any, keys: Iterable[int], columns: Collection[str], at: datetime, levels: int = 3
) -> Reported:
    """Return the rows that are public, and those that `formerly_public()` reports."""
    rule = _rule(model)
    if rule is None:
        return {}
    spans_by_key = public_spans(model, [*keys], columns, at, levels)
    reported: Reported = {key: None for key, spans in spans_by_key.items() if spans and spans[-1].end >= at}
    last_spans = {key: spans[-1] for key, spans in spans_by_key.items() if spans and spans[-1].end < at}
    later_spans = {
        key: [span for span in spans if span.end > last_spans[key].end]
        for key, spans in past_states(model, last_spans, rule.columns, at).items()
    }
    last_spans = {
        key: last_span
        for key, last_span in last_spans.items()
        if all(_is_visible_or_withdrawn(span, rule, at) for span in later_spans[key])
    }
    gate_spans = open_spans(
        {last_span.edition for last_span in last_spans.values() if last_span.edition}, rule.gates, at
    )
    reported_targets: dict[str, Reported] = {}
    for name in rule.within if levels else ():
        target: Any = related_model(model, name)
        spans = [span for key in last_spans for span in (last_spans[key], *later_spans[key])]
        reported_targets[name] = _reported_states(target, _related_keys(spans, name), (), at, levels - 1)
    for key, last_span in last_spans.items():
        opened_at = EARLIEST
        if last_span.edition is not None:
            latest_opening = gate_spans[last_span.edition][-1:]
            if not latest_opening or latest_opening[0].end < at:
                continue
            opened_at = latest_opening[0].start
        if state := _former_state(key, last_span, later_spans[key], reported_targets):
            reported[key] = state._replace(until=max(state.until, opened_at))
    return reported


def _former_state(
    key: int, last_span: Span, later_spans: list[Span], reported_targets: Mapping[str, Reported]
) -> FormerState | None:
    """Return a row's last public state if a deletion or withdrawal ended it, of it or a row it belonged to.

    `later_spans` are its states since. All rows that it belonged to then or belongs to now must be public or
    reported, too.
    """
    until = last_span.end
    was_removed = (
        not later_spans
        or later_spans[0].start > last_span.end
        or later_spans[0].values.get("status") == WITHDRAWN
    )
    for name, reported in reported_targets.items():
        for target in _related_keys([last_span, *later_spans], name):
            if target not in reported:
                return None
            if target_state := reported[target]:
                until = max(until, target_state.until)
                was_removed = was_removed or (
                    target == _related_key(last_span, name) and target_state.ended == last_span.end
                )
    return (
        FormerState(key, last_span.values, last_span.edition, last_span.end, until) if was_removed else None
    )


def _is_visible_or_withdrawn(span: Span, rule: PublicWhen, at: datetime) -> bool:
    """Return whether a row with these values would be public, or is withdrawn."""
    matches = _has_values(span.values, rule.having) or span.values.get("status") == WITHDRAWN
    public_since = span.values[rule.since] if rule.since else ""
    return matches and (
        not rule.since or bool(public_since and datetime.fromisoformat(str(public_since)) <= at)
    )


def public_spans(
    model: Any, keys: Collection[int], columns: Collection[str], at: datetime, levels: int = 3
) -> dict[int, list[Span]]:
    """Return when each of these rows was public up to `at`, with the values of these columns.

    `levels` is how many `within` are followed: a presentation belongs to a session, which is part of another.
    """
    rule = _rule(model)
    if rule is None or not keys:
        return {key: [] for key in keys}
    has_edition = _edition_lookup(model) == EDITION
    names = {*columns, *rule.columns, *([EDITION] if has_edition else [])}
    spans_by_key = {
        key: [span for span in spans if _has_values(span.values, rule.having)]
        for key, spans in past_states(model, keys, names, at).items()
    }
    if rule.since:
        spans_by_key = {key: [*_clip_to_times(spans, [rule.since])] for key, spans in spans_by_key.items()}
    if has_edition:
        all_spans = [span for spans in spans_by_key.values() for span in spans]
        gate_spans = open_spans(_related_keys(all_spans, EDITION), rule.gates, at)
        spans_by_key = {key: [*_clip_to_gates(spans, gate_spans)] for key, spans in spans_by_key.items()}
    for name in rule.within if levels else ():
        all_spans = [span for spans in spans_by_key.values() for span in spans]
        target: Any = related_model(model, name)
        target_spans = public_spans(target, _related_keys(all_spans, name), (), at, levels - 1)
        spans_by_key = {
            key: [*_clip_to_targets(spans, name, target_spans)] for key, spans in spans_by_key.items()
        }
    return spans_by_key


def past_states(
    model: Any, keys: Collection[int], names: Collection[str], at: datetime
) -> dict[int, list[Span]]:
    """Return the states of each row up to `at`, the earliest first, from its present values and changes."""
    row_keys = [*keys]
    changes = _changes_by_key(model, row_keys, [*names])
    states: dict[int, list[Span]] = {}
    current_values = read_values_by_key(model, row_keys, names)
    for key in row_keys:
        values, end, spans = current_values.get(key), at, []
        for moment, kind, old_values in changes[key]:
            start = min(moment, end)
            if values is not None and start < end:
                spans.append(Span(start, end, values))
            end = start
            if kind == CREATED:
                values = None
            elif kind == DELETED:
                values = old_values
            elif values is not None:
                values = {**values, **old_values}
        if values is not None and end > EARLIEST:
            spans.append(Span(EARLIEST, end, values))
        states[key] = spans[::-1]
    return states


def _changes_by_key(
    model: Any, keys: Collection[int], names: Sequence[str]
) -> dict[int, list[tuple[datetime, str, Values]]]:
    """Return when and how each row changed, with the values before, the latest first.

    Of a changed row no other values are read, since some are long texts. Of a deleted row all are, since
    SQLite cannot distinguish a JSON string from the JSON that it may look like.
    """
    changes_by_key: dict[int, list[tuple[int, datetime, str, Values]]] = {key: [] for key in keys}
    columns = ("object_id", "pk", "change_set__at", "kind")
    for batch in batched(keys, BATCH_ROWS, strict=False):
        changes = (
            _state[0]
            .get_model("content", "RowChange")
            .objects.filter(AnyOf("object_id", batch), model=model._meta.label_lower)
            .order_by()
        )
        created_or_changed = changes.filter(Q(kind=CREATED) | Q(kind=CHANGED, values__has_any_keys=names))
        transforms = [KeyTransform(name, "values") for name in names]
        for key, change_key, at, kind, *values in created_or_changed.values_list(*columns, *transforms):
            old_values = {name: pair[0] for name, pair in zip(names, values, strict=True) if pair}
            changes_by_key[key].append((change_key, at, kind, old_values))
        for key, change_key, at, kind, values in changes.filter(kind=DELETED).values_list(*columns, "values"):
            changes_by_key[key].append((change_key, at, kind, {name: values.get(name) for name in names}))
    return {
        key: [
            (at, kind, values)
            for _number, at, kind, values in sorted(changes, key=itemgetter(0), reverse=True)
        ]
        for key, changes in changes_by_key.items()
    }


def open_spans(editions: Collection[int], gates: Iterable[str], at: datetime) -> dict[int, list[Span]]:
    """Return when all of these gates of each edition were open."""
    gate_names = [*gates]
    gate_spans: dict[int, list[Span]] = {}
    for key, spans in past_states(_state[0].get_model("conference", "Edition"), editions, GATES, at).items():
        gate_spans[key] = _merge_adjacent(_clip_to_times(spans, gate_names))
    return gate_spans


def _merge_adjacent(spans: Iterable[Span]) -> list[Span]:
    """Merge adjacent spans."""
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].end == span.start:
            merged[-1] = merged[-1]._replace(end=span.end)
        else:
            merged.append(span)
    return merged


def _has_values(values: Values, having: Mapping[str, tuple[object, ...]]) -> bool:
    return all(values[name] in allowed for name, allowed in having.items())


def _related_key(span: Span, name: str) -> int:
    value = span.values[name]
    return value if isinstance(value, int) else 0


def _related_keys(spans: Iterable[Span], name: str) -> set[int]:
    return {_related_key(span, name) for span in spans} - {0}


def _clip_to_times(spans: Iterable[Span], names: Sequence[str]) -> Iterable[Span]:
    """Yield the parts of spans after all of these times of their row, which have to be set."""
    for span in spans:
        times = [span.values[name] for name in names]
        if all(times):
            start = max(span.start, *(datetime.fromisoformat(str(time)) for time in times))
            if start < span.end:
                yield span._replace(start=start)


def _clip_to_gates(spans: Iterable[Span], gate_spans: Mapping[int, list[Span]]) -> Iterable[Span]:
    """Yield the parts of spans in which the gates were open. Rows of the whole site have none."""
    for span in spans:
        if edition := _related_key(span, EDITION):
            for gate_span in gate_spans[edition]:
                yield from _intersect(span._replace(edition=edition), gate_span)
        else:
            yield span


def _clip_to_targets(
    spans: Iterable[Span], name: str, target_spans: Mapping[int, list[Span]]
) -> Iterable[Span]:
    for span in spans:
        if key := _related_key(span, name):
            for target_span in target_spans[key]:
                yield from _intersect(span._replace(edition=span.edition or target_span.edition), target_span)
        else:
            yield span


def _intersect(span: Span, other: Span) -> Iterable[Span]:
    start, end = max(span.start, other.start), min(span.end, other.end)
    if start < end:
        yield span._replace(start=start, end=end)


def candidate_keys(
    model: Any, editions: Collection[int] | None, at: datetime, since: datetime = EARLIEST
) -> set[int]:
    """Return the keys of rows that may have ceased to be public since then, of these editions or of all.

    Editions whose gates are closed now are skipped. Of those that opened since, all changes count.
    """
    rule = _rule(model)
    if rule is None:
        return set()
    edition_keys = (
        _state[0].get_model("conference", "Edition")._base_manager.values_list("pk", flat=True)
        if editions is None
        else editions
    )
    gate_spans = open_spans([*edition_keys], rule.gates, at)
    opened_at = {key: spans[-1].start for key, spans in gate_spans.items() if spans and spans[-1].end >= at}
    recently_opened = {key for key, moment in opened_at.items() if moment >= since}
    of_editions = Q(edition_key__in=opened_at)
    if editions is None:
        of_editions |= Q(edition_key__isnull=True)
    deletions = _deletions(model, None).filter(of_editions)
    recent = deletions.filter(Q(change_set__at__gte=since) | Q(edition_key__in=recently_opened))
    return {
        *recent.values_list("object_id", flat=True),
        *_withdrawn_keys(model, opened_at.keys() - recently_opened, since),
        *_withdrawn_keys(model, recently_opened, EARLIEST),
    }


def _withdrawn_keys(model: Any, editions: Collection[int], since: datetime, levels: int = 3) -> set[int]:
    """Return the keys of rows that were withdrawn since then, or belong to a row that was."""
    rule = _rule(model)
    if rule is None or not editions or not levels:
        return set()
    # Not every model has a status.
    rows: Any = model._base_manager.order_by().filter(**{f"{_edition_lookup(model)}__in": editions})
    withdrawn: set[int] = set()
    if "status" in rule.having:
        keys = rows.filter(status=WITHDRAWN).values_list("pk", flat=True)
        changes = (
            _state[0]
            .get_model("content", "RowChange")
            .objects.order_by()
            .filter(AnyOf("object_id", keys), model=model._meta.label_lower)
        )
        recent_changes = changes.filter(kind=CHANGED, values__has_key="status", change_set__at__gte=since)
        withdrawn |= {*recent_changes.values_list("object_id", flat=True)}
    for name in rule.within:
        target: Any = related_model(model, name)
        targets = _withdrawn_keys(target, editions, since, levels - 1)
        withdrawn |= {*rows.filter(AnyOf(name, targets)).values_list("pk", flat=True)}
    return withdrawn


def _deletions(model: Any, editions: Collection[int] | None) -> Any:
    rows = (
        _state[0]
        .get_model("content", "RowChange")
        .objects.order_by()
        .filter(model=model._meta.label_lower, kind=DELETED)
    )
    return rows if editions is None else rows.filter(edition_key__in=editions)
