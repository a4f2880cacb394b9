"""Read sessions and presentations from rows: rooms, boards, times and kinds.

Sessions are matched by title, and if there are several, by day, start and room. A new session gets the times
and the room of its rows. Presentations are matched by paper and kind, and if there are several, by session.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils.translation import gettext

import markup
from exchange.files import Context, KnownRow
from exchange.formats.spreadsheet.cells import Row
from exchange.formats.spreadsheet.mapping import PRESENTATION_FIELDS
from exchange.formats.spreadsheet.row_times import RowTimes, Span
from exchange.formats.spreadsheet.sessions import NamedSessions, NewSession
from exchange.problems import Findings, Where, short
from exchange.reading.papers import (
    OTHER_KINDS,
    PAPER_KINDS,
    PaperParts,
    guess_session_kind,
    make_uid,
    note_placeholders,
    parse_authors,
    person_ref,
)
from exchange.reading.person_names import is_placeholder, note_placeholder
from exchange.reading.values import get_zone, slug, tidy
from exchange.records import (
    UNSTATED,
    PresentationRecord,
    RoleRecord,
    RoomRecord,
    SessionRecord,
    Stated,
)

PRESENTATION_KINDS = (*PAPER_KINDS, "talk", "demo")
# Words for kinds that `kind_of` does not know.
MORE_KINDS = (
    ("demo", re.compile(r"\bdemo", re.IGNORECASE)),
    ("talk", re.compile(r"\btalk\b", re.IGNORECASE)),
)
BETWEEN_KINDS = re.compile(r"\s*(?:\+|/|&|;|,|\band\b)\s*", re.IGNORECASE)
# A decision that does not state the kind.
PLAIN_DECISION = re.compile(
    r"\W*(?:(?:conditional(?:ly)?|minor|yes|final)\W*)*(?:accept(?:ed)?|yes)\W*\Z", re.IGNORECASE
)


def is_program_row(row: Row) -> bool:
    """Return whether a row is a session without papers: it has no title, or is a break or invited talk."""
    if row.get("uid"):
        return False
    has_only_session = bool(row.get("session")) and not row.get("title")
    return has_only_session or guess_session_kind(row.get("kind"), "") in OTHER_KINDS


@dataclass(slots=True)
class Appearance:
    """A presentation whose session may still change."""

    uid: str
    paper: str
    kind: str
    row: Row
    span: Span
    room: str
    session: NewSession | None


class ScheduleReader:
    """Collector of the sessions and presentations of rows. `finish` returns the records."""

    def __init__(
        self, context: Context, parts: PaperParts, findings: Findings, source: Callable[[str], str]
    ) -> None:
        self.context, self.parts, self.findings, self.source = context, parts, findings, source
        self.rooms: dict[str, RoomRecord] = {}
        self.known_rooms = {
            name: room.key for room in context.known("room") for name in (room.key, markup.fold(room.name))
        }
        self.known_presentations: dict[str, list[KnownRow]] = defaultdict(list)
        for presentation in context.known("presentation"):
            self.known_presentations[presentation.name].append(presentation)
        self.kinds = {
            applies_to: {
                name: kind.key
                for kind in context.known(f"{applies_to} kind")
                for name in (kind.key, markup.fold(kind.name))
            }
            for applies_to in ("session", "presentation")
        }
        self.appearances: dict[str, Appearance] = {}
        self.appearances_by_paper: dict[str, list[Appearance]] = defaultdict(list)
        self.zone = get_zone(context.timezone)
        self.times = RowTimes(context, findings, self.zone)
        self.sessions = NamedSessions(context, self.zone, findings, source)

    # Rows

    def is_another_presentation(self, paper: str, row: Row) -> bool:
        """Return whether a further row of a paper is another presentation of it."""
        keys = [
            (appearance.kind, appearance.row.get("session"))
            for appearance in self.appearances_by_paper[paper]
        ]
        return bool(keys) and any((kind, row.get("session")) not in keys for kind in self._kinds(row))

    def add(self, paper: str, row: Row) -> None:
        """Add the presentations of a paper's row."""
        kinds = self._kinds(row)
        if not kinds and not any(row.get(name) for name in PRESENTATION_FIELDS if name != "kind"):
            return
        kinds = kinds or [self._guess_presentation_kind(paper, row)]
        title = tidy(self.parts.text(row.get("session"), row.where, "session"))
        own_span = self.times.session_span(row) if title else Span()
        day = self.times.day(row) or own_span.day
        span = self.times.row_span(row, self.sessions.day_of_title(title, day) or day if title else None)
        room = self._find_or_add_room(row.get("room"), row.where)
        session = None
        if title:
            session = self.sessions.find(
                title, row.where, day=day or span.day, own_span=own_span, span=span, room=room
            )
            self._add_to_session(session, row, own_span)
            self._note_other_day(session, span, row)
        kinds_of_session = [kind for kind in kinds if session and kind == self._kind_of_session(session, row)]
        first = (kinds_of_session or kinds)[0]
        for kind in kinds:
            is_first = kind == first
            uid = self._uid(paper, kind, row, session if is_first else None)
            slot = (span, room, session) if is_first else (Span(), "", None)
            self.appearances[uid] = Appearance(uid, paper, kind, row, *slot)
            self.appearances_by_paper[paper].append(self.appearances[uid])
        if session:
            session.kinds.append(first)
            session.spans.append(span)
            session.rooms.append(room)

    def add_session(self, row: Row) -> None:
        """Add a row that is a session itself, titled by the row's title or session."""
        title = tidy(self.parts.text(row.get("title") or row.get("session"), row.where, "title"))
        if not title:
            self.findings.problem(row.where, "session", gettext("The title of the session is missing."))
            return
        own_span = self.times.session_span(row)
        day = self.times.day(row) or own_span.day
        span = self.times.row_span(row, self.sessions.day_of_title(title, day) or day)
        span = span if span.start or not own_span.start else own_span
        room = self._find_or_add_room(row.get("room"), row.where)
        kind = self._session_kind(row.get("kind"))
        session, is_new = self.sessions.state(title, row.where, span, room, kind)
        roles_before = len(session.roles)
        session.own_kind, session.own_room = session.own_kind or kind, session.own_room or room
        self._add_to_session(session, row, span)
        session.abstract = session.abstract or self.parts.text(row.get("abstract"), row.where, "abstract")
        names = ";".join(filter(None, [*row.all("authors"), row.get("presenter"), row.get("name")]))
        affiliation = row.get("affiliation")
        note_placeholders(names, row.where, self.findings)
        for speaker in parse_authors(self.parts.text(names, row.where, "authors")):
            if speaker.name:
                speaker_affiliation = next(iter(speaker.affiliations), affiliation)
                session.roles.append(
                    self._build_role(speaker.name, "speaker", row.where, speaker_affiliation)
                )
        if not is_new and len(session.roles) == roles_before:
            message = gettext("“%(title)s” is listed at this time before (%(place)s); taken once.")
            self.findings.note("repeat", row.where, message, title=short(title), place=session.where)

    def _add_to_session(self, session: NewSession, row: Row, own_span: Span) -> None:
        """Add what a row states of its session: kind, times, chairs and moderators."""
        session.own_kind = session.own_kind or self._session_kind(row.get("session_kind"))
        if not session.own_span.start:
            session.own_span = own_span
        for role in ("chair", "moderator"):
            names = [known_role.person.name for known_role in session.roles if known_role.role == role]
            note_placeholders(row.get(role), row.where, self.findings)
            for person in parse_authors(self.parts.text(row.get(role), row.where, role)):
                if person.name and person.name not in names:
                    affiliation = "; ".join(person.affiliations)
                    session.roles.append(self._build_role(person.name, role, row.where, affiliation))

    def _build_role(self, name: str, role: str, where: Where, affiliation: str = "") -> RoleRecord:
        return RoleRecord(where=where, person=person_ref(name, where), role=role, affiliation=affiliation)

    # Kinds

    def _kinds(self, row: Row) -> list[str]:
        """Return the kinds that a cell names, such as both of "Oral + Poster"; none for "Accept"."""
        cell = tidy(self.parts.text(row.get("kind"), row.where, "kind"))
        if not cell or PLAIN_DECISION.match(cell):
            return []
        parts = [self._presentation_kind(part) for part in BETWEEN_KINDS.split(cell)]
        if len(parts) > 1 and all(part in PRESENTATION_KINDS for part in parts):
            return list(dict.fromkeys(parts))
        return [self._presentation_kind(cell) or cell]

    def _presentation_kind(self, text: str) -> str:
        own_kinds = self.kinds["presentation"]
        if key := own_kinds.get(text) or own_kinds.get(markup.fold(text)):
            return key
        other_kinds = (kind for kind, pattern in MORE_KINDS if pattern.search(text))
        return guess_session_kind(text, "", PRESENTATION_KINDS) or next(other_kinds, "")

    def _session_kind(self, text: str) -> str:
        text = tidy(text)
        own_kinds = self.kinds["session"]
        return own_kinds.get(text) or own_kinds.get(markup.fold(text)) or guess_session_kind(text, "") or text

    def _guess_presentation_kind(self, paper: str, row: Row) -> str:
        """Return the kind of a row that names none: that of the known presentation, else by other fields."""
        known_rows = self.known_presentations.get(paper, [])
        if len(known_rows) == 1:
            return known_rows[0].kind
        decision = guess_session_kind(row.get("decision"), "", PRESENTATION_KINDS)
        if row.get("board"):
            return "poster"
        session = f"{row.get('session_kind')} {row.get('session')}"
        return decision or guess_session_kind(session, "oral", PRESENTATION_KINDS)

    def _kind_of_session(self, session: NewSession, row: Row) -> str:
        known_kind = session.known.kind if session.known else ""
        return (
            known_kind
            or session.own_kind
            or guess_session_kind(f"{row.get('session_kind')} {session.title}", "")
        )

    def _uid(self, paper: str, kind: str, row: Row, session: NewSession | None) -> str:
        """Return the uid of the known presentation, else a new one."""
        unused_presentations = [
            presentation
            for presentation in self.known_presentations.get(paper, [])
            if presentation.key not in self.appearances
        ]
        matches = [presentation for presentation in unused_presentations if presentation.kind == kind]
        if len(matches) > 1 and session and session.known:
            key = session.known.key
            matches = [presentation for presentation in matches if presentation.session == key] or matches
        if matches:
            return matches[0].key
        uid = make_uid(f"{paper}-{kind}")
        number, candidate = 2, uid
        while candidate in self.appearances:
            candidate, number = f"{uid[:60]}-{number}", number + 1
        return candidate

    # Rooms

    def _find_or_add_room(self, cell: str, where: Where) -> str:
        name = tidy(self.parts.text(cell, where, "room"))
        if not name:
            return ""
        if is_placeholder(name):
            note_placeholder(name, where, self.findings)
            return ""
        key = self.known_rooms.get(name) or self.known_rooms.get(markup.fold(name))
        if key is None:
            key = slug(name)
            self.rooms.setdefault(key, RoomRecord(where=where, slug=key, name=name))
        return key

    def _note_other_day(self, session: NewSession, span: Span, row: Row) -> None:
        """Report a row on another day than the only session of this title, which is not moved."""
        day = self.sessions.day_of(session.known)
        if day and span.day and span.day != day:
            message = gettext(
                "“%(title)s” is on %(here)s in this edition, and on %(there)s in the file. "
                "The session was not moved."
            )
            values = {"title": short(session.title), "here": day, "there": span.day}
            self.findings.note("warning", row.where, message, **values)

    # The end

    def finish(self) -> tuple[tuple[SessionRecord, ...], tuple[PresentationRecord, ...]]:
        """Return new and changed sessions, and the presentations."""
        self.sessions.assign_uids()
        sessions = tuple(filter(None, map(self._session_record, self.sessions)))
        presentations = [self._presentation(appearance) for appearance in self.appearances.values()]
        return sessions, tuple(presentations)

    def _session_record(self, session: NewSession) -> SessionRecord | None:
        room = session.own_room or _shared_value(session.rooms)
        starts = [span.start for span in session.spans if span.start]
        ends = [span.end or span.start for span in session.spans if span.start]
        roles = tuple(session.roles) or UNSTATED
        start, end = session.own_span.start, session.own_span.end
        abstract = self.source(session.abstract) if session.abstract else UNSTATED
        if session.known:
            kind: Stated[str] = session.own_kind or UNSTATED
            if not (kind or start or session.own_room or abstract or roles):
                return None
            return SessionRecord(
                where=session.where,
                uid=session.uid,
                kind=kind,
                start=start or UNSTATED,
                end=end or UNSTATED,
                abstract=abstract,
                room=session.own_room or UNSTATED,
                roles=roles,
            )
        start = start or min(starts, default=None)
        end = end or max(filter(None, ends), default=None)
        if start is None or end is None or (start == end and len(starts) < 2):
            message = gettext(
                "There is no session “%(title)s” in this edition, and a new one needs a start and an end. "
                "Choose columns with its times, or add the session first."
            )
            self.findings.problem(session.where, "session", message, title=short(session.title))
            return None
        return SessionRecord(
            where=session.where,
            uid=session.uid,
            title=self.source(session.title),
            kind=session.own_kind or _kind_of_new_session(session),
            abstract=abstract,
            start=start,
            end=end,
            room=room or UNSTATED,
            roles=roles,
        )

    def _presentation(self, appearance: Appearance) -> PresentationRecord:
        session, row = appearance.session, appearance.row
        session_room = ""
        if session:
            known_room = session.known.room if session.known else _shared_value(session.rooms)
            session_room = session.own_room or known_room
        room: Stated[str | None] = UNSTATED
        if appearance.room:
            # Presentations in the room of their session have no room of their own.
            room = None if appearance.room == session_room else appearance.room
        board = self.parts.text(row.get("board"), row.where, "board")
        return PresentationRecord(
            where=row.where,
            uid=appearance.uid,
            kind=appearance.kind,
            paper=appearance.paper,
            session=session.uid if session else UNSTATED,
            start=appearance.span.start or UNSTATED,
            end=appearance.span.end or UNSTATED,
            board=board if board and (appearance.kind == "poster" or session) else UNSTATED,
            room=room,
        )


def _kind_of_new_session(session: NewSession) -> str:
    """Return the kind that the title names, else that of all its papers."""
    presentation_kind = _shared_value(session.kinds)
    return guess_session_kind(session.title, "") or (
        presentation_kind if presentation_kind in PAPER_KINDS else "other"
    )


def _shared_value(values: Iterable[str]) -> str:
    """Return the value that all share; empty if they differ."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ""
