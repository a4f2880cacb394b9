"""Make everything ready and serve the demo: database, static files, the demo program, a chair's account."""

import gc
import multiprocessing
import os
import secrets
import socket
import sys
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from conference.models import Edition
from operations.indexing.update import refresh

HOST = "127.0.0.1"
DEMO_DIR = settings.BASE_DIR / "demo"
CHAIR = "chair"


class Command(BaseCommand):
    """Running it again starts at once and loses nothing: what is there is left as it is."""

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
        # A short-lived process: whoever starts the demo waits, and garbage collection costs time.
        gc.disable()
        with ThreadPoolExecutor(1) as beside:
            collected = beside.submit(collect_static)
            call_command("migrate", verbosity=0, interactive=False)
            if not empty:
                self.import_programs()
        collected.result()
        refresh()
        self.make_chair()
        self.print_addresses(port)
        if not no_serve:
            serve(port)

    def import_programs(self) -> None:
        """Import each year of the demo that is not in the database yet, through the ordinary importer."""
        present = set(Edition.objects.values_list("slug", flat=True))
        for path in sorted(DEMO_DIR.glob("*-[0-9][0-9][0-9][0-9].json")):
            slug = path.stem.rpartition("-")[2]
            if slug not in present:
                self.stdout.write(f"Importing {path.relative_to(settings.BASE_DIR)} …")
                call_command(
                    "import_program", "program_json", str(path), edition=slug, verbosity=0, no_progress=True
                )

    def make_chair(self) -> None:
        """Make a chair's account, unless somebody can sign in already. Its password is shown this once."""
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


def refuse_busy_port(port: int) -> None:
    """Raise `CommandError` when something listens on the port already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            advice = "choose another with --port"
            raise CommandError(f"Port {port} on {HOST} cannot be used ({error}): {advice}.") from error


def newest(folder: Path) -> float:
    return max((path.stat().st_mtime for path in folder.rglob("*")), default=0.0)


def collect_static() -> None:
    """Collect the static files, compressed and with hashed names, unless nothing changed since last time."""
    stamp: Path = settings.STATIC_ROOT / ".collected"
    sources = max(newest(Path(folder)) for folder in settings.STATICFILES_DIRS)
    if not stamp.exists() or stamp.stat().st_mtime < sources:
        call_command("collectstatic", verbosity=0, interactive=False)
        stamp.touch()


def serve(port: int) -> None:
    """Become the production server: granian, two workers. Does not return."""
    sys.stdout.flush()
    # granian warns above this number, which does not matter for a demo.
    threads = min(8, 2 * multiprocessing.cpu_count() + 1)
    # A worker ignores a signal while it starts: hence the time-out.
    options = (
        f"--interface wsgi --host {HOST} --port {port} --workers 2 --blocking-threads {threads} "
        "--workers-kill-timeout 5 --backpressure 128 --log-level warning"
    )
    application = ":".join(settings.WSGI_APPLICATION.rsplit(".", 1))
    command = [sys.executable, "-m", "granian", *options.split(), application]
    # Links to copy, QR codes and calendars lead here, unless the site was given an address.
    os.environ.setdefault("SITE_URL", f"http://{HOST}:{port}")
    os.chdir(settings.BASE_DIR)
    os.execv(sys.executable, command)  # noqa: S606  a fixed command, no shell
