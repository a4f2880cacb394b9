"""Rows of the history that were public and are no longer: until when, and with which values.

Only `published()` decides what is public now. A model's `public_when` expresses the same rule in terms that
the history records: the row's values, the gates of its edition, the rows that it belongs to.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import batched
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Model, Q
from django.db.models.fields.json import KeyTransform

from content.array_lookup import AnyOf
from content.editions import get_edition_model
from content.history import ERASURE, ChangeSet, Origin, RowChange, RowChangeQuerySet
from content.preview_context import GATES
from content.row_values import BATCH_ROWS, Values, read_values_by_key, related_model

if TYPE_CHECKING:
    from content.models import Content

Kind = RowChange.Kind
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
    model: "type[Content]", keys: Iterable[int], columns: Collection[str], at: datetime
) -> list[FormerState]:
    """Return the rows that ceased to be public because they were deleted or withdrawn, sorted by `until`.

    Rows are also returned if a row that they belong to was. Not returned are rows that became drafts, were
    hidden or postponed, or whose gate was closed, nor rows that belong to such. Titles are empty if the row
    ceased to be public before the last erasure of a person.
    """
    found = [one for one in _reported(model, keys, columns, at).values() if one]
    erased = _last_erasure() if found else EARLIEST
    found = [one._replace(values=_untitled(one.values)) if one.ended <= erased else one for one in found]
    return sorted(found, key=lambda one: (one.until, one.key))


def _last_erasure() -> datetime:
    """Return when a person was last erased, whose name older texts may still contain."""
    erasures = ChangeSet.objects.filter(origin=Origin.COMMAND, detail=ERASURE)
    return erasures.order_by("-at").values_list("at", flat=True).first() or EARLIEST


def _untitled(values: Values) -> Values:
    return {name: "" if name in ("title", "name") else value for name, value in values.items()}


# The reported state by primary key; `None` if the row is public.
type Reported = dict[int, FormerState | None]


def _reported(
    model: "type[Content]", keys: Iterable[int], columns: Collection[str], at: datetime, levels: int = 3
) -> Reported:
    """Return the rows that are public, and those that `formerly_public()` reports."""
    when = model.public_when
    if when is None:
        return {}
    rows = public_spans(model, [*keys], columns, at, levels)
    found: Reported = {key: None for key, spans in rows.items() if spans and spans[-1].end >= at}
    ended = {key: spans[-1] for key, spans in rows.items() if spans and spans[-1].end < at}
    names = {*when.having, *when.within, *filter(None, [when.since])}
    later = {
        key: [span for span in spans if span.end > ended[key].end]
        for key, spans in past_states(model, ended, names, at).items()
    }
    ended = {key: last for key, last in ended.items() if all(_is_out(span, when, at) for span in later[key])}
    gates = open_spans({last.edition for last in ended.values() if last.edition}, when.gates, at)
    around: dict[str, Reported] = {}
    for name in when.within if levels else ():
        target: type[Content] = related_model(model, name)  # type: ignore[assignment]
        keys = {_key(span, name) for key, last in ended.items() for span in (last, *later[key])} - {0}
        around[name] = _reported(target, keys, (), at, levels - 1)
    for key, last in ended.items():
        opened = EARLIEST
        if last.edition is not None:
            open_ = gates[last.edition][-1:]
            if not open_ or open_[0].end < at:
                continue
            opened = open_[0].start
        if one := _lost(key, last, later[key], around):
            found[key] = one._replace(until=max(one.until, opened))
    return found


def _lost(key: int, last: Span, later: list[Span], around: Mapping[str, Reported]) -> FormerState | None:
    """Return a row's last public state if a deletion or withdrawal ended it, of it or a row it belonged to.

    `later` are its states since. All rows that it belonged to then or belongs to now must be public or
    reported, too.
    """
    until = last.end
    is_lost = not later or later[0].start > last.end or later[0].values.get("status") == WITHDRAWN
    for name, reported in around.items():
        for target in {_key(span, name) for span in (last, *later)} - {0}:
            if target not in reported:
                return None
            if gone := reported[target]:
                until = max(until, gone.until)
                is_lost = is_lost or (target == _key(last, name) and gone.ended == last.end)
    return FormerState(key, last.values, last.edition, last.end, until) if is_lost else None


def _is_out(span: Span, when: PublicWhen, at: datetime) -> bool:
    """Return whether a row with these values would be public, or is withdrawn."""
    is_shown = _has(span.values, when.having) or span.values.get("status") == WITHDRAWN
    moment = span.values[when.since] if when.since else ""
    return is_shown and (not when.since or bool(moment and datetime.fromisoformat(str(moment)) <= at))


def public_spans(
    model: "type[Content]", keys: Collection[int], columns: Collection[str], at: datetime, levels: int = 3
) -> dict[int, list[Span]]:
    """Return when each of these rows was public up to `at`, with the values of these columns.

    `levels` is how many `within` are followed: a presentation belongs to a session, which is part of another.
    """
    when = model.public_when
    if when is None or not keys:
        return {key: [] for key in keys}
    has_edition = model.edition_lookup == EDITION
    names = {*columns, *when.having, *when.within, *filter(None, [when.since])}
    names |= {EDITION} if has_edition else set()
    rows = {
        key: [span for span in spans if _has(span.values, when.having)]
        for key, spans in past_states(model, keys, names, at).items()
    }
    if when.since:
        rows = {key: [*_since(spans, when.since)] for key, spans in rows.items()}
    if has_edition:
        every = [span for spans in rows.values() for span in spans]
        gates = open_spans({_key(span, EDITION) for span in every} - {0}, when.gates, at)
        rows = {key: [*_in_edition(spans, gates)] for key, spans in rows.items()}
    for name in when.within if levels else ():
        targets = {_key(span, name) for spans in rows.values() for span in spans} - {0}
        target: type[Content] = related_model(model, name)  # type: ignore[assignment]
        around = public_spans(target, targets, (), at, levels - 1)
        rows = {key: [*_within(spans, name, around)] for key, spans in rows.items()}
    return rows


def past_states(
    model: type[Model], keys: Collection[int], names: Collection[str], at: datetime
) -> dict[int, list[Span]]:
    """Return the states of each row up to `at`, the earliest first, from its present values and changes."""
    wanted = [*keys]
    changes = _changes(model, wanted, [*names])
    found: dict[int, list[Span]] = {}
    now = read_values_by_key(model, wanted, names)
    for key in wanted:
        values, end, spans = now.get(key), at, []
        for moment, kind, recorded in changes[key]:
            start = min(moment, end)
            if values is not None and start < end:
                spans.append(Span(start, end, values))
            end = start
            if kind == Kind.CREATED:
                values = None
            elif kind == Kind.DELETED:
                values = recorded
            elif values is not None:
                values = {**values, **recorded}
        if values is not None and end > EARLIEST:
            spans.append(Span(EARLIEST, end, values))
        found[key] = spans[::-1]
    return found


def _changes(
    model: type[Model], keys: Collection[int], names: Sequence[str]
) -> dict[int, list[tuple[datetime, str, Values]]]:
    """Return when and how each row changed, with the values before, the latest first.

    Of a changed row no other values are read, since some are long texts. Of a deleted row all are, since
    SQLite cannot distinguish a JSON string from the JSON that it may look like.
    """
    found: dict[int, list[tuple[int, datetime, str, Values]]] = {key: [] for key in keys}
    columns = ("object_id", "pk", "change_set__at", "kind")
    for batch in batched(keys, BATCH_ROWS, strict=False):
        rows = RowChange.objects.filter(AnyOf("object_id", batch), model=model._meta.label_lower).order_by()
        here = rows.filter(Q(kind=Kind.CREATED) | Q(kind=Kind.CHANGED, values__has_any_keys=names))
        pairs = [KeyTransform(name, "values") for name in names]
        for key, number, at, kind, *values in here.values_list(*columns, *pairs):
            before = {name: pair[0] for name, pair in zip(names, values, strict=True) if pair}
            found[key].append((number, at, kind, before))
        for key, number, at, kind, values in rows.filter(kind=Kind.DELETED).values_list(*columns, "values"):
            found[key].append((number, at, kind, {name: values.get(name) for name in names}))
    return {
        key: [
            (at, kind, values) for _number, at, kind, values in sorted(rows, key=itemgetter(0), reverse=True)
        ]
        for key, rows in found.items()
    }


def open_spans(editions: Collection[int], gates: Iterable[str], at: datetime) -> dict[int, list[Span]]:
    """Return when all of these gates of each edition were open."""
    names = [*gates]
    found: dict[int, list[Span]] = {}
    for key, spans in past_states(get_edition_model(), editions, GATES, at).items():
        open_ = [span for span in spans if all(span.values[name] for name in names)]
        found[key] = _joined(span for one in open_ if (span := _begun(one, names)) is not None)
    return found


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Merge adjacent spans."""
    found: list[Span] = []
    for span in spans:
        if found and found[-1].end == span.start:
            found[-1] = found[-1]._replace(end=span.end)
        else:
            found.append(span)
    return found


