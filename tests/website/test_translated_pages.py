"""All words of public pages are in the catalogs: in a pseudolocale, none is outside of brackets."""

import re
from pathlib import Path

import pytest
from django.test import Client, override_settings

from conference.models import Edition, Page
from exchange.exports.downloads import file_names
from exchange.formats import writable
from tests.catalogs import django_messages, public_messages
from tests.pseudolocale import pseudolocale, untranslated
from tests.website.sample_program import PAGES, make_public_program

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]
SCRIPTS = Path(__file__).resolve().parents[2] / "static" / "js"
PATHS = (
    *PAGES,
    "/2021/schedule/2021-04-06/?view=grid", "/2021/schedule/2021-04-06/?kind=oral",
    "/2021/schedule/?view=week", "/2021/schedule/2021-04-09/",
    "/2021/papers/?view=detailed&by=topic&track=Research", "/2021/papers/?q=zzz", "/2021/sessions/t1/",
    "/2021/agenda/", "/2021/agenda/?s=s.s1+p.a2", "/2021/agenda/x/", "/2021/search/",
    "/2021/search/?q=engines", "/search/?q=zzz", "/no-such-page/", "/2021/schedule/?kind=nonsense",
)  # fmt: skip
# Texts that chairs and authors of the sample program entered, and names of formats.
ENTERED_TEXTS = [
    "MLSys 2021", "MLSys", "Plenary", "Conference on Machine Learning and Systems", "San Jose", "Los Angeles",
    "Ada Lovelace", "Lovelace, Ada", "Notes", "Engines", "Keynote", "Addendum", "Compilers", "Research",
    "What was done.", "King's College", "She wrote notes.", "Outstanding Paper Award", "Hall A", "Welcome",
    "We begin.", "Doors open", "Program Chair", "Gold", "Babbage & Sons", "Text.",
    # Initials in place of a missing portrait, and names of zones, formats, files and hosts.
    "AL", "PDT", "PST", "BibTeX", "RIS", "CSL-JSON", "CSV", "XLSX", "iCalendar", "example.org",
    # Queries of searches.
    "zzz", "engines",
    # A key of the keyboard.
    "Ctrl",
    # The description of a release is stored when it is announced, in the language of that moment.
    "The program is public", "2 sessions and 1 paper.",
]  # fmt: skip


def test_pages_have_no_untranslated_text(client: Client) -> None:
    make_public_program()
    edition = Edition.objects.get(slug="2021")
    files = [name for fmt in writable().values() for name in file_names(fmt, edition)]
    known_texts = [*ENTERED_TEXTS, *files, *Page.objects.values_list("title", flat=True)]
    with pseudolocale({*public_messages(), *django_messages()}):
        pages = {path: client.get(path, follow=True).text for path in PATHS}
    untranslated_texts = {path: untranslated(page, known=known_texts) for path, page in pages.items()}
    assert {path: texts for path, texts in untranslated_texts.items() if texts} == {}


def test_html_element_has_language_and_direction(client: Client) -> None:
    assert '<html lang="en">' in client.get("/").text
    with override_settings(LANGUAGES=[("en", "English"), ("ar", "العربيّة")]):
        assert '<html lang="ar" dir="rtl">' in client.get("/ar/").text


def test_scripts_contain_no_english_texts() -> None:
    english_text = re.compile(r'"[A-Z][a-z]+(?: [a-z’,]+)+[.:]?"|`[A-Z][a-z]+ [a-z]+')
    texts_by_script = {path.name: english_text.findall(path.read_text()) for path in SCRIPTS.glob("*.js")}
    assert {name: texts for name, texts in texts_by_script.items() if texts} == {}
