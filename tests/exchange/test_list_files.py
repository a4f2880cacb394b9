"""Tests of downloads of admin lists: the rows of the list, in its order, without private data."""

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
LISTED = [model for model in admin.site._registry if list(files_of(model))]


@pytest.fixture
def edition() -> Edition:
    found = make.make_edition()
    topic = make.make_topic(found, "Compilers")
    for n, status in enumerate(["published", "draft", "published"]):
        row = make.make_paper(found, [f"Ann {n}", f"Bob {n}"], title=f"Title {n}", status=status, uid=f"p{n}")
        make.make_material(row)
        if n:
            Paper.objects.filter(pk=row.pk).update(topic=topic)
    return found


def address(model: Any, form: str, query: str = "") -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_export", args=[form]) + query


def fetched(client: Client, model: Any, form: str, query: str = "") -> bytes:
    response = client.get(address(model, form, query))
    assert response.status_code == 200
    assert response.headers["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    return response.getvalue()


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def titles(content: bytes) -> list[str]:
    return [row["title"] for row in rows(content)]


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
def test_file_holds_what_the_list_shows(
    admin_client: Client, edition: Edition, query: str, expected: set[str]
) -> None:
    listed = admin_client.get(reverse("admin:papers_paper_changelist") + query.replace("p=7", ""))

    assert set(titles(fetched(admin_client, Paper, "csv", query))) == expected
    assert listed.context["cl"].result_count == len(expected)


def test_topic_filter_and_order_hold(admin_client: Client, edition: Edition) -> None:
    query = f"?edition__id__exact={edition.pk}&topic={Topic.objects.get().pk}&o=-1"

    assert titles(fetched(admin_client, Paper, "csv", query)) == ["Title 2", "Title 1"]


def test_links_carry_the_filters_of_the_list(admin_client: Client, edition: Edition) -> None:
    page = admin_client.get(reverse("admin:papers_paper_changelist") + "?status__exact=draft&p=1").text

    for form in ("csv", "xlsx", "json", "bibtex"):
        assert f'href="{address(Paper, form)}?status__exact=draft"' in page


def test_drafts_are_marked(admin_client: Client, edition: Edition) -> None:
    table = rows(fetched(admin_client, Paper, "csv"))
    references = fetched(admin_client, Paper, "bibtex").decode()

    assert {row["uid"]: row["status"] for row in table} == {
        "p0": "published",
        "p1": "draft",
        "p2": "published",
    }
    assert references.startswith("% Not public, not to be cited yet: p1\n")
    assert references.count("@inproceedings{") == 3
    public = fetched(admin_client, Paper, "bibtex", "?status__exact=published").decode()
    assert (public[:1], public.count("@inproceedings{")) == ("@", 2)


def test_json_and_workbook_read_back(admin_client: Client, edition: Edition) -> None:
    made = {"program_json": ("x.json", "json"), "xlsx": ("x.xlsx", "xlsx")}
    for name, (file, form) in made.items():
        read = readable()[name].read
        assert read
        program = read([Source(file, fetched(admin_client, Paper, form, "?o=1"))], CONTEXT)

        assert [record.title for record in program.papers] == ["Title 0", "Title 1", "Title 2"]
        first = program.papers[0]
        assert [one.person.name for one in first.authors] == ["Ann 0", "Bob 0"]  # type: ignore[union-attr]


def test_parts_stand_in_the_order_of_the_list(admin_client: Client, edition: Edition) -> None:
    make.make_paper(make.make_edition(2022), ["Zoe"], title="Title 9", uid="p9")
    Authorship.objects.filter(name="Ann 0").update(name="Yan 0")
    listed = admin_client.get(reverse("admin:papers_authorship_changelist") + "?o=-1").context["cl"]
    shown = [row.name for row in listed.result_list]

    assert shown[:2] != sorted(shown)[:2]
    assert [row["name"] for row in rows(fetched(admin_client, Authorship, "csv", "?o=-1"))] == shown


AUTHORS, MATERIAL = "papers_authorship", "papers_material"
PLACES = "papers_authorship_institutions"


@pytest.mark.parametrize(("form", "tables"), [("csv", []), ("xlsx", [AUTHORS, PLACES, MATERIAL])])
def test_table_reads_no_more_than_it_holds(
    admin_client: Client, edition: Edition, form: str, tables: list[str]
) -> None:
    with CaptureQueriesContext(connection) as queries:
        fetched(admin_client, Paper, form)
    sentences = [query["sql"] for query in queries]

    assert [
        name for sql in sentences for name in (AUTHORS, PLACES, MATERIAL) if f'FROM "{name}"' in sql
    ] == tables


def test_rows_of_several_years_name_their_edition(admin_client: Client, edition: Edition) -> None:
    make.make_paper(make.make_edition(2022), title="Later", uid="p9")
    found = rows(fetched(admin_client, Paper, "csv"))
    programs = json.loads(fetched(admin_client, Paper, "json"))

    assert {(row["edition"], row["uid"]) for row in found} == {
        ("2021", "p0"),
        ("2021", "p1"),
        ("2021", "p2"),
        ("2022", "p9"),
    }
    assert [(one["edition"]["slug"], len(one["papers"])) for one in programs] == [("2022", 1), ("2021", 3)]


def test_every_list_with_a_table_can_be_taken_along(admin_client: Client, subtests: pytest.Subtests) -> None:
    make_public_program()
    for model in LISTED:
        with subtests.test(model=model.__name__):
            content = fetched(admin_client, model, "json")
            json.loads(content)
            count = content.count(b"\n  {") + content.count(b"\n {")

            assert count == len(rows(fetched(admin_client, model, "csv"))) == model._default_manager.count()
            assert fetched(admin_client, model, "xlsx")[:2] == b"PK"


def test_neither_mail_nor_hidden_names_are_taken_along(admin_client: Client, edition: Edition) -> None:
    person = Person.objects.get(name="Ann 0")
    Person.objects.filter(pk=person.pk).update(email="ann@secret.example")
    PersonName.objects.create(person=person, name="Former Name", hidden=True)
    Authorship.objects.filter(person=person).update(name="Former Name")
    found = b"".join(
        fetched(admin_client, model, form)
        for model in (Person, Paper, Authorship)
        for form in ("csv", "json")
    )

    assert (b"Ann 0" in found, b"secret" in found, b"Former" in found) == (True, False, False)


def test_selected_rows_are_taken_along(admin_client: Client, edition: Edition) -> None:
    keys = list(Paper.objects.filter(uid__in=["p0", "p2"]).values_list("pk", flat=True))
    sent = {"action": "export_csv", "_selected_action": keys, "index": 0}
    response = admin_client.post(reverse("admin:papers_paper_changelist"), sent)

    assert set(titles(response.getvalue())) == {"Title 0", "Title 2"}
    assert response.headers["Content-Disposition"].startswith('attachment; filename="2021-papers-')


def test_who_may_not_see_a_list_takes_nothing_along(edition: Edition) -> None:
    client = staff_client("view_topic")

    assert client.get(address(Topic, "csv")).status_code == 200
    assert client.get(address(Paper, "csv")).status_code == 403
    assert Client().get(address(Paper, "csv")).status_code == 302


@pytest.mark.parametrize(("form", "status"), [("pdf", 404), ("bibtex", 404)])
def test_there_is_no_file_that_is_not_offered(admin_client: Client, form: str, status: int) -> None:
    assert admin_client.get(address(Topic, form)).status_code == status


def test_nonsense_in_the_filters_leads_back_to_the_list(admin_client: Client, edition: Edition) -> None:
    response = admin_client.get(address(Paper, "csv", "?nonsense=1"))

    assert (response.status_code, response.headers["Location"]) == (302, "/admin/papers/paper/?e=1")


@pytest.mark.parametrize(("form", "expected"), [("csv", 11), ("json", 15), ("bibtex", 20)])
def test_files_cost_the_same_for_one_paper_and_three(
    admin_client: Client, form: str, expected: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    edition = make.make_edition()
    for size in (1, 2):
        for n in range(size):
            make.make_paper(edition, ["Ann", "Bob"], title=f"On {size} {n}")
        with django_assert_num_queries(expected):
            fetched(admin_client, Paper, form)


def test_menu_is_taken_along_in_its_own_order_with_the_lines_above(admin_client: Client) -> None:
    edition, newer = make.make_edition(), make.make_edition(2022)
    make.make_menu_item(newer, "Home", section="home")
    last = make.make_menu_item(edition, "Papers")
    make.make_menu_item(edition, "Awards")
    MenuItem.objects.filter(pk=last.pk).update(position=9)
    below = make.make_menu_item(edition, "Guide", parent=last, page=make.make_page(edition, slug="guide"))
    model = MenuItem
    everything = rows(fetched(admin_client, model, "csv", f"?edition__id__exact={edition.pk}"))
    found = rows(fetched(admin_client, model, "csv", "?q=guide"))

    assert [(row["level"], row["label"], row["kind"], row["target"]) for row in everything] == [
        ("1", "Awards", "section", "papers"),
        ("1", "Papers", "section", "papers"),
        ("2", "Guide", "page", "guide"),
    ]
    assert [row["label"] for row in found] == ["Papers", below.label]
    assert {row["edition"] for row in rows(fetched(admin_client, model, "csv"))} == {"2021", "2022"}


def test_menu_costs_the_same_with_one_line_as_with_three(admin_client: Client) -> None:
    edition = make.make_edition()
    asked = []
    for count in (1, 2):
        for number in range(count):
            make.make_menu_item(edition, f"Line {number}")
        with CaptureQueriesContext(connection) as queries:
            fetched(admin_client, MenuItem, "csv")
        asked.append(len(queries))

    assert asked[0] == asked[1]
