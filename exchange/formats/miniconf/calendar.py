"""The calendar of a Mini-Conf site: it gives times to events, and has sessions that no other file has."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath
from urllib.parse import SplitResult, parse_qs, urlsplit

from django.utils.translation import gettext

from exchange.formats.miniconf.collector import SessionCollector
from exchange.formats.miniconf.events import Event, added_chairs, chair_roles
from exchange.formats.miniconf.rows import SiteRow, clean_title
from exchange.problems import short
from exchange.reading.papers import guess_session_kind, make_uid
from exchange.reading.values import slug, tidy
from exchange.records import SessionRecord, stated

# Kinds of the pages to which a calendar leads: `speaker_5.html`, `workshop_W3.html`.
KIND_BY_PAGE = {"speaker": "invited_talk", "tutorial": "tutorial", "workshop": "workshop"}
QUESTION_SESSION = re.compile(r"q ?& ?a\b|\bqa\b", re.IGNORECASE)


def is_calendar(rows: Sequence[SiteRow], file: str) -> bool:
    """Return whether a list is a calendar: its rows have a title and a start, and it looks like one."""
    has_links = any({"link", "calendarId", "view"} & row.content.keys() for row in rows)
    return all("title" in row.content and row.start for row in rows) and (
        has_links or "calendar" in PurePath(file).stem.casefold() or not any(map(row_uid, rows))
    )


def row_uid(row: SiteRow) -> str:
    return row.text("UID", "uid")


class CalendarReader:
    """Reader of the rows of all calendars, after the other files."""

    def __init__(self, sessions: SessionCollector, rows: Sequence[SiteRow], events: Sequence[Event]) -> None:
        self.sessions, self.findings = sessions, sessions.findings
        has_days = any(row.text("view") == "day" for row in rows)
        self.rows = [row for row in rows if not (has_days and row.text("view") == "week")]
        self.places = {row.where for row in self.rows}
        # Events without a time. Two of one uid are both kept, and reported later.
        self.events = list(events)
        self.event_by_uid = {event.uid: event for event in reversed(events)}
        self.slots_by_event: dict[str, list[SiteRow]] = defaultdict(list)
        self.sessions_by_uid = {session.uid: session for session in sessions.sessions}
        self.sessions_by_time = {
            (slug(str(session.title)), session.start): session for session in sessions.sessions
        }
        self.uid_counts = Counter(make_uid(row_uid(row)) for row in self.rows)

    def read(self) -> list[Event]:
        """Add the sessions. Return the events that are still without a time."""
        for row in self.rows:
            self._add_row(row)
        for uid, slots in self.slots_by_event.items():
            self.sessions.add_slots(self._take(uid), slots)
        return self.events

    def _take(self, uid: str) -> Event:
        event = self.event_by_uid.pop(uid)
        self.events = [other for other in self.events if other is not event]
        return event

    def _add_row(self, row: SiteRow) -> None:
        title, page_kind, link_keys = clean_title(row.text("title")), *_link_target(row.text("link"))
        # The row's own key is surer than those that its link may hold.
        keys = [make_uid(row_uid(row)), *link_keys]
        if scheduled := next(filter(None, map(self.sessions_by_uid.get, keys)), None):
            self._complete(scheduled, row)
            return
        event = next(filter(None, map(self.event_by_uid.get, keys)), None)
        event = event or self._event_of_session(row, title)
        if event and not (event.kind == "invited_talk" and QUESTION_SESSION.search(title)):
            self.slots_by_event[event.uid].append(row)
            return
        span = self.sessions.read_span(row, row.where)
        if span is None:
            return
        start = span[0]
        same = self.sessions_by_time.get((slug(title), start))
        if same and not self._is_parallel(same, row):
            self._complete(same, row)
            return
        kind = KIND_BY_PAGE.get(page_kind) or guess_session_kind(f"{title} {row.text('type')}", "other")
        session = self.sessions.add_session(
            span,
            row.where,
            uid=self._uid(row, title, start),
            title=title,
            kind=kind,
            room=self.sessions.add_room(row.room),
            roles=(*(event.roles if event else ()), *chair_roles(row)),
        )
        self.sessions_by_time.setdefault((slug(title), start), session)
        self.sessions.name_session(session, row_uid(row), *_session_names(row.text("link")))
        self.sessions.name_session(session, tidy(row.text("title")), is_first=True)
        if event and event.uid not in self.slots_by_event:
            # A session of questions about a talk that was recorded before.
            self.sessions.add_talk(self._take(event.uid), session.uid)

    def _event_of_session(self, row: SiteRow, title: str) -> Event | None:
        """Return the only event that names this row as its session, such as `Keynote 1`."""
        names = {slug(name) for name in (row_uid(row), title) if name}
        events = [event for event in self.event_by_uid.values() if slug(event.row.text("session")) in names]
        return events[0] if len(events) == 1 else None

    def _is_parallel(self, session: SessionRecord, row: SiteRow) -> bool:
        """Return whether a row of the title and time of a session is another one, by its uid or room."""
        room = self.sessions.add_room(row.room)
        uid = make_uid(row_uid(row))
        has_other_room = bool(room and stated(session.room, None) and session.room != room)
        return has_other_room or bool(uid and self.uid_counts[uid] == 1 and uid != session.uid)

    def _uid(self, row: SiteRow, title: str, start: datetime) -> str:
        """Return the uid of a row if it has one of its own, else one of its title and time."""
        uid = make_uid(row_uid(row))
        if uid and self.uid_counts[uid] == 1:
            return uid
        uid = slug(f"{title} {start:%Y-%m-%d %H%M}")
        return slug(f"{uid} {row.room}") if self.sessions.has_session(uid) and row.room else uid

    def _complete(self, session: SessionRecord, row: SiteRow) -> None:
        """Add to a session of another file what only its row in the calendar says: room and chairs."""
        room = self.sessions.add_room(row.room)
        if session.where in self.places:
            message = gettext("“%(title)s” is listed at this time before (%(place)s); taken once.")
            values = {"title": short(str(session.title)), "place": session.where}
            self.findings.note("repeat", row.where, message, **values)
        known_roles = stated(session.roles, ())
        chairs = added_chairs(known_roles, row)
        if chairs or (room and not stated(session.room, None)):
            completed = replace(
                session, room=stated(session.room, None) or room, roles=(*known_roles, *chairs)
            )
            self.sessions.replace_session(session, completed)
            session = completed
            self.sessions_by_uid[session.uid] = session
            self.sessions_by_time[slug(str(session.title)), session.start] = session
        self.sessions.name_session(session, row_uid(row), *_session_names(row.text("link")))


def _link_target(link: str) -> tuple[str, list[str]]:
    """Return the kind of page that a link such as `workshop_W3.html` leads to, and its possible keys."""
    stem = PurePath(_split_url(link).path).stem
    pieces = stem.split("_")
    # The longest first, since it is the most specific.
    stems = ("_".join(pieces[index:]) for index in range(len(pieces)))
    return pieces[0], [make_uid(name) for name in (*_session_names(link), *stems)]


def _session_names(link: str) -> list[str]:
    return parse_qs(_split_url(link).query).get("session", [])


def _split_url(link: str) -> SplitResult:
    try:
        return urlsplit(link)
    except ValueError:
        return urlsplit("")
