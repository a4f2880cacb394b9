"""Responses of resources: ids, links, texts in three formats, times in their zone."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from api.shapes import RESOURCES
from conference.models import Announcement, Conference, Edition, KeyDate, Page, Sponsor
from papers.models import Award, Paper, Topic
from people.models import Institution, Person
from schedule.models import Presentation, Release, Room, Session
from tests import factories as make
from tests.api.reading import get, path_of, results
from tests.exchange.programs import PROCEEDINGS

RESOURCE_NAMES = [
    "announcements", "awards", "conferences", "editions", "institutions", "key_dates", "materials", "pages",
    "papers", "people", "presentations", "releases", "rooms", "sessions", "sponsors", "topics",
]  # fmt: skip
MODELS_WITH_PAGES: list[Any] = [
    Award, Edition, Institution, Page, Paper, Person, Presentation, Release, Room, Session, Topic,
]  # fmt: skip
LINKED_RESOURCES = {name for name, resource in RESOURCES.items() if resource.lists}

pytestmark = pytest.mark.django_db


def test_root_lists_all_resources(client: Client) -> None:
    assert sorted(get(client, "")) == sorted(RESOURCES) == RESOURCE_NAMES


def test_every_row_of_a_list_equals_the_row_at_its_url(client: Client, program: dict[str, Any]) -> None:
    for name in RESOURCE_NAMES:
        rows = results(client, name)
        assert rows != []
        assert [client.get(path_of(row["url"])).json() for row in rows] == rows


def test_every_page_link_returns_200(client: Client, program: dict[str, Any]) -> None:
    pages = {path_of(row["page"]) for name in RESOURCE_NAMES for row in results(client, name)}

    assert {page: client.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)


def test_every_link_to_a_list_returns_200(client: Client, program: dict[str, Any]) -> None:
    rows = [
        row
        for name in RESOURCE_NAMES
        for row in results(client, name, fields="links" if name in LINKED_RESOURCES else "id")
    ]
    paths = {path_of(url) for row in rows for url in row.get("links", {}).values()}

    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)


def test_page_is_the_url_of_the_row_on_the_site(client: Client, program: dict[str, Any]) -> None:
    for model in MODELS_WITH_PAGES:
        rows = results(client, model._meta.verbose_name_plural.lower(), fields="page")
        expected = {row.get_absolute_url() for row in model.objects.published()}
        assert {path_of(row["page"]) for row in rows} == expected


def test_lists_contain_every_public_row(client: Client, program: dict[str, Any]) -> None:
    models = [*MODELS_WITH_PAGES, Announcement, Conference, KeyDate, Sponsor]
    for model in models:
        rows = results(client, model._meta.verbose_name_plural.lower().replace(" ", "_"))
        assert len(rows) == model.objects.published().count(), model


def test_texts_are_given_as_source_html_and_plain_text(client: Client, edition: Edition) -> None:
    make.make_paper(edition, uid="p", title="On $a_1$", abstract="It costs $5 and *more*.")
    paper = get(client, "papers/2021/p/")

    assert (paper["title"], paper["abstract"]) == ("On $a_1$", "It costs $5 and *more*.")
    assert paper["abstract_html"].strip() == "<p>It costs $5 and <em>more</em>.</p>"
    assert paper["abstract_plain"] == "It costs $5 and more."
    assert "<msub>" in paper["title_html"]


def test_edition_has_the_fields_of_its_proceedings(client: Client, edition: Edition) -> None:
    Edition.objects.update(**{**PROCEEDINGS, "proceedings_editors": ["Mia Zed"]})
    row = get(client, f"editions/2021/?fields={','.join(PROCEEDINGS)}")

    assert {name: row[name] for name in PROCEEDINGS} == {**PROCEEDINGS, "proceedings_editors": ["Mia Zed"]}


def test_effective_license_is_the_own_or_an_inherited_one(client: Client, edition: Edition) -> None:
    Edition.objects.update(license="CC-BY-4.0", data_license="CC0-1.0")
    make.make_paper(edition, uid="own", license="CC-BY-SA-4.0")
    paper = make.make_paper(edition, uid="p")
    for kind, license in (("pdf", ""), ("slides", ""), ("code", "MIT")):
        make.make_material(paper, kind=kind, license=license)
    fields = "?fields=license,effective_license"
    papers = [get(client, f"papers/2021/{uid}/{fields}") for uid in ("p", "own")]

    edition_row = get(client, "editions/2021/?fields=license,data_license")
    assert (edition_row["license"], edition_row["data_license"]) == ("CC-BY-4.0", "CC0-1.0")
    assert [(paper_row["license"], paper_row["effective_license"]) for paper_row in papers] == [
        ("", "CC-BY-4.0"),
        ("CC-BY-SA-4.0", "CC-BY-SA-4.0"),
    ]
    materials = {
        row["kind"]: (row["license"], row["effective_license"]) for row in results(client, "materials")
    }
    assert materials == {"pdf": ("", "CC-BY-4.0"), "slides": ("", ""), "code": ("MIT", "MIT")}


def test_times_have_utc_offset_and_time_zone(client: Client, edition: Edition) -> None:
    make.make_session(edition, uid="coffee", kind="break")
    session = get(client, "sessions/2021/coffee/")

    assert session["start"] == "2021-04-06T08:00:00-07:00"
    assert session["timezone"] == "America/Los_Angeles"
    assert (session["day"], session["kind"]) == ("2021-04-06", "break")


def test_authors_keep_their_order_and_printed_names(client: Client) -> None:
    paper = make.make_paper(make.make_edition(), ["Zed", "Abe"], uid="p")
    make.add_author(paper, make.make_person("Mia Wolf"), name="M. Wolf")
    authors = get(client, "papers/2021/p/")["authors"]

    positions = [(author["position"], author["name"]) for author in authors]
    assert positions == [(1, "Zed"), (2, "Abe"), (3, "M. Wolf")]


def test_presentation_inherits_from_its_session_and_paper(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, uid="s", room=make.make_room(edition, slug="hall"))
    make.make_presentation(session, make.make_paper(edition, title="*On* it"), uid="a")
    talk = get(client, "presentations/2021/a/")

    assert (talk["title"], talk["title_plain"]) == ("*On* it", "On it")
    assert talk["start"] == "2021-04-06T08:00:00-07:00"
    assert (talk["room"]["id"], talk["session"]["id"]) == ("hall", "s")


def test_same_id_in_two_editions_is_two_rows(client: Client) -> None:
    for year in (2021, 2022):
        make.make_paper(make.make_edition(year), uid="same", title=f"Of {year}")

    assert [get(client, f"papers/{year}/same/")["title"] for year in (2021, 2022)] == ["Of 2021", "Of 2022"]
    assert len({row["url"] for row in results(client, "papers")}) == 2


def test_merged_person_redirects_to_the_survivor(client: Client, program: dict[str, Any]) -> None:
    make.make_person("A. Lovelace", uid="old", merged_into=program["person"])
    response = client.get("/api/v1/people/old/")

    assert response.status_code == 301
    assert get(client, response["Location"].partition("/v1/")[2])["id"] == "ada"


@pytest.mark.parametrize("method", ["get", "post", "patch", "delete"])
@pytest.mark.parametrize("path", ["nothing/", "papers/2021/a%0Ab/", "papers/A%0D/b/"])
def test_not_found_response_is_json(client: Client, db: None, method: str, path: str) -> None:
    response = getattr(client, method)(f"/api/v1/{path}")

    assert (response.status_code, response["Content-Type"]) == (404, "application/json")


def test_paper_count_of_a_topic_follows_the_publication_time(client: Client) -> None:
    opening = timezone.now() + timedelta(days=1)
    for edition in (make.make_edition(), make.make_edition(2022, papers_public_from=opening)):
        make.make_paper(edition, topic=make.make_topic(edition))
    before = results(client, "topics")
    with time_machine.travel(opening + timedelta(minutes=1)):
        after = results(client, "topics")

    assert [[row["paper_count"] for row in rows] for rows in (before, after)] == [[1], [1, 1]]
