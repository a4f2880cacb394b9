"""Talks of the workshops of a Mini-Conf site: `w3_papers.csv`, and `workshop_schedules.json` with times."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import chain, count
from pathlib import PurePath

from django.utils.translation import gettext

from exchange.formats.miniconf.collector import SessionCollector
from exchange.formats.miniconf.events import read_people
from exchange.formats.miniconf.rows import PLACEHOLDER, SiteRow, clean_title
from exchange.problems import Where, short
from exchange.reading.papers import make_uid
from exchange.reading.values import slug, tidy
from exchange.records import UNSTATED, PresentationRecord, SessionRecord, SpeakerRecord, Stated, stated

STARTS, ENDS = ("startTime", "start_time", "start"), ("endTime", "end_time", "end")


def is_workshop_schedule(content: dict[object, object]) -> bool:
    """Return whether an object holds a list of rows with titles and clocks for each of its workshops."""
    lists = list(content.values())
    rows = [row for value in lists if isinstance(value, list) for row in value]
    return (
        bool(rows)
        and all(isinstance(value, list) for value in lists)
        and all(isinstance(row, dict) and "title" in row for row in rows)
        and any("startTime" in row for row in rows if isinstance(row, dict))
    )


class TalkReader:
    """Collector of talks by the beginning of the name of their file, which is that of their session."""

    def __init__(self, sessions: SessionCollector) -> None:
        self.sessions, self.findings = sessions, sessions.findings
        self._rows: list[tuple[str, SiteRow]] = []
        self._schedules: list[tuple[str, SiteRow]] = []
        # The talks of tables by session and title, and those whose time is known.
        self._talk_by_title: dict[tuple[str, str], str] = {}
        self._talks: dict[str, PresentationRecord] = {}
        self._timed: set[str] = set()

    def add_table(self, rows: Sequence[SiteRow], file: str) -> None:
        session = PurePath(file).stem.partition("_")[0].casefold()
        self._rows += [(session, row) for row in rows]

    def add_schedule(self, content: dict[object, object], file: str) -> None:
        for key, value in content.items():
            for index, row in enumerate(value if isinstance(value, list) else ()):
                where = Where(file, f"{short(str(key))}[{index}]")
                self._schedules.append((str(key).casefold(), SiteRow(row, where)))

    def finish(self) -> None:
        slots: dict[str, list[SessionRecord]] = defaultdict(list)
        for session in self.sessions.sessions:
            slots[session.uid.casefold()].append(session)
            # A workshop of several slots: W3, W3.2.
            key, _, number = session.uid.casefold().rpartition(".")
            if number.isdecimal():
                slots[key].append(session)
        for key, row in self._rows:
            self._add_talk(key, row, slots[key])
        if self.sessions.times.days is None:
            self.sessions.times.days = self._days()
        for key, row in self._schedules:
            self._add_scheduled(key, row, slots[key])
        self.sessions.presentations += self._talks.values()

    def _days(self) -> tuple[date, date] | None:
        """Return the first and last day of the sessions, for days without a year."""
        days = [start.date() for session in self.sessions.sessions if (start := stated(session.start, None))]
        return (min(days), max(days)) if days else None

    def _add_talk(self, key: str, row: SiteRow, slots: list[SessionRecord]) -> None:
        title, uid = clean_title(row.text("title")), make_uid(row.text("UID"))
        if not title:
            self.findings.note("warning", row.where, gettext("Left out: the row has no title."))
            return
        if not uid or uid.isdecimal():
            # The tables of all workshops count from 1.
            uid = make_uid(f"{key}.{uid or slug(title)}")
        talk = self._build(row, uid, title, slots[0].uid if slots else UNSTATED)
        if uid in self._talks:
            message = gettext(
                "Another talk has “%(uid)s” too (%(place)s). Give each talk a number of its own."
            )
            self.findings.problem(row.where, "UID", message, uid=uid, place=self._talks[uid].where)
            return
        self._talks[uid] = talk
        self._talk_by_title.setdefault((key, slug(title)), uid)

    def _build(self, row: SiteRow, uid: str, title: str, session: Stated[str | None]) -> PresentationRecord:
        return PresentationRecord(
            where=row.where,
            uid=uid,
            kind="talk",
            title=title,
            abstract="",
            session=session,
            status="published",
            speakers=tuple(SpeakerRecord(where=row.where, person=person) for person in read_people(row)),
        )

    def _add_scheduled(self, key: str, row: SiteRow, slots: list[SessionRecord]) -> None:
        """Give a talk its time, or add what is in the schedule alone, such as an invited talk or a break."""
        title = clean_title(row.text("title"))
        if not title or PLACEHOLDER.match(title):
            self.findings.note("warning", row.where, gettext("Left out: the row has no title."))
            return
        start, end = self._read_times(row, slots)
        slot = _slot_at(slots, start)
        session: Stated[str | None] = slot.uid if slot else UNSTATED
        uid = self._talk_by_title.get((key, slug(title)), "")
        if uid and uid not in self._timed:
            talk = self._talks[uid]
        else:
            uid = self._unused_uid(key, row, title, start)
            talk = self._build(row, uid, title, session)
        self._timed.add(uid)
        self._talks[uid] = replace(talk, session=session, start=start or UNSTATED, end=end or UNSTATED)

    def _unused_uid(self, key: str, row: SiteRow, title: str, start: datetime | None) -> str:
        name = tidy(row.text("id"))
        base = f"{key}.{slug(title) if not name or name.isdecimal() else name}"
        clock = f"{start:%d-%H%M}" if start else ""
        numbered = (f"{base}-{clock}-{number}" for number in count(2))
        candidates = chain((base, f"{base}-{clock}"), numbered)
        return next(uid for uid in map(make_uid, candidates) if uid not in self._talks)

    def _read_times(
        self, row: SiteRow, slots: list[SessionRecord]
    ) -> tuple[datetime | None, datetime | None]:
        """Return start and end. A row without a day is on that of the workshop."""
        first = slots[0].start if slots and isinstance(slots[0].start, datetime) else None
        day = row.text("date") or (f"{first.astimezone(self.sessions.times.zone):%Y-%m-%d}" if first else "")
        cells = {"date": day, "start": row.text(*STARTS), "end": row.text(*ENDS)}
        if not (cells["start"] and day):
            return None, None
        return self.sessions.times.read_span(SiteRow(dict(cells), row.where), row.where)


def _slot_at(slots: list[SessionRecord], start: datetime | None) -> SessionRecord | None:
    """Return the slot of a workshop in which a time lies, else its first one."""
    first = slots[0] if slots else None
    spans = ((slot, stated(slot.start, None), stated(slot.end, None)) for slot in slots)
    if start is None:
        return first
    return next((slot for slot, begin, end in spans if begin and end and begin <= start < end), first)
