"""`<conference>-<year>-orals-posters.json`: a public export that many tools read, with its abstracts.

It lists only orals, posters and spotlights of papers, one row per presentation. A file that is imported and
exported again stays the same.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from urllib.parse import quote

from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile
from exchange.formats.orals_posters.events import (
    FIELDS,
    KINDS,
    MAX_TOPIC_LEVELS,
    EventAuthor,
    escape_entities,
    link_fields,
    split_topic,
)
from exchange.formats.orals_posters.records import (
    TopicTree,
    read,
    recognizes,
    split_affiliations,
    split_repeated_authors,
)
from exchange.reading.values import program_zone, slug, tidy
from exchange.records import (
    AuthorRecord,
    PaperRecord,
    PresentationRecord,
    Program,
    SessionRecord,
    first_stated,
    stated,
)

SECOND_SLOT_SUFFIX = "-2"
# Numbers are below 2**53, so that every reader of JSON takes them exactly.
HEX_DIGITS = 12


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One row: a presentation with its paper, its session if scheduled, and its second slot."""

    presentation: PresentationRecord
    paper: PaperRecord
    session: SessionRecord | None
    second: PresentationRecord | None = None

    def times(self, presentation: PresentationRecord | None) -> tuple[datetime | None, datetime | None]:
        """Return start and end of the presentation, or else of the session."""
        if presentation is None:
            return None, None
        start, end = (first_stated(name, presentation, self.session) for name in ("start", "end"))
        return start, max(start, end) if start and end else end

    @property
    def room(self) -> str | None:
        room: str | None = first_stated("room", self.presentation, self.session)
        return room

    @property
    def is_public(self) -> bool:
        statuses = (stated(self.presentation.status, ""), stated(self.paper.status, ""))
        return all(status in ("", "published") for status in statuses)


def output_rows(program: Program, context: Context) -> list[OutputRow]:
    """Return presentations of papers that count as oral, poster or spotlight, second slots with the first."""
    papers = {paper.uid: paper for paper in program.papers if stated(paper.title, "").strip()}
    sessions = {
        session.uid: session
        for session in program.sessions
        if stated(session.start, None) and stated(session.end, None) and stated(session.title, "").strip()
    }
    found: dict[str, OutputRow] = {}
    for shown in program.presentations:
        paper = papers.get(stated(shown.paper, None) or "")
        _name, kind = context.own_kind("presentation", stated(shown.kind, ""))
        if paper and kind in KINDS:
            session = sessions.get(stated(shown.session, None) or "")
            found[shown.uid] = OutputRow(replace(shown, kind=kind), paper, session)
    seconds = {uid: shown.presentation for uid, shown in found.items() if _is_second(shown, found)}
    return [
        replace(shown, second=seconds.get(f"{uid}{SECOND_SLOT_SUFFIX}"))
        for uid, shown in found.items()
        if uid not in seconds
    ]


def _is_second(shown: OutputRow, found: Mapping[str, OutputRow]) -> bool:
    """Return whether this is a second slot: its uid extends that of another one that differs by time only."""
    own = shown.presentation
    uid = own.uid.removesuffix(SECOND_SLOT_SUFFIX)
    first = found.get(uid) if uid != own.uid else None
    if first is None or uid.endswith(SECOND_SLOT_SUFFIX) or not isinstance(own.start, datetime):
        return False
    other = first.presentation
    same = ("kind", "paper", "session", "board", "room", "status")
    return all(getattr(own, name) == getattr(other, name) for name in same)


