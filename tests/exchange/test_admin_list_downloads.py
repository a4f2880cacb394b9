"""Tests of downloads of admin lists: rows and order of the list, no private data."""

import csv
import io
import json
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from conference.models import Edition, MenuItem
from editorial.lists import files_of
from exchange.files import Context, Source
from exchange.formats import readable
from papers.models import Authorship, Paper, Topic
from people.models import Person, PersonName
from tests import factories as make
from tests.exchange.uploads import staff_client
from tests.website.sample_program import make_public_program

pytestmark = pytest.mark.django_db
CONTEXT = Context("2021", 2021, "America/Los_Angeles")
DOWNLOADABLE_MODELS = [model for model in admin.site._registry if list(files_of(model))]


@pytest.fixture
def edition() -> Edition:
    new_edition = make.make_edition()
    topic = make.make_topic(new_edition, "Compilers")
    for n, status in enumerate(["published", "draft", "published"]):
        row = make.make_paper(
            new_edition, [f"Ann {n}", f"Bob {n}"], title=f"Title {n}", status=status, uid=f"p{n}"
        )
        make.make_material(row)
        if n:
            Paper.objects.filter(pk=row.pk).update(topic=topic)
    return new_edition


def download_url(model: Any, fmt: str, query: str = "") -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_export", args=[fmt]) + query


def download(client: Client, model: Any, fmt: str, query: str = "") -> bytes:
    response = client.get(download_url(model, fmt, query))
    assert response.status_code == 200
    assert response.headers["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    return response.getvalue()


def csv_rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def csv_titles(content: bytes) -> list[str]:
    return [row["title"] for row in csv_rows(content)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"Title 0", "Title 1", "Title 2"}),
        ("?status__exact=draft", {"Title 1"}),
        ("?q=ann 2", {"Title 2"}),
        ("?todo=without_session", {"Title 0", "Title 1", "Title 2"}),
        ("?todo=without_pdf", set()),
        ("?p=7", {"Title 0", "Title 1", "Title 2"}),
    ],
)
def test_file_contains_the_rows_of_the_list(
    admin_client: Client, edition: Edition, query: str, expected: set[str]
) -> None:
    list_page = admin_client.get(reverse("admin:papers_paper_changelist") + query.replace("p=7", ""))

    assert set(csv_titles(download(admin_client, Paper, "csv", query))) == expected
    assert list_page.context["cl"].result_count == len(expected)


def test_file_has_the_topic_filter_and_order_of_the_list(admin_client: Client, edition: Edition) -> None:
    query = f"?edition__id__exact={edition.pk}&topic={Topic.objects.get().pk}&o=-1"

    assert csv_titles(download(admin_client, Paper, "csv", query)) == ["Title 2", "Title 1"]


def test_download_links_keep_the_filters_of_the_list(admin_client: Client, edition: Edition) -> None:
    page = admin_client.get(reverse("admin:papers_paper_changelist") + "?status__exact=draft&p=1").text

    for fmt in ("csv", "xlsx", "json", "bibtex"):
        assert f'href="{download_url(Paper, fmt)}?status__exact=draft"' in page


def test_drafts_are_marked(admin_client: Client, edition: Edition) -> None:
    table = csv_rows(download(admin_client, Paper, "csv"))
    references = download(admin_client, Paper, "bibtex").decode()

    assert {row["uid"]: row["status"] for row in table} == {
        "p0": "published",
        "p1": "draft",
        "p2": "published",
    }
    assert references.startswith("% Not public, not to be cited yet: p1\n")
    assert references.count("@inproceedings{") == 3
    public = download(admin_client, Paper, "bibtex", "?status__exact=published").decode()
    assert (public[:1], public.count("@inproceedings{")) == ("@", 2)


def test_json_and_workbook_can_be_read(admin_client: Client, edition: Edition) -> None:
    files_and_formats = {"program_json": ("x.json", "json"), "xlsx": ("x.xlsx", "xlsx")}
    for name, (filename, fmt) in files_and_formats.items():
        read = readable()[name].read
        assert read
        program = read([Source(filename, download(admin_client, Paper, fmt, "?o=1"))], CONTEXT)

        assert [record.title for record in program.papers] == ["Title 0", "Title 1", "Title 2"]
        first = program.papers[0]
        assert [author.person.name for author in first.authors] == ["Ann 0", "Bob 0"]  # type: ignore[union-attr]


def test_authorships_are_in_the_order_of_the_list(admin_client: Client, edition: Edition) -> None:
    make.make_paper(make.make_edition(2022), ["Zoe"], title="Title 9", uid="p9")
    Authorship.objects.filter(name="Ann 0").update(name="Yan 0")
    changelist = admin_client.get(reverse("admin:papers_authorship_changelist") + "?o=-1").context["cl"]
    names = [row.name for row in changelist.result_list]

    assert names[:2] != sorted(names)[:2]
    assert [row["name"] for row in csv_rows(download(admin_client, Authorship, "csv", "?o=-1"))] == names


AUTHORS, MATERIAL = "papers_authorship", "papers_material"
AUTHOR_INSTITUTIONS = "papers_authorship_institutions"


@pytest.mark.parametrize(("fmt", "tables"), [("csv", []), ("xlsx", [AUTHORS, AUTHOR_INSTITUTIONS, MATERIAL])])
def test_file_queries_only_the_related_tables_it_contains(
    admin_client: Client, edition: Edition, fmt: str, tables: list[str]
) -> None:
    with CaptureQueriesContext(connection) as queries:
        download(admin_client, Paper, fmt)
    statements = [query["sql"] for query in queries]

    assert [
        name
        for sql in statements
        for name in (AUTHORS, AUTHOR_INSTITUTIONS, MATERIAL)
        if f'FROM "{name}"' in sql
    ] == tables


