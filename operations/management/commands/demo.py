"""`manage.py demo`: prepare and serve the demo: database, static files, programs, and a chair's account."""

import gc
import json
import logging
import multiprocessing
import os
import re
import secrets
import socket
import sys
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.files import File
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils.timezone import now

from conference.models import Edition, Sponsor
from content import revision, times
from operations.indexing.update import refresh
from papers import thumbnails
from papers.models import Paper
from papers.picture_process import thumbnail
from people.models import Person

HOST = "127.0.0.1"
DEMO_DIR = settings.BASE_DIR / "demo"
PICTURES_DIR = DEMO_DIR / "pictures"
CHAIR = "chair"
# The prefix of files of the sample conference, which are written as if today were the day below.
SAMPLE = "scrc-"
WRITTEN_FOR = date(2026, 6, 10)
DATE_OR_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d[+-]\d\d:\d\d)?")


class Command(BaseCommand):
    """Command that can be repeated: existing data is left unchanged."""

    help = "Prepare the demo (database, static files, program, a chair's account) and serve it on 127.0.0.1."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: 8000)")
        parser.add_argument("--empty", action="store_true", help="without the demo program, for one's own")
        parser.add_argument("--no-serve", action="store_true", help="make everything ready, but do not serve")

    def handle(
        self, *args: object, port: int, no_serve: bool, empty: bool = False, **options: object
    ) -> None:
        if not no_serve:
            refuse_busy_port(port)
        # Start faster without garbage collection, which this short-lived process does not need.
        gc.disable()
        # Imports and pictures run tasks, which log a line when they begin and end.
        logging.getLogger("django.tasks").setLevel(logging.WARNING)
        with ThreadPoolExecutor(1) as executor:
            collected = executor.submit(collect_static)
            self.stdout.write("Preparing the database …")
            call_command("migrate", verbosity=0, interactive=False)
            if not empty:
                self.import_programs()
            self.stdout.write("Collecting static files …")
            collected.result()
        self.stdout.write("Indexing for the search …")
        refresh()
        self.make_chair()
        self.print_addresses(port)
        if not no_serve:
            serve(port)

    def import_programs(self) -> None:
        """Import each edition of the demo that is not in the database yet, with `import_program`."""
        existing = set(Edition.objects.values_list("slug", flat=True))
        for path in sorted(DEMO_DIR.glob("*.json")):
            program = json.loads(path.read_text("utf-8"))
            slug = program["edition"]["slug"]
            if slug in existing:
                continue
            self.stdout.write(f"Importing {path.relative_to(settings.BASE_DIR)} …")
            if path.stem.startswith(SAMPLE):
                program = shift_to_today(program)
            with TemporaryDirectory() as folder:
                file = Path(folder) / path.name
                file.write_text(json.dumps(program, ensure_ascii=False), "utf-8")
                call_command(
                    "import_program",
                    "program_json",
                    str(file),
                    edition=slug,
                    verbosity=0,
                    no_progress=not sys.stderr.isatty(),
                )
            add_pictures(slug)

    def make_chair(self) -> None:
        """Create a chair's account and print its password, unless there is a superuser already."""
        users = get_user_model().objects
        if users.filter(is_superuser=True).exists():
            return
        password = secrets.token_urlsafe(12)
        users.create_superuser(CHAIR, password=password)
        self.stdout.write(f"\nSign in to the admin as “{CHAIR}” with the password: {password}")
        self.stdout.write("It is shown this once; `uv run manage.py changepassword chair` sets another.\n")

    def print_addresses(self, port: int) -> None:
        root = f"http://{HOST}:{port}"
        self.stdout.write("\nThe site is ready:")
        self.stdout.write(f"  {root}/  the program site")
        for edition in Edition.objects.published():
            self.stdout.write(f"  {root}{edition.get_absolute_url()}  {edition.name}")
        self.stdout.write(f"  {root}/admin/  the chairs' desk\n")


