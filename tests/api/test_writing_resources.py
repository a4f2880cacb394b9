"""Writing other resources, by the same rules; rows of some can only be added in the admin."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import FileField
from django.test import Client

from api.shapes import RESOURCES
from api.writing.bodies import UPLOAD_FIELDS
from papers.models import Award, Material
from people.models import Person
from tests import factories as make
from tests.api.writing import WRITABLE, Writer

pytestmark = pytest.mark.django_db

NEW: dict[str, dict[str, Any]] = {
    "papers": {"edition": "2021", "id": "new", "title": "New"},
    "sessions": {
        "edition": "2021",
        "id": "new",
        "title": "New",
        "start": "2021-04-06T08:00:00Z",
        "end": "2021-04-06T09:00:00Z",
    },
    "presentations": {"edition": "2021", "id": "new", "title": "New"},
    "awards": {"edition": "2021", "id": "new", "name": "New", "citation": "For *all*."},
    "topics": {"edition": "2021", "id": "new", "name": "New"},
    "materials": {"paper": "2021/p", "kind": "pdf", "href": "https://example.org/x.pdf"},
    "people": {"id": "new", "name": "New Person", "email": "new@example.org"},
    "institutions": {"id": "new", "name": "New", "aliases": ["N"]},
    "rooms": {"edition": "2021", "id": "new", "name": "New", "capacity": 40},
    "pages": {"edition": "2021", "id": "new", "title": "New", "body": "# Yes"},
    "announcements": {"edition": "2021", "id": "new", "title": "New", "pinned": True},
    "key_dates": {"edition": "2021", "id": "new", "title": "New", "day": "2021-04-05", "moment": None},
    "sponsors": {"edition": "2021", "id": "new", "name": "New", "website": "https://example.org/"},
}


@pytest.fixture
def writer() -> Writer:
    make.make_paper(make.make_edition(), uid="p")
    return Writer()


def test_all_resources_but_three_are_writable() -> None:
    assert RESOURCES.keys() - WRITABLE.keys() == {"conferences", "editions", "releases"}
    assert WRITABLE.keys() == NEW.keys()


@pytest.mark.parametrize("name", NEW)
def test_row_is_created_read_sent_back_changed_and_deleted(writer: Writer, name: str) -> None:
    created = writer.create(name, **NEW[name])
    path = created["url"].removeprefix("http://127.0.0.1:8000/api/v1/")
    written = created["written"]
    assert {field: written[field] for field in NEW[name] if field not in ("start", "end")} == {
        field: value for field, value in NEW[name].items() if field not in ("start", "end")
    }
    resent = writer.patch(path, **written)
    assert (resent["written"], resent["url"]) == (written, created["url"])
    field = next(field for field in ("title", "name", "label") if field in written)
    assert writer.patch(path, **{field: "Renamed"})[field] == "Renamed"
    assert [row["url"] for row in writer.get(f"{name}/").json()["results"]].count(created["url"]) == 1
    writer.delete(path)
    # A deleted row that was never public returns a 404, not a 410.
    writer.get(path, 410 if name in ("materials", "presentations") else 404)


@pytest.mark.parametrize(
    ("name", "field"), [("people", "photo"), ("sponsors", "logo"), ("materials", "file")]
)
def test_file_upload_is_refused_with_a_message(writer: Writer, name: str, field: str) -> None:
    upload = SimpleUploadedFile("a.png", b"\x89PNG")
    path, values = f"/api/v1/{name}/", {key: str(value) for key, value in NEW[name].items()}
    response = writer.client.post(path, {**values, field: upload}, **writer.headers)
    messages = writer.create(name, 400, **{**NEW[name], field: "a.png"})["errors"][field]

    assert response.status_code == 415
    assert response.json()["detail"].startswith(
        "Send JSON. Files are uploaded in the admin; a material can link"
    )
    assert messages[0] == "Files are uploaded in the admin."
    assert messages[1].startswith("This field can’t be set here. Fields you can set: ")
    assert WRITABLE[name].model._default_manager.count() == 0


def test_upload_fields_are_all_editable_file_fields() -> None:
    fields = [field for resource in WRITABLE.values() for field in resource.model._meta.fields]

    assert {
        field.name for field in fields if isinstance(field, FileField) and field.editable
    } == UPLOAD_FIELDS


@pytest.mark.parametrize("name", sorted({*NEW} - {"materials"}))
def test_existing_id_is_a_conflict(writer: Writer, name: str) -> None:
    writer.create(name, **NEW[name])

    assert [*writer.create(name, 409, **NEW[name])["errors"]] == ["id"]


@pytest.mark.parametrize("name", NEW)
def test_unknown_field_is_refused_by_name(writer: Writer, name: str) -> None:
    assert [*writer.create(name, 400, **NEW[name], color="red")["errors"]] == ["color"]


@pytest.mark.parametrize("name", ["conferences", "editions", "releases"])
def test_rows_created_only_in_the_admin_are_read_only(writer: Writer, name: str) -> None:
    writer.request("post", f"{name}/", {}, 405)


def test_award_can_go_to_papers_of_other_editions_and_to_people(writer: Writer) -> None:
    make.make_paper(make.make_edition(2020), uid="old")
    make.make_person("Ada Lovelace", uid="ada")
    winners = [{"paper": "2020/old", "citation": "Stood the test."}, {"person": "ada"}]
    body = writer.create("awards", edition="2021", id="test-of-time", name="Test of Time", winners=winners)
    assert [(winner["paper"] or winner["person"])["id"] for winner in body["winners"]] == ["old", "ada"]

    refused = writer.patch("awards/2021/test-of-time/", 400, winners=[{"paper": "p", "person": "ada"}])
    assert refused["errors"] == {"winners.0": ["Choose either a paper or a person, not both."]}
    swapped = writer.patch("awards/2021/test-of-time/", winners=winners[::-1])
    assert [(winner["paper"] or winner["person"])["id"] for winner in swapped["winners"]] == ["ada", "old"]
    assert list(Award.objects.get().grants.order_by("position").values_list("position", flat=True)) == [1, 2]


def test_names_and_identifiers_of_a_person_are_written_as_lists(writer: Writer) -> None:
    body = writer.create(
        "people",
        id="ada",
        name="Ada Lovelace",
        other_names=[{"name": "A. Byron", "hidden": True}, {"name": "A. A. Lovelace"}],
        identifiers=[{"scheme": "dblp", "value": "l/Ada"}],
    )
    # Only fields for editors contain a hidden name.
    assert body["other_names"] == [{"name": "A. A. Lovelace"}]
    assert {"name": "A. Byron", "hidden": True} in body["written"]["other_names"]
    refused = writer.create(
        "people", 400, id="b", name="B", identifiers=[{"scheme": "dblp", "value": "l/Ada"}]
    )
    assert [*refused["errors"]] == ["identifiers.0"]
    assert Person.objects.count() == 1


def test_material_requires_an_address_and_is_deleted_with_its_paper(writer: Writer) -> None:
    refused = writer.create("materials", 400, paper="2021/p", kind="pdf")
    assert refused["errors"] == {"body": ["Enter an address or choose a file."]}
    hidden = writer.create(
        "materials", paper="2021/p", kind="pdf", href="https://example.org/", visible=False
    )
    assert hidden["visible"] is False
    assert Client().get("/api/v1/materials/").json()["results"] == []
    writer.delete("papers/2021/p/")
    assert Material.objects.count() == 0


def test_site_page_is_written_at_its_own_url(writer: Writer) -> None:
    body = writer.create("pages", id="about", title="About", status="published")

    assert body["url"] == "http://127.0.0.1:8000/api/v1/pages/about/"
    assert writer.patch("pages/about/", title="About us")["title"] == "About us"


def test_topic_cannot_be_its_own_ancestor(writer: Writer) -> None:
    writer.create("topics", edition="2021", id="a", name="A")
    writer.create("topics", edition="2021", id="b", name="B", parent="a")

    assert [*writer.patch("topics/2021/a/", 400, parent="2021/b")["errors"]] == ["parent"]
