"""Times in the admin are shown in the zone of the row's edition, with its name."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from api.models import Token
from conference.models import Edition, KeyDate
from content.history import ChangeSet
from exchange.models import Conflict, ImportJob, ImportRun, Provenance
from schedule.models import ReleasePlan
from tests import factories as make
from tests.admin_forms import admin_url, date_and_time, run_action

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
LOCAL = "Thu 15 Jan 2026, 17:45 GMT+5:45"


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(timezone="Asia/Kathmandu")


@pytest.fixture
def run(edition: Edition, admin_user: User) -> ImportRun:
    return ImportRun.objects.create(edition=edition, user=admin_user, started_at=NOON, finished_at=NOON)


def test_import_lists_and_pages_show_the_edition_zone(
    admin_client: Client, admin_user: User, edition: Edition, run: ImportRun
) -> None:
    job = ImportJob.objects.create(edition=edition, user=admin_user, created_at=NOON, state="ready")
    paper = make.make_paper(edition)
    row = Provenance.objects.create(edition=edition, kind="paper", object_id=paper.pk, run=run)
    fields = {"provenance": row, "run": run, "field": "title", "label": "A paper"}
    Conflict.objects.create(created_at=NOON, **fields)
    pages = [admin_url(ImportJob, "changelist"), admin_url(job, "change"), admin_url(ImportRun, "changelist")]
    pages.append(f"{admin_url(Conflict, 'changelist')}?state=open")

    assert [page for page in pages if LOCAL not in admin_client.get(page).text] == []


def test_decided_conflict_and_import_run_show_the_edition_zone(
    admin_client: Client, admin_user: User, edition: Edition, run: ImportRun
) -> None:
    row = Provenance.objects.create(
        edition=edition, kind="paper", object_id=make.make_paper(edition).pk, run=run
    )
    resolution = {"resolved_at": NOON, "decided_by": admin_user, "decision": "ours"}
    conflict = Conflict.objects.create(provenance=row, run=run, field="title", label="A paper", **resolution)

    assert (
        "Decided by admin, 15 Jan 2026, 17:45 +0545:" in admin_client.get(admin_url(conflict, "change")).text
    )
    assert "15 January 2026, 17:45 +0545" in admin_client.get(admin_url(run, "change")).text


def test_deleted_rows_show_the_edition_zone(admin_client: Client, edition: Edition) -> None:
    with time_machine.travel(NOON, tick=False):
        make.make_paper(edition).delete()

    assert LOCAL in admin_client.get("/admin/papers/paper/deleted/").text


def test_undo_pages_show_the_edition_zone(admin_client: Client, edition: Edition, run: ImportRun) -> None:
    run.undone_at = NOON
    run.save()
    with time_machine.travel(NOON, tick=False):
        run_action(admin_client, "publish", [make.make_paper(edition, status="draft")])
    change_set = ChangeSet.objects.get(origin="action")

    assert f"By admin, {LOCAL}." in admin_client.get(f"/admin/acts/{change_set.pk}/take-back/").text
    undo_page = admin_client.get(f"/admin/exchange/importrun/{run.pk}/undo/").text
    assert f"This import was already reverted: {LOCAL}." in undo_page
    assert f"MLSys 2021, {LOCAL}" in undo_page


def test_rows_without_an_edition_show_utc(admin_client: Client, admin_user: User) -> None:
    Token(user=admin_user, name="Laptop", digest="x", token_key="y", expiry=NOON).save()

    assert "15 January 2026, 12:00 UTC" in admin_client.get(admin_url(Token, "changelist")).text


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_years_at_the_limits_of_dates_are_refused(admin_client: Client, day: str) -> None:
    edition = make.make_edition(2026, timezone="Pacific/Auckland", **make.CLOSED)
    make.make_key_date(edition, day=edition.start_date - timedelta(days=1))
    make.make_key_date(edition, day=edition.end_date + timedelta(days=1))
    session = make.make_session(edition, start=NOON)
    ReleasePlan.objects.create(edition=edition)
    path, copy = f"/admin/conference/edition/{edition.pk}/publish/", "/admin/schedule/release/working-copy/"
    new_edition = {"name": "N", "year": 2027, "slug": "2027", "timezone": "UTC", "parts": ["key_dates"]}
    was = admin_client.get(path).context["form"].initial["was"]
    moment = {"release_at": f"{day}T00:00", "start": f"{day}T00:00", "end": f"{day}T23:59"}
    pages = [
        admin_client.post(path, {"when": "later", "was": was, **date_and_time("moment", day, "00:00")}),
        admin_client.post(admin_url(KeyDate, "add"), {"edition": edition.pk, "title": "T", "day": day}),
        admin_client.post(
            f"/admin/conference/edition/new/?edition={edition.pk}",
            {**new_edition, "start_date": day, "end_date": day},
        ),
        admin_client.post(f"{copy}?edition={edition.pk}", {"act": "plan", "seen_version": "0", **moment}),
        admin_client.post(f"/admin/schedule/session/{session.pk}/announce/", {"kind": "time", **moment}),
    ]

    assert ["The year must be between 1900 and 2200." in page.text for page in pages] == [True] * 5
