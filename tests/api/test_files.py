"""Lists as files in the formats of the exchange."""

import csv
import json
import re
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from defusedxml.ElementTree import fromstring
from django.conf import settings
from django.test import Client
from icalendar import Calendar
from openpyxl import load_workbook

from api.files import FILES
from exchange.exports.citation_files import FORMATS
from tests import factories as make
from tests.api.reading import get

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_years(db: None) -> None:
    for year in (2021, 2022):
        edition = make.make_edition(year)
        make.make_paper(edition, ["Ada Lovelace"], title="Notes", track="Research")
        make.make_paper(edition, ["Bo Li"], title="Other")


def file_text(client: Client, query: str) -> str:
    response = client.get(f"/api/v1/papers/?{query}")
    assert response.status_code == 200
    return response.getvalue().decode()


@pytest.mark.parametrize("name", [fmt.name for fmt, _ in FORMATS.values()])
@pytest.mark.usefixtures("two_years")
def test_citation_file_has_the_papers_of_all_editions(client: Client, name: str) -> None:
    text = file_text(client, f"format={name}")

    assert (text.count("Notes"), text.count("Other")) == (2, 2)


@pytest.mark.usefixtures("two_years")
def test_citation_file_is_filtered(client: Client) -> None:
    entries = json.loads(file_text(client, "format=csl_json&edition=2022&track=research"))

    assert [(entry["title"], entry["issued"]["date-parts"][0][0]) for entry in entries] == [("Notes", 2022)]


@pytest.mark.usefixtures("two_years")
def test_citation_file_of_a_search(client: Client) -> None:
    assert file_text(client, "format=bibtex&q=author:lovelace").count("@inproceedings") == 2


@pytest.mark.usefixtures("two_years")
def test_file_has_a_name_a_type_and_an_etag(client: Client) -> None:
    response = client.get("/api/v1/papers/?format=bibtex")
    assert response["Content-Type"] == "application/x-bibtex"
    assert response["Content-Disposition"] == 'attachment; filename="papers.bib"'
    assert response["Access-Control-Allow-Origin"] == "*"
    not_modified = client.get("/api/v1/papers/?format=bibtex", HTTP_IF_NONE_MATCH=response["ETag"])
    assert not_modified.status_code == 304


@pytest.mark.parametrize("query", ["fields=title", "expand=topic", "ordering=title", "page_size=1"])
@pytest.mark.usefixtures("two_years")
def test_parameter_that_does_not_apply_to_files_is_refused(client: Client, query: str) -> None:
    response = client.get(f"/api/v1/papers/?edition=2021&format=csv&{query}")

    assert (response.status_code, response.json()["parameter"]) == (400, query.partition("=")[0])


@pytest.mark.usefixtures("two_years")
def test_unknown_format_is_refused_with_the_known_ones(client: Client) -> None:
    error = get(client, "papers/", 400, format="docx")
    assert error["parameter"] == "format"
    assert error["allowed"] == ["json", "bibtex", "ris", "csl_json", "csv", "xlsx"]
    assert get(client, "rooms/", 400, format="bibtex")["parameter"] == "format"


def test_csv_of_one_edition_equals_its_download(client: Client, program: dict[str, Any]) -> None:
    for name in ("papers", "sessions", "presentations", "awards"):
        response = client.get(f"/api/v1/{name}/?format=csv&edition=2021")
        download = client.get(f"/2021/downloads/csv/2021-{name}.csv")
        assert response["Content-Type"] == "text/csv; charset=utf-8"
        assert response.getvalue() == download.getvalue()


@pytest.mark.usefixtures("two_years")
def test_csv_is_filtered(client: Client) -> None:
    lines = file_text(client, "format=csv&edition=2022&track=research").splitlines()

    assert (len(lines), "Notes" in lines[1]) == (2, True)


def test_workbook_has_the_cells_of_the_csv(client: Client, program: dict[str, Any]) -> None:
    for name in ("papers", "sessions", "presentations", "awards"):
        response = client.get(f"/api/v1/{name}/?format=xlsx&edition=2021")
        assert response["Content-Disposition"] == f'attachment; filename="2021-{name}.xlsx"'
        sheet = load_workbook(BytesIO(response.getvalue()))[name]
        table = client.get(f"/api/v1/{name}/?format=csv&edition=2021").getvalue().decode("utf-8-sig")
        cells = [[cell or "" for cell in row] for row in sheet.iter_rows(values_only=True)]
        assert cells == [*csv.reader(StringIO(table))]


def test_calendar_is_filtered(client: Client, program: dict[str, Any]) -> None:
    session = get(client, "sessions/", edition="2021")["results"][0]
    response = client.get(f"/api/v1/sessions/?format=ics&edition=2021&kind={session['kind']}")

    rows = get(client, "sessions/", edition="2021", kind=session["kind"])["results"]
    events = Calendar.from_ical(response.getvalue()).walk("VEVENT")
    titles = sorted(str(event["summary"]) for event in events if "/sessions/" in str(event["url"]))
    assert titles == sorted(row["title"] for row in rows)
    assert response["Content-Type"] == "text/calendar; charset=utf-8"


def test_ics_and_xcal_have_the_same_presentations(client: Client, program: dict[str, Any]) -> None:
    ics, xcal = (
        client.get(f"/api/v1/presentations/?format={name}&edition=2021").getvalue()
        for name in ("ics", "xcal")
    )
    titles = [str(event["summary"]) for event in Calendar.from_ical(ics).walk("VEVENT")]
    summaries = fromstring(xcal).iter("{urn:ietf:params:xml:ns:icalendar-2.0}summary")

    assert titles
    assert titles == ["".join(summary.itertext()) for summary in summaries]


@pytest.mark.parametrize("name", ["csv", "xlsx"])
@pytest.mark.usefixtures("two_years")
def test_table_of_several_editions_is_refused(client: Client, name: str) -> None:
    assert "edition" in get(client, "papers/", 400, format=name)["detail"]


def test_docs_list_the_available_file_formats() -> None:
    text = (Path(settings.BASE_DIR) / "docs/api.md").read_text("utf-8")
    paragraph = text.partition("- **`?format=`**")[2].partition(" A file has")[0]
    formats = {name for files in FILES.values() for name in files}

    assert {*re.findall(r"`(\w+)`", paragraph)} == {*FILES, *formats}
