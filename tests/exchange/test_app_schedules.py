"""Tests of schedules for conference apps: stable addresses, HTTP validators, permissions, hidden data."""

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
from tests.exchange.programs import program_with_papers
from tests.website.sample_program import MARKER_LOWER, add_hidden_rows, make_public_program

pytestmark = pytest.mark.django_db
ENDINGS = {"xml": "frab_xml", "json": "frab_json", "xcal": "xcal"}
TYPES = {
    "xml": "application/xml; charset=utf-8",
    "json": "application/json",
    "xcal": "application/calendar+xml; charset=utf-8",
}


def body(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    content: str = response.getvalue().decode()
    return content


def titles(client: Client) -> list[str]:
    found = json.loads(body(client, "/2021/schedule.json"))["schedule"]["conference"]["days"]
    return [event["title"] for day in found for room in day["rooms"].values() for event in room]


@pytest.mark.parametrize("ending", ENDINGS)
def test_address_sends_the_file_to_every_origin_and_304_until_something_changes(
    client: Client, ending: str
) -> None:
    shown = make_public_program()
    first = client.get(f"/2021/schedule.{ending}")
    again = client.get(f"/2021/schedule.{ending}", headers={"If-None-Match": first["ETag"]})
    name = f"2021.{ending}" if ending == "xcal" else f"2021-schedule.{ending}"
    download = body(client, f"/2021/downloads/{ENDINGS[ending]}/{name}")

    assert (first["Content-Type"], first["Access-Control-Allow-Origin"]) == (TYPES[ending], "*")
    assert "Last-Modified" in first
    assert first.getvalue().decode() == download
    assert (again.status_code, again.content) == (304, b"")
    shown["session"].save()
    assert client.get(f"/2021/schedule.{ending}", headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_app_sees_sessions_talks_and_the_last_release(client: Client) -> None:
    shown = make_public_program()
    start = shown["session"].start
    make.make_presentation(
        shown["session"], uid="own", title="Own", start=start, end=start + timedelta(minutes=5)
    )
    Edition.objects.get(slug="2021").releases.create(
        number=7, title="Final", published_at=timezone.now() - timedelta(hours=1)
    )
    schedule = json.loads(body(client, "/2021/schedule.json"))["schedule"]

    assert "Own" in titles(client)
    assert schedule["version"] == "7 Final"
    guids = body(client, "/2021/schedule.xml")
    assert str(uuid5(NAMESPACE_URL, f"{settings.SITE_URL}/2021/presentation/own")) in guids


def test_release_of_the_future_is_no_version_yet(client: Client) -> None:
    make_public_program()
    Edition.objects.get(slug="2021").releases.create(
        number=7, published_at=timezone.now() + timedelta(hours=1)
    )

    assert json.loads(body(client, "/2021/schedule.json"))["schedule"]["version"] == "2"


def test_trap_16_drafts_hidden_names_and_addresses_never_show(client: Client) -> None:
    program = make_public_program()
    add_hidden_rows(program["edition"], program["paper"], program["person"], program["session"])
    PersonName.objects.create(person=program["person"], name="Old Hiddenname", hidden=True)

    for ending in ENDINGS:
        text = body(client, f"/2021/schedule.{ending}")
        for secret in (MARKER_LOWER, "Hiddenname", "ada@example.org", "acct:"):
            assert secret.lower() not in text.lower(), (ending, secret)


def test_schedule_under_embargo_is_empty(client: Client) -> None:
    program = make_public_program()
    Edition.objects.filter(pk=program["edition"].pk).update(
        schedule_public_from=timezone.now() + timedelta(hours=1)
    )

    assert titles(client) == []
    assert "schedule.xml" not in body(client, "/2021/downloads/")


def test_trap_20_same_title_in_two_years_and_a_new_title_keep_ids_apart_and_the_same(client: Client) -> None:
    first, second = make_public_program()["edition"], make.make_edition(2022)
    sessions = [make.make_session(one, uid="x", title="Twin") for one in (first, second)]
    guids = {str(uuid5(NAMESPACE_URL, f"{settings.SITE_URL}/{year}/session/x")) for year in (2021, 2022)}
    sessions[0].title = "Renamed"
    sessions[0].save()
    found = body(client, "/2021/schedule.xml") + body(client, "/2022/schedule.xml")

    assert len(guids) == 2
    assert all(found.count(guid) == 1 for guid in guids)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("papers", [2, 20])
def test_query_count_does_not_grow(client: Client, ending: str, papers: int) -> None:
    load(program_with_papers(papers), "2021")
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/2021/schedule.{ending}").getvalue()

    assert len(queries) == (8 if ending == "xcal" else 23)


def test_unknown_edition_is_404(client: Client) -> None:
    assert {client.get(f"/2029/schedule.{ending}").status_code for ending in ENDINGS} == {404}


def test_downloads_page_offers_the_address_to_paste_into_an_app(client: Client) -> None:
    make_public_program()
    page = body(client, "/2021/downloads/")

    assert f'<code id="schedule-url">{settings.SITE_URL}/2021/schedule.xml</code>' in page
    assert [f'href="/2021/schedule.{ending}"' in page for ending in ENDINGS] == [True] * 3
    assert "downloads/frab_xml" not in page
