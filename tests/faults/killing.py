"""Kill jobs with SIGKILL at random moments and check the data: `python -m tests.faults.killing --runs 200`.

Uses PLENARY_VAR_DIR and DATABASE_URL, which must be empty. Prints the results as JSON.
"""

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from io import StringIO
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import CommandError, call_command  # noqa: E402
from django.db import connection, connections  # noqa: E402
from django.test import RequestFactory  # noqa: E402

from pagecache import revisions  # noqa: E402
from tests.faults.jobs import JOBS, Job, make_editions  # noqa: E402
from website.wsgi import django as uncached  # noqa: E402
from website.wsgi import pages  # noqa: E402

PATHS = ("/2021/", "/2021/schedule/", "/2021/papers/", "/2031/papers/", "/2021/changes/", "/people/")
TIMEOUT_SECONDS = 20.0


def get(application: Any, path: str) -> bytes:
    """Return the body of a page from a WSGI application; exit unless its status is 200."""
    statuses: list[str] = []
    environ = RequestFactory(SERVER_NAME="127.0.0.1").get(path).environ
    body = b"".join(application(environ, lambda status, headers, exc_info=None: statuses.append(status)))
    if statuses != ["200 OK"]:
        raise SystemExit(f"{path}: {statuses}")
    return body


def stale_pages() -> list[str]:
    """Return the paths of cached pages that differ from the current pages."""
    return [path for path in PATHS if get(pages, path) != get(uncached, path)]


def verify_output() -> str:
    """Return the problems that the command `verify` reports, one a line."""
    out = StringIO()
    try:
        call_command("verify", verbosity=0, stdout=out)
    except CommandError:
        return out.getvalue()
    return ""


def start_in_child(job: Job) -> int:
    """Start the job in a child process with its own database connections; return the process id."""
    connections.close_all()
    child = os.fork()
    if child:
        return child
    try:
        job.work()
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
        os._exit(1)
    os._exit(0)


def wait_for_disconnect() -> None:
    """Wait until PostgreSQL has ended the session of the killed process."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while connection.vendor == "postgresql" and time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            if cursor.fetchone() == (0,):
                return


def run(kind: str, number: int, duration: float, rng: random.Random) -> tuple[list[str], bool, bool]:
    """Run and kill a job once; return the problems, whether it was killed, and whether it was completed."""
    job = JOBS[kind](number)
    for path in PATHS:
        get(pages, path)
    child = start_in_child(job)
    time.sleep(rng.uniform(0, duration))
    os.kill(child, signal.SIGKILL)
    was_killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    wait_for_disconnect()
    share = job.share()
    problems = [] if share in (0, 1) else [f"{share:.0%} of it is there"]
    problems += [
        f"{path} is older than the revision" for path in stale_pages()
    ] + verify_output().splitlines()
    if share == 0:
        job.work()
        problems += [] if job.share() == 1 else ["it cannot be begun again"]
    return [f"{kind} {number}: {line}" for line in problems], was_killed, share == 1


def measure_duration(kind: str) -> float:
    """Return the seconds that a job takes in a child process that is not killed."""
    job = JOBS[kind](0)
    start = time.monotonic()
    os.waitpid(start_in_child(job), 0)
    duration = time.monotonic() - start
    if job.share() != 1:
        raise SystemExit(f"{kind}: {job.share():.0%} of it is there though nobody killed it.")
    return duration


def main(runs: int, seed: int) -> dict[str, Any]:
    """Kill each kind of job `runs` times; return counts and problems."""
    revisions.POLL_SECONDS = -1.0
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    make_editions()
    rng, problems, counts = random.Random(seed), list[str](), Counter[str]()
    for kind in JOBS:
        duration = measure_duration(kind)
        for number in range(1, runs + 1):
            run_problems, was_killed, is_complete = run(kind, number, duration * 1.05, rng)
            problems += run_problems
            counts[f"{kind} {'whole' if is_complete else 'absent'}"] += 1
            counts["killed"] += was_killed
    return {"runs": runs * len(JOBS), "counts": counts, "wrong": problems}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="of each kind of work")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.stdout.write(json.dumps(main(options.runs, options.seed), indent=1) + "\n")
