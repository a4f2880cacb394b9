"""Jobs during which a worker may be killed: an import, a timetable save, a merge, a release, a backup."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from bench.generate import fill
from conference.models import Edition
from exchange.jobs import tasks, uploads
from exchange.models import ImportJob
from operations.backup.archive import Archive, write
from papers.models import Paper
from people.merging import merge
from people.models import Person
from schedule.models import Release, Session
from schedule.releases import announce
from tests import factories as make
from tests.schedule.form_data import fields_of

PAPERS, SESSIONS, YEAR = 40, 10, "2031"
TIMETABLE = "/admin/schedule/session/timetable/"


@dataclass(frozen=True, slots=True)
class Job:
    """A job, and the share of it that was stored: 0 none, 1 all; any other value means partial data."""

    work: Callable[[], object]
    share: Callable[[], float]


def make_editions() -> None:
    """Create two editions: one from a file, one with a timetable."""
    call_command("migrate", verbosity=0)
    fill(PAPERS)
    edition = make.make_edition()
    room = make.make_room(edition)
    for number in range(SESSIONS):
        start = make.MORNING + timedelta(hours=number)
        make.make_session(edition, 50, start=start, room=room)
    announce(edition, timezone.now())
    User.objects.create_superuser("chair")


def changed_file(number: int) -> bytes:
    """Return the imported file with a new title for each paper."""
    content = json.loads((settings.VAR_DIR / "generated" / f"{YEAR}.json").read_text())
    for paper in content["papers"]:
        paper["title"] = f"{paper['title'].partition(' (take')[0]} (take {number})"
    return json.dumps(content).encode()


def import_job(number: int) -> Job:
    edition = Edition.objects.get(slug=YEAR)
    job = ImportJob.objects.create(
        edition=edition, format="program_json", files=["p.json"], user=User.objects.get()
    )
    uploads.store(job, [[changed_file(number)]])
    tasks.preview.func(job.pk)
    job.change_state("writing", before="ready")

    def share() -> float:
        job.refresh_from_db()
        written = Paper.objects.filter(edition=edition, title__endswith=f"(take {number})").count()
        return written / PAPERS if (job.state == "done") == (written == PAPERS) else 0.5

    return Job(lambda: tasks.write.func(job.pk), share)


def timetable_job(number: int) -> Job:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(User.objects.get())
    sessions = [*Session.objects.filter(edition__slug="2021").order_by("pk")]
    shift = timedelta(minutes=5 if number % 2 else -5)
    starts = {session.pk: session.start + shift for session in sessions}
    data = fields_of(client.get(TIMETABLE, {"edition": sessions[0].edition_id, "day": "2021-04-06"}))
    for session in sessions:
        for field, moment in (("start", session.start + shift), ("end", session.end + shift)):
            data[f"s{session.pk}-{field}"] = f"{moment.astimezone(session.edition.zone):%H:%M}"

    def share() -> float:
        stored_starts = Session.objects.filter(pk__in=starts).values_list("pk", "start")
        return float(sum(starts[key] == start for key, start in stored_starts) / len(starts))

    address = f"{TIMETABLE}?edition={sessions[0].edition_id}"
    return Job(lambda: client.post(address, {**data, "_save": "1"}), share)


def merge_job(number: int) -> Job:
    edition = Edition.objects.get(slug="2021")
    kept_person, merged_person = make.make_person(f"Stays {number}"), make.make_person(f"Goes {number}")
    for _ in range(5):
        make.make_paper(edition, [merged_person])
    make.make_committee_role(edition, merged_person)

    def share() -> float:
        moved = kept_person.authorships.count() + kept_person.committee_roles.count()
        return float(moved + Person.objects.filter(pk=merged_person.pk, merged_into=kept_person).count()) / 7

    return Job(lambda: merge.merge(kept_person, [merged_person]), share)


def release_job(number: int) -> Job:
    edition = Edition.objects.get(slug="2021")
    papers = [make.make_paper(edition, title=f"New {number}") for _ in range(3)]

    def share() -> float:
        release = Release.objects.filter(title=f"Release {number}").count()
        announced = Paper.objects.filter(
            pk__in=[paper.pk for paper in papers], announced_at__isnull=False
        ).count()
        return (release + announced) / 4

    return Job(lambda: announce(edition, timezone.now(), f"Release {number}"), share)


def backup_job(number: int) -> Job:
    path: Path = settings.VAR_DIR / "backups" / f"{number}.zip"

    def share() -> float:
        if path.exists():
            with Archive(path) as archive:
                archive.check()
        return float(path.exists())

    return Job(lambda: write(path, timezone.now()), share)


JOBS: dict[str, Callable[[int], Any]] = {
    "import": import_job,
    "timetable": timetable_job,
    "merge": merge_job,
    "release": release_job,
    "backup": backup_job,
}
