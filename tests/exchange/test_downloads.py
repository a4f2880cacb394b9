"""Tests of downloads over HTTP: content, headers and queries of each URL; 304 until something changes."""

import csv
import io
import json
import math
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import icalendar
import pytest
import time_machine
from bibtexparser.entrypoint import parse_string
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from exchange.exports import calendars
from exchange.formats.tables.alone import download_columns
from exchange.formats.tables.rows import DOWNLOAD_TABLES
from exchange.imports.load import load
from exchange.reading.sheets import column_heading
from tests import factories as make
from tests.exchange.outputs import get_text
from tests.exchange.programs import program_with_papers
from tests.html_pages import read
from tests.linked_data import linked_data
from tests.website.sample_program import make_public_program

pytestmark = pytest.mark.django_db
SPREADSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
NOW = datetime(2021, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def public_program() -> dict[str, Any]:
    """Create a public program, with a talk that has its own time in its session."""
    program = make_public_program()
    hour = timedelta(hours=1)
    start = program["session"].start
    program["talk"] = make.make_presentation(
        program["session"], uid="own", title="Own", start=start, end=start + hour / 4, speakers=["Bo Li"]
    )
    make.make_presentation(program["session"], uid="untimed", title="Untimed")
    return program


def uids(client: Client, path: str) -> list[str]:
    events = icalendar.Calendar.from_ical(get_text(client, path)).events
    return [event.uid.partition("@")[0] for event in events]


def citation_keys(client: Client, path: str) -> list[str]:
    return [entry.key for entry in parse_string(get_text(client, path)).entries]


def test_downloads_page_names_the_licenses(client: Client, public_program: dict[str, Any]) -> None:
    assert read(client, "/2021/downloads/").all("a", rel="license noopener") == []
    assert "Dataset" not in linked_data(client, "/2021/downloads/")
    Edition.objects.update(license="CC-BY-4.0", data_license="CC0-1.0")
    paragraphs = read(client, "/2021/downloads/").texts("p")

    assert "License of these files: CC0-1.0" in paragraphs
    assert "License of the papers, unless a paper says otherwise: CC-BY-4.0" in paragraphs
    dataset = linked_data(client, "/2021/downloads/")["Dataset"]
    assert dataset["license"] == "https://creativecommons.org/publicdomain/zero/1.0/"
    assert "/2021/papers.bib" in [
        urlsplit(download["contentUrl"]).path for download in dataset["distribution"]
    ]


FILES = [
    ("/2021/papers/p1.bib", "application/x-bibtex", "2021-p1.bib"),
    ("/2021/papers/p1.ris", "application/x-research-info-systems", "2021-p1.ris"),
    ("/2021/papers/p1.csl.json", "application/vnd.citationstyles.csl+json", "2021-p1.csl.json"),
    ("/2021/papers/p1.ics", "text/calendar; charset=utf-8", "2021-p1.ics"),
    ("/2021/papers.bib", "application/x-bibtex", "2021-papers.bib"),
    ("/2021/schedule.ics", "text/calendar; charset=utf-8", "2021.ics"),
    ("/2021/schedule/2021-04-06.ics", "text/calendar; charset=utf-8", "2021-04-06.ics"),
    ("/people/ada.ics", "text/calendar; charset=utf-8", "ada.ics"),
    ("/people/ada.bib", "application/x-bibtex", "ada.bib"),
    ("/2021/downloads/program_json/2021.json", "application/json", "2021.json"),
    ("/2021/downloads/tables/2021-tables.zip", "application/zip", "2021-tables.zip"),
    ("/2021/downloads/csv/2021-authors.csv", "text/csv; charset=utf-8", "2021-authors.csv"),
    ("/2021/downloads/xlsx/2021.xlsx", SPREADSHEET, "2021.xlsx"),
    ("/2021/downloads/xlsx/2021-papers.xlsx", SPREADSHEET, "2021-papers.xlsx"),
]


@pytest.mark.usefixtures("public_program")
def test_file_has_type_name_and_validators(client: Client, subtests: pytest.Subtests) -> None:
    for path, media_type, name in FILES:
        with subtests.test(path=path):
            assert_headers(client, path, media_type, name)


def assert_headers(client: Client, path: str, media_type: str, name: str) -> None:
    response = client.get(path)
    response.getvalue()

    assert response.streaming
    assert {
        header: response[header] for header in ("Content-Type", "Content-Disposition", "Cache-Control")
    } == {
        "Content-Type": media_type,
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "public, max-age=0, must-revalidate",
    }
    conditional_headers = (
        {"If-None-Match": response["ETag"]},
        {"If-Modified-Since": response["Last-Modified"]},
    )
    for headers in conditional_headers:
        unchanged = client.get(path, headers=headers)
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        assert (unchanged["ETag"], unchanged["Cache-Control"]) == (
            response["ETag"],
            response["Cache-Control"],
        )


@pytest.mark.parametrize("path", ["/2021/papers.bib", "/2021/schedule.ics", "/people/ada.ics"])
def test_trap_17_changed_file_is_not_304(client: Client, path: str) -> None:
    with time_machine.travel(NOW, tick=False):
        program = make_public_program()
        first = client.get(path)
    with time_machine.travel(NOW + timedelta(seconds=1), tick=False):
        make.make_paper(program["edition"], [program["person"]])
        for headers in ({"If-None-Match": first["ETag"]}, {"If-Modified-Since": first["Last-Modified"]}):
            second = client.get(path, headers=headers)
            assert second.status_code == 200
            assert second["ETag"] != first["ETag"]


def test_file_is_not_304_after_the_end_of_an_embargo(client: Client) -> None:
    with time_machine.travel(NOW, tick=False):
        edition = make.make_edition(papers_public_from=NOW + timedelta(hours=1))
        make.make_paper(edition, uid="p1")
        before = client.get("/2021/papers.bib")
        assert before.getvalue() == b""
    with time_machine.travel(NOW + timedelta(hours=2), tick=False):
        for headers in ({"If-None-Match": before["ETag"]}, {"If-Modified-Since": before["Last-Modified"]}):
            after = client.get("/2021/papers.bib", headers=headers)
            assert b"mlsys2021.p1" in after.getvalue()


@pytest.mark.usefixtures("public_program")
def test_unchanged_file_needs_two_queries(client: Client) -> None:
    etag = client.get("/2021/schedule.ics")["ETag"]
    with CaptureQueriesContext(connection) as queries:
        client.get("/2021/schedule.ics", headers={"If-None-Match": etag})

    assert len(queries) == 2


# Calendars

SESSIONS = ["session.2021.s1", "session.2021.s2", "session.2021.t1"]
EVENTS_BY_URL: dict[str, list[str]] = {
    "/2021/schedule.ics": ["presentation.2021.own", *SESSIONS],
    "/2021/schedule/2021-04-06.ics": ["presentation.2021.own", *SESSIONS],
    "/2021/schedule/2021-04-07.ics": [],
    "/2021/schedule.ics?kind=invited_talk": ["session.2021.t1"],
    "/2021/schedule.ics?room=hall": ["presentation.2021.own", "session.2021.s1", "session.2021.t1"],
    "/2021/schedule.ics?topic=engines": ["session.2021.s1"],
    "/2021/schedule/2021-04-06.ics?kind=oral&room=hall": ["presentation.2021.own", "session.2021.s1"],
    "/2021/schedule/2021-04-06.ics?topic=engines": ["session.2021.s1"],
    "/2021/schedule/2021-04-07.ics?kind=oral": [],
    "/2021/presentations/a1.ics": ["presentation.2021.a1"],
    "/2021/sessions/s1.ics": ["presentation.2021.own", "session.2021.s1"],
    "/2021/sessions/t1.ics": ["session.2021.t1"],
    "/2021/rooms/hall.ics": ["presentation.2021.own", "session.2021.s1", "session.2021.t1"],
    "/2021/topics/engines.ics": ["presentation.2021.a1"],
    "/2021/papers/p1.ics": ["presentation.2021.a1"],
    "/people/ada.ics": ["presentation.2021.a1", "session.2021.t1"],
}


@pytest.mark.usefixtures("public_program")
def test_calendar_contains_the_events_of_its_url(client: Client) -> None:
    assert {path: sorted(uids(client, path)) for path in EVENTS_BY_URL} == EVENTS_BY_URL


@pytest.mark.usefixtures("public_program")
def test_filtered_calendar_names_its_source_url(client: Client) -> None:
    content = get_text(client, "/2021/schedule.ics?utm_source=mail&room=hall&kind=oral").replace("\r\n ", "")

    assert "SOURCE;VALUE=URI:http://127.0.0.1:8000/2021/schedule.ics?kind=oral&room=hall\r\n" in content
    assert client.get("/2021/schedule.ics?kind=nonsense").status_code == 400


CALENDARS_BY_PAGE = {
    "/2021/papers/p1/notes/": "/2021/presentations/a1.ics",
    "/2021/sessions/s1/engines/": "/2021/sessions/s1.ics",
    "/2021/rooms/hall/": "/2021/rooms/hall.ics",
    "/2021/schedule/?view=list": "/2021/schedule.ics",
    "/2021/schedule/?view=week&kind=oral": "/2021/schedule.ics?kind=oral",
    "/2021/schedule/2021-04-06/": "/2021/schedule/2021-04-06.ics",
    "/2021/schedule/2021-04-06/?view=grid&room=hall": "/2021/schedule/2021-04-06.ics?room=hall",
    "/people/ada/ada-lovelace/": "/people/ada.ics",
}


@pytest.mark.usefixtures("public_program")
def test_page_links_to_the_calendar_of_its_content(client: Client) -> None:
    links = {
        page: client.get(page).text.count(f'<a href="{calendar}" download>')
        for page, calendar in CALENDARS_BY_PAGE.items()
    }

    assert links == dict.fromkeys(CALENDARS_BY_PAGE, 1)


@pytest.mark.usefixtures("public_program")
def test_paper_calendar_has_location_and_authors(client: Client) -> None:
    (event,) = icalendar.Calendar.from_ical(get_text(client, "/2021/papers/p1.ics")).events

    assert (event["SUMMARY"], event["LOCATION"]) == ("Notes", "Hall A")
    assert str(event["DESCRIPTION"]).startswith("Author: Ada Lovelace\n\nEngines\n\nWhat was done.")


def test_trap_5_calendar_reflects_moved_and_canceled_sessions(
    client: Client, public_program: dict[str, Any]
) -> None:
    def session_event() -> Any:
        events: list[Any] = icalendar.Calendar.from_ical(get_text(client, "/2021/sessions/s1.ics")).events
        return next(event for event in events if event.uid.startswith("session.2021.s1@"))

    first, content = session_event(), get_text(client, "/2021/sessions/s1.ics")
    assert get_text(client, "/2021/sessions/s1.ics") == content
    public_program["session"].start -= timedelta(hours=1)
    public_program["session"].save()
    second = session_event()
    Edition.objects.get().sessions.update(status="cancelled")
    third = session_event()

    assert [event["STATUS"] for event in (first, second, third)] == ["CONFIRMED", "CONFIRMED", "CANCELLED"]
    assert first["SEQUENCE"] < second["SEQUENCE"] < third["SEQUENCE"]
    assert first.LAST_MODIFIED < second.LAST_MODIFIED < third.LAST_MODIFIED
    assert first.uid == second.uid == third.uid


def test_person_calendar_has_all_editions_in_their_time_zones(
    client: Client, public_program: dict[str, Any]
) -> None:
    next_edition = make.make_edition(2022, timezone="Asia/Seoul")
    make.add_role(make.make_session(next_edition, uid="s1"), public_program["person"], "chair")
    calendar = icalendar.Calendar.from_ical(get_text(client, "/people/ada.ics"))

    assert {zone.tz_name for zone in calendar.timezones} == {"America/Los_Angeles", "Asia/Seoul"}
    assert sorted(event.uid.partition("@")[0] for event in calendar.events) == [
        "presentation.2021.a1",
        "session.2021.t1",
        "session.2022.s1",
    ]


@pytest.mark.parametrize("batch_size", [1, 2])
def test_paper_calendar_is_the_same_when_read_in_batches(
    client: Client, public_program: dict[str, Any], monkeypatch: pytest.MonkeyPatch, batch_size: int
) -> None:
    """Loading thousands of talks at once takes 20 MB, which a process does not free afterwards."""
    for uid, hour in (("c", 3), ("b", 2)):
        paper = make.make_paper(public_program["edition"], ["Bo Li"], uid=uid)
        start = public_program["session"].start + timedelta(hours=hour)
        make.make_presentation(public_program["session"], paper=paper, uid=uid, start=start)
    expected = get_text(client, "/2021/papers.ics")
    monkeypatch.setattr(calendars, "PRESENTATIONS_PER_BATCH", batch_size)

    papers = public_program["edition"].papers.published()
    count = public_program["edition"].presentations.filter(paper__in=papers).count()
    assert len(list(calendars.paper_calendars(public_program["edition"], papers))) == math.ceil(
        count / batch_size
    )
    assert get_text(client, "/2021/papers.ics") == expected
    assert uids(client, "/2021/papers.ics") == [f"presentation.2021.{uid}" for uid in ("a1", "b", "c")]


def test_trap_3_session_after_midnight_is_in_the_calendar_of_the_day_before(client: Client) -> None:
    edition = make.make_edition()
    make.make_session(edition, uid="late", start=datetime(2021, 4, 7, 7, 30, tzinfo=UTC))  # 00:30 there

    assert uids(client, "/2021/schedule/2021-04-06.ics") == ["session.2021.late"]
    assert uids(client, "/2021/schedule/2021-04-07.ics") == []


# References


def test_files_of_papers_accept_the_filters_of_the_paper_list(
    client: Client, public_program: dict[str, Any]
) -> None:
    make.make_paper(public_program["edition"], ["Bo Li"], uid="p2", title="Another", track="Demo")

    assert citation_keys(client, "/2021/papers.bib") == ["mlsys2021.p1", "mlsys2021.p2"]
    assert citation_keys(client, "/2021/papers.bib?topic=engines") == ["mlsys2021.p1"]
    assert citation_keys(client, "/2021/papers.bib?track=Demo&sort=schedule&page=2") == ["mlsys2021.p2"]
    assert citation_keys(client, "/2021/papers.bib?q=bo") == ["mlsys2021.p2"]
    assert citation_keys(client, "/2021/topics/engines.bib") == ["mlsys2021.p1"]
    assert "p2" in get_text(client, "/2021/papers.csv?track=Demo")
    assert "p1" not in get_text(client, "/2021/papers.csv?track=Demo")
    assert uids(client, "/2021/papers.ics?kind=oral&topic=engines") == ["presentation.2021.a1"]
    assert uids(client, "/2021/papers.ics?track=Demo") == []
    for ending in ("bib", "csv", "xlsx", "ics"):
        assert client.get(f"/2021/papers.{ending}?topic=none").status_code == 400


@pytest.mark.parametrize("ending", ["bib", "ris", "csl.json"])
def test_person_references_have_all_editions(
    client: Client, public_program: dict[str, Any], ending: str
) -> None:
    make.make_paper(make.make_edition(2022), [public_program["person"]], uid="p1")
    text = get_text(client, f"/people/ada.{ending}")
    if ending == "csl.json":
        ids = [item["id"] for item in json.loads(text)]
    elif ending == "ris":
        ids = [line[6:] for line in text.split("\r\n") if line.startswith("ID")]
    else:
        ids = [entry.key for entry in parse_string(text).entries]

    assert sorted(ids) == ["mlsys2021.p1", "mlsys2022.p1"]


def test_files_of_a_merged_person_redirect_to_the_remaining_person(
    client: Client, public_program: dict[str, Any]
) -> None:
    make.make_person("A. Lovelace", uid="old", merged_into=public_program["person"])

    for ending in ("ics", "bib", "csl.json"):
        response = client.get(f"/people/old.{ending}")
        assert (response.status_code, response["Location"]) == (301, f"/people/ada.{ending}")


# Tables


def test_tables_have_sessions_awards_and_winners(client: Client, public_program: dict[str, Any]) -> None:
    old_paper = make.make_paper(make.make_edition(2020), title="*Old* one", uid="o1")
    make.make_award(public_program["edition"], [old_paper], name="Test of Time")
    make.make_award(public_program["edition"], [public_program["paper"]], name="Best Paper")
    (paper,) = csv.DictReader(io.StringIO(get_text(client, "/2021/papers.csv").removeprefix("\ufeff")))
    awards = get_text(client, "/2021/downloads/csv/2021-awards.csv").removeprefix("\ufeff")
    winners = {row["name"]: row["winners"] for row in csv.DictReader(io.StringIO(awards))}
    api_papers = get_text(client, "/api/v1/papers/?edition=2021&format=csv").removeprefix("\ufeff")

    assert (paper["uid"], paper["author names"]) == ("p1", "Ada Lovelace")
    assert paper["awards"] == "Outstanding Paper Award; Best Paper"
    assert paper["page"] == "http://127.0.0.1:8000/2021/papers/p1/"
    assert paper["sessions"].endswith("-07:00")
    assert winners["Test of Time"] == "Old one"
    assert [*csv.DictReader(io.StringIO(api_papers))] == [paper]


def test_downloads_page_explains_every_column(client: Client, public_program: dict[str, Any]) -> None:
    page = read(client, "/2021/downloads/")
    headings = [
        element.text for table in page.all("details") for element in table.elements if element.tag == "dt"
    ]

    assert headings == [
        column_heading(column) for name in DOWNLOAD_TABLES for column in download_columns(name)
    ]
    assert len(page.all("main")[0].inside("dd")) == len(headings)


# The whole program


@pytest.mark.usefixtures("public_program")
def test_full_program_is_available_in_each_format(client: Client) -> None:
    program = json.loads(get_text(client, "/2021/downloads/program_json/2021.json"))
    events = json.loads(get_text(client, "/2021/downloads/orals_posters/2021-orals-posters.json"))
    tables = zipfile.ZipFile(io.BytesIO(client.get("/2021/downloads/tables/2021-tables.zip").getvalue()))

    assert [paper["uid"] for paper in program["papers"]] == ["p1"]
    assert [event["name"] for event in events["results"]] == ["Notes", "Notes"]
    assert "papers.csv" in tables.namelist()
    assert "ada@example.org" not in str(program)


MISSING_FILES = [
    "/2021/papers/none.bib",
    "/2021/sessions/none.ics",
    "/2021/rooms/none.ics",
    "/2021/topics/none.bib",
    "/people/none.ics",
    "/2021/schedule/2021-13-06.ics",
    "/2021/schedule/2030-04-06.ics",
    "/2021/downloads/none/2021.json",
    "/2021/downloads/program_json/2022.json",
    "/2029/papers.bib",
]


@pytest.mark.usefixtures("public_program")
def test_missing_file_is_404(client: Client) -> None:
    statuses = {path: client.get(path).status_code for path in MISSING_FILES}

    assert statuses == dict.fromkeys(MISSING_FILES, 404)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/2021/papers/p1.bib", 14),
        ("/2021/papers.bib", 21),
        ("/2021/papers/p1.ics", 12),
        ("/2021/schedule.ics", 8),
    ],
)
@pytest.mark.parametrize("paper_count", [2, 20])
def test_query_count_is_the_same_for_2_and_20_papers(
    client: Client, path: str, expected: int, paper_count: int
) -> None:
    load(program_with_papers(paper_count), "2021")
    with CaptureQueriesContext(connection) as queries:
        client.get(path).getvalue()

    assert len(queries) == expected


def test_line_break_in_an_edition_name_is_a_space_in_the_calendar(client: Client) -> None:
    edition = make.make_edition(name="MLSys; 2021,\r\nin San Jose")
    make.make_session(edition)
    calendar = icalendar.Calendar.from_ical(get_text(client, "/2021/schedule.ics"))

    assert str(calendar["name"]) == "MLSys\\; 2021\\, in San Jose"
    assert calendar["x-wr-calname"] == calendar["name"]
