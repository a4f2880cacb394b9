"""Tests of downloads over HTTP: content, headers and queries of each address; 304 until something changes."""

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
from tests.exchange.programs import program_with_papers
from tests.linked import linked
from tests.reading import read
from tests.website.sample_program import make_public_program

pytestmark = pytest.mark.django_db
SPREADSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
NOW = datetime(2021, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def shown() -> dict[str, Any]:
    """Create a public program, with a talk that has its own time in its session."""
    program = make_public_program()
    hour = timedelta(hours=1)
    start = program["session"].start
    program["talk"] = make.make_presentation(
        program["session"], uid="own", title="Own", start=start, end=start + hour / 4, speakers=["Bo Li"]
    )
    make.make_presentation(program["session"], uid="untimed", title="Untimed")
    return program


def body(client: Client, path: str, **headers: str) -> str:
    response = client.get(path, headers=headers)
    assert response.status_code == 200, path
    content: str = response.getvalue().decode()
    return content


def uids(client: Client, path: str) -> list[str]:
    found = icalendar.Calendar.from_ical(body(client, path)).events
    return [one.uid.partition("@")[0] for one in found]


def keys(client: Client, path: str) -> list[str]:
    return [entry.key for entry in parse_string(body(client, path)).entries]


def test_downloads_name_their_license(client: Client, shown: dict[str, Any]) -> None:
    assert read(client, "/2021/downloads/").all("a", rel="license noopener") == []
    assert "Dataset" not in linked(client, "/2021/downloads/")
    Edition.objects.update(license="CC-BY-4.0", data_license="CC0-1.0")
    said = read(client, "/2021/downloads/").texts("p")

    assert "License of these files: CC0-1.0" in said
    assert "License of the papers, unless a paper says otherwise: CC-BY-4.0" in said
    dataset = linked(client, "/2021/downloads/")["Dataset"]
    assert dataset["license"] == "https://creativecommons.org/publicdomain/zero/1.0/"
    assert "/2021/papers.bib" in [urlsplit(one["contentUrl"]).path for one in dataset["distribution"]]


@pytest.mark.parametrize(
    ("path", "media_type", "name"),
    [
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
    ],
)
@pytest.mark.usefixtures("shown")
def test_file_has_type_name_and_validators(client: Client, path: str, media_type: str, name: str) -> None:
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
    again = {"If-None-Match": response["ETag"]}, {"If-Modified-Since": response["Last-Modified"]}
    for headers in again:
        unchanged = client.get(path, headers=headers)
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        assert (unchanged["ETag"], unchanged["Cache-Control"]) == (
            response["ETag"],
            response["Cache-Control"],
        )


@pytest.mark.parametrize("path", ["/2021/papers.bib", "/2021/schedule.ics", "/people/ada.ics"])
def test_trap_17_change_ends_the_304(client: Client, path: str) -> None:
    with time_machine.travel(NOW, tick=False):
        shown = make_public_program()
        first = client.get(path)
    with time_machine.travel(NOW + timedelta(seconds=1), tick=False):
        make.make_paper(shown["edition"], [shown["person"]])
        for headers in ({"If-None-Match": first["ETag"]}, {"If-Modified-Since": first["Last-Modified"]}):
            second = client.get(path, headers=headers)
            assert second.status_code == 200
            assert second["ETag"] != first["ETag"]


def test_end_of_an_embargo_ends_the_304(client: Client) -> None:
    with time_machine.travel(NOW, tick=False):
        edition = make.make_edition(papers_public_from=NOW + timedelta(hours=1))
        make.make_paper(edition, uid="p1")
        before = client.get("/2021/papers.bib")
        assert before.getvalue() == b""
    with time_machine.travel(NOW + timedelta(hours=2), tick=False):
        for headers in ({"If-None-Match": before["ETag"]}, {"If-Modified-Since": before["Last-Modified"]}):
            after = client.get("/2021/papers.bib", headers=headers)
            assert b"mlsys2021.p1" in after.getvalue()


@pytest.mark.usefixtures("shown")
def test_unchanged_file_costs_a_few_short_queries(client: Client) -> None:
    etag = client.get("/2021/schedule.ics")["ETag"]
    with CaptureQueriesContext(connection) as queries:
        client.get("/2021/schedule.ics", headers={"If-None-Match": etag})

    assert len(queries) == 2


# Calendars

SESSIONS = ["session.2021.s1", "session.2021.s2", "session.2021.t1"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/2021/schedule.ics", ["presentation.2021.own", *SESSIONS]),
        ("/2021/schedule/2021-04-06.ics", ["presentation.2021.own", *SESSIONS]),
        ("/2021/schedule/2021-04-07.ics", []),
        ("/2021/schedule.ics?kind=invited_talk", ["session.2021.t1"]),
        ("/2021/schedule.ics?room=hall", ["presentation.2021.own", "session.2021.s1", "session.2021.t1"]),
        ("/2021/schedule.ics?topic=engines", ["session.2021.s1"]),
        ("/2021/schedule/2021-04-06.ics?kind=oral&room=hall", ["presentation.2021.own", "session.2021.s1"]),
        ("/2021/schedule/2021-04-06.ics?topic=engines", ["session.2021.s1"]),
        ("/2021/schedule/2021-04-07.ics?kind=oral", []),
        ("/2021/presentations/a1.ics", ["presentation.2021.a1"]),
        ("/2021/sessions/s1.ics", ["presentation.2021.own", "session.2021.s1"]),
        ("/2021/sessions/t1.ics", ["session.2021.t1"]),
        ("/2021/rooms/hall.ics", ["presentation.2021.own", "session.2021.s1", "session.2021.t1"]),
        ("/2021/topics/engines.ics", ["presentation.2021.a1"]),
        ("/2021/papers/p1.ics", ["presentation.2021.a1"]),
        ("/people/ada.ics", ["presentation.2021.a1", "session.2021.t1"]),
    ],
)
@pytest.mark.usefixtures("shown")
def test_calendar_holds_what_its_address_says(client: Client, path: str, expected: list[str]) -> None:
    assert sorted(uids(client, path)) == expected