class EventWriter:
    def __init__(self, program: Program, context: Context) -> None:
        self.context, self.site = context, context.site_url.rstrip("/")
        self.zone = program_zone(program, context)
        self.shown = output_rows(program, context)
        self.numbers = assign_numbers(context.edition, (shown.presentation.uid for shown in self.shown))
        self.institutions = {record.slug: stated(record.name, "") for record in program.institutions}
        self.room_names = {room.slug: stated(room.name, "") or room.slug for room in program.rooms}
        self.rooms: dict[str, str] = {}
        self.topics = TopicTree()
        self.own_topics = TopicTree({topic.slug: topic for topic in program.topics})
        self.by_paper: dict[str, list[OutputRow]] = {}
        for shown in self.shown:
            self.by_paper.setdefault(shown.paper.uid, []).append(shown)

    def page(self) -> Iterator[bytes]:
        yield f'{{"count": {len(self.shown)}, "next": null, "previous": null, "results": ['.encode()
        empty: dict[str, object] = dict.fromkeys(FIELDS)
        empty |= {"children": [], "children_ids": [], "schedule_html": ""}
        opening = b"\n"
        for shown in self.shown:
            yield opening + _json({**empty, **self._paper(shown.paper), **self._event(shown)})
            opening = b",\n"
        yield b"\n]}\n"

    def _paper(self, paper: PaperRecord) -> dict[str, object]:
        track = tidy(stated(paper.track, ""))
        # Exports have no venue group: they link to the list of the track's papers on this site.
        has_address = self.site and track
        source = f"{self.site}/{self.context.edition}/papers/?track={quote(track)}" if has_address else None
        return {
            "uid": paper.uid,
            "name": escape_entities(tidy(stated(paper.title, ""))),
            "authors": self._authors(paper),
            "abstract": stated(paper.abstract, None),
            "topic": self._topic(stated(paper.topic, None)),
            "keywords": [escape_entities(word) for word in map(tidy, stated(paper.keywords, ())) if word],
            "decision": escape_entities(tidy(stated(paper.decision, ""))),
            "sourceurl": source,
            **link_fields(stated(paper.materials, ()), self.context.site_url),
        }

    def _event(self, shown: OutputRow) -> dict[str, object]:
        others = [other for other in self.by_paper[shown.paper.uid] if other is not shown]
        kind = str(shown.presentation.kind).capitalize()
        room = None
        if shown.room:
            # Names with the same slug are written in one spelling.
            name = tidy(self.room_names.get(shown.room, shown.room)) or shown.room
            room = escape_entities(self.rooms.setdefault(slug(name), name))
        title = escape_entities(tidy(stated(shown.session.title, ""))) if shown.session else None
        parent = stable_number(self.context.edition, "session", shown.session.uid) if shown.session else None
        slots = (*shown.times(shown.presentation), *shown.times(shown.second))
        times = [time.astimezone(self.zone).isoformat() if time else None for time in slots]
        return {
            "id": self.numbers[shown.presentation.uid],
            "session": title,
            "eventtype": kind,
            "event_type": kind,
            "room_name": room,
            "virtualsite_url": self._path(shown),
            **dict(zip(("starttime", "endtime", "starttime2", "endtime2"), times, strict=True)),
            "parent1": title,
            "parent_id": parent,
            "show_in_schedule_overview": False,
            "visible": shown.is_public,
            "poster_position": escape_entities(tidy(stated(shown.presentation.board, ""))) or None,
            "related_events": [self._path(other) for other in others],
            "related_events_ids": [self.numbers[other.presentation.uid] for other in others],
        }

    def _path(self, shown: OutputRow) -> str:
        number = self.numbers[shown.presentation.uid]
        return f"/virtual/{self.context.year}/{shown.presentation.kind}/{number}"

    def _topic(self, key: str | None) -> str | None:
        """Return the path `Computer Vision->Other`, each level in one spelling."""
        path = split_topic("->".join(self.own_topics.path(key))) or split_topic(key or "")
        key = self.topics.add(path[:MAX_TOPIC_LEVELS])
        return escape_entities("->".join(self.topics.path(key))) or None

    def _authors(self, paper: PaperRecord) -> list[dict[str, object]]:
        """Return the paper's authors in order, each once, with public addresses only."""
        kept, _repeats = split_repeated_authors(filter(None, map(self._author, stated(paper.authors, ()))))
        return [
            {
                "id": author.id,
                "fullname": escape_entities(author.name),
                "url": author.url or None,
                "institution": escape_entities(author.institution) or None,
            }
            for author in kept
        ]

    def _author(self, author: AuthorRecord) -> EventAuthor | None:
        """Return an author with a number: that of the person on this site, else the imported one."""
        person, name = author.person, tidy(author.person.name)
        key = next((int(value) for _, value in person.ids if is_number(value)), None)
        if person.uid:
            key = stable_number("", "person", person.uid)
        url = f"{self.site}/people/{person.uid}/" if self.site and person.uid else ""
        printed = author.affiliations or [self.institutions.get(key, "") for key in author.institutions]
        institution = "; ".join(split_affiliations(";".join(printed)))
        return EventAuthor(name, key, url, institution) if name else None


def write(program: Program, context: Context) -> Iterator[OutputFile]:
    """Write a file with the events and one with their abstracts."""
    writer = EventWriter(program, context)
    yield OutputFile(f"{context.edition}-orals-posters.json", writer.page())
    abstracts = {
        str(writer.numbers[shown.presentation.uid]): shown.paper.abstract
        for shown in writer.shown
        if stated(shown.paper.abstract, "")
    }
    yield OutputFile(f"{context.edition}-abstracts.json", [_json(abstracts, 1), b"\n"])


def _json(value: object, indent: int | None = None) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=indent).encode()


# Numbers derived from uids, by which consumers join rows


def is_number(uid: str) -> bool:
    """Return whether a uid is a decimal number without leading zeros."""
    return uid.isascii() and uid.isdigit() and len(uid) < 16 and str(int(uid)) == uid and uid != "0"


def stable_number(edition: str, kind: str, uid: str) -> int:
    """Return the uid itself if it is a number, else a number from its digest."""
    if is_number(uid):
        return int(uid)
    return int(sha256(f"{edition}/{kind}/{uid}".encode()).hexdigest()[:HEX_DIGITS], 16) + 1


def assign_numbers(edition: str, uids: Iterable[str]) -> dict[str, int]:
    """Return a unique number for each event. If its number is taken, use the next free one."""
    wanted = sorted(set(uids), key=lambda uid: (not is_number(uid), uid))
    taken: set[int] = set()
    found: dict[str, int] = {}
    for uid in wanted:
        value = stable_number(edition, "event", uid)
        while value in taken:
            value += 1
        taken.add(value)
        found[uid] = value
    return found


FORMAT = Format(
    name="orals_posters",
    label=_("Orals and posters (JSON)"),
    description=_("The orals-posters.json of conference sites, with its abstracts: papers and appearances."),
    extensions=("json",),
    media_type="application/json",
    read=read,
    write=write,
    recognizes=recognizes,
)
