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
    split_repeated_authors,
)
from exchange.reading.values import program_zone, slug, tidy, tidy_each
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
    row_by_uid: dict[str, OutputRow] = {}
    for presentation in program.presentations:
        paper = papers.get(stated(presentation.paper, None) or "")
        _name, kind = context.own_kind("presentation", stated(presentation.kind, ""))
        if paper and kind in KINDS:
            session = sessions.get(stated(presentation.session, None) or "")
            row_by_uid[presentation.uid] = OutputRow(replace(presentation, kind=kind), paper, session)
    second_slots = {
        uid: row.presentation for uid, row in row_by_uid.items() if _is_second_slot(row, row_by_uid)
    }
    return [
        replace(row, second=second_slots.get(f"{uid}{SECOND_SLOT_SUFFIX}"))
        for uid, row in row_by_uid.items()
        if uid not in second_slots
    ]


def _is_second_slot(row: OutputRow, row_by_uid: Mapping[str, OutputRow]) -> bool:
    """Return whether this is a second slot: its uid extends that of another one that differs by time only."""
    presentation = row.presentation
    uid = presentation.uid.removesuffix(SECOND_SLOT_SUFFIX)
    first_row = row_by_uid.get(uid) if uid != presentation.uid else None
    if first_row is None or uid.endswith(SECOND_SLOT_SUFFIX) or not isinstance(presentation.start, datetime):
        return False
    first_presentation = first_row.presentation
    compared_fields = ("kind", "paper", "session", "board", "room", "status")
    return all(getattr(presentation, name) == getattr(first_presentation, name) for name in compared_fields)


class EventWriter:
    def __init__(self, program: Program, context: Context) -> None:
        self.context, self.site = context, context.site_url.rstrip("/")
        self.zone = program_zone(program, context)
        self.rows = output_rows(program, context)
        self.numbers = assign_numbers(context.edition, (row.presentation.uid for row in self.rows))
        self.institutions = {record.slug: stated(record.name, "") for record in program.institutions}
        self.room_names = {room.slug: stated(room.name, "") or room.slug for room in program.rooms}
        self.rooms: dict[str, str] = {}
        self.topics = TopicTree()
        self.program_topics = TopicTree({topic.slug: topic for topic in program.topics})
        self.rows_by_paper: dict[str, list[OutputRow]] = {}
        for row in self.rows:
            self.rows_by_paper.setdefault(row.paper.uid, []).append(row)

    def page(self) -> Iterator[bytes]:
        yield f'{{"count": {len(self.rows)}, "next": null, "previous": null, "results": ['.encode()
        empty: dict[str, object] = dict.fromkeys(FIELDS)
        empty |= {"children": [], "children_ids": [], "schedule_html": ""}
        opening = b"\n"
        for row in self.rows:
            yield opening + _json({**empty, **self._paper(row.paper), **self._event(row)})
            opening = b",\n"
        yield b"\n]}\n"

    def _paper(self, paper: PaperRecord) -> dict[str, object]:
        track = tidy(stated(paper.track, ""))
        # Exports have no venue group: they link to the list of the track's papers on this site, of the main
        # track to that of all papers.
        query = f"?track={quote(track)}" if track else ""
        source = f"{self.site}/{self.context.edition}/papers/{query}" if self.site else None
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

    def _event(self, row: OutputRow) -> dict[str, object]:
        other_rows = [other_row for other_row in self.rows_by_paper[row.paper.uid] if other_row is not row]
        kind = str(row.presentation.kind).capitalize()
        room = None
        if row.room:
            # Names with the same slug are written in one spelling.
            name = tidy(self.room_names.get(row.room, row.room)) or row.room
            room = escape_entities(self.rooms.setdefault(slug(name), name))
        title = escape_entities(tidy(stated(row.session.title, ""))) if row.session else None
        parent = stable_number(self.context.edition, "session", row.session.uid) if row.session else None
        slots = (*row.times(row.presentation), *row.times(row.second))
        times = [time.astimezone(self.zone).isoformat() if time else None for time in slots]
        return {
            "id": self.numbers[row.presentation.uid],
            "session": title,
            "eventtype": kind,
            "event_type": kind,
            "room_name": room,
            "virtualsite_url": self._path(row),
            **dict(zip(("starttime", "endtime", "starttime2", "endtime2"), times, strict=True)),
            "parent1": title,
            "parent_id": parent,
            "show_in_schedule_overview": False,
            "visible": row.is_public,
            "poster_position": escape_entities(tidy(stated(row.presentation.board, ""))) or None,
            "related_events": [self._path(other_row) for other_row in other_rows],
            "related_events_ids": [self.numbers[other_row.presentation.uid] for other_row in other_rows],
        }

    def _path(self, row: OutputRow) -> str:
        number = self.numbers[row.presentation.uid]
        return f"/virtual/{self.context.year}/{row.presentation.kind}/{number}"

    def _topic(self, key: str | None) -> str | None:
        """Return the path `Computer Vision->Other`, each level in one spelling."""
        path = split_topic("->".join(self.program_topics.path(key))) or split_topic(key or "")
        key = self.topics.add(path[:MAX_TOPIC_LEVELS])
        return escape_entities("->".join(self.topics.path(key))) or None

    def _authors(self, paper: PaperRecord) -> list[dict[str, object]]:
        """Return the paper's authors in order, each once, with public addresses only."""
        authors, _repeats = split_repeated_authors(filter(None, map(self._author, stated(paper.authors, ()))))
        return [
            {
                "id": author.id,
                "fullname": escape_entities(author.name),
                "url": author.url or None,
                "institution": escape_entities(author.institution) or None,
            }
            for author in authors
        ]

    def _author(self, author: AuthorRecord) -> EventAuthor | None:
        """Return an author with a number: that of the person on this site, else the imported one."""
        person, name = author.person, tidy(author.person.name)
        key = next((int(value) for _, value in person.ids if is_number(value)), None)
        if person.uid:
            key = stable_number("", "person", person.uid)
        url = f"{self.site}/people/{person.uid}/" if self.site and person.uid else ""
        affiliations = author.affiliations or [self.institutions.get(key, "") for key in author.institutions]
        institution = "; ".join(tidy_each(";".join(affiliations).split(";")))
        return EventAuthor(name, key, url, institution) if name else None


def write(program: Program, context: Context) -> Iterator[OutputFile]:
    """Write a file with the events and one with their abstracts."""
    writer = EventWriter(program, context)
    yield OutputFile(f"{context.edition}-orals-posters.json", writer.page())
    abstracts = {
        str(writer.numbers[row.presentation.uid]): row.paper.abstract
        for row in writer.rows
        if stated(row.paper.abstract, "")
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
    sorted_uids = sorted(set(uids), key=lambda uid: (not is_number(uid), uid))
    used_numbers: set[int] = set()
    number_by_uid: dict[str, int] = {}
    for uid in sorted_uids:
        value = stable_number(edition, "event", uid)
        while value in used_numbers:
            value += 1
        used_numbers.add(value)
        number_by_uid[uid] = value
    return number_by_uid


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
