"""Every word of a public page comes from the catalogue: in a language in brackets none stands outside."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils import translation

from conference.models import Page
from tests.pseudolocale import pseudolocale, untranslated
from tests.website.marked import make_public_program

pytestmark = pytest.mark.django_db
SCRIPTS = Path(__file__).resolve().parents[2] / "static" / "js"
PATHS = [
    "/2021/papers/",
    "/2021/papers/?view=detailed&by=topic&track=Research",
    "/2021/sessions/s1/",
    "/2021/sessions/t1/",
    "/2021/agenda/",
    "/2021/agenda/?s=s.s1+p.a2",
    "/2021/agenda/x/",
]
# What the chairs and the authors of the sample program wrote, and names of formats.
ENTERED = [
    "MLSys 2021",
    "MLSys",
    "Plenary",
    "Conference on Machine Learning and Systems",
    "San Jose",
    "Los Angeles",
    "PDT",
    "Ada Lovelace",
    "Lovelace, Ada",
    "Notes",
    "Engines",
    "Keynote",
    "Addendum",
    "Compilers",
    "Research",
    "What was done.",
    "King's College",
    "She wrote notes.",
    "Outstanding Paper Award",
    "Hall A",
]


@pytest.mark.parametrize("path", PATHS)
def test_pages_are_translatable(client: Client, path: str) -> None:
    make_public_program()
    with pseudolocale():
        page = client.get(path, follow=True).text
    known = [*ENTERED, *Page.objects.values_list("title", flat=True)]
    assert untranslated(page, known=known) == []


def test_page_names_its_language_and_direction(client: Client) -> None:
    assert '<html lang="en">' in client.get("/").text
    with translation.override("ar"):
        assert '<html lang="ar" dir="rtl">' in client.get("/").text


def test_no_script_has_words_of_its_own() -> None:
    said = re.compile(r'"[A-Z][a-z]+(?: [a-z’,]+)+[.:]?"|`[A-Z][a-z]+ [a-z]+')
    found = {path.name: said.findall(path.read_text()) for path in SCRIPTS.glob("*.js")}
    assert {name: words for name, words in found.items() if words} == {}
