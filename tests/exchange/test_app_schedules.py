"""Tests of schedules for conference apps: stable URLs, HTTP validators, no hidden data."""

import json
from datetime import timedelta
from uuid import NAMESPACE_URL, uuid5

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conference.models import Edition
from exchange.imports.load import load
from people.models import PersonName
from tests import factories as make
from tests.exchange.outputs import get_text
from tests.exchange.programs import program_with_papers
from tests.website.sample_program import MARKER_LOWER, add_hidden_rows, make_public_program

pytestmark = pytest.mark.django_db
ENDINGS = {"xml": "frab_xml", "json": "frab_json", "xcal": "xcal"}
TYPES = {
    "xml": "application/xml; charset=utf-8",
    "json": "application/json",
    "xcal": "application/calendar+xml; charset=utf-8",
}


def titles(client: Client) -> list[str]:
    days = json.loads(get_text(client, "/2021/schedule.json"))["schedule"]["conference"]["days"]
    return [event["title"] for day in days for room in day["rooms"].values() for event in room]


@pytest.mark.parametrize("ending", ENDINGS)
def test_schedule_allows_every_origin_and_is_304_until_it_changes(client: Client, ending: str) -> None:
    program = make_public_program()
    response = client.get(f"/2021/schedule.{ending}")
    revalidated = client.get(f"/2021/schedule.{ending}", headers={"If-None-Match": response["ETag"]})
    filename = f"2021.{ending}" if ending == "xcal" else f"2021-schedule.{ending}"
    download = get_text(client, f"/2021/downloads/{ENDINGS[ending]}/{filename}")

    assert (response["Content-Type"], response["Access-Control-Allow-Origin"]) == (TYPES[ending], "*")
    assert "Last-Modified" in response
    assert response.getvalue().decode() == download
    assert (revalidated.status_code, revalidated.content) == (304, b"")
    program["session"].save()
    assert (
        client.get(f"/2021/schedule.{ending}", headers={"If-None-Match": response["ETag"]}).status_code == 200
    )


def test_schedule_has_talks_and_the_latest_release(client: Client) -> None:
    program = make_public_program()
    start = program["session"].start
    make.make_presentation(
        program["session"], uid="own", title="Own", start=start, end=start + timedelta(minutes=5)
    )
    Edition.objects.get(slug="2021").releases.create(
        number=7, title="Final", published_at=timezone.now() - timedelta(hours=1)
    )
    schedule = json.loads(get_text(client, "/2021/schedule.json"))["schedule"]

    assert "Own" in titles(client)
    assert schedule["version"] == "7 Final"
    xml = get_text(client, "/2021/schedule.xml")
    assert str(uuid5(NAMESPACE_URL, f"{settings.SITE_URL}/2021/presentation/own")) in xml


def test_future_release_is_not_the_version(client: Client) -> None:
    make_public_program()
    Edition.objects.get(slug="2021").releases.create(
        number=7, published_at=timezone.now() + timedelta(hours=1)
    )

    assert json.loads(get_text(client, "/2021/schedule.json"))["schedule"]["version"] == "2"


def test_trap_16_drafts_hidden_names_and_emails_are_in_no_schedule(client: Client) -> None:
    program = make_public_program()
    add_hidden_rows(program["edition"], program["paper"], program["person"], program["session"])
    PersonName.objects.create(person=program["person"], name="Old Hiddenname", hidden=True)

    for ending in ENDINGS:
        text = get_text(client, f"/2021/schedule.{ending}")
        for secret in (MARKER_LOWER, "Hiddenname", "ada@example.org", "acct:"):
            assert secret.lower() not in text.lower(), (ending, secret)


def test_schedule_under_embargo_is_empty(client: Client) -> None:
    program = make_public_program()
    Edition.objects.filter(pk=program["edition"].pk).update(
        schedule_public_from=timezone.now() + timedelta(hours=1)
    )

    assert titles(client) == []
    assert "schedule.xml" not in get_text(client, "/2021/downloads/")


def test_trap_20_guids_differ_between_editions_and_survive_a_new_title(client: Client) -> None:
    first, second = make_public_program()["edition"], make.make_edition(2022)
    sessions = [make.make_session(edition, uid="x", title="Twin") for edition in (first, second)]
    guids = {str(uuid5(NAMESPACE_URL, f"{settings.SITE_URL}/{year}/session/x")) for year in (2021, 2022)}
    sessions[0].title = "Renamed"
    sessions[0].save()
    xml = get_text(client, "/2021/schedule.xml") + get_text(client, "/2022/schedule.xml")

    assert len(guids) == 2
    assert all(xml.count(guid) == 1 for guid in guids)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("count", [2, 20])
def test_query_count_is_the_same_for_2_and_20_papers(client: Client, ending: str, count: int) -> None:
    load(program_with_papers(count), "2021")
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/2021/schedule.{ending}").getvalue()

    assert len(queries) == (8 if ending == "xcal" else 23)


def test_unknown_edition_is_404(client: Client) -> None:
    assert {client.get(f"/2029/schedule.{ending}").status_code for ending in ENDINGS} == {404}


def test_downloads_page_shows_the_schedule_url_for_apps(client: Client) -> None:
    make_public_program()
    page = get_text(client, "/2021/downloads/")

    assert f'<code id="schedule-url">{settings.SITE_URL}/2021/schedule.xml</code>' in page
    assert [f'href="/2021/schedule.{ending}"' in page for ending in ENDINGS] == [True] * 3
    assert "downloads/frab_xml" not in page
