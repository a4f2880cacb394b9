"""URLs of the old site redirect permanently to the new ones, and only to public rows."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def edition(made_once: Callable[..., Any]) -> Any:
    return made_once(make_program)


def make_program() -> Edition:
    edition = make.make_edition()
    session = make.make_session(edition, uid="2180", title="Outstanding")
    paper = make.make_paper(edition, uid="cortex", title="Cortex")
    make.make_presentation(session, paper, uid="1599")
    make.make_presentation(paper=paper, uid="2018", kind="poster")
    make.make_presentation(session, uid="77", title="Demo")
    return edition


OLD_AND_NEW = [
    ("/virtual/2021", "/2021/"),
    ("/virtual/2021/", "/2021/"),
    ("/virtual/2021/index.html", "/2021/"),
    ("/virtual/2021/calendar", "/2021/schedule/"),
    ("/virtual/2021/day/4/6", "/2021/schedule/2021-04-06/"),
    ("/virtual/2021/day/04/06/", "/2021/schedule/2021-04-06/"),
    ("/virtual/2021/session/2180", "/2021/sessions/2180/outstanding/"),
    ("/virtual/2021/workshop/2180", "/2021/sessions/2180/outstanding/"),
    ("/virtual/2021/tutorial/2180/", "/2021/sessions/2180/outstanding/"),
    ("/virtual/2021/oral/1599", "/2021/papers/cortex/cortex/"),
    ("/virtual/2021/poster/2018", "/2021/papers/cortex/cortex/"),
    ("/virtual/2021/poster/cortex", "/2021/papers/cortex/cortex/"),
    ("/virtual/2021/oral/77", "/2021/sessions/2180/outstanding/"),
    ("/virtual/2021/events/oral", "/2021/papers/"),
    ("/virtual/2021/events/Poster", "/2021/posters/"),
    ("/virtual/2021/events/some-tag", "/2021/schedule/"),
    ("/virtual/2021/eventlistwithbios/Invited%20Talk", "/2021/talks/"),
    ("/virtual/2021/papers.html", "/2021/papers/"),
    ("/virtual/2021/papers.html?filter=titles&search=deep+learning", "/2021/papers/?q=deep+learning"),
    ("/virtual/2021/paper_vis.html", "/2021/papers/"),
    ("/virtual/2021/search?query=cortex", "/2021/search/?q=cortex"),
    ("/virtual/2021/awards_detail", "/2021/awards/"),
    ("/virtual/2021/recorded-events", "/2021/recordings/"),
    ("/virtual/2021/sponsor_list", "/2021/sponsors/"),
    ("/virtual/2021/organizers", "/2021/committee/"),
    ("/Conferences/2021", "/2021/"),
    ("/Conferences/2021/", "/2021/"),
    ("/Conferences/2021/Schedule", "/2021/schedule/"),
    ("/Conferences/2021/Schedule?showEvent=1599", "/2021/papers/cortex/cortex/"),
]


@pytest.mark.parametrize(("old", "new"), OLD_AND_NEW)
def test_old_url_redirects_to_an_existing_page(client: Client, edition: Edition, old: str, new: str) -> None:
    response = client.get(old)

    assert (response.status_code, response.headers.get("Location")) == (301, new)
    assert client.get(new).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/virtual/2021/poster/9999",
        "/virtual/2021/session/",
        "/virtual/2021/poster/%00",
        "/virtual/2021/poster/..%2f..",
        "/virtual/2021/day/13/45",
        "/virtual/2021/day/2/30",
        "/virtual/2021/day/0/0",
        "/virtual/2021/day/99999999999999999999/1",
        "/virtual/2021/nothing.html",
        "/virtual/2022/",
        "/virtual/0000/",
        "/virtual/99999999999999999999/",
        "/virtual/",
        "/Conferences/2022",
        "/Conferences/2021/Schedule?showEvent=9999",
        "/Conferences/2021/Schedule?showEvent=",
        "/Conferences/2021/Schedule?showEvent=%00",
        "/Conferences/2021/Schedule?showEvent=1599'--",
    ],
)
def test_unknown_old_url_is_404(client: Client, edition: Edition, path: str) -> None:
    assert client.get(path).status_code == 404


def test_old_url_of_a_hidden_row_is_404(client: Client, edition: Edition) -> None:
    make.make_session(edition, uid="draft", status="draft")
    make.make_presentation(paper=make.make_paper(edition, status="draft"), uid="drafted", kind="poster")
    secret = make.make_edition(2022, public_from=None)
    make.make_session(secret, uid="secret")

    for path in ("2021/session/draft", "2021/poster/drafted", "2022/session/secret", "2022/calendar"):
        assert client.get(f"/virtual/{path}").status_code == 404, path


def test_year_of_two_editions_redirects_to_the_one_with_this_slug(client: Client, edition: Edition) -> None:
    other = make.make_conference(slug="aaa", name="AAA")
    make.make_edition(2021, conference=other, slug="aaa-2021")

    assert client.get("/virtual/2021/").headers["Location"] == "/2021/"


def test_old_id_is_looked_up_in_the_edition_of_its_year(client: Client, edition: Edition) -> None:
    later = make.make_edition(2022)
    make.make_session(later, uid="2180", title="Later")

    assert client.get("/virtual/2022/session/2180").headers["Location"] == "/2022/sessions/2180/later/"
