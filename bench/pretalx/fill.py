"""Fills pretalx with a program that Plenary exported. Only pretalx's own Python runs this.

`python -P bench/pretalx/fill.py PROGRAM` reads `program_json`; notes of talks and speakers hold the uids of
papers and people. A paper is one talk at its first place in the program, its authors are the speakers, topics
are tracks. Sessions that hold talks are no thing of pretalx's; one without any is a talk, or a break.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import django

type Row = dict[str, Any]

TITLE, NAME = 200, 120
BATCH = 2000
BREAKS = ("break", "meal", "registration", "social")
PLACE = ("start", "end", "room")
ENDS = {"from": "start", "to": "end"}
HOLD_TALKS = ("oral", "other", "poster", "workshop")


@dataclass(frozen=True, slots=True)
class Talk:
    """A talk as pretalx stores it; `place` holds its start, end and room."""

    uid: str
    kind: str
    about: Row
    place: Row
    people: list[str]


def main() -> None:
    django.setup()
    from django.db import transaction
    from django_scopes import scopes_disabled

    program = json.loads(Path(sys.argv[1]).read_text())
    with scopes_disabled(), transaction.atomic():
        fill(made_event(program), program)


def made_event(program: Row) -> Any:
    """Make a public event with rooms and tracks."""
    from pretalx.event.domain.event import create_event
    from pretalx.event.domain.organiser import create_organiser_with_team
    from pretalx.schedule.models import Room
    from pretalx.submission.models import Track

    edition = program["edition"]
    organiser, _ = create_organiser_with_team(name="Bench", slug="bench", users=[])
    days = {f"date_{end}": date.fromisoformat(edition[f"{name}_date"]) for end, name in ENDS.items()}
    names = {"name": edition["name"], "slug": edition["slug"], "timezone": edition["timezone"]}
    event = create_event(
        organiser=organiser, locales=["en"], is_public=True, email="bench@example.org", **days, **names
    )
    places = enumerate(program["rooms"])
    Room.objects.bulk_create(Room(event=event, name=row["name"], position=place) for place, row in places)
    Track.objects.bulk_create(
        Track(event=event, name=row["name"], color="#3a6ea5", position=place)
        for place, row in enumerate(program["topics"])
    )
    return event


def fill(event: Any, program: Row) -> None:
    """Make all talks, place them, release the schedule."""
    from pretalx.schedule.domain.release import freeze_schedule
    from pretalx.schedule.models import TalkSlot

    profiles = made_speakers(event, program["people"])
    talks = list(talks_of(program))
    submissions = made_submissions(event, program, talks, profiles)
    rooms = dict(
        zip((row["slug"] for row in program["rooms"]), event.rooms.order_by("position"), strict=True)
    )
    schedule = event.wip_schedule
    slots = [
        TalkSlot(schedule=schedule, submission=submission, **when_and_where(talk.place, rooms))
        for talk, submission in zip(talks, submissions, strict=True)
    ]
    pauses = (row for row in program["sessions"] if row["kind"] in BREAKS)
    slots += [
        TalkSlot(schedule=schedule, slot_type="break", description=row["title"], **when_and_where(row, rooms))
        for row in pauses
    ]
    TalkSlot.objects.bulk_create(slots, batch_size=BATCH)
    freeze_schedule(schedule, "1.0", notify_speakers=False)


def made_speakers(event: Any, people: list[Row]) -> dict[str, Any]:
    """Make an account and a profile for each person; return the profiles by uid."""
    from pretalx.person.models import SpeakerProfile, User

    codes = User.generate_unique_codes(len(people))
    users = [
        User(email=f"{row['uid']}@example.org", name=row["name"][:NAME], code=code, password="!")  # noqa: S106
        for row, code in zip(people, codes, strict=True)
    ]
    User.objects.bulk_create(users, batch_size=BATCH)
    profiles = [
        SpeakerProfile(
            event=event,
            user=user,
            name=user.name,
            code=user.code,
            biography=row.get("affiliation"),
            internal_notes=row["uid"],
        )
        for row, user in zip(people, users, strict=True)
    ]
    SpeakerProfile.objects.bulk_create(profiles, batch_size=BATCH)
    return dict(zip((row["uid"] for row in people), profiles, strict=True))


def made_submissions(event: Any, program: Row, talks: list[Talk], profiles: dict[str, Any]) -> list[Any]:
    """Make a confirmed submission for each talk, with its speakers in order."""
    from pretalx.submission.models import SpeakerRole, Submission, SubmissionType

    topics = (row["slug"] for row in program["topics"])
    tracks = dict(zip(topics, event.tracks.order_by("position"), strict=True))
    kinds = {talk.kind: talk.kind.replace("_", " ").capitalize() for talk in talks}
    types = {kind: SubmissionType.objects.create(event=event, name=name) for kind, name in kinds.items()}
    codes = Submission.generate_unique_codes(len(talks))
    submissions = [
        Submission(
            event=event,
            code=code,
            title=talk.about["title"][:TITLE],
            abstract=talk.about.get("abstract", ""),
            track=tracks.get(talk.about.get("topic")),
            submission_type=types[talk.kind],
            state="confirmed",
            content_locale="en",
            internal_notes=talk.uid,
        )
        for talk, code in zip(talks, codes, strict=True)
    ]
    Submission.objects.bulk_create(submissions, batch_size=BATCH)
    roles = [
        SpeakerRole(submission=submission, speaker=profiles[uid], position=place)
        for talk, submission in zip(talks, submissions, strict=True)
        for place, uid in enumerate(dict.fromkeys(talk.people))
    ]
    SpeakerRole.objects.bulk_create(roles, batch_size=BATCH)
    return submissions


def talks_of(program: Row) -> Iterator[Talk]:
    """Yield papers, talks without one, and sessions that are a talk by themselves."""
    sessions = {row["uid"]: row for row in program["sessions"]}
    papers = {row["uid"]: row for row in program["papers"]}
    # Of a paper that is shown twice the place with a time of its own comes first.
    for row in sorted(program["presentations"], key=lambda row: not row.get("start")):
        place = {**sessions[row["session"]], **{name: row[name] for name in PLACE if row.get(name)}}
        if not row.get("paper"):
            yield Talk(row["uid"], row["kind"], row, place, named(row.get("speakers", ())))
        elif paper := papers.pop(row["paper"], None):
            yield Talk(paper["uid"], row["kind"], paper, place, named(paper["authors"]))
    for row in program["sessions"]:
        if row["kind"] not in (*BREAKS, *HOLD_TALKS):
            yield Talk(row["uid"], row["kind"], row, row, named(row.get("roles", ())))


def named(rows: Any) -> list[str]:
    """Return the people that rows of authors, speakers or roles name."""
    return [row["person"]["uid"] for row in rows]


def when_and_where(place: Row, rooms: dict[str, Any]) -> Row:
    """Return the values of a slot."""
    start = datetime.fromisoformat(place["start"])
    end = datetime.fromisoformat(place["end"]) if place.get("end") else start + timedelta(minutes=30)
    return {"start": start, "end": end, "room": rooms.get(place.get("room", ""))}


if __name__ == "__main__":
    main()
