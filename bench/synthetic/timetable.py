"""When and where papers are shown: parallel talks, large poster sessions, and what is around them."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bench.synthetic import words
from bench.synthetic.community import Community, Member
from exchange.records import (
    PaperRecord,
    PresentationRecord,
    RoleRecord,
    RoomRecord,
    SessionRecord,
    SpeakerRecord,
)

BOARDS = 800
PARALLEL = 12
TALKS = 6
MINUTES = 15
# One paper of so many is also given as a talk.
ORAL_EACH = 10
HALLS = ("A", "B", "C", "D", "E", "F", "G", "H", "J", "K", "L", "M")
BLOCKS = ((10.5, 13.5), (15.5, 17))  # talks from, their posters from


@dataclass(slots=True)
class Timetable:
    """A week that is being filled."""

    zone: ZoneInfo
    first: date
    people: Community
    chance: random.Random
    sessions: list[SessionRecord] = field(default_factory=list)
    presentations: list[PresentationRecord] = field(default_factory=list)
    speakers: list[Member] = field(default_factory=list)

    def at(self, day: int, hour: float) -> datetime:
        """Return a moment of a day, by the clock on the wall; hours beyond 24 are the night after."""
        clock = datetime(self.first.year, self.first.month, self.first.day) + timedelta(days=day, hours=hour)  # noqa: DTZ001
        return clock.replace(tzinfo=self.zone)

    def add(
        self, uid: str, kind: str, title: str, day: int, hours: tuple[float, float], room: str, **more: object
    ) -> None:
        """Add a session."""
        start, end = self.at(day, hours[0]), self.at(day, hours[1])
        stated: dict[str, object] = {"abstract": "", "parent": None, "status": "published", **more}
        self.sessions.append(
            SessionRecord(uid=uid, kind=kind, title=title, start=start, end=end, room=room, **stated)  # type: ignore[arg-type]
        )

    def role(self, role: str) -> RoleRecord:
        """Return somebody's part in a session."""
        one = self.people.somebody(self.chance)
        if role == "speaker":
            self.speakers.append(one)
        return RoleRecord(person=one.ref, role=role, affiliation=one.institution)


def days_for(papers: int) -> int:
    """Return how many days of two poster sessions there are: no session passes 800 boards."""
    return max(2, math.ceil(papers / (2 * BOARDS)))


def halls_for(papers: int) -> int:
    """Return how many rooms talks run in side by side."""
    slots = days_for(papers) * len(BLOCKS) * TALKS
    return min(PARALLEL, max(1, math.ceil(papers / ORAL_EACH / slots)))


def rooms(papers: int) -> tuple[RoomRecord, ...]:
    """Return the rooms: one for all, those of the talks, one for posters, one that is nowhere."""
    names = [("Main Hall", 6000), *((f"Hall {letter}", 900) for letter in HALLS[: halls_for(papers)])]
    named = [*names, ("Exhibition Hall", max(BOARDS, 60)), ("Foyer", None), ("Entrance", None)]
    keys = [name.lower().replace(" ", "-") for name, _ in named]
    here = [
        RoomRecord(slug=key, name=name, capacity=capacity, virtual=False, position=place)
        for place, (key, (name, capacity)) in enumerate(zip(keys, named, strict=True), 1)
    ]
    online = RoomRecord(slug="online", name="Online", capacity=None, virtual=True, position=len(here) + 1)
    return (*here, online)


