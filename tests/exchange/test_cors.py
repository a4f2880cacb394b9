"""Pages of other sites read public files, also with conditional requests that browsers ask about before."""

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from exchange.urls import urlpatterns
from papers.models import Paper
from tests import factories as make

pytestmark = pytest.mark.django_db

ORIGIN = {"origin": "https://app.example", "access-control-request-method": "GET"}
FILES = [
    "/2021/papers.bib", "/2021/papers.csv", "/2021/papers.ics", "/2021/schedule.ics", "/2021/schedule.json",
    "/2021/schedule.xml", "/2021/papers/p1.bib", "/2021/papers/p1.ics", "/people/ada.bib", "/people/ada.ics",
    "/2021/downloads/program_json/2021.json",
]  # fmt: skip
# The page of downloads, and the files of one visitor's agenda.
NOT_SHARED = {"downloads", "agenda_file", "agenda_calendar"}


@pytest.fixture
def paper() -> Paper:
    paper = make.make_paper(make.make_edition(2021), uid="p1", authors=[make.make_person("Ada", uid="ada")])
    make.make_session(paper.edition)
    return paper


@pytest.mark.parametrize("path", FILES)
def test_preflight_allows_conditional_requests(client: Client, paper: Paper, path: str) -> None:
    asked = "if-none-match, if-modified-since, authorization"
    response = client.options(path, headers={**ORIGIN, "access-control-request-headers": asked})
    allowed = response.headers["Access-Control-Allow-Headers"].lower().split(", ")

    assert (response.status_code, response.content) == (204, b"")
    assert {*asked.split(", ")} <= {*allowed}
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize("path", FILES)
def test_other_sites_may_read_the_file_and_its_304(client: Client, paper: Paper, path: str) -> None:
    response = client.get(path, headers=ORIGIN)
    again = client.get(path, headers={**ORIGIN, "if-none-match": response.headers["ETag"]})

    assert [response.status_code, again.status_code] == [200, 304]
    for answer in (response, again):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert answer.headers["Access-Control-Expose-Headers"] == "ETag, Last-Modified, Retry-After"


def test_each_file_answers_preflight_requests(client: Client, paper: Paper) -> None:
    values = {"edition": "2021", "uid": "p1", "slug": "x", "day": "2021-04-05", "ending": "ics", "token": "t",
              "form": "tables", "file": "papers.csv"}  # fmt: skip
    statuses = {}
    for pattern in urlpatterns:
        if isinstance(pattern, URLPattern) and pattern.name not in NOT_SHARED:
            arguments = {name: values[name] for name in pattern.pattern.converters}
            path = reverse(f"exchange:{pattern.name}", kwargs=arguments)
            statuses[pattern.name] = client.options(path, headers=ORIGIN).status_code

    assert len(statuses) > 20
    assert {*statuses.values()} == {204}


@pytest.mark.parametrize("path", ["/2021/agenda.ics", "/2021/downloads/"])
def test_other_pages_do_not(client: Client, paper: Paper, path: str) -> None:
    response = client.options(path, headers=ORIGIN)

    assert response.status_code == 405
    assert "Access-Control-Allow-Origin" not in response.headers
