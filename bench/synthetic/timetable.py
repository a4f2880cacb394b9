"""Sessions and presentations of synthetic editions: parallel talks, poster sessions, breaks, and others."""

import math
import random
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bench.synthetic import words
from bench.synthetic.people import Community
from exchange import records
from exchange.records import PaperRecord, RoleRecord, RoomRecord

BOARDS = 800
PARALLEL = 12
TALKS, MINUTES = 6, 15
WORKSHOP_TALKS, WORKSHOP_MINUTES = 4, 30
# One of this many papers also has a talk.
ORAL_EACH = 10
HALLS = "ABCDEFGHJKLM"
# Hours at which talks and then poster sessions begin.
BLOCKS = ((10.5, 13.5), (15.5, 17))


def days_for(papers: int) -> int:
    """Return the number of days with two poster sessions, each of at most 800 boards."""
    return max(2, math.ceil(papers / (2 * BOARDS)))


def halls_for(papers: int) -> int:
    """Return the number of parallel rooms for talks."""
    slots = days_for(papers) * len(BLOCKS) * TALKS
    return min(PARALLEL, max(1, math.ceil(papers / ORAL_EACH / slots)))


def hall(number: int) -> str:
    return f"hall-{HALLS[number].lower()}"


def rooms(papers: int) -> tuple[RoomRecord, ...]:
    """Return the rooms: a main hall, those of the talks, one for posters, a virtual one."""
    halls = [(f"Hall {letter}", 900) for letter in HALLS[: halls_for(papers)]]
    other_rooms = [("Exhibition Hall", BOARDS), ("Foyer", None), ("Entrance", None), ("Online", None)]
    return tuple(
        RoomRecord(
            slug=name.lower().replace(" ", "-"),
            name=name,
            capacity=capacity,
            virtual=name == "Online",
            position=position,
        )
        for position, (name, capacity) in enumerate([("Main Hall", 6000), *halls, *other_rooms], 1)
    )


