"""Forms with errors display at each file field that the file must be chosen again."""

from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from editorial.forms import LOST_FILE
from papers.models import Paper
from people.models import Person
from tests import factories as make
from tests.posted import address, formset

pytestmark = pytest.mark.django_db


PERSON = {"uid": "ada", "name": "Ada", **formset("names"), **formset("identifiers")}


def photo() -> SimpleUploadedFile:
    written = BytesIO()
    Image.new("RGB", (2, 2)).save(written, "PNG")
    return SimpleUploadedFile("ada.png", written.getvalue(), "image/png")


def test_photo_is_lost_with_another_fields_error(admin_client: Client) -> None:
    page = admin_client.post(address(Person, "add"), {**PERSON, "photo": photo(), "orcid": "1"})
    form = page.context["adminform"].form

    assert (set(form.errors), form.errors["photo"]) == ({"orcid", "photo"}, [LOST_FILE])
    assert not Person.objects.exists()


def test_photo_is_lost_with_the_error_of_a_row(admin_client: Client) -> None:
    rows = formset("names", added=[{"name": "x" * 500}])
    page = admin_client.post(address(Person, "add"), {**PERSON, "photo": photo(), **rows, "_popup": "1"})

    assert page.text.count(str(LOST_FILE)) == 1


def test_file_of_a_row_is_lost(admin_client: Client) -> None:
    rows = formset("authorships") | formset("presentations")
    materials: list[dict[str, object]] = [
        {"kind": "pdf", "file": photo(), "visible": "on"},
        {"kind": "code", "url": "not an address"},
    ]
    values = {"edition": make.make_edition().pk, "uid": "p1", "title": "", "status": "draft"}
    page = admin_client.post(
        address(Paper, "add"), {**values, **rows, **formset("materials", added=materials)}
    )
    inlines = {one.formset.prefix: one.formset for one in page.context["inline_admin_formsets"]}

    assert [form.errors.get("file") for form in inlines["materials"].forms] == [[LOST_FILE], None]


def test_error_of_the_file_itself_is_enough(admin_client: Client) -> None:
    broken = SimpleUploadedFile("ada.png", b"no picture", "image/png")
    page = admin_client.post(address(Person, "add"), {**PERSON, "name": "", "photo": broken})

    assert str(LOST_FILE) not in page.text
    assert len(page.context["adminform"].form.errors["photo"]) == 1


def test_form_without_errors_saves_the_file(admin_client: Client) -> None:
    admin_client.post(address(Person, "add"), {**PERSON, "photo": photo()})

    assert Person.objects.get().photo.name == "people/ada.png"
