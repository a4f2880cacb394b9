"""Writing papers over REST: order of authors, validation, versions, history (traps 7, 8, 19)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from api.reader import Reader
from api.shapes import to_utc_iso
from content.history import ChangeSet, RowChange
from pagecache.middleware import PageCache
from papers.models import Authorship, Paper
from tests import factories as make
from tests.api.reading import application
from tests.api.writing import Writer, make_staff, make_token
from tests.pagecache.wsgi_site import fetch

pytestmark = pytest.mark.django_db
PATH = "papers/2021/p/"


@pytest.fixture
def paper() -> Paper:
    paper = make.make_paper(make.make_edition(), uid="p", title="Notes")
    for uid, name in (("zed", "Zed Z"), ("abe", "Abe A"), ("mia", "Mia M")):
        make.add_author(paper, make.make_person(name, uid=uid), affiliations=[f"Home of {uid}"])
    return paper


@pytest.fixture
def writer() -> Writer:
    return Writer()


def author_rows(paper: Paper) -> list[tuple[int, str]]:
    return list(paper.authorships.order_by("position").values_list("position", "person__uid"))


def author_list(*uids: str) -> list[dict[str, Any]]:
    return [{"person": uid} for uid in uids]


def test_paper_is_created_with_its_authors_in_one_request(writer: Writer) -> None:
    edition = make.make_edition()
    make.make_topic(edition, slug="compilers")
    make.make_institution(slug="engines")
    for uid in ("zed", "abe"):
        make.make_person(f"{uid.title()} Person", uid=uid)
    values = {
        "edition": "2021",
        "id": "new",
        "title": "Costs $x^2$",
        "status": "published",
        "topic": "2021/compilers",
        "keywords": ["a", "b"],
        "authors": [
            {"person": "zed", "name": "Z. Person", "institutions": ["engines"], "presenting": True},
            {"person": {"id": "abe"}, "affiliations": ["Home"]},
        ],
    }
    response = writer.request("post", "papers/", values, 201)
    body = response.json()
    paper: Any = Paper.objects.get(uid="new")
    assert response["Location"] == body["url"] == "http://127.0.0.1:8000/api/v1/papers/2021/new/"
    assert response["Cache-Control"] == "private, no-store"
    assert (paper.title, paper.topic.slug, paper.keywords) == ("Costs $x^2$", "compilers", ["a", "b"])
    assert "<math" in body["title_html"]
    assert author_rows(paper) == [(1, "zed"), (2, "abe")]
    assert [author["name"] for author in body["authors"]] == ["Z. Person", "Abe Person"]
    assert [author["slug"] for author in paper.authorships.first().institutions.values("slug")] == ["engines"]
    assert (body["warnings"], body["written"]["id"]) == ([], "new")
    assert writer.get("papers/2021/new/")["ETag"] == response["ETag"]


def test_author_order_survives_swaps_additions_and_removals_in_one_request(
    writer: Writer, paper: Paper
) -> None:
    """Trap 7."""
    make.make_person("Ann N", uid="ann")
    make.make_person("Bo B", uid="bo")
    body = writer.patch(PATH, authors=author_list("mia", "ann", "zed", "bo"))

    assert author_rows(paper) == [(1, "mia"), (2, "ann"), (3, "zed"), (4, "bo")]
    assert [author["person"]["id"] for author in body["authors"]] == ["mia", "ann", "zed", "bo"]
    assert paper.authorships.get(person__uid="zed").affiliations == ["Home of zed"]


@pytest.mark.parametrize("order", [("abe", "zed", "mia"), ("mia", "abe", "zed"), ("zed",), ()])
def test_authors_can_be_reordered_and_removed(writer: Writer, paper: Paper, order: tuple[str, ...]) -> None:
    writer.patch(PATH, authors=author_list(*order))

    assert author_rows(paper) == [*enumerate(order, start=1)]


def test_remaining_author_keeps_the_row(writer: Writer, paper: Paper) -> None:
    keys = dict(paper.authorships.values_list("person__uid", "pk"))
    writer.patch(PATH, authors=[{"person": "abe", "name": "A. A."}, *author_list("zed", "mia")])

    assert dict(paper.authorships.values_list("person__uid", "pk")) == keys
    assert paper.authorships.get(person__uid="abe").name == "A. A."


def test_written_fields_sent_back_change_nothing(writer: Writer, paper: Paper) -> None:
    paper.authorships.get(person__uid="zed").institutions.add(make.make_institution())
    before = writer.get(PATH)
    changes = RowChange.objects.count()
    writer.patch(PATH, **before.json()["written"])

    assert writer.get(PATH)["ETag"] == before["ETag"]
    assert RowChange.objects.count() == changes


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"titel": "x"}, "titel"),
        ({"title": ""}, "title"),
        ({"title": None}, "title"),
        ({"title": "x" * 501}, "title"),
        ({"title": "a\x00b"}, "title"),
        ({"title_html": "<b>"}, "title_html"),
        ({"status": "out"}, "status"),
        ({"keywords": "a, b"}, "keywords"),
        ({"topic": "2021/none"}, "topic"),
        ({"topic": 1.5}, "topic"),
        ({"topic": []}, "topic"),
        ({"id": "other"}, "id"),
        ({"edition": "2020"}, "edition"),
        ({"authors": {"person": "zed"}}, "authors"),
        ({"authors": [{"person": "zed"}, {"person": "zed"}]}, "authors.1"),
        ({"authors": [{"person": "zed"}, {"person": "nobody"}]}, "authors.1.person"),
        ({"authors": [{"name": "Zed"}]}, "authors.0.person"),
        ({"authors": [{"person": None}]}, "authors.0.person"),
        ({"authors": [{"person": "zed", "position": 3}]}, "authors.0.position"),
        ({"authors": [{"person": "zed", "institutions": ["none"]}]}, "authors.0.institutions.0"),
        ({"\ud800": 1}, "\ufffd"),
    ],
)
def test_rejected_write_names_the_field_and_changes_nothing(
    writer: Writer, paper: Paper, body: dict[str, Any], field: str
) -> None:
    before = writer.get(PATH).content, Authorship.objects.count(), ChangeSet.objects.count()
    errors = writer.patch(PATH, 400, abstract="Other.", **body)

    assert [*errors["errors"]] == [field]
    assert all(reason for reason in errors["errors"][field])
    assert (writer.get(PATH).content, Authorship.objects.count(), ChangeSet.objects.count()) == before


def test_invalid_author_rolls_back_the_whole_request(writer: Writer, paper: Paper) -> None:
    name = "n" * 201
    error = writer.patch(PATH, 400, title="Other", authors=[{"person": "mia", "name": name}])

    assert [*error["errors"]] == ["authors.0.name"]
    assert (Paper.objects.get().title, len(author_rows(paper))) == ("Notes", 3)


@pytest.mark.parametrize("body", ["[]", "1", '"x"', "null", "{", '{"title": NaN}', "[" * 100_000, "\xff"])
def test_body_that_is_not_a_json_object_is_refused(writer: Writer, paper: Paper, body: str) -> None:
    version = writer.get(PATH)["ETag"]
    response = writer.request("patch", PATH, body.encode("latin-1"), 400, HTTP_IF_MATCH=version)

    assert response.json()["detail"]


def test_too_long_body_and_other_content_types_are_refused(writer: Writer, paper: Paper) -> None:
    version = writer.get(PATH)["ETag"]
    writer.request("patch", PATH, {"abstract": "x" * 3_000_000}, 400, HTTP_IF_MATCH=version)
    response = writer.client.post("/api/v1/papers/", {"title": "x"}, **writer.headers)

    assert response.status_code == 415


def test_new_paper_requires_edition_and_title(writer: Writer) -> None:
    error = writer.create("papers", 400)

    assert {*error["errors"]} == {"edition", "title"}


def test_existing_id_is_a_conflict(writer: Writer, paper: Paper) -> None:
    error = writer.create("papers", 409, edition="2021", id="p", title="Other")

    assert [*error["errors"]] == ["id"]
    assert Paper.objects.get().title == "Notes"
    writer.create("papers", 201, edition=make.make_edition(2022).slug, id="p", title="Same id elsewhere")


def test_paper_without_an_id_gets_one(writer: Writer) -> None:
    make.make_edition()

    assert writer.create("papers", edition="2021", title="New")["id"] == Paper.objects.get().uid


# Versions


def test_second_save_of_one_version_is_refused_with_the_current_row(writer: Writer, paper: Paper) -> None:
    """Trap 19: of two clients with the same version, one saves the title, then the other the track."""
    version = writer.get(PATH)["ETag"]
    writer.request("patch", PATH, {"title": "First"}, 200, HTTP_IF_MATCH=version)
    refused = writer.request("patch", PATH, {"track": "Second"}, 412, HTTP_IF_MATCH=version).json()

    paper.refresh_from_db()
    assert (paper.title, paper.track) == ("First", "")
    assert refused["current"]["written"]["title"] == "First"
    writer.request("delete", PATH, None, 412, HTTP_IF_MATCH=version)
    assert Paper.objects.count() == 1


def test_version_of_a_response_is_not_newer_than_its_content(
    writer: Writer, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = Reader.objects

    def objects_before_a_change(self: Reader, *arguments: Any) -> Any:
        rows = objects(self, *arguments)
        Paper.objects.filter(pk=paper.pk).update(abstract="Somebody else's.")
        return rows

    monkeypatch.setattr(Reader, "objects", objects_before_a_change)
    response = writer.request("get", PATH)
    monkeypatch.undo()
    assert response.json()["abstract"] == "What was done."
    body = {"abstract": f"{response.json()['abstract']} Mine."}
    writer.request("patch", PATH, body, 412, HTTP_IF_MATCH=response["ETag"])

    assert Paper.objects.get(pk=paper.pk).abstract == "Somebody else's."


def test_version_changes_with_every_change_of_the_paper_and_its_authors(writer: Writer, paper: Paper) -> None:
    author = paper.authorships.get(person__uid="zed")
    versions = [writer.get(PATH)["ETag"]]
    Authorship.objects.filter(pk=author.pk).update(name="Z.")
    versions.append(writer.get(PATH)["ETag"])
    author.institutions.add(make.make_institution())
    versions.append(writer.get(PATH)["ETag"])
    Paper.objects.filter(pk=paper.pk).update(status="draft")
    versions.append(writer.get(PATH)["ETag"])
    paper.authorships.get(person__uid="mia").delete()
    versions.append(writer.get(PATH)["ETag"])

    assert len({*versions}) == 5
    assert writer.get(f"{PATH}?fields=title")["ETag"] == versions[-1]


@pytest.mark.parametrize("headers", [{}, {"HTTP_IF_MATCH": "*"}, {"HTTP_IF_MATCH": " "}])
@pytest.mark.parametrize("method", ["patch", "delete"])
def test_change_without_a_version_is_refused(
    writer: Writer, paper: Paper, method: str, headers: dict[str, str]
) -> None:
    writer.request(method, PATH, {"title": "Other"}, 428, **headers)

    assert Paper.objects.get().title == "Notes"


def test_version_weakened_by_a_proxy_is_accepted(writer: Writer, paper: Paper) -> None:
    version = writer.get(PATH)["ETag"]

    writer.request("patch", PATH, {"title": "Other"}, 200, HTTP_IF_MATCH=f'"old", W/{version}')


# Effects


def test_history_records_the_change_with_user_and_token(paper: Paper) -> None:
    user = make_staff(name="ada")
    Writer(make_token(user, name="Phone app")).patch(PATH, title="Other", authors=author_list("mia", "zed"))

    change_set = ChangeSet.objects.first()
    assert change_set is not None
    assert (change_set.origin, change_set.user, change_set.detail) == ("api", user, "Phone app")
    changes = RowChange.objects.about(Paper, paper.pk).filter(change_set=change_set)
    assert {(row.model, row.kind) for row in changes} == {
        ("papers.paper", "changed"),
        ("papers.authorship", "changed"),
        ("papers.authorship", "deleted"),
    }
    assert changes.get(model="papers.paper").values == {"title": ["Notes", "Other"]}


def test_cached_page_shows_the_change(writer: Writer, paper: Paper) -> None:
    cache = PageCache(application)
    address = paper.get_absolute_url()
    assert b"Notes" in fetch(cache, address)[2]
    writer.patch(PATH, title="Notes", abstract="A new word.", authors=author_list("mia"))
    cache.revisions.expire()
    page = fetch(cache, address)[2]
    assert b"A new word." in page
    assert b"Zed Z" not in page


def test_deleted_paper_returns_410_and_is_in_the_history(writer: Writer, paper: Paper) -> None:
    response = writer.delete(PATH)

    assert response.content == b""
    assert (Paper.objects.count(), Authorship.objects.count()) == (0, 0)
    assert RowChange.objects.deleted_directly().get().model == "papers.paper"
    assert writer.get(PATH, 410).json()["title"] == "Notes"


def test_person_with_papers_is_not_deleted(writer: Writer, paper: Paper) -> None:
    """Trap 8."""
    error = writer.delete("people/zed/", 409).json()

    assert error["rows"] == [
        {"kind": "papers", "id": "p", "url": "http://127.0.0.1:8000/api/v1/papers/2021/p/", "name": "Notes"}
    ]
    assert author_rows(paper) == [(1, "zed"), (2, "abe"), (3, "mia")]


@pytest.mark.parametrize("count", [1, 3, 150])
def test_query_count_does_not_grow_with_the_authors(
    writer: Writer, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    make.make_edition()
    people = [make.make_person(f"Somebody {number}").uid for number in range(2 * count)]
    body = {"edition": "2021", "id": "big", "title": "Big", "authors": author_list(*people[:count])}
    with django_assert_num_queries(35 if connection.features.has_select_for_update else 33):
        writer.create("papers", **body)
    version = writer.get("papers/2021/big/")["ETag"]
    swapped = {"title": "Bigger", "authors": author_list(*reversed(people))}
    # PostgreSQL also locks the paper for its authors when some are deleted and reordered, and the gates.
    with django_assert_num_queries(65 if connection.features.has_select_for_update else 61):
        writer.request("patch", "papers/2021/big/", swapped, 200, HTTP_IF_MATCH=version)
    assert author_rows(Paper.objects.get()) == [*enumerate(reversed(people), start=1)]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets one writer in at a time")
@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_saves_is_refused(writer: Writer, paper: Paper) -> None:
    """Trap 19: both clients have read the same version; the row is locked while versions are compared."""
    version = writer.get(PATH)["ETag"]
    start = Barrier(2)

    def save(title: str) -> int:
        start.wait(timeout=20)
        try:
            headers = {**writer.headers, "HTTP_IF_MATCH": version}
            body = {"title": title, "authors": author_list("mia")}
            response = Client().patch(f"/api/v1/{PATH}", body, content_type="application/json", **headers)
            return int(response.status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(save, ["One", "Two"])) == [200, 412]


def test_answers_to_writes_have_the_times_of_the_write(writer: Writer) -> None:
    """Also if only a part changes, such as the order of authors."""
    make.make_edition()
    people = [make.make_person(name).uid for name in ("Ada", "Bo")]
    created = writer.create("papers", edition="2021", id="p", title="A", authors=author_list(*people))
    version = writer.get(PATH)["ETag"]
    stored = Paper.objects.get()
    assert created["created_at"] == created["changed_at"] == to_utc_iso(stored.created_at)
    swapped = {"authors": author_list(*reversed(people))}
    changed = writer.request("patch", PATH, swapped, 200, HTTP_IF_MATCH=version).json()
    stored.refresh_from_db()
    assert changed["created_at"] == created["created_at"]
    assert changed["changed_at"] == to_utc_iso(stored.changed_at) > created["changed_at"]
