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
from tests.faults.editors import Desk, Editor  # noqa: E402
from tests.faults.serving import serve  # noqa: E402

PAPERS, SESSIONS = 8, 6
# Kinds of work of each group of five editors.
KINDS = ("form", "api", "form", "timetable", "importing")


def build() -> Desk:
    """Create an edition with a few papers and sessions, which all editors edit."""
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    edition = make.make_edition()
    papers = [make.make_paper(edition, ["Ada"], uid=f"p{number}") for number in range(PAPERS)]
    room = make.make_room(edition)
    hours = [make.MORNING + timedelta(hours=number) for number in range(SESSIONS)]
    sessions = [make.make_session(edition, 50, start=hour, room=room) for hour in hours]
    rows = [{"uid": one.uid, "title": one.title, "lay_summary": "SUMMARY"} for one in papers]
    file = json.dumps({"format": "plenary-program", "version": 1, "papers": rows})
    addresses = {one.pk: f"{edition.slug}/{one.uid}" for one in papers}
    return Desk(addresses, [one.pk for one in sessions], edition.pk, file, "2021-04-06")


def hired(number: int, port: int, desk: Desk) -> Editor:
    """Return an editor with a session cookie and a token."""
    user = User.objects.create_superuser(f"e{number}")
    client = Client()
    client.force_login(user)
    return Editor(port, number, f"sessionid={client.cookies['sessionid'].value}", make_token(user), desk)


def lost(editors: list[Editor]) -> list[str]:
    """Return the changes that the site confirmed but did not store."""
    texts = dict(Paper.objects.values_list("pk", "abstract"))
    words = [one for editor in editors for one in editor.taken.words]
    found = [f"{word} in {key}" for key, word in words if f"{word} " not in f"{texts[key]} "]
    moves = [one for editor in editors for one in editor.taken.moves]
    told = RowChange.objects.filter(model="schedule.session", kind="changed").count()
    if told != len(moves):
        found.append(f"{len(moves)} moves, {told} in the history")
    for session in Session.objects.all():
        here = f"{session.start.astimezone(session.edition.zone):%H:%M}"
        ways = [start for key, start in moves if key == session.pk]
        if ways and here not in ways:
            found.append(f"session {session.pk} stands at {here}, where nobody put it")
    done = {word for editor in editors for word in editor.taken.imports}
    summaries = {*Paper.objects.values_list("lay_summary", flat=True)}
    if ImportJob.objects.filter(state="done").exists() and not (len(summaries) == 1 and summaries <= done):
        found.append(f"summaries {sorted(summaries)} of several imports")
    return found


def main(count: int, seconds: float) -> dict[str, Any]:
    """Run concurrent editors for some seconds; return counts of responses and lost changes."""
    desk = build()
    more = {"DATABASE_URL": os.environ["DATABASE_URL"]}
    with serve(Path(settings.VAR_DIR), workers=2, **more) as site:
        editors = [hired(number, site.port, desk) for number in range(count)]
        until = time.monotonic() + seconds
        work = [
            threading.Thread(target=editor.work, args=(KINDS[number % len(KINDS)], until))
            for number, editor in enumerate(editors)
        ]
        for one in work:
            one.start()
        for one in work:
            one.join()
    answers = sum((editor.taken.answers for editor in editors), Counter[str]())
    return {
        "editors": count,
        "answers": dict(sorted(answers.items())),
        "words": sum(len(editor.taken.words) for editor in editors),
        "moves": sum(len(editor.taken.moves) for editor in editors),
        "imports": ImportJob.objects.filter(state="done").count(),
        "slowest": round(max(editor.taken.slowest for editor in editors), 2),
        "failed": sum(n for name, n in answers.items() if name.rpartition(" ")[2] in ("0", "500", "503")),
        "revision": Edition.objects.get(pk=desk.edition).revision,
        "lost": lost(editors),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--editors", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300)
    given = parser.parse_args()
    sys.stdout.write(json.dumps(main(given.editors, given.seconds), indent=1) + "\n")