def timetable(week: Timetable, papers: list[PaperRecord]) -> None:
    """Fill the week. Day 0 is for tutorials, the last one for workshops."""
    shown = [one for one in papers if one.status == "published"]
    days, halls = days_for(len(papers)), halls_for(len(papers))
    tutorials(week, max(1, min(halls, len(papers) // 400)))
    slots = [(day, block) for day in range(1, days + 1) for block in range(len(BLOCKS))]
    per_slot = math.ceil(len(shown) / len(slots))
    for number, (day, block) in enumerate(slots):
        part = shown[number * per_slot : (number + 1) * per_slot]
        posters(week, day, block, part)
        orals(week, day, block, part[: halls * TALKS] if len(papers) > BOARDS else part[:TALKS])
    for day in range(1, days + 1):
        around(week, day, last=day == days)
    workshops(week, days + 1, max(1, min(halls, len(papers) // 300)))


def posters(week: Timetable, day: int, block: int, part: list[PaperRecord]) -> None:
    """Add a poster session: a board for each paper, in walking order."""
    uid, hour = f"posters-{day}-{block + 1}", BLOCKS[block][1]
    week.add(
        uid,
        "poster",
        f"Poster Session {2 * (day - 1) + block + 1}",
        day,
        (hour, hour + 1.5),
        "exhibition-hall",
    )
    for place, one in enumerate(part, 1):
        week.presentations.append(
            PresentationRecord(
                uid=f"poster-{one.uid}",
                kind="poster",
                paper=one.uid,
                session=uid,
                position=place,
                board=f"#{place:03}",
                status="published",
            )
        )


def orals(week: Timetable, day: int, block: int, part: list[PaperRecord]) -> None:
    """Add the talks of one block, room by room, one after the other."""
    begin = BLOCKS[block][0]
    for number in range(math.ceil(len(part) / TALKS)):
        letter = HALLS[number]
        uid = f"oral-{day}-{block + 1}{letter.lower()}"
        title = f"Oral {day}{letter}{block + 1}: {week.chance.choice(words.METHODS)}"
        week.add(
            uid,
            "oral",
            title,
            day,
            (begin, begin + 1.5),
            f"hall-{letter.lower()}",
            roles=(week.role("chair"),),
        )
        for place, one in enumerate(part[number * TALKS : (number + 1) * TALKS]):
            start = week.at(day, begin) + timedelta(minutes=MINUTES * place)
            week.presentations.append(
                PresentationRecord(
                    uid=f"oral-{one.uid}",
                    kind="oral",
                    paper=one.uid,
                    session=uid,
                    start=start,
                    end=start + timedelta(minutes=MINUTES),
                    position=place + 1,
                    status="published",
                )
            )


def around(week: Timetable, day: int, *, last: bool) -> None:
    """Add what a day has besides papers."""
    title = f"{week.chance.choice(words.GOALS)}: What Comes Next"
    told = "Where the field stands, and what it owes to those who use it."
    people = (week.role("speaker"), week.role("chair"))
    week.add(f"keynote-{day}", "invited_talk", title, day, (9, 10), "main-hall", abstract=told, roles=people)
    week.add(f"coffee-{day}-1", "break", "Coffee", day, (10, 10.5), "foyer")
    week.add(f"lunch-{day}", "meal", "Lunch", day, (12, 13.5), "foyer")
    week.add(f"coffee-{day}-2", "break", "Coffee", day, (15, 15.5), "foyer")
    if day == 1:
        week.add("registration", "registration", "Registration", day, (7.5, 18), "entrance")
        week.add("opening", "opening", "Opening Remarks", day, (8.5, 9), "main-hall")
    if day == 2:
        week.add("party", "social", "Party on the Roof", day, (20, 24.5), "foyer")
    if last:
        week.add("awards", "award_ceremony", "Awards", day, (18.5, 19.5), "main-hall")
        panel = tuple(week.role(role) for role in ("moderator", "panelist", "panelist", "panelist"))
        week.add("panel", "panel", "Panel: Reviewing at Scale", day, (19.5, 20.5), "main-hall", roles=panel)


def tutorials(week: Timetable, number: int) -> None:
    """Add tutorials on the day before."""
    for place in range(number):
        title = f"Tutorial: {week.chance.choice(words.METHODS)}"
        week.add(
            f"tutorial-{place + 1}",
            "tutorial",
            title,
            0,
            (9, 12),
            f"hall-{HALLS[place].lower()}",
            roles=(week.role("speaker"), week.role("speaker")),
        )


def workshops(week: Timetable, day: int, number: int) -> None:
    """Add workshops that hold sessions of their own."""
    for place in range(number):
        uid, room = f"workshop-{place + 1}", f"hall-{HALLS[place].lower()}"
        title = f"Workshop on {week.chance.choice(words.GOALS)}"
        week.add(
            uid, "workshop", title, day, (9, 17), room, roles=(week.role("organizer"), week.role("organizer"))
        )
        for part, (begin, name) in enumerate(((9, "Morning Talks"), (14, "Afternoon Talks")), 1):
            week.add(f"{uid}-{part}", "other", name, day, (begin, begin + 2), room, parent=uid)
            week.presentations += talks(week, f"{uid}-{part}", week.at(day, begin))


def talks(week: Timetable, session: str, start: datetime) -> Iterator[PresentationRecord]:
    """Yield talks without papers, half an hour each."""
    for place in range(4):
        one = week.people.somebody(week.chance)
        yield PresentationRecord(
            uid=f"{session}-talk-{place + 1}",
            kind="talk",
            title=f"{week.chance.choice(words.QUALITIES)} {week.chance.choice(words.METHODS)}",
            session=session,
            start=start + timedelta(minutes=30 * place),
            end=start + timedelta(minutes=30 * (place + 1)),
            position=place + 1,
            status="published",
            speakers=(SpeakerRecord(person=one.ref, affiliation=one.institution),),
        )
