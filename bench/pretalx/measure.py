"""Fills pretalx with a program that Plenary wrote, and measures its pages. Only pretalx's Python runs this.

`python -P bench/pretalx/measure.py PROGRAM PAPER PERSON` prints JSON: the CPU milliseconds and the bytes of
responses by name. A paper is one talk at its first place in the program, its authors are the speakers.
"""

import json
import sys
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import django

type Row = dict[str, Any]

HOST = "127.0.0.1"
MAX_TITLE, MAX_NAME, BATCH_ROWS = 200, 120, 500
# Views that are not measured, those that are, and the seconds after which one is enough.
WARM_UPS, TIMES, LONG_SECONDS = 2, 5, 2
BREAKS = ("break", "meal", "registration", "social")


def main() -> None:
    django.setup()
    from django.core.management import call_command
    from django.db import transaction
    from django_scopes import scopes_disabled

    file, paper, person = sys.argv[1:]
    call_command("migrate", verbosity=0)
    with scopes_disabled():
        with transaction.atomic():
            event = fill(json.loads(Path(file).read_text("utf-8")))
        addresses = pages(event, paper, person)
    print(json.dumps({name: measure(address) for name, address in addresses.items()}))


def pages(event: Any, paper: str, person: str) -> dict[str, str]:
    """Return the addresses of what is measured, by name."""
    root = f"/{event.slug}"
    talk = event.submissions.get(internal_notes=paper)
    speaker = event.submitters.get(internal_notes=person)
    return {
        "paper": f"{root}/talk/{talk.code}/",
        "person": f"{root}/speaker/{speaker.code}/",
        "calendar of a paper": f"{root}/talk/{talk.code}.ics",
        "API, 50 papers": f"/api/events/{event.slug}/submissions/?page_size=50&expand=speakers,slots,track",
        "calendar of all papers": f"{root}/schedule/export/schedule.ics",
    }


def measure(address: str) -> tuple[float, int]:
    """Return the CPU milliseconds of a page and its size. Raises `SystemExit` if it is refused."""
    from django.test import Client

    browser = Client(SERVER_NAME=HOST, headers={"Accept": "text/html,application/json,*/*;q=0.8"})
    size, times = 0, []
    for _ in range(WARM_UPS + TIMES):
        start = time.process_time()
        response = browser.get(address)
        times.append((time.process_time() - start) * 1000)
        if response.status_code != 200:
            raise SystemExit(f"{address} answers {response.status_code}.")
        size = len(response.getvalue())
        if times[-1] > LONG_SECONDS * 1000:
            break
    return median(times[WARM_UPS:] or times[-1:]), size


def fill(program: Row) -> Any:
    """Make a public event with a released schedule, and return it."""
    from pretalx.event.domain.event import create_event
    from pretalx.event.domain.organiser import create_organiser_with_team
    from pretalx.schedule.domain.release import freeze_schedule
    from pretalx.schedule.models import Room, TalkSlot
    from pretalx.submission.models import Track

    edition = program["edition"]
    organiser, _ = create_organiser_with_team(name="Bench", slug="bench", users=[])
    event = create_event(
        organiser=organiser,
        locales=["en"],
        is_public=True,
        email="bench@example.org",
        date_from=date.fromisoformat(edition["start_date"]),
        date_to=date.fromisoformat(edition["end_date"]),
        **{name: edition[name] for name in ("name", "slug", "timezone")},
    )
    rooms = {
        row["slug"]: Room(event=event, name=row["name"], position=n) for n, row in enumerate(program["rooms"])
    }
    tracks = {
        row["slug"]: Track(event=event, name=row["name"], color="#3a6ea5", position=n)
        for n, row in enumerate(program["topics"])
    }
    Room.objects.bulk_create(rooms.values())
    Track.objects.bulk_create(tracks.values())
    talks = list(talks_of(program))
    submissions = make_submissions(event, talks, tracks, make_speakers(event, program["people"]))
    schedule = event.wip_schedule
    slots = [
        TalkSlot(schedule=schedule, submission=submission, **when_and_where(place, rooms))
        for (_, place, _), submission in zip(talks, submissions, strict=True)
    ]
    slots += [
        TalkSlot(schedule=schedule, slot_type="break", description=row["title"], **when_and_where(row, rooms))
        for row in program["sessions"]
        if row["kind"] in BREAKS
    ]
    TalkSlot.objects.bulk_create(slots, batch_size=BATCH_ROWS)
    freeze_schedule(schedule, "1.0", notify_speakers=False)
    return event