def shift_to_today(program: dict[str, Any], today: date | None = None) -> dict[str, Any]:
    """Return a program of the sample conference with all dates moved, and local times unchanged."""
    edition = program["edition"]
    zone = ZoneInfo(edition["timezone"])
    offset = (today or times.program_day(now(), zone, edition["day_start_hour"])) - WRITTEN_FOR
    shifted: dict[str, Any] = _shift(program, offset, zone)
    shifted["edition"]["year"] = date.fromisoformat(shifted["edition"]["start_date"]).year
    return shifted


def _shift(value: object, offset: timedelta, zone: ZoneInfo) -> Any:
    if isinstance(value, dict):
        return {name: _shift(part, offset, zone) for name, part in value.items()}
    if isinstance(value, list):
        return [_shift(part, offset, zone) for part in value]
    if not isinstance(value, str) or not (match := DATE_OR_TIME.fullmatch(value)):
        return value
    if match[1]:
        return (datetime.fromisoformat(value).astimezone(zone) + offset).isoformat()
    return (date.fromisoformat(value) + offset).isoformat()


def add_pictures(slug: str) -> None:
    """Add the pictures of the demo to an edition that was just imported."""
    for folder, field, rows in (
        ("heroes", "hero", {row.slug: row for row in Edition.objects.filter(slug=slug)}),
        (
            "people",
            "photo",
            {row.uid: row for row in Person.objects.filter(uid__startswith="sample-", photo="")},
        ),
        ("sponsors", "logo", {row.slug: row for row in Sponsor.objects.filter(edition__slug=slug)}),
    ):
        for path in sorted((PICTURES_DIR / folder).iterdir()):
            if row := rows.get(path.stem):
                with path.open("rb") as file:
                    setattr(row, field, File(file, path.name))
                    row.full_clean()
                    row.save()
    add_teasers(slug)


def add_teasers(slug: str) -> None:
    """Add teasers and thumbnails to papers. A process for each thumbnail, as for uploads, would take 20 s."""
    papers = {paper.uid: paper for paper in Paper.objects.filter(edition__slug=slug, teaser="")}
    with revision.lock():
        for path in sorted((PICTURES_DIR / "teasers").iterdir()):
            if paper := papers.get(path.stem):
                content = path.read_bytes()
                paper.teaser.save(path.name, ContentFile(content), save=False)
                paper.thumbnail = thumbnails.store_thumbnail(paper.teaser.name, thumbnail(content))
                paper.full_clean()
                paper.save()


def refuse_busy_port(port: int) -> None:
    """Raise `CommandError` if the port is in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            advice = "choose another with --port"
            raise CommandError(f"Port {port} on {HOST} cannot be used ({error}): {advice}.") from error


def newest_mtime(folder: Path) -> float:
    return max((path.stat().st_mtime for path in folder.rglob("*")), default=0.0)


def collect_static() -> None:
    """Collect the static files, compressed and with hashed names, unless nothing changed since last time."""
    stamp: Path = settings.STATIC_ROOT / ".collected"
    sources = max(newest_mtime(Path(folder)) for folder in settings.STATICFILES_DIRS)
    if not stamp.exists() or stamp.stat().st_mtime < sources:
        call_command("collectstatic", verbosity=0, interactive=False)
        stamp.touch()


def serve(port: int) -> None:
    """Replace this process by the production server, granian with two workers. Does not return."""
    sys.stdout.flush()
    # granian warns above this number, which does not matter for a demo.
    threads = min(8, 2 * multiprocessing.cpu_count() + 1)
    # Workers ignore signals while they start, hence the timeout.
    options = (
        f"--interface wsgi --host {HOST} --port {port} --workers 2 --blocking-threads {threads} "
        "--workers-kill-timeout 5 --backpressure 128 --log-level warning"
    )
    application = ":".join(settings.WSGI_APPLICATION.rsplit(".", 1))
    command = [sys.executable, "-m", "granian", *options.split(), application]
    # Make copied links, QR codes and calendars lead to this server, unless SITE_URL is set.
    os.environ.setdefault("SITE_URL", f"http://{HOST}:{port}")
    os.chdir(settings.BASE_DIR)
    os.execv(sys.executable, command)  # noqa: S606  a fixed command, no shell