def _begun(span: Span, names: Iterable[str]) -> Span | None:
    """Return the part of a span after all of these times of its row; `None` if it is empty."""
    start = max(span.start, *(datetime.fromisoformat(str(span.values[name])) for name in names))
    return span._replace(start=start) if start < span.end else None


def _has(values: Values, having: Mapping[str, tuple[object, ...]]) -> bool:
    return all(values[name] in allowed for name, allowed in having.items())


def _key(span: Span, name: str) -> int:
    value = span.values[name]
    return value if isinstance(value, int) else 0


def _since(spans: Iterable[Span], name: str) -> Iterable[Span]:
    for span in spans:
        if span.values[name] and (begun := _begun(span, [name])):
            yield begun


def _in_edition(spans: Iterable[Span], gates: Mapping[int, list[Span]]) -> Iterable[Span]:
    """Yield the parts of spans in which the gates were open. Rows of the whole site have none."""
    for span in spans:
        if edition := _key(span, EDITION):
            for open_ in gates[edition]:
                yield from _overlap(span._replace(edition=edition), open_)
        else:
            yield span


def _within(spans: Iterable[Span], name: str, around: Mapping[int, list[Span]]) -> Iterable[Span]:
    for span in spans:
        if key := _key(span, name):
            for one in around[key]:
                yield from _overlap(span._replace(edition=span.edition or one.edition), one)
        else:
            yield span