@pytest.mark.usefixtures("shown")
def test_chosen_part_of_a_calendar_names_where_it_can_be_had_again(client: Client) -> None:
    content = body(client, "/2021/schedule.ics?utm_source=mail&room=hall&kind=oral").replace("\r\n ", "")

    assert "SOURCE;VALUE=URI:http://127.0.0.1:8000/2021/schedule.ics?kind=oral&room=hall\r\n" in content
    assert client.get("/2021/schedule.ics?kind=nonsense").status_code == 400


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("/2021/papers/p1/notes/", "/2021/presentations/a1.ics"),
        ("/2021/sessions/s1/engines/", "/2021/sessions/s1.ics"),
        ("/2021/rooms/hall/", "/2021/rooms/hall.ics"),
        ("/2021/schedule/?view=list", "/2021/schedule.ics"),
        ("/2021/schedule/?view=week&kind=oral", "/2021/schedule.ics?kind=oral"),
        ("/2021/schedule/2021-04-06/", "/2021/schedule/2021-04-06.ics"),
        ("/2021/schedule/2021-04-06/?view=grid&room=hall", "/2021/schedule/2021-04-06.ics?room=hall"),
        ("/people/ada/ada-lovelace/", "/people/ada.ics"),
    ],
)
@pytest.mark.usefixtures("shown")
def test_page_leads_to_the_calendar_of_what_it_shows(client: Client, page: str, address: str) -> None:
    shown = client.get(page).text

    assert shown.count(f'<a href="{address}" download>') == 1


@pytest.mark.usefixtures("shown")
def test_calendar_of_a_paper_has_place_and_people_of_its_appearance(client: Client) -> None:
    (found,) = icalendar.Calendar.from_ical(body(client, "/2021/papers/p1.ics")).events

    assert (found["SUMMARY"], found["LOCATION"]) == ("Notes", "Hall A")
    assert str(found["DESCRIPTION"]).startswith("Author: Ada Lovelace\n\nEngines\n\nWhat was done.")


