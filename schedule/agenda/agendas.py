"""Visitors' agendas: stars by day and time, with conflicts and moves, and agendas stored on the server.

`stars` reads and writes stars as text.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from conference.models import Edition
from papers.rows import running_order
from schedule import timetable
from schedule.agenda import upkeep
from schedule.agenda.stars import KINDS, MAX_STARS, Seen, Star, date_star, overrules
from schedule.following import Agenda, AgendaStar
from schedule.models import Presentation, Room, Session

type Entry = Session | Presentation


def star_of(entry: Entry) -> Star:
    """Return the star of a row with its current time and room. Reads its session, but not its room."""
    if isinstance(entry, Session):
        return Star("s", entry.uid, Seen(entry.start, entry.room_id))
    room = entry.room_id or (entry.session.room_id if entry.session else None)
    return Star("p", entry.uid, Seen(entry.starts, room))


def set_star_keys(sessions: Iterable[Any], talks: Any) -> None:
    """Set `star_keys` of sessions: the keys of the stars of their parts and talks. One query.

    Reads `shown_parts` of the sessions; `talks` are all public ones.
    """
    rows = list(sessions)
    parts = [part for session in rows for part in session.shown_parts]
    talk_keys: dict[int, list[str]] = {}
    keys = [row.pk for row in (*rows, *parts)]
    uids = talks.matching(session_id__in=keys).order_by().rows("session_id", "uid")
    for session_key, uid in uids:
        talk_keys.setdefault(session_key, []).append(f"p.{uid}")
    for session in rows:
        keys = [*talk_keys.get(session.pk, ())]
        for part in session.shown_parts:
            keys += [f"s.{part.uid}", *talk_keys.get(part.pk, ())]
        session.star_keys = " ".join(sorted(keys))


@dataclass(slots=True, eq=False)
class AgendaStop:
    """An item of an agenda: a session with its starred talks that have no own time, or a talk with one."""

    entry: Any
    session: Session | None
    start: datetime | None
    end: datetime | None
    room: Room | None
    title_html: str
    # The star with the current time and room, which replaces `star` if the visitor dismisses the move.
    now: Star
    star: Star | None = None
    talks: list["AgendaStop"] = field(default_factory=list)
    moved_from: Seen | None = None
    old_room: Room | None = None
    clashes: list["AgendaStop"] = field(default_factory=list)
    # The stop that begins when it ends, in another room.
    next_stop: "AgendaStop | None" = None

    @property
    def is_session(self) -> bool:
        return self.entry is self.session

    @property
    def key(self) -> str:
        return self.now.key

    @property
    def cancelled(self) -> bool:
        return bool(self.entry.cancelled)

    @property
    def within(self) -> frozenset[str]:
        """The keys of it and of the sessions that contain it, which do not conflict with each other."""
        session = self.session
        session_keys = {f"s{pk}" for pk in (session and session.pk, session and session.parent_id) if pk}
        return frozenset(session_keys if self.is_session else {*session_keys, f"p{self.entry.pk}"})

    @property
    def is_route(self) -> bool:
        return any(talk.entry.board or talk.entry.counts_as == "poster" for talk in self.talks)


@dataclass(frozen=True, slots=True)
class AgendaView:
    """All stops by program day, those without a time, and the number of starred rows that are not public."""

    days: list[timetable.ProgramDay[Any]]
    unscheduled: list[AgendaStop]
    stops: list[AgendaStop]
    missing: int

    @property
    def items(self) -> list[AgendaStop]:
        """The stops, each followed by the talks in it."""
        return [item for stop in self.stops for item in (stop, *stop.talks)]

    @property
    def stars(self) -> list[Star]:
        return [item.star for item in self.items if item.star]

    @property
    def clash_count(self) -> int:
        return sum(len(stop.clashes) for stop in self.stops) // 2

    @property
    def moved_count(self) -> int:
        return sum(item.moved_from is not None for item in self.items)


def plan_agenda(edition: Edition, stars: Iterable[Star], at: datetime) -> AgendaView:
    """Return the agenda of the starred rows that are public. At most 16 queries for any number of stars."""
    stars_by_key = {star.key: star for star in stars if not star.removed}
    uids = {kind: [star.uid for star in stars_by_key.values() if star.kind == kind] for kind in "sp"}
    sessions = edition.sessions.published(at).filter(uid__in=uids["s"]).for_timetable(at)
    talks = edition.presentations.published(at).filter(uid__in=uids["p"])
    stops = [stop_at(entry) for entry in (*sessions, *talks.with_session().with_credits(at).by_time())]
    rooms: Mapping[int, Room] = edition.rooms.published(at).in_bulk() if stops else {}
    for stop in stops:
        stop.star = stars_by_key[stop.key]
        seen = stop.star.seen
        if seen is not None and seen != stop.now.seen and not stop.cancelled:
            stop.moved_from, stop.old_room = seen, rooms.get(seen.room or 0)
    grouped_stops = _group_talks(stops)
    timed: list[Any] = [stop for stop in grouped_stops if stop.start]
    _set_clashes([stop for stop in timed if not stop.cancelled])
    days = timetable.days(timed, edition.day_of)
    return AgendaView(
        days,
        [stop for stop in grouped_stops if not stop.start],
        grouped_stops,
        len(stars_by_key) - len(stops),
    )


def stop_at(entry: Entry) -> AgendaStop:
    current_star = star_of(entry)
    if isinstance(entry, Session):
        return AgendaStop(entry, entry, entry.start, entry.end, entry.room, entry.title_html, current_star)
    room, title = entry.effective_room, entry.shown_title_html
    return AgendaStop(entry, entry.session, entry.starts, entry.ends, room, title, current_star)


def _group_talks(stops: Iterable[AgendaStop]) -> list[AgendaStop]:
    """Put talks without their own time into the stop of their session, in the order of boards."""
    grouped: dict[str, AgendaStop] = {}
    for stop in stops:
        session = stop.session
        if stop.is_session or session is None or stop.entry.start:
            grouped[stop.key] = stop
        else:
            key = f"s.{session.uid}"
            grouped[key] = grouped.get(key) or stop_at(session)
            grouped[key].talks.append(stop)
    for stop in grouped.values():
        stops_by_entry = {talk.entry: talk for talk in stop.talks}
        stop.talks = [stops_by_entry[entry] for entry in running_order(stops_by_entry)]
    return list(grouped.values())


def _set_clashes(stops: Sequence[Any]) -> None:
    for stop, other in timetable.overlapping_pairs(stops):
        stop.clashes.append(other)
        other.clashes.append(stop)
    for stop, other in timetable.back_to_back(stops):
        if stop.room != other.room and not stop.clashes:
            stop.next_stop = other


class TooOftenError(Exception):
    """Raised if a visitor exceeds the rate limit per minute."""


class TooManyError(Exception):
    """Raised if an agenda would exceed `MAX_STARS`."""


@dataclass(frozen=True, slots=True)
class SavedAgenda:
    """An agenda that was found by a secret. `token` allows changes, `reading_token` is read-only."""

    agenda: Agenda
    token: str
    reading_token: str

    @property
    def is_writable(self) -> bool:
        return bool(self.token)

    def stars(self) -> list[Star]:
        """Return the stars, including removed ones. One query."""
        return [row.star for row in self.agenda.stars.select_related("session", "presentation")]


def find_agenda(edition: Edition, token: str) -> SavedAgenda | None:
    """Return the agenda with this secret, or `None`. One query, and another on the first use in a day."""
    reading = Agenda.reading_token(token)
    digests = Agenda.digest(token), Agenda.digest(reading)
    agenda = Agenda.objects.filter(edition=edition, token_digest__in=digests).first()
    if agenda is None:
        return None
    upkeep.record_use(agenda, timezone.now())
    if constant_time_compare(agenda.token_digest, digests[1]):
        return SavedAgenda(agenda, token, reading)
    return SavedAgenda(agenda, "", token)


def create_agenda(edition: Edition, at: datetime) -> SavedAgenda:
    """Create an agenda with a new secret."""
    upkeep.remove_if_due(at)
    # The secret goes into a link and is never stored.
    token = secrets.token_urlsafe(24)
    reading = Agenda.reading_token(token)
    moments = {"created_at": at, "changed_at": at, "used_at": at, "writes_since": at}
    agenda = Agenda.objects.create(edition=edition, token_digest=Agenda.digest(reading), **moments)
    return SavedAgenda(agenda, token, reading)


@transaction.atomic
def merge_stars(saved: SavedAgenda, stars: Iterable[Star], at: datetime) -> bool:
    """Merge stars into a saved agenda: the latest state of each public row wins.

    Returns whether the saved agenda changed. Raises `Agenda.DoesNotExist` if it was deleted in the meantime.
    """
    agenda = Agenda.objects.select_for_update().get(pk=saved.agenda.pk)
    if not agenda.count_write(at):
        raise TooOftenError
    rows = {row.star.key: row for row in agenda.stars.select_related("session", "presentation")}
    submitted = {star.key: date_star(star, at) for star in stars}
    new_states = {
        key: star for key, star in submitted.items() if key not in rows or overrules(star, rows[key].star)
    }
    # Do not create rows for removed stars.
    new_rows = _build_star_rows(
        agenda, [star for key, star in new_states.items() if key not in rows and not star.removed]
    )
    changed_rows = [rows[key] for key in new_states if key in rows]
    for row in changed_rows:
        row.apply(new_states[row.star.key])
    if sum(row.removed_at is None for row in (*rows.values(), *new_rows)) > MAX_STARS:
        raise TooManyError
    # Clients send the keys of rooms, so check that these rooms exist.
    room_keys = [key for row in (*new_rows, *changed_rows) if (key := row.seen_room_id) is not None]
    rooms = {*agenda.edition.rooms.filter(pk__in=room_keys).values_list("pk", flat=True)}
    for row in (*new_rows, *changed_rows):
        if row.seen_room_id not in rooms:
            row.seen_room_id = None
    AgendaStar.objects.bulk_create(new_rows)
    fields = ["starred_at", "removed_at", "seen_start", "seen_room"]
    AgendaStar.objects.bulk_update(changed_rows, fields)
    if new_rows or changed_rows:
        agenda.changed_at = at
    agenda.save(update_fields=["changed_at", "writes", "writes_since"])
    return bool(new_rows or changed_rows)


def _build_star_rows(agenda: Agenda, stars: list[Star]) -> list[AgendaStar]:
    """Return unsaved rows for the stars of public sessions and talks."""
    uids = {kind: [star.uid for star in stars if star.kind == kind] for kind in "sp"}
    sessions = agenda.edition.sessions.published().filter(uid__in=uids["s"])
    talks = agenda.edition.presentations.published().filter(uid__in=uids["p"]).select_related("session")
    entries_by_key = {star_of(entry).key: entry for entry in (*sessions, *talks)}
    rows = []
    for star in stars:
        if entry := entries_by_key.get(star.key):
            row = AgendaStar(agenda=agenda, **{KINDS[star.kind]: entry})
            row.apply(replace(star, seen=star.seen or star_of(entry).seen))
            rows.append(row)
    return rows