def make_speakers(event: Any, people: list[Row]) -> dict[str, Any]:
    """Make an account and a profile for each person; return the profiles by uid."""
    from pretalx.person.models import SpeakerProfile, User

    profiles = {}
    for row, code in zip(people, User.generate_unique_codes(len(people)), strict=True):
        name = row["name"][:MAX_NAME]
        user = User(email=f"{row['uid']}@example.org", name=name, code=code, password="!")  # noqa: S106
        biography = row.get("affiliation")
        profiles[row["uid"]] = SpeakerProfile(
            event=event, user=user, name=name, code=code, biography=biography, internal_notes=row["uid"]
        )
    User.objects.bulk_create((profile.user for profile in profiles.values()), batch_size=BATCH_ROWS)
    SpeakerProfile.objects.bulk_create(profiles.values(), batch_size=BATCH_ROWS)
    return profiles


def make_submissions(
    event: Any, talks: list[Any], tracks: dict[str, Any], profiles: dict[str, Any]
) -> list[Any]:
    """Make a confirmed submission for each talk, with its speakers in order."""
    from pretalx.submission.models import SpeakerRole, Submission, SubmissionType

    kinds = {
        kind: SubmissionType.objects.create(event=event, name=kind) for kind in {kind for _, _, kind in talks}
    }
    codes = Submission.generate_unique_codes(len(talks))
    submissions = [
        Submission(
            event=event,
            code=code,
            title=row["title"][:MAX_TITLE],
            abstract=row.get("abstract", ""),
            track=tracks.get(row.get("topic")),
            submission_type=kinds[kind],
            state="confirmed",
            content_locale="en",
            internal_notes=row["uid"],
        )
        for (row, _, kind), code in zip(talks, codes, strict=True)
    ]
    Submission.objects.bulk_create(submissions, batch_size=BATCH_ROWS)
    roles = [
        SpeakerRole(submission=submission, speaker=profiles[uid], position=position)
        for (row, _, _), submission in zip(talks, submissions, strict=True)
        for position, uid in enumerate(dict.fromkeys(author["person"]["uid"] for author in row["authors"]))
    ]
    SpeakerRole.objects.bulk_create(roles, batch_size=BATCH_ROWS)
    return submissions


def talks_of(program: Row) -> Iterator[tuple[Row, Row, str]]:
    """Yield papers, each once with its first place in the program and the kind of its presentation."""
    sessions = {row["uid"]: row for row in program["sessions"]}
    papers = {row["uid"]: row for row in program["papers"]}
    # Of a paper that is shown twice, the place with a time of its own comes first.
    for row in sorted(program["presentations"], key=lambda row: not row.get("start")):
        if paper := papers.pop(row.get("paper"), None):
            own = {name: row[name] for name in ("start", "end", "room") if row.get(name)}
            yield paper, {**sessions[row["session"]], **own}, row["kind"]


def when_and_where(place: Row, rooms: dict[str, Any]) -> Row:
    """Return the values of a slot."""
    start = datetime.fromisoformat(place["start"])
    end = datetime.fromisoformat(place["end"]) if place.get("end") else start + timedelta(minutes=30)
    return {"start": start, "end": end, "room": rooms.get(place.get("room", ""))}


if __name__ == "__main__":
    main()
