"""Filters of each list, and errors for invalid values."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from django.test import Client

from api.filters import ResourceFilter
from api.resources import RESOURCES
from tests import factories as make
from tests.api.reading import get, ids

pytestmark = pytest.mark.django_db
LATE = datetime(2021, 4, 7, 7, 30, tzinfo=UTC)  # 00:30 in Los Angeles: still the evening of the 6th.


@pytest.fixture(scope="module", autouse=True)
def _program(made_once: Callable[..., Any]) -> None:
    made_once(make_program)


def make_program() -> None:
    """Create two editions; the rows `yes` match every filter, the rows `no` match none."""
    edition = make.make_edition(venue="Hall")
    parent = make.make_topic(edition, "Systems", slug="systems")
    topic = make.make_topic(edition, "Compilers", slug="compilers", parent=parent)
    ada = make.make_person("Ada Šimek", uid="ada", orcid="0000-0002-1825-0097")
    yes = make.make_paper(
        edition,
        [ada],
        uid="yes",
        topic=topic,
        track="Research",
        decision="Oral",
        doi="10.1/x",
        title="Sparse",
    )
    yes.authorships.get().institutions.add(make.make_institution("ETH", slug="eth", country="Switzerland"))
    for kind in ("pdf", "slides", "poster", "video", "code", "data", "review"):
        make.make_material(yes, kind)
    make.make_award(edition, [yes], uid="best")
    hall = make.make_room(edition, slug="hall", virtual=True)
    session = make.make_session(
        edition,
        uid="s-yes",
        kind="poster",
        room=hall,
        recording_url="https://e.org/v",
        title="Sparse session",
    )
    make.add_role(session, ada, "chair")
    make.make_presentation(session, yes, uid="t-yes", kind="poster", start=LATE)
    make.make_paper(make.make_edition(2022), [make.make_person("Bo", uid="bo")], uid="no")
    other = make.make_session(edition, uid="s-no", start=LATE + timedelta(days=3), parent=session)
    make.make_presentation(other, make.make_paper(edition, uid="no"), uid="t-no", status="cancelled")
    make.make_sponsor(edition, slug="gold")
    make.make_announcement(edition, uid="pinned", pinned=True)


@pytest.mark.parametrize(
    "query",
    [
        "topic=systems", "topic=2021/compilers", "track=research", "decision=oral", "doi=10.1/X",
        "person=ada", "institution=eth", "award=best", "award=2021/best", "kind=poster", "session=s-yes",
        "room=2021/hall", "day=2021-04-06", "has_award=true", "has_pdf=true", "has_slides=true",
        "has_poster=true", "has_video=true", "has_code=TRUE", "has_data=true", "has_review=true",
        "q=sparse", "q=author:simek", "edition=2021&conference=mlsys&has_code=true",
    ],
)  # fmt: skip
def test_paper_filter_selects_the_matching_paper(client: Client, query: str) -> None:
    rows = client.get(f"/api/v1/papers/?{query}").json()["results"]

    assert [row["id"] for row in rows] == ["yes"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("papers/?edition=2022", ["no"]),
        ("papers/?has_code=false&edition=2021", ["no"]),
        ("papers/?has_award=false", ["no", "no"]),
        ("papers/?session=s-yes&edition=2022", []),
        ("editions/?conference=mlsys&year=2022", ["2022"]),
        ("topics/?parent=systems", ["compilers"]),
        ("people/?name=SIMEK ada", ["ada"]),
        ("people/?orcid=0000-0002-1825-0097", ["ada"]),
        ("people/?institution=eth", ["ada"]),
        ("people/?edition=2021", ["ada"]),
        ("people/?edition=mlsys/2021", ["ada"]),
        ("people/?q=simek", ["ada"]),
        ("institutions/?name=eth&country=switzerland&edition=2021", ["eth"]),
        ("institutions/?edition=2022", []),
        ("awards/?paper=yes", ["best"]),
        ("awards/?person=ada", ["best"]),
        ("awards/?person=2021/ada", ["best"]),
        ("rooms/?virtual=true", ["hall"]),
        ("rooms/?virtual=false", []),
        ("sessions/?kind=poster", ["s-yes"]),
        ("sessions/?day=2021-04-06", ["s-yes"]),
        ("sessions/?room=hall", ["s-yes"]),
        ("sessions/?parent=2021/s-yes", ["s-no"]),
        ("sessions/?person=ada", ["s-yes"]),
        ("sessions/?person=2021/ada", ["s-yes"]),
        ("sessions/?recorded=true", ["s-yes"]),
        ("sessions/?recorded=false", ["s-no"]),
        ("sessions/?q=sparse", ["s-yes"]),
        ("presentations/?kind=poster", ["t-yes"]),
        ("presentations/?day=2021-04-06", ["t-yes"]),
        ("presentations/?room=hall", ["t-yes"]),
        ("presentations/?session=s-no", ["t-no"]),
        ("presentations/?paper=2021/yes", ["t-yes"]),
        ("presentations/?topic=systems", ["t-yes"]),
        ("presentations/?person=ada", ["t-yes"]),
        ("presentations/?person=2021/ada", ["t-yes"]),
        ("presentations/?cancelled=true", ["t-no"]),
        ("presentations/?scheduled=false", []),
        ("sponsors/?tier=gold", ["gold"]),
        ("announcements/?pinned=true", ["pinned"]),
    ],
)
def test_list_filter_selects_the_matching_rows(client: Client, path: str, expected: list[str]) -> None:
    assert [row["id"] for row in client.get(f"/api/v1/{path}").json()["results"]] == expected


def test_material_filters_select_the_matching_rows(client: Client) -> None:
    assert len(ids(client, "materials", paper="2021/yes", edition="2021")) == 7
    assert len(ids(client, "materials", kind="code")) == 1


@pytest.mark.parametrize("name", RESOURCES)
def test_unknown_parameter_is_refused_by_name(client: Client, name: str) -> None:
    error = get(client, f"{name}/", 400, yaer="2026")
    filters = (RESOURCES[name].filters or ResourceFilter).base_filters
    assert error["parameter"] == "yaer"
    assert ("edition" in error["allowed"]) is ("edition" in filters)
    rows = client.get(f"/api/v1/{name}/").json()["results"]
    if rows:
        assert client.get(f"{rows[0]['url']}?yaer=1").json()["parameter"] == "yaer"


@pytest.mark.parametrize(
    "query",
    [
        "kind=lecture", "day=tomorrow", "day=2021-02-30", "has_code=maybe", "edition=a b",
        "edition=2021/2022/x", "topic=\0", "track=\0", "q=" + "x" * 201, "changed_since=yesterday",
        "day=0001-01-01", "day=9999-12-31", "changed_since=0001-01-01T00:00:00+18:26",
        "page_size=0", "page_size=-1", "page_size=x", "ordering=abstract", "ordering=relevance",
        "fields=nothing", "fields=authors.nothing", "expand=nothing", "expand=authors.person.papers.topic",
        "kind=oral&kind=poster", "expand=" + ",".join(["topic"] * 41), "person=../../etc",
    ],
)  # fmt: skip
def test_malformed_value_is_refused_with_its_parameter(client: Client, query: str) -> None:
    pairs = parse_qsl(query)
    response = client.get(f"/api/v1/papers/?{urlencode(pairs)}")

    assert (response.status_code, response.json()["parameter"]) == (400, pairs[0][0])
    assert len(response.json()["detail"]) > 10


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("papers/?edition=typo", ["2021", "2022"]),
        ("papers/?conference=typo", ["mlsys"]),
        ("papers/?topic=2022/systems", ["compilers", "systems"]),
        ("papers/?track=typo", ["Research"]),
        ("papers/?decision=typo", ["Oral"]),
        ("papers/?person=typo", ["ada", "bo"]),
        ("papers/?institution=typo", ["eth"]),
        ("papers/?award=typo", ["best"]),
        ("papers/?session=typo", ["s-no", "s-yes"]),
        ("papers/?room=typo", ["hall"]),
        ("people/?edition=typo", ["2021", "2022"]),
        ("awards/?paper=typo", ["no", "yes"]),
        ("materials/?edition=typo", ["2021", "2022"]),
        ("sessions/?parent=typo", ["s-no", "s-yes"]),
        ("sponsors/?tier=typo", ["Gold"]),
        ("papers/?edition=typo&format=csv", ["2021", "2022"]),
    ],
)
def test_unknown_value_is_refused_with_the_known_ones(client: Client, path: str, allowed: list[str]) -> None:
    """Check for an error, because an empty list would look as if all rows had been deleted."""
    response = client.get(f"/api/v1/{path}")

    assert response.status_code == 400
    assert response.json()["parameter"] == path.partition("?")[2].partition("=")[0]
    assert response.json()["allowed"] == allowed


def test_edition_that_is_not_public_is_refused_like_an_unknown_one(client: Client) -> None:
    make.make_edition(2023, public_from=None)

    unknown, embargoed = (get(client, "papers/", 400, edition=slug) for slug in ("2024", "2023"))
    assert embargoed["allowed"] == unknown["allowed"] == ["2021", "2022"]
    assert embargoed["detail"] == unknown["detail"].replace("2024", "2023")


def test_empty_parameter_filters_nothing(client: Client) -> None:
    assert len(client.get("/api/v1/papers/?topic=&kind=&has_code=&ordering=").json()["results"]) == 3


def test_time_with_an_unusual_utc_offset_is_accepted(client: Client) -> None:
    assert ids(client, "papers", changed_since="2183-05-17T11:59:07+18:26") == []


def test_number_too_large_for_the_database_is_refused(client: Client) -> None:
    assert get(client, "editions/", 400, year=str(10**30))["parameter"] == "year"


def test_unknown_choice_is_refused_with_the_valid_values(client: Client) -> None:
    error = get(client, "presentations/", 400, kind="lecture")

    assert error["allowed"] == ["oral", "spotlight", "poster", "talk", "demo"]
    assert (
        error["detail"]
        == "“lecture” isn’t a valid value for “kind”. Valid values: oral, spotlight, poster, talk, demo."
    )