def test_trap_5_cancelled_and_moved_reach_the_calendar(client: Client, shown: dict[str, Any]) -> None:
    def session() -> Any:
        found: list[Any] = icalendar.Calendar.from_ical(body(client, "/2021/sessions/s1.ics")).events
        return next(one for one in found if one.uid.startswith("session.2021.s1@"))

    first, content = session(), body(client, "/2021/sessions/s1.ics")
    assert body(client, "/2021/sessions/s1.ics") == content
    shown["session"].start -= timedelta(hours=1)
    shown["session"].save()
    second = session()
    Edition.objects.get().sessions.update(status="cancelled")
    third = session()

    assert [one["STATUS"] for one in (first, second, third)] == ["CONFIRMED", "CONFIRMED", "CANCELLED"]
    assert first["SEQUENCE"] < second["SEQUENCE"] < third["SEQUENCE"]
    assert first.LAST_MODIFIED < second.LAST_MODIFIED < third.LAST_MODIFIED
    assert first.uid == second.uid == third.uid


def test_calendar_of_a_person_spans_the_years_in_their_zones(client: Client, shown: dict[str, Any]) -> None:
    later = make.make_edition(2022, timezone="Asia/Seoul")
    make.add_role(make.make_session(later, uid="s1"), shown["person"], "chair")
    found = icalendar.Calendar.from_ical(body(client, "/people/ada.ics"))

    assert {zone.tz_name for zone in found.timezones} == {"America/Los_Angeles", "Asia/Seoul"}
    assert sorted(one.uid.partition("@")[0] for one in found.events) == [
        "presentation.2021.a1",
        "session.2021.t1",
        "session.2022.s1",
    ]


@pytest.mark.parametrize("slice_of", [1, 2])
def test_calendar_of_many_papers_is_read_in_parts(
    client: Client, shown: dict[str, Any], monkeypatch: pytest.MonkeyPatch, slice_of: int
) -> None:
    """Loading thousands of talks at once takes 20 MB, which a process does not free afterwards."""
    for uid, hour in (("c", 3), ("b", 2)):
        paper = make.make_paper(shown["edition"], ["Bo Li"], uid=uid)
        start = shown["session"].start + timedelta(hours=hour)
        make.make_presentation(shown["session"], paper=paper, uid=uid, start=start)
    whole = body(client, "/2021/papers.ics")
    monkeypatch.setattr(calendars, "PRESENTATIONS_PER_BATCH", slice_of)

    papers = shown["edition"].papers.published()
    number = shown["edition"].presentations.filter(paper__in=papers).count()
    assert len(list(calendars.paper_calendars(shown["edition"], papers))) == math.ceil(number / slice_of)
    assert body(client, "/2021/papers.ics") == whole
    assert uids(client, "/2021/papers.ics") == [f"presentation.2021.{uid}" for uid in ("a1", "b", "c")]


def test_trap_3_talk_after_midnight_is_in_the_calendar_of_the_evening(client: Client) -> None:
    edition = make.make_edition()
    make.make_session(edition, uid="late", start=datetime(2021, 4, 7, 7, 30, tzinfo=UTC))  # 00:30 there

    assert uids(client, "/2021/schedule/2021-04-06.ics") == ["session.2021.late"]
    assert uids(client, "/2021/schedule/2021-04-07.ics") == []


# References


def test_references_can_be_narrowed_like_the_list_of_papers(client: Client, shown: dict[str, Any]) -> None:
    make.make_paper(shown["edition"], ["Bo Li"], uid="p2", title="Another", track="Demo")

    assert keys(client, "/2021/papers.bib") == ["mlsys2021.p1", "mlsys2021.p2"]
    assert keys(client, "/2021/papers.bib?topic=engines") == ["mlsys2021.p1"]
    assert keys(client, "/2021/papers.bib?track=Demo&sort=schedule&page=2") == ["mlsys2021.p2"]
    assert keys(client, "/2021/papers.bib?q=bo") == ["mlsys2021.p2"]
    assert keys(client, "/2021/topics/engines.bib") == ["mlsys2021.p1"]
    assert "p2" in body(client, "/2021/papers.csv?track=Demo")
    assert "p1" not in body(client, "/2021/papers.csv?track=Demo")
    assert uids(client, "/2021/papers.ics?kind=oral&topic=engines") == ["presentation.2021.a1"]
    assert uids(client, "/2021/papers.ics?track=Demo") == []
    for ending in ("bib", "csv", "xlsx", "ics"):
        assert client.get(f"/2021/papers.{ending}?topic=none").status_code == 400


