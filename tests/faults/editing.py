"""Simulation of twenty concurrent editors: `python -m tests.faults.editing --seconds 300`.

Uses PLENARY_VAR_DIR and DATABASE_URL, which must be empty. Prints the results as JSON.
"""

import argparse
import json
import os
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402

from conference.models import Edition  # noqa: E402
from content.history import RowChange  # noqa: E402
from exchange.models import ImportJob  # noqa: E402
from papers.models import Paper  # noqa: E402
from schedule.models import Session  # noqa: E402
from tests import factories as make  # noqa: E402
from tests.api.writing import make_token  # noqa: E402
from tests.faults.editors import Editor, SharedRows  # noqa: E402
from tests.faults.serving import serve  # noqa: E402

PAPERS, SESSIONS = 8, 6
# Kinds of work of each group of five editors.
WORK_KINDS = ("form", "api", "form", "timetable", "importing")


def make_program() -> SharedRows:
    """Create an edition with a few papers and sessions, which all editors edit."""
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    edition = make.make_edition()
    papers = [make.make_paper(edition, ["Ada"], uid=f"p{number}") for number in range(PAPERS)]
    room = make.make_room(edition)
    starts = [make.MORNING + timedelta(hours=number) for number in range(SESSIONS)]
    sessions = [make.make_session(edition, 50, start=start, room=room) for start in starts]
    rows = [{"uid": row.uid, "title": row.title, "lay_summary": "SUMMARY"} for row in papers]
    file = json.dumps({"format": "plenary-program", "version": 1, "papers": rows})
    addresses = {row.pk: f"{edition.slug}/{row.uid}" for row in papers}
    return SharedRows(addresses, [row.pk for row in sessions], edition.pk, file, "2021-04-06")


def make_editor(number: int, port: int, shared_rows: SharedRows) -> Editor:
    """Return an editor with a session cookie and a token."""
    user = User.objects.create_superuser(f"e{number}")
    client = Client()
    client.force_login(user)
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    return Editor(port, number, cookie, make_token(user), shared_rows)


def find_lost_changes(editors: list[Editor]) -> list[str]:
    """Return the changes that the site confirmed but did not store."""
    texts = dict(Paper.objects.values_list("pk", "abstract"))
    added_words = [change for editor in editors for change in editor.results.words]
    problems = [f"{word} in {key}" for key, word in added_words if f"{word} " not in f"{texts[key]} "]
    moves = [change for editor in editors for change in editor.results.moves]
    recorded_moves = RowChange.objects.filter(model="schedule.session", kind="changed").count()
    if recorded_moves != len(moves):
        problems.append(f"{len(moves)} moves, {recorded_moves} in the history")
    for session in Session.objects.all():
        stored_start = f"{session.start.astimezone(session.edition.zone):%H:%M}"
        confirmed_starts = [start for key, start in moves if key == session.pk]
        if confirmed_starts and stored_start not in confirmed_starts:
            problems.append(f"session {session.pk} starts at {stored_start}, which no edit set")
    imported_words = {word for editor in editors for word in editor.results.imports}
    summaries = {*Paper.objects.values_list("lay_summary", flat=True)}
    if ImportJob.objects.filter(state="done").exists() and not (
        len(summaries) == 1 and summaries <= imported_words
    ):
        problems.append(f"summaries {sorted(summaries)} of several imports")
    return problems


def main(count: int, seconds: float) -> dict[str, Any]:
    """Run concurrent editors for some seconds; return counts of responses and lost changes."""
    shared_rows = make_program()
    env = {"DATABASE_URL": os.environ["DATABASE_URL"]}
    with serve(Path(settings.VAR_DIR), 2, **env) as site:
        editors = [make_editor(number, site.port, shared_rows) for number in range(count)]
        deadline = time.monotonic() + seconds
        threads = [
            threading.Thread(target=editor.work, args=(WORK_KINDS[number % len(WORK_KINDS)], deadline))
            for number, editor in enumerate(editors)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    responses = sum((editor.results.responses for editor in editors), Counter[str]())
    return {
        "editors": count,
        "answers": dict(sorted(responses.items())),
        "words": sum(len(editor.results.words) for editor in editors),
        "moves": sum(len(editor.results.moves) for editor in editors),
        "imports": ImportJob.objects.filter(state="done").count(),
        "slowest": round(max(editor.results.slowest for editor in editors), 2),
        "failed": sum(
            response_count
            for name, response_count in responses.items()
            if name.rpartition(" ")[2] in ("0", "500", "503")
        ),
        "revision": Edition.objects.get(pk=shared_rows.edition).revision,
        "lost": find_lost_changes(editors),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--editors", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    sys.stdout.write(json.dumps(main(options.editors, options.seconds), indent=1) + "\n")
