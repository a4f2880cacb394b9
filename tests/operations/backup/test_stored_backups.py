"""Backups of earlier versions, stored beside this file, are restored and upgraded with nothing lost.

Restoring creates the tables of the migrations of that time, fills them, and migrates them, as `migrate` does.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from operations.backup.archive import Archive
from tests.operations.backup.test_drill import restore
from tests.processes import manage, output, start

STORED = Path(__file__).parent / "stored"
# Made by the last version with working copies: one was open, with a planned release, and a conflict.
WORKING_COPY = STORED / "working-copy.zip"

READ_CHANGES = """
import json
from django.core.serializers.json import DjangoJSONEncoder
from schedule.models import ReleasePlan, Session, UnreleasedChange
from schedule.unreleased.conflicts import find_conflicts
changes = [*UnreleasedChange.objects.order_by("pk")]
plan = ReleasePlan.objects.get()
key_of = lambda row: getattr(row, "uid", None) or str(row)
found = {
    "plan": [plan.changes_wait, plan.waits_by, plan.release_at, plan.planned_by, plan.planner.username,
             plan.announcement["title"]],
    "lost": plan.refusal,
    "changes": [[change.target, key_of(change.row), change.values, change.began, change.on_release,
                 change.creates_row, change.by.username] for change in changes],
    "conflicts": [[conflict.public, conflict.mine] for conflict in find_conflicts(changes)],
    "public": [*Session.objects.order_by("uid").values_list("uid", "title", "status")],
}
print(json.dumps(found, cls=DjangoJSONEncoder))
"""

RELEASE = """
import json
from django.utils import timezone
from schedule.models import Presentation, ReleasePlan, Session, UnreleasedChange
from papers.models import Paper
from schedule.unreleased.conflicts import MINE, find_conflicts
from schedule.unreleased.new_clashes import NewClashesError
from schedule.unreleased.releasing import release
plan, keys = ReleasePlan.objects.get(), []
choices = {conflict.line: MINE for conflict in find_conflicts([*UnreleasedChange.objects.all()])}
while True:
    try:
        release(plan, None, timezone.now(), choices=choices, confirmed=keys)
        break
    except NewClashesError as error:
        keys = error.keys
found = {
    "sessions": [*Session.objects.filter(edition=plan.edition).order_by("uid")
                 .values_list("uid", "title", "status", "room__slug")],
    "talks": [*Presentation.objects.order_by("session__uid", "position").values_list("session__uid", "uid")],
    "papers": [Paper.objects.get(uid=uid).status for uid in ("late", "p12")],
    "waiting": UnreleasedChange.objects.count(),
}
print(json.dumps(found))
"""


def check_working_copy(folder: Path, **env: str) -> None:
    restore(folder, WORKING_COPY, **env)
    found: dict[str, Any] = json.loads(output(start(folder, READ_CHANGES, **env)))
    verified = manage(folder, "verify", **env)

    assert verified.returncode == 0, verified.stdout
    assert found["plan"] == [True, "chair", "2050-01-01T12:00:00Z", "chair", "chair", "News"]
    # Names of rooms are public at once now, so this one change is to be made again.
    assert found["lost"] == ("Not taken over, please make it again: Aula (changed). name: Hall 2 → Aula")
    session = {
        "end": "2021-04-06T18:00:00+00:00",
        "start": "2021-04-06T17:00:00+00:00",
        "title": "Oral session, $x^2$ first",
        "cancellation_reason": "Storm",
    }
    began = {
        "end": "2021-04-06T16:00:00+00:00",
        "start": "2021-04-06T15:00:00+00:00",
        "title": "Oral session 1",
        "cancellation_reason": "",
    }
    assert found["changes"] == [
        ["paper", "p12", {}, {}, "draft", False, "chair"],
        ["paper", "late", {}, {}, "published", False, "chair"],
        ["session", "s1", session, began, "cancelled", False, "chair"],
        [
            "session",
            "s2",
            {"room": 1, "title": "Mine"},
            {"room": 2, "title": "Oral session 2"},
            "",
            False,
            "editor",
        ],
        ["session", "s3", {}, {}, "published", True, "editor"],
        ["presentation", "t11", {"session": 4}, {"session": 1}, "", False, "editor"],
        ["presentation", "t12", {"position": 1}, {"position": 2}, "", False, "editor"],
        ["presentation", "t13", {"position": 2}, {"position": 3}, "", False, "editor"],
        ["presentation", "t21", {"position": 2}, {"position": 1}, "", False, "chair"],
        ["presentation", "t22", {}, {}, "removed", False, "editor"],
        ["presentation", "t23", {"position": 1}, {"position": 3}, "", False, "chair"],
        ["presentation", "late-talk", {"position": 2}, {"position": 1}, "published", True, "editor"],
        ["role", "Chair 2 (Chair)", {}, {}, "removed", False, "editor"],
    ]
    assert found["conflicts"] == [["Theirs", "Mine"]]
    assert found["public"] == [
        ["elsewhere", "Elsewhere", "published"],
        ["s1", "Oral session 1", "published"],
        ["s2", "Theirs", "published"],
        ["s3", "Late oral session", "draft"],
    ]
    assert json.loads(output(start(folder, RELEASE, **env))) == {
        "sessions": [
            ["s1", "Oral session, $x^2$ first", "cancelled", "hall-1"],
            ["s2", "Mine", "published", "hall-1"],
            ["s3", "Late oral session", "published", "annex"],
        ],
        "talks": [
            *(["s1", uid] for uid in ("t12", "t13")),
            *(["s2", uid] for uid in ("t23", "t21")),
            *(["s3", uid] for uid in ("t11", "late-talk")),
        ],
        "papers": ["published", "draft"],
        "waiting": 0,
    }


@pytest.mark.anywhere
def test_working_copy_becomes_unreleased_changes_on_sqlite(tmp_path: Path) -> None:
    check_working_copy(tmp_path / "site")


@pytest.mark.server
def test_working_copy_becomes_unreleased_changes_on_postgresql(tmp_path: Path, postgres: str) -> None:
    check_working_copy(tmp_path / "site", DATABASE_URL=postgres)


@pytest.mark.anywhere
def test_stored_backups_hold_no_settings() -> None:
    for path in STORED.glob("*.zip"):
        with Archive(path) as archive:
            assert archive.manifest["settings"] == {}
