"""Times in the admin are in the zone of the row's edition, and name it."""

from datetime import UTC, datetime

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from api.models import Token
from conference.models import Edition
from content.history import ChangeSet
from exchange.models import Conflict, ImportJob, ImportRun, Provenance
from tests import factories as make
from tests.posted import address, run_action

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
LOCAL = "Thu 15 Jan 2026, 17:45 GMT+5:45"


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(timezone="Asia/Kathmandu")


@pytest.fixture
def run(edition: Edition, admin_user: User) -> ImportRun:
    return ImportRun.objects.create(edition=edition, user=admin_user, started_at=NOON, finished_at=NOON)


def test_lists_and_pages_of_imports_name_the_zone_of_the_edition(
    admin_client: Client, admin_user: User, edition: Edition, run: ImportRun
) -> None:
    job = ImportJob.objects.create(edition=edition, user=admin_user, created_at=NOON, state="ready")
    paper = make.make_paper(edition)
    row = Provenance.objects.create(edition=edition, kind="paper", object_id=paper.pk, run=run)
    given = {"provenance": row, "run": run, "field": "title", "label": "A paper"}
    Conflict.objects.create(created_at=NOON, **given)
    pages = [address(ImportJob, "changelist"), address(job, "change"), address(ImportRun, "changelist")]
    pages.append(f"{address(Conflict, 'changelist')}?state=open")

    assert [page for page in pages if LOCAL not in admin_client.get(page).text] == []


def test_decided_conflict_and_form_of_an_import_name_the_zone(
    admin_client: Client, admin_user: User, edition: Edition, run: ImportRun
) -> None:
    row = Provenance.objects.create(
        edition=edition, kind="paper", object_id=make.make_paper(edition).pk, run=run
    )
    decided = {"resolved_at": NOON, "decided_by": admin_user, "decision": "ours"}
    conflict = Conflict.objects.create(provenance=row, run=run, field="title", label="A paper", **decided)

    assert "Decided by admin, 15 Jan 2026, 17:45 +0545:" in admin_client.get(address(conflict, "change")).text
    assert "15 January 2026, 17:45 +0545" in admin_client.get(address(run, "change")).text


def test_deleted_rows_name_the_zone_of_their_edition(admin_client: Client, edition: Edition) -> None:
    with time_machine.travel(NOON, tick=False):
        make.make_paper(edition).delete()

    assert LOCAL in admin_client.get("/admin/papers/paper/deleted/").text


def test_page_that_reverts_names_the_zone_of_what_was_changed(
    admin_client: Client, edition: Edition, run: ImportRun
) -> None:
    run.undone_at = NOON
    run.save()
    with time_machine.travel(NOON, tick=False):
        run_action(admin_client, "publish", [make.make_paper(edition, status="draft")])
    done = ChangeSet.objects.get(origin="action")

    assert f"By admin, {LOCAL}." in admin_client.get(f"/admin/acts/{done.pk}/take-back/").text
    undo = admin_client.get(f"/admin/exchange/importrun/{run.pk}/undo/").text
    assert f"This import was already reverted: {LOCAL}." in undo
    assert f"MLSys 2021, {LOCAL}" in undo


def test_what_has_no_edition_names_utc(admin_client: Client, admin_user: User) -> None:
    Token(user=admin_user, name="Laptop", digest="x", token_key="y", expiry=NOON).save()

    assert "15 January 2026, 12:00 UTC" in admin_client.get(address(Token, "changelist")).text
