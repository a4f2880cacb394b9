"""Appointments from records alone: sessions, and presentations with a time of their own.

`formats.ics` writes them.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from django.utils.translation import gettext, ngettext, npgettext

from exchange.files import Context
from exchange.formats.lookup import Lookup, is_cancelled, reason_of
from exchange.records import PaperRecord, PersonRef, PresentationRecord, Program, SessionRecord, stated

# A description begins with so much of the abstract, in whole words.
LEAD = 400
# Before any change that this site knows of.
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Appointment:
    """One entry of a calendar. `key` is fixed for life; `people` are lines such as "Speakers: …".

    `reason`: why it was called off, where the chairs say so.
    """

    key: str
    title: str
    start: datetime
    end: datetime
    place: str
    kind: str
    people: tuple[str, ...]
    within: str
    abstract: str
    url: str
    is_cancelled: bool
    reason: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows become appointments, by uid. `None`: all sessions, and the talks with times of their own."""

    sessions: Collection[str] | None = None
    presentations: Collection[str] | None = None

    def session(self, session: SessionRecord) -> bool:
        return self.sessions is None or session.uid in self.sessions

    def presentation(self, shown: PresentationRecord) -> bool:
        if self.presentations is None:
            return bool(stated(shown.start, None))
        return shown.uid in self.presentations


EVERYTHING = Wanted()


def appointments(program: Program, context: Context, wanted: Wanted = EVERYTHING) -> list[Appointment]:
    """Return the appointments of a program by time. What has no time has no appointment."""
    return sorted(_Calendar(program, context).appointments(wanted), key=by_time)


def by_time(one: Appointment) -> tuple[datetime, datetime, str]:
    """Return what appointments are sorted by."""
    return one.start.astimezone(UTC), one.end.astimezone(UTC), one.key


def lead(text: str) -> str:
    """Return the beginning of a plain text, in whole words."""
    text = " ".join(text.split())
    if len(text) <= LEAD:
        return text
    return f"{text[: LEAD + 1].rpartition(' ')[0] or text.partition(' ')[0]} \u2026"


def _one_line(context: Context) -> Callable[[str], str]:
    """Return what writes texts on one line, each once. It does not hold the calendar that holds it."""

    @cache
    def line(text: str) -> str:
        return " ".join(context.plain(text).split())

    return line


class _Calendar(Lookup):
    """Makes the appointments of a program."""

    def __init__(self, program: Program, context: Context) -> None:
        super().__init__(program)
        self.program, self.context = program, context
        self.venue = stated(program.edition.venue, "") if program.edition else ""
        # A session is named by each talk in it.
        self._line = _one_line(context)

    def appointments(self, wanted: Wanted) -> Iterator[Appointment]:
        yield from filter(None, map(self._session, filter(wanted.session, self.program.sessions)))
        yield from filter(
            None, map(self._presentation, filter(wanted.presentation, self.program.presentations))
        )

    def _session(self, session: SessionRecord) -> Appointment | None:
        start, end = stated(session.start, None), stated(session.end, None)
        if start is None:
            return None
        whole = self.parent(session)
        return Appointment(
            key=self._key("session", session.uid),
            title=self._line(stated(session.title, "")),
            start=start,
            end=end or start,
            place=self._place(stated(session.room, None)),
            kind=_words(stated(session.kind, "")),
            people=tuple(self._roles(session)),
            within=self._line(stated(whole.title, "")) if whole else "",
            abstract=lead(self.context.plain(stated(session.abstract, ""))),
            url=self._url("sessions", session.uid),
            is_cancelled=is_cancelled(session, whole),
            reason=reason_of(session, whole),
            changed_at=_changed(session, whole),
        )

    def _presentation(self, shown: PresentationRecord) -> Appointment | None:
        session, paper = self.session(shown), self.paper(shown)
        start = stated(shown.start, None) or (stated(session.start, None) if session else None)
        if start is None:
            return None
        end = stated(shown.end, None) or (stated(session.end, None) if session else None) or start
        whole = self.parent(session)
        own = self._url("sessions", session.uid) if session else ""
        return Appointment(
            key=self._key("presentation", shown.uid),
            title=self._line(self.title(shown)),
            start=start,
            end=max(start, end, key=_instant),
            place=self._place(stated(shown.room, None) or (stated(session.room, None) if session else None)),
            kind=_words(stated(shown.kind, "")),
            people=tuple(filter(None, (_board(shown), self._by(shown, paper)))),
            within=self._line(stated(session.title, "")) if session else "",
            abstract=lead(self.context.plain(self.abstract(shown))),
            url=self._url("papers", paper.uid) if paper else own,
            is_cancelled=is_cancelled(shown, session, whole),
            reason=reason_of(shown, session, whole),
            changed_at=_changed(shown, session, whole),
        )

    def _key(self, kind: str, uid: str) -> str:
        """Edition slugs have no dots, so the key is unambiguous for any uid."""
        return f"{kind}.{self.context.edition}.{uid}"

    def _url(self, part: str, uid: str) -> str:
        site = self.context.site_url.rstrip("/")
        return f"{site}/{self.context.edition}/{part}/{uid}/" if site else ""

    def _place(self, slug: str | None) -> str:
        room = self.rooms.get(slug or "")
        if room is None:
            return slug or ""
        venue = "" if stated(room.virtual, False) else self.venue
        return ", ".join(filter(None, (stated(room.name, "").strip() or room.slug, venue)))

    def _roles(self, session: SessionRecord) -> Iterator[str]:
        by_role: dict[str, list[PersonRef]] = {}
        for role in stated(session.roles, ()):
            by_role.setdefault(role.role, []).append(role.person)
        for name, people in by_role.items():
            yield _people(name, people)

    def _by(self, shown: PresentationRecord, paper: PaperRecord | None) -> str:
        speakers = [speaker.person for speaker in stated(shown.speakers, ())]
        if speakers:
            return _people("speaker", speakers)
        return _people("author", [author.person for author in stated(paper.authors, ())] if paper else [])


def _people(role: str, people: Collection[PersonRef]) -> str:
    names = ", ".join(person.name for person in people)
    if not names:
        return ""
    label = _role(role, len(people))
    return f"{label}: {names}"


def _role(role: str, number: int) -> str:
    """Return the label of a role for this number of people; an unknown role is unchanged."""
    match role:
        case "author":
            return ngettext("Author", "Authors", number)
        case "speaker":
            return ngettext("Speaker", "Speakers", number)
        case "moderator":
            return ngettext("Moderator", "Moderators", number)
        case "chair":
            return npgettext("role in a session", "Chair", "Chairs", number)
        case "panelist":
            return ngettext("Panelist", "Panelists", number)
        case "organizer":
            return ngettext("Organizer", "Organizers", number)
    return role.capitalize() + ("s" if number > 1 else "")


def _board(shown: PresentationRecord) -> str:
    board = stated(shown.board, "")
    return gettext("Board: %(board)s") % {"board": board} if board else ""


def _words(kind: str) -> str:
    return kind.replace("_", " ").capitalize()


def _instant(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def _changed(*rows: SessionRecord | PresentationRecord | None) -> datetime:
    """Return when an appointment last changed: with the session that it is in, too."""
    return max(BEGINNING, *(stated(row.rescheduled_at, BEGINNING) for row in rows if row))
