"""The sessions that rows name: distinguished by day, start and room, matched with the edition's."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import count
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

import markup
from exchange.files import Context, KnownRow
from exchange.formats.spreadsheet.row_times import Span
from exchange.problems import Findings, Where, short
from exchange.reading.values import slug
from exchange.records import RoleRecord


def fold_title(title: str) -> str:
    return markup.fold(markup.plain(title))


@dataclass(slots=True)
class NewSession:
    """A session that rows name; `known` if the edition has it.

    `own_…`: what rows state of the session itself. `kinds`, `spans`, `rooms`: those of the papers in it.
    """

    title: str
    where: Where
    day: date | None = None
    uid: str = ""
    kinds: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    rooms: list[str] = field(default_factory=list)
    own_span: Span = field(default_factory=Span)
    own_kind: str = ""
    own_room: str = ""
    abstract: str = ""
    roles: list[RoleRecord] = field(default_factory=list)
    known: KnownRow | None = None

    def is_stated_by(self, span: Span, room: str, kind: str) -> bool:
        """Return whether a row with these times, room and kind speaks of this session."""
        own = self.own_span
        pairs = ((own.start, span.start), (own.end, span.end), (self.own_room, room), (self.own_kind, kind))
        return all(not ours or not theirs or ours == theirs for ours, theirs in pairs)

    def includes(self, span: Span) -> bool:
        start, end = self.own_span.start, self.own_span.end
        return bool(span.start and start and end and start <= span.start < end)


class NamedSessions:
    """The sessions of all rows, by title. Rows that are sessions come first, so that papers find them."""

    def __init__(
        self, context: Context, zone: ZoneInfo, findings: Findings, source: Callable[[str], str]
    ) -> None:
        self.context, self.zone, self.findings, self.source = context, zone, findings, source
        self._by_title: dict[str, list[NewSession]] = defaultdict(list)
        self._known_by_title: dict[str, list[KnownRow]] = defaultdict(list)
        # The same by the title as a row has it, since escaping and folding it takes long.
        self._known_of: dict[str, list[KnownRow]] = {}
        for session in context.known("session"):
            self._known_by_title[fold_title(session.name)].append(session)
            self._known_by_title[fold_title(session.key)].append(session)

    def __iter__(self) -> Iterator[NewSession]:
        for sessions in self._by_title.values():
            yield from sessions

    def day_of(self, known: KnownRow | None) -> date | None:
        return known.start.astimezone(self.zone).date() if known and known.start else None

    def day_of_title(self, title: str, day: date | None) -> date | None:
        """Return the day of the session of this title, for rows that name none."""
        known = self._find_known(title, day)
        days = {session.day for session in self._by_title.get(fold_title(title), ())}
        return self.day_of(known) or (days.pop() if len(days) == 1 else None)

    # Rows that are sessions

    def state(self, title: str, where: Where, span: Span, room: str, kind: str) -> tuple[NewSession, bool]:
        """Return the session of a row that is one, and whether it is new: rows may name a speaker each."""
        sessions = self._by_title[fold_title(title)]
        for session in sessions:
            if session.day == span.day and session.is_stated_by(span, room, kind):
                return session, False
        session = NewSession(title, where, day=span.day)
        sessions.append(session)
        return session, True

    def match_known(self) -> None:
        """Match the sessions that rows state with those of the edition, by title, day, start and room."""
        for sessions in self._by_title.values():
            by_day: dict[date | None, list[NewSession]] = defaultdict(list)
            for session in sessions:
                by_day[session.day].append(session)
            known_rows = self._known_of_title(sessions[0].title)
            for day, sessions_of_day in by_day.items():
                rows = [row for row in known_rows if day is None or self.day_of(row) == day]
                self._match_day(sessions_of_day, rows)
            matched = [session.known for session in sessions]
            if unmatched := [row for row in known_rows if row not in matched]:
                self._note_other_days(sessions, unmatched)

    def _match_day(self, sessions: list[NewSession], rows: list[KnownRow]) -> None:
        """Match sessions of one title and day: those at their time first, then the nearest."""
        if sessions and sessions[0].day is None and len(rows) > 1:
            return
        pairs = [(_distance(session, row), session, row) for session in sessions for row in rows]
        for _, session, row in sorted(pairs, key=lambda pair: pair[0]):
            if session.known is None and row in rows:
                session.known = row
                rows.remove(row)

    def _note_other_days(self, sessions: list[NewSession], known_rows: list[KnownRow]) -> None:
        """Report sessions on another day than those of this title here, which may have been moved."""
        message = gettext(
            "“%(title)s” is on %(here)s in this edition, and on %(there)s in the file. "
            "It is added as another session. If it is the same one, move it here first."
        )
        days = ", ".join(dict.fromkeys(str(self.day_of(row)) for row in known_rows))
        for session in sessions:
            if session.known or session.day is None or str(session.day) in days:
                continue
            values = {"title": short(session.title), "here": days, "there": session.day}
            self.findings.note("doubt", session.where, message, **values)

    # Rows of papers

    def find(
        self, title: str, where: Where, *, day: date | None, own_span: Span, span: Span, room: str
    ) -> NewSession:
        """Return the session in which a row places its paper, a new one if none fits."""
        sessions = self._by_title[fold_title(title)]
        candidates = [session for session in sessions if day is None or session.day == day]
        if day is None and len({session.day for session in candidates}) > 1:
            candidates = []
        if own_span.start:
            candidates = [session for session in candidates if session.own_span.start == own_span.start] or [
                session for session in candidates if not session.own_span.start
            ][:1]
        if candidates:
            return self._choose(candidates, where, span, room)
        known = self._find_known(title, day, own_span if own_span.start else span, room)
        for session in sessions if known else ():
            if session.known == known:
                return session
        session = NewSession(title, where, day=self.day_of(known) or day, known=known)
        sessions.append(session)
        return session

    def _choose(self, sessions: list[NewSession], where: Where, span: Span, room: str) -> NewSession:
        """Return the session that includes the time, else the one in the room, else the first."""
        fitting = [session for session in sessions if session.includes(span)] or sessions
        fitting = [session for session in fitting if room and room == session.own_room] or fitting
        if len(fitting) > 1:
            message = gettext(
                "There are several sessions “%(title)s” that day; the paper is in the first one. "
                "Give the time of the session or of the talk."
            )
            self.findings.note("doubt", where, message, title=short(fitting[0].title))
        return fitting[0]

    def _known_of_title(self, title: str) -> list[KnownRow]:
        if title not in self._known_of:
            titles = (fold_title(self.source(title)), fold_title(title))
            rows = next(filter(None, map(self._known_by_title.get, titles)), ())
            self._known_of[title] = list(dict.fromkeys(rows))
        return self._known_of[title]

    def _find_known(
        self, title: str, day: date | None, span: Span | None = None, room: str = ""
    ) -> KnownRow | None:
        """Return the edition's session of this title and day, at this time; without a day, the only one."""
        rows = self._known_of_title(title)
        rows_of_day = [row for row in rows if day and self.day_of(row) == day]
        if span and span.start and len(rows_of_day) > 1:
            start = span.start
            around = [row for row in rows_of_day if row.start and row.end and row.start <= start < row.end]
            rows_of_day = around or rows_of_day
        rows_of_day = [row for row in rows_of_day if room and row.room == room] or rows_of_day
        if rows_of_day or len(rows) == 1:
            return (rows_of_day or rows)[0]
        return None

    # The end

    def assign_uids(self) -> None:
        """Give new sessions uids of their titles; of days, times and rooms if a title repeats."""
        used_uids = {session.key for session in self.context.known("session")}
        for sessions in self._by_title.values():
            for session in sessions:
                if session.known:
                    session.uid = session.known.key
                    continue
                days = [other.day for other in sessions]
                parts = [session.title]
                if session.day and (len(sessions) > 1 or slug(session.title) in used_uids):
                    parts.append(str(session.day))
                if len(parts) > 1 and days.count(session.day) > 1:
                    parts.append(self._clock(session.own_span.start))
                session.uid = _unused_uid(" ".join(filter(None, parts)), session.own_room, used_uids)
                used_uids.add(session.uid)

    def _clock(self, moment: datetime | None) -> str:
        return f"{moment.astimezone(self.zone):%H%M}" if moment else ""


def _distance(session: NewSession, row: KnownRow) -> tuple[timedelta, bool]:
    start = session.own_span.start
    shift = abs(row.start - start) if row.start and start else timedelta()
    return shift, bool(session.own_room and row.room and session.own_room != row.room)


def _unused_uid(text: str, room: str, used_uids: Iterable[str]) -> str:
    """Return the slug of a text, with the room or a number if it is used."""
    candidates = [slug(text), *([slug(f"{text} {room}")] if room else [])]
    numbered = (slug(f"{text} {number}") for number in count(2))
    free = (uid for uid in candidates if uid not in used_uids)
    return next(free, "") or next(uid for uid in numbered if uid not in used_uids)