def _overlap(span: Span, other: Span) -> Iterable[Span]:
    start, end = max(span.start, other.start), min(span.end, other.end)
    if start < end:
        yield span._replace(start=start, end=end)


def candidate_keys(
    model: "type[Content]", editions: Collection[int] | None, at: datetime, since: datetime = EARLIEST
) -> set[int]:
    """Return the keys of rows that may have ceased to be public since then, of these editions or of all.

    Editions whose gates are closed now are skipped. Of those that opened since, all changes count.
    """
    when = model.public_when
    if when is None:
        return set()
    wanted = get_edition_model()._base_manager.values_list("pk", flat=True) if editions is None else editions
    gates = open_spans([*wanted], when.gates, at)
    opened = {key: spans[-1].start for key, spans in gates.items() if spans and spans[-1].end >= at}
    recent = {key for key, moment in opened.items() if moment >= since}
    of_editions = Q(edition_key__in=opened)
    if editions is None:
        of_editions |= Q(edition_key__isnull=True)
    gone = _deleted(model, None).filter(of_editions)
    found = {
        *gone.filter(Q(change_set__at__gte=since) | Q(edition_key__in=recent)).values_list(
            "object_id", flat=True
        )
    }
    return found | _withdrawn(model, opened.keys() - recent, since) | _withdrawn(model, recent, EARLIEST)


def _withdrawn(
    model: "type[Content]", editions: Collection[int], since: datetime, levels: int = 3
) -> set[int]:
    """Return the keys of rows that were withdrawn since then, or belong to a row that was."""
    when = model.public_when
    if when is None or not editions or not levels:
        return set()
    # Not every model has a status.
    rows: Any = model._base_manager.order_by().filter(**{f"{model.edition_lookup}__in": editions})
    found: set[int] = set()
    if "status" in when.having:
        keys = rows.filter(status=WITHDRAWN).values_list("pk", flat=True)
        changes = RowChange.objects.order_by().filter(AnyOf("object_id", keys), model=model._meta.label_lower)
        recent = changes.filter(kind=Kind.CHANGED, values__has_key="status", change_set__at__gte=since)
        found |= {*recent.values_list("object_id", flat=True)}
    for name in when.within:
        target: type[Content] = related_model(model, name)  # type: ignore[assignment]
        targets = _withdrawn(target, editions, since, levels - 1)
        found |= {*rows.filter(AnyOf(name, targets)).values_list("pk", flat=True)}
    return found


def keys_with_value(model: "type[Content]", edition: int | None, column: str, value: object) -> set[int]:
    """Return the keys of the rows that have this value, an id, or had it when they were deleted."""
    if column == "pk":
        return {int(str(value))}
    gone = _deleted(model, None if edition is None else [edition]).filter(**{f"values__{column}": value})
    here = model._base_manager.filter(**{column: value})
    if edition is not None:
        here = here.filter(**{model.edition_lookup: edition})
    return {*gone.values_list("object_id", flat=True), *here.values_list("pk", flat=True)}


def _deleted(model: "type[Content]", editions: Collection[int] | None) -> RowChangeQuerySet:
    rows = RowChange.objects.order_by().filter(model=model._meta.label_lower, kind=Kind.DELETED)
    return rows if editions is None else rows.filter(edition_key__in=editions)