@dataclass(slots=True)
class Timetable:
    """A week of sessions. Day 0 is for tutorials, the last one for workshops."""

    zone: ZoneInfo
    first: date
    people: Community
    rng: random.Random
    sessions: list[records.SessionRecord] = field(default_factory=list)
    presentations: list[records.PresentationRecord] = field(default_factory=list)
    # Uids of people.
    speakers: set[str] = field(default_factory=set)

    def fill(self, papers: list[PaperRecord]) -> None:
        """Add all sessions and presentations."""
        published = [paper for paper in papers if paper.status == "published"]
        days, halls = days_for(len(papers)), halls_for(len(papers))
        for number in range(max(1, min(halls, len(papers) // 400))):
            title = f"Tutorial: {self.rng.choice(words.METHODS)}"
            roles = (self.role("speaker"), self.role("speaker"))
            self.add(f"tutorial-{number + 1}", "tutorial", title, 0, (9, 12), hall(number), roles=roles)
        slots = [(day, block) for day in range(1, days + 1) for block in range(len(BLOCKS))]
        per_slot = math.ceil(len(published) / len(slots))
        for number, (day, block) in enumerate(slots):
            slot_papers = published[number * per_slot : (number + 1) * per_slot]
            self.posters(day, block, slot_papers)
            self.orals(
                day, block, slot_papers[: halls * TALKS] if len(papers) > BOARDS else slot_papers[:TALKS]
            )
        for day in range(1, days + 1):
            self.add_other_sessions(day, is_last=day == days)
        for number in range(max(1, min(halls, len(papers) // 300))):
            self.workshop(days + 1, number)

    def at(self, day: int, hour: float) -> datetime:
        """Return a local time on a day; hours above 24 are on the next day."""
        clock = datetime(self.first.year, self.first.month, self.first.day) + timedelta(days=day, hours=hour)  # noqa: DTZ001
        return clock.replace(tzinfo=self.zone)

    def add(
        self,
        uid: str,
        kind: str,
        title: str,
        day: int,
        hours: tuple[float, float],
        room: str,
        **extra: object,
    ) -> None:
        """Add a session."""
        start, end = self.at(day, hours[0]), self.at(day, hours[1])
        values: dict[str, object] = {"abstract": "", "parent": None, "status": "published", **extra}
        self.sessions.append(
            records.SessionRecord(uid=uid, kind=kind, title=title, start=start, end=end, room=room, **values)  # type: ignore[arg-type]
        )

    def present(self, kind: str, session: str, position: int, **extra: object) -> None:
        """Add a presentation."""
        values = {"kind": kind, "session": session, "position": position, "status": "published", **extra}
        self.presentations.append(records.PresentationRecord(**values))  # type: ignore[arg-type]

    def role(self, role: str) -> RoleRecord:
        """Return this role of a random person, who is noted as a speaker if it is "speaker"."""
        member = self.people.pick_member(self.rng)
        if role == "speaker":
            self.speakers.add(member.uid)
        return RoleRecord(person=member.ref, role=role, affiliation=member.institution)

    def posters(self, day: int, block: int, papers: list[PaperRecord]) -> None:
        """Add a poster session with a board for each paper, in order."""
        uid, hour = f"posters-{day}-{block + 1}", BLOCKS[block][1]
        title = f"Poster Session {2 * (day - 1) + block + 1}"
        self.add(uid, "poster", title, day, (hour, hour + 1.5), "exhibition-hall")
        for position, paper in enumerate(papers, 1):
            self.present(
                "poster", uid, position, uid=f"poster-{paper.uid}", paper=paper.uid, board=f"#{position:03}"
            )

    def orals(self, day: int, block: int, papers: list[PaperRecord]) -> None:
        """Add the sessions of talks in a block, one per room."""
        begin = BLOCKS[block][0]
        for number in range(math.ceil(len(papers) / TALKS)):
            letter = HALLS[number]
            uid = f"oral-{day}-{block + 1}{letter.lower()}"
            title = f"Oral {day}{letter}{block + 1}: {self.rng.choice(words.METHODS)}"
            chairs = (self.role("chair"),)
            self.add(uid, "oral", title, day, (begin, begin + 1.5), hall(number), roles=chairs)
            for position, paper in enumerate(papers[number * TALKS : (number + 1) * TALKS], 1):
                start = self.at(day, begin) + timedelta(minutes=MINUTES * (position - 1))
                times = {"start": start, "end": start + timedelta(minutes=MINUTES)}
                self.present("oral", uid, position, uid=f"oral-{paper.uid}", paper=paper.uid, **times)

    def add_other_sessions(self, day: int, *, is_last: bool) -> None:
        """Add those sessions of a day that have no papers."""
        title = f"{self.rng.choice(words.GOALS)}: What Comes Next"
        abstract = "Where the field stands, and what it owes to those who use it."
        roles = (self.role("speaker"), self.role("chair"))
        keynote = {"roles": roles, "abstract": abstract}
        self.add(f"keynote-{day}", "invited_talk", title, day, (9, 10), "main-hall", **keynote)
        self.add(f"coffee-{day}-1", "break", "Coffee", day, (10, 10.5), "foyer")
        self.add(f"lunch-{day}", "meal", "Lunch", day, (12, 13.5), "foyer")
        self.add(f"coffee-{day}-2", "break", "Coffee", day, (15, 15.5), "foyer")
        if day == 1:
            self.add("registration", "registration", "Registration", day, (7.5, 18), "entrance")
            self.add("opening", "opening", "Opening Remarks", day, (8.5, 9), "main-hall")
        if day == 2:
            self.add("party", "social", "Party on the Roof", day, (20, 24.5), "foyer")
        if is_last:
            self.add("awards", "award_ceremony", "Awards", day, (18.5, 19.5), "main-hall")
            panel = tuple(self.role(role) for role in ("moderator", "panelist", "panelist", "panelist"))
            title = "Panel: Reviewing at Scale"
            self.add("panel", "panel", title, day, (19.5, 20.5), "main-hall", roles=panel)

    def workshop(self, day: int, number: int) -> None:
        """Add a workshop with two sessions below it, of talks without papers."""
        uid, title = f"workshop-{number + 1}", f"Workshop on {self.rng.choice(words.GOALS)}"
        roles = (self.role("organizer"), self.role("organizer"))
        self.add(uid, "workshop", title, day, (9, 17), hall(number), roles=roles)
        for part, (begin, name) in enumerate(((9, "Morning Talks"), (14, "Afternoon Talks")), 1):
            session = f"{uid}-{part}"
            self.add(session, "other", name, day, (begin, begin + 2), hall(number), parent=uid)
            for position in range(1, WORKSHOP_TALKS + 1):
                member = self.people.pick_member(self.rng)
                start = self.at(day, begin) + timedelta(minutes=WORKSHOP_MINUTES * (position - 1))
                values = {
                    "title": f"{self.rng.choice(words.QUALITIES)} {self.rng.choice(words.METHODS)}",
                    "start": start,
                    "end": start + timedelta(minutes=WORKSHOP_MINUTES),
                    "speakers": (records.SpeakerRecord(person=member.ref, affiliation=member.institution),),
                }
                self.present("talk", session, position, uid=f"{session}-talk-{position}", **values)