@pytest.mark.parametrize("ending", ["bib", "ris", "csl.json"])
def test_references_of_a_person_span_the_years(client: Client, shown: dict[str, Any], ending: str) -> None:
    make.make_paper(make.make_edition(2022), [shown["person"]], uid="p1")
    found = body(client, f"/people/ada.{ending}")
    if ending == "csl.json":
        cited = [one["id"] for one in json.loads(found)]
    elif ending == "ris":
        cited = [line[6:] for line in found.split("\r\n") if line.startswith("ID")]
    else:
        cited = [entry.key for entry in parse_string(found).entries]

    assert sorted(cited) == ["mlsys2021.p1", "mlsys2022.p1"]


def test_merged_person_leads_to_the_one_that_remained(client: Client, shown: dict[str, Any]) -> None:
    make.make_person("A. Lovelace", uid="old", merged_into=shown["person"])

    for ending in ("ics", "bib", "csl.json"):
        response = client.get(f"/people/old.{ending}")
        assert (response.status_code, response["Location"]) == (301, f"/people/ada.{ending}")


# Tables


def test_tables_of_the_list_name_sessions_awards_and_winners(client: Client, shown: dict[str, Any]) -> None:
    old = make.make_paper(make.make_edition(2020), title="*Old* one", uid="o1")
    make.make_award(shown["edition"], [old], name="Test of Time")
    make.make_award(shown["edition"], [shown["paper"]], name="Best Paper")
    (paper,) = csv.DictReader(io.StringIO(body(client, "/2021/papers.csv").removeprefix("\ufeff")))
    awards = body(client, "/2021/downloads/csv/2021-awards.csv").removeprefix("\ufeff")
    winners = {row["name"]: row["winners"] for row in csv.DictReader(io.StringIO(awards))}
    asked = body(client, "/api/v1/papers/?edition=2021&format=csv").removeprefix("\ufeff")

    assert (paper["uid"], paper["author names"]) == ("p1", "Ada Lovelace")
    assert paper["awards"] == "Outstanding Paper Award; Best Paper"
    assert paper["page"] == "http://127.0.0.1:8000/2021/papers/p1/"
    assert paper["sessions"].endswith("-07:00")
    assert winners["Test of Time"] == "Old one"
    assert [*csv.DictReader(io.StringIO(asked))] == [paper]


def test_columns_are_explained_beside_the_downloads(client: Client, shown: dict[str, Any]) -> None:
    page = read(client, "/2021/downloads/")
    listed = [
        element.text for table in page.all("details") for element in table.elements if element.tag == "dt"
    ]

    assert listed == [column_heading(column) for name in DOWNLOAD_TABLES for column in download_columns(name)]
    assert len(page.all("main")[0].inside("dd")) == len(listed)


# The whole program


@pytest.mark.usefixtures("shown")
def test_whole_program_comes_in_every_format(client: Client) -> None:
    whole = json.loads(body(client, "/2021/downloads/program_json/2021.json"))
    events = json.loads(body(client, "/2021/downloads/orals_posters/2021-orals-posters.json"))
    tables = zipfile.ZipFile(io.BytesIO(client.get("/2021/downloads/tables/2021-tables.zip").getvalue()))

    assert [paper["uid"] for paper in whole["papers"]] == ["p1"]
    assert [event["name"] for event in events["results"]] == ["Notes", "Notes"]
    assert "papers.csv" in tables.namelist()
    assert "ada@example.org" not in str(whole)


@pytest.mark.parametrize(
    "path",
    [
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
    ],
)
@pytest.mark.usefixtures("shown")
def test_what_is_not_there_is_404(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("/2021/papers/p1.bib", 14),
        ("/2021/papers.bib", 20),
        ("/2021/papers/p1.ics", 12),
        ("/2021/schedule.ics", 8),
    ],
)
@pytest.mark.parametrize("papers", [2, 20])
def test_query_count_does_not_grow(client: Client, path: str, count: int, papers: int) -> None:
    load(program_with_papers(papers), "2021")
    with CaptureQueriesContext(connection) as queries:
        client.get(path).getvalue()

    assert len(queries) == count


def test_line_break_in_the_name_of_an_edition_breaks_no_calendar(client: Client) -> None:
    edition = make.make_edition(name="MLSys; 2021,\r\nin San Jose")
    make.make_session(edition)
    found = icalendar.Calendar.from_ical(body(client, "/2021/schedule.ics"))

    assert str(found["name"]) == "MLSys\\; 2021\\, in San Jose"
    assert found["x-wr-calname"] == found["name"]