def test_rows_of_several_editions_name_their_edition(admin_client: Client, edition: Edition) -> None:
    make.make_paper(make.make_edition(2022), title="Later", uid="p9")
    papers = csv_rows(download(admin_client, Paper, "csv"))
    programs = json.loads(download(admin_client, Paper, "json"))

    assert {(row["edition"], row["uid"]) for row in papers} == {
        ("2021", "p0"),
        ("2021", "p1"),
        ("2021", "p2"),
        ("2022", "p9"),
    }
    assert [(program["edition"]["slug"], len(program["papers"])) for program in programs] == [
        ("2022", 1),
        ("2021", 3),
    ]


def test_every_list_with_a_table_can_be_downloaded(admin_client: Client, subtests: pytest.Subtests) -> None:
    make_public_program()
    for model in DOWNLOADABLE_MODELS:
        with subtests.test(model=model.__name__):
            content = download(admin_client, model, "json")
            json.loads(content)
            count = content.count(b"\n  {") + content.count(b"\n {")

            assert (
                count == len(csv_rows(download(admin_client, model, "csv"))) == model._default_manager.count()
            )
            assert download(admin_client, model, "xlsx")[:2] == b"PK"


def test_downloads_have_no_email_or_hidden_name(admin_client: Client, edition: Edition) -> None:
    person = Person.objects.get(name="Ann 0")
    Person.objects.filter(pk=person.pk).update(email="ann@secret.example")
    PersonName.objects.create(person=person, name="Former Name", hidden=True)
    Authorship.objects.filter(person=person).update(name="Former Name")
    content = b"".join(
        download(admin_client, model, fmt) for model in (Person, Paper, Authorship) for fmt in ("csv", "json")
    )

    assert (b"Ann 0" in content, b"secret" in content, b"Former" in content) == (True, False, False)


def test_selected_rows_are_downloaded(admin_client: Client, edition: Edition) -> None:
    keys = list(Paper.objects.filter(uid__in=["p0", "p2"]).values_list("pk", flat=True))
    data = {"action": "export_csv", "_selected_action": keys, "index": 0}
    response = admin_client.post(reverse("admin:papers_paper_changelist"), data)

    assert set(csv_titles(response.getvalue())) == {"Title 0", "Title 2"}
    assert response.headers["Content-Disposition"].startswith('attachment; filename="2021-papers-')


def test_download_requires_view_permission(edition: Edition) -> None:
    client = staff_client("view_topic")

    assert client.get(download_url(Topic, "csv")).status_code == 200
    assert client.get(download_url(Paper, "csv")).status_code == 403
    assert Client().get(download_url(Paper, "csv")).status_code == 302


@pytest.mark.parametrize("fmt", ["pdf", "bibtex"])
def test_unsupported_format_is_404(admin_client: Client, fmt: str) -> None:
    assert admin_client.get(download_url(Topic, fmt)).status_code == 404


def test_invalid_filter_redirects_to_the_list(admin_client: Client, edition: Edition) -> None:
    response = admin_client.get(download_url(Paper, "csv", "?nonsense=1"))

    assert (response.status_code, response.headers["Location"]) == (302, "/admin/papers/paper/?e=1")


@pytest.mark.parametrize(("fmt", "expected"), [("csv", 12), ("json", 16), ("bibtex", 21)])
def test_query_count_is_the_same_for_1_and_3_papers(
    admin_client: Client, fmt: str, expected: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    edition = make.make_edition()
    for size in (1, 2):
        for n in range(size):
            make.make_paper(edition, ["Ann", "Bob"], title=f"On {size} {n}")
        with django_assert_num_queries(expected):
            download(admin_client, Paper, fmt)


def test_menu_download_keeps_its_order_and_includes_parents(admin_client: Client) -> None:
    edition, newer = make.make_edition(), make.make_edition(2022)
    make.make_menu_item(newer, "Home", section="home")
    papers_item = make.make_menu_item(edition, "Papers")
    make.make_menu_item(edition, "Awards")
    MenuItem.objects.filter(pk=papers_item.pk).update(position=9)
    guide = make.make_menu_item(
        edition, "Guide", parent=papers_item, page=make.make_page(edition, slug="guide")
    )
    model = MenuItem
    all_rows = csv_rows(download(admin_client, model, "csv", f"?edition__id__exact={edition.pk}"))
    matching_rows = csv_rows(download(admin_client, model, "csv", "?q=guide"))

    assert [(row["level"], row["label"], row["kind"], row["target"]) for row in all_rows] == [
        ("1", "Awards", "section", "papers"),
        ("1", "Papers", "section", "papers"),
        ("2", "Guide", "page", "guide"),
    ]
    assert [row["label"] for row in matching_rows] == ["Papers", guide.label]
    assert {row["edition"] for row in csv_rows(download(admin_client, model, "csv"))} == {"2021", "2022"}


def test_menu_query_count_is_the_same_for_1_and_3_items(admin_client: Client) -> None:
    edition = make.make_edition()
    query_counts = []
    for count in (1, 2):
        for number in range(count):
            make.make_menu_item(edition, f"Line {number}")
        with CaptureQueriesContext(connection) as queries:
            download(admin_client, MenuItem, "csv")
        query_counts.append(len(queries))

    assert query_counts[0] == query_counts[1]
