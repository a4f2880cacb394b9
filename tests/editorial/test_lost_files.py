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
from tests.admin_forms import admin_url, formset

pytestmark = pytest.mark.django_db


PERSON = {"uid": "ada", "name": "Ada", **formset("names"), **formset("identifiers")}


def photo() -> SimpleUploadedFile:
    buffer = BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, "PNG")
    return SimpleUploadedFile("ada.png", buffer.getvalue(), "image/png")


def test_photo_must_be_chosen_again_after_an_error_in_another_field(admin_client: Client) -> None:
    page = admin_client.post(admin_url(Person, "add"), {**PERSON, "photo": photo(), "orcid": "1"})
    form = page.context["adminform"].form

    assert (set(form.errors), form.errors["photo"]) == ({"orcid", "photo"}, [LOST_FILE])
    assert not Person.objects.exists()


def test_photo_must_be_chosen_again_after_an_error_in_an_inline(admin_client: Client) -> None:
    rows = formset("names", added=[{"name": "x" * 500}])
    page = admin_client.post(admin_url(Person, "add"), {**PERSON, "photo": photo(), **rows, "_popup": "1"})

    assert page.text.count(str(LOST_FILE)) == 1


def test_file_of_an_inline_must_be_chosen_again_after_an_error(admin_client: Client) -> None:
    rows = formset("authorships") | formset("presentations")
    materials: list[dict[str, object]] = [
        {"kind": "pdf", "file": photo(), "visible": "on"},
        {"kind": "code", "url": "not an address"},
    ]
    values = {"edition": make.make_edition().pk, "uid": "p1", "title": "", "status": "draft"}
    page = admin_client.post(
        admin_url(Paper, "add"), {**values, **rows, **formset("materials", added=materials)}
    )
    inlines = {inline.formset.prefix: inline.formset for inline in page.context["inline_admin_formsets"]}

    assert [form.errors.get("file") for form in inlines["materials"].forms] == [[LOST_FILE], None]


def test_invalid_file_shows_only_its_own_error(admin_client: Client) -> None:
    broken = SimpleUploadedFile("ada.png", b"no picture", "image/png")
    page = admin_client.post(admin_url(Person, "add"), {**PERSON, "name": "", "photo": broken})

    assert str(LOST_FILE) not in page.text
    assert len(page.context["adminform"].form.errors["photo"]) == 1


def test_form_without_errors_saves_the_file(admin_client: Client) -> None:
    admin_client.post(admin_url(Person, "add"), {**PERSON, "photo": photo()})

    assert Person.objects.get().photo.name == "people/ada.png"
