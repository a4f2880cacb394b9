"""How long the chairs' desk and its clashes take on a generated program. No installation is touched.

`uv run python bench/desk.py` fills a SQLite file and forgets it; `--database URL` names a PostgreSQL on
which a database for this alone is made and dropped. It ends by itself and prints a Markdown table.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from conference.models import Edition

SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"]
START = datetime(2027, 3, 28, 6, 0, tzinfo=UTC)
DAYS, HALLS, SLOTS, BOARDS = 4, 18, 5, 500


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--papers", type=int, default=6_000)
    asked.add_argument("--database", help="such as postgres://postgres@127.0.0.1:5432/postgres")
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PLENARY_VAR_DIR": folder, "DJANGO_SETTINGS_MODULE": "conference.settings"}
        if options.database:
            os.environ["DATABASE_URL"] = options.database
        measure(options.papers)


def measure(papers: int) -> None:
    """Fill a database as tests do, ask, and drop it."""
    import django
    from django.db import connection

    django.setup()
    creation: Any = connection.creation
    creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        edition = fill(papers, random.Random(7))
        print(f"{connection.vendor}, {papers:,} papers\n")
        print("| what | first | median of 9 | of that, this process computing |\n|---|---|---|---|")
        for what, ask in questions(edition).items():
            (first, _), *others = [took(ask) for _ in range(10)]
            clock, computing = (median(column) for column in zip(*others, strict=True))
            print(f"| {what} | {first:.0f} ms | {clock:.0f} ms | {computing:.0f} ms |", flush=True)
    finally:
        creation.destroy_test_db(connection.settings_dict["NAME"], verbosity=0)


def took(ask: Callable[[], Any]) -> tuple[float, float]:
    """Return the milliseconds by the clock and on the processor: on a busy machine they differ."""
    clock, computing = time.perf_counter(), time.process_time()
    ask()
    return 1_000 * (time.perf_counter() - clock), 1_000 * (time.process_time() - computing)


def questions(edition: "Edition") -> dict[str, Callable[[], Any]]:
    """Return what is asked, by name."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    from schedule import clashes
    from schedule.models import Session

    settings.ALLOWED_HOSTS = ["testserver"]
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("chair"))
    session = Session.objects.filter(kind="oral").first()
    form = f"/admin/schedule/session/{session.pk if session else 0}/change/"
    timetable, hall = "/admin/schedule/session/timetable/", Session.objects.filter(kind="poster").first()
    boards = f"/admin/schedule/session/{hall.pk if hall else 0}/boards/"
    key = f"s{session.pk if session else 0}"
    move = {f"{key}-day": "2027-03-28", f"{key}-start": "15:00", f"{key}-end": "16:30", f"{key}-room": ""}
    return {
        "all clashes": lambda: clashes.of(edition),
        "clashes of one session": lambda: clashes.touching([session] if session else []),
        "the desk": lambda: client.get("/admin/"),
        "the page of clashes": lambda: client.get("/admin/schedule/session/clashes/"),
        "the form of a session": lambda: client.get(form),
        "a day of the timetable editor": lambda: client.get(timetable),
        "clashes of a planned move": lambda: client.post(f"{timetable}clashes/", move),
        "the boards of a session": lambda: client.get(boards),
    }


def word(chance: random.Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))).title()


def fill(number: int, chance: random.Random) -> "Edition":
    """Write papers with four authors, a third of them given as talks, all of them hung as posters."""
    from content import revision
    from papers.models import Authorship, Material, Paper
    from people.models import Person

    with revision.lock():
        edition, orals, posters = make_sessions()
        some = [Person(uid=f"p{n}", name=f"{word(chance)} {word(chance)}") for n in range(2 * number)]
        people = Person.objects.bulk_create(some, batch_size=1_000)
        rows = [
            Paper(edition=edition, uid=f"p{n}", title=f"On {word(chance)}", abstract="So.")
            for n in range(number)
        ]
        papers = Paper.objects.bulk_create(rows, batch_size=1_000)
        authors = [
            Authorship(paper=paper, person=person, position=place, presenting=place == 1, name=person.name)
            for paper in papers
            for place, person in enumerate(chance.sample(people, 4), start=1)
        ]
        Authorship.objects.bulk_create(authors, batch_size=1_000)
        files = [Material(paper=paper, kind="pdf", url="https://example.org/p.pdf") for paper in papers]
        Material.objects.bulk_create(files, batch_size=1_000)
        present(papers, orals, posters)
    return edition


def make_sessions() -> "tuple[Edition, list[Any], list[Any]]":
    """Return an edition, its oral sessions hall by hall and slot by slot, and its poster sessions."""
    from conference.models import Conference, Edition
    from schedule.models import Room, Session

    series = Conference.objects.create(slug="bench", name="Bench")
    dates = {"start_date": date(2027, 3, 28), "end_date": date(2027, 3, 31), "timezone": "Europe/Berlin"}
    edition = Edition.objects.create(conference=series, year=2027, slug="2027", name="Bench 2027", **dates)
    rooms = [Room.objects.create(edition=edition, slug=f"r{n}", name=f"Hall {n}") for n in range(HALLS + 1)]

    def session(room: Any, kind: str, start: datetime, minutes: int) -> Any:
        end = start + timedelta(minutes=minutes)
        return Session(edition=edition, kind=kind, title="Session", start=start, end=end, room=room)

    begins = [START + timedelta(days=day, minutes=100 * slot) for day in range(DAYS) for slot in range(SLOTS)]
    orals = [session(room, "oral", begin, 90) for begin in begins for room in rooms[:HALLS]]
    posters = [session(rooms[HALLS], "poster", begin, 90) for begin in begins]
    return edition, Session.objects.bulk_create(orals), Session.objects.bulk_create(posters)


def present(papers: list[Any], orals: list[Any], posters: list[Any]) -> None:
    """Give every third paper a talk of a quarter of an hour, and each a board."""
    from schedule.models import Presentation

    rows = []
    for number, paper in enumerate(papers):
        hung = posters[number % len(posters)]
        board = str(number // len(posters) % BOARDS)
        common = {"edition": paper.edition, "paper": paper}
        rows.append(Presentation(**common, session=hung, kind="poster", board=board, position=number + 1))
        if number % 3 == 0:
            session, place = orals[number // 3 % len(orals)], number // 3 // len(orals)
            start = session.start + timedelta(minutes=15 * place)
            times = {"start": start, "end": start + timedelta(minutes=15)}
            rows.append(Presentation(**common, session=session, kind="oral", position=place + 1, **times))
    Presentation.objects.bulk_create(rows, batch_size=1_000)


if __name__ == "__main__":
    main()
