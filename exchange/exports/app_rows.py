"""What the files for conference apps write of an edition, as records: of most posters no more than a title.

What is an event is known of all rows first; of events alone the rest is read.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils import timezone

from conference.models import Edition
from content.array_lookup import Among, Keys
from exchange.exports.dump import rank
from exchange.exports.printed_names import PrintedNames
from exchange.imports.kinds import MATERIALS
from exchange.imports.rows import parts_by_owner
from exchange.records import (
    EditionRecord,
    MaterialRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    PresentationRecord,
    Program,
    RoomRecord,
    SessionRecord,
    TopicRecord,
)
from papers.models import Material, Paper, Topic
from people.models import PersonIdentifier
from schedule.models import Presentation, Room, Session

SESSION = (
    *("start", "end", "uid", "kind", "title", "abstract", "status", "cancellation_reason"),
    *("stream_url", "recording_url", "chat_url"),
)
EVENT = ("kind", "abstract", "end", "cancellation_reason", "recording_url")


def program(edition: Edition) -> Program:
    """Return all that such a file says of an edition. Fourteen questions at most."""
    now = timezone.now()
    lines = sorted(_lines(edition.pk, now), key=lambda line: rank(line[2:5]))
    events = _events(lines)
    keys, papers = Keys(line[0] for line in events), Keys({line[1] for line in events if line[1]})
    sessions = sorted(_sessions(edition.pk, now), key=lambda row: rank(row[3:6]))
    people = PrintedNames(now, sessions=[key for key, *_ in sessions], presentations=keys, papers=papers)
    more = {key: values for key, *values in _presentations(keys, now)}
    return Program(
        edition=_edition(edition),
        people=_people(people.keys),
        topics=tuple(TopicRecord(slug=slug, name=name) for slug, name in _topics(edition.pk, now)),
        rooms=tuple(
            RoomRecord(slug=slug, name=name, capacity=capacity)
            for _, slug, name, capacity in sorted(_rooms(edition.pk, now), key=lambda row: row[:2])
        ),
        papers=tuple(_papers(edition, lines, papers, people, now)),
        sessions=tuple(_session(row, people) for row in sessions),
        presentations=tuple(_presentation(line, more.get(line[0]), people) for line in lines),
    )


def _events(lines: list[Any]) -> list[Any]:
    """Return the lines that may be events: with a time of their own, or alone in their session."""
    sizes = Counter(line[2] for line in lines)
    return [line for line in lines if line[6] is not None or (line[2] and sizes[line[2]] == 1)]


def _edition(edition: Edition) -> EditionRecord:
    names = ("slug", "name", "timezone", "start_date", "end_date", "day_start_hour", "accent")
    values: dict[str, Any] = {name: getattr(edition, name) for name in names}
    return EditionRecord(conference=edition.conference.slug, **values)


def _session(row: Any, people: PrintedNames) -> SessionRecord:
    key, room, parent, *values = row
    own: dict[str, Any] = dict(zip(SESSION, values, strict=True))
    return SessionRecord(room=room, parent=parent, roles=people.roles(key), **own)


def _presentation(line: Any, more: list[Any] | None, people: PrintedNames) -> PresentationRecord:
    key, _paper, session, _position, uid, paper, start, title, board, status, _title = line
    said: dict[str, Any] = {}
    if more:
        room, *values = more
        said = {"room": room, "speakers": people.speakers(key), **dict(zip(EVENT, values, strict=True))}
    return PresentationRecord(
        uid=uid, paper=paper, session=session, start=start, title=title, board=board, status=status, **said
    )


def _papers(
    edition: Edition, lines: Iterable[Any], events: Keys, people: PrintedNames, at: datetime
) -> Iterable[PaperRecord]:
    """Return the papers that appear: of those of events all that is said, of the others their titles."""
    titles = {line[5]: line[-1] for line in lines if line[5]}
    materials = Material.objects.published(at).filter(Among("paper_id", events)) if events else None
    links = parts_by_owner(MATERIALS, materials, edition) if materials is not None else {}
    for key, uid, abstract, track, topic in _details(events, at) if events else ():
        yield PaperRecord(
            uid=uid,
            title=titles.pop(uid),
            abstract=abstract,
            track=track,
            topic=topic,
            authors=people.authors(key),
            materials=tuple(MaterialRecord(**link) for link in links.get(key, ())),
        )
    yield from (PaperRecord(uid=uid, title=title) for uid, title in titles.items())


def _people(keys: Keys) -> tuple[PersonRecord, ...]:
    """Return those of whom other systems have names."""
    found: dict[str, list[tuple[str, str]]] = {}
    for uid, scheme, value in _identifiers(keys) if keys else ():
        found.setdefault(uid, []).append((scheme, value))
    return tuple(
        PersonRecord(ref=PersonRef(name="", uid=uid, ids=tuple(sorted(ids)))) for uid, ids in found.items()
    )


# Questions


def _lines(edition: int, at: datetime) -> Any:
    rows = Presentation.objects.published(at).filter(edition=edition).order_by()
    own = ("start", "title", "board", "status")
    return rows.values_list(
        "pk", "paper_id", "session__uid", "position", "uid", "paper__uid", *own, "paper__title"
    )


def _presentations(keys: Keys, at: datetime) -> Any:
    rows = Presentation.objects.published(at).filter(Among("pk", keys)).order_by()
    return rows.values_list("pk", "room__slug", *EVENT)


def _sessions(edition: int, at: datetime) -> Any:
    rows = Session.objects.published(at).filter(edition=edition).order_by()
    return rows.values_list("pk", "room__slug", "parent__uid", *SESSION)


def _details(papers: Keys, at: datetime) -> Any:
    rows = Paper.objects.published(at).filter(Among("pk", papers)).order_by()
    return rows.values_list("pk", "uid", "abstract", "track", "topic__slug")


def _topics(edition: int, at: datetime) -> Any:
    rows = Topic.objects.published(at).filter(edition=edition).order_by()
    return rows.values_list("slug", "name")


def _rooms(edition: int, at: datetime) -> Any:
    rows = Room.objects.published(at).filter(edition=edition).order_by()
    return rows.values_list("position", "slug", "name", "capacity")


def _identifiers(people: Keys) -> Any:
    rows = PersonIdentifier.objects.filter(Among("person_id", people))
    return rows.values_list("person__uid", "scheme", "value")
