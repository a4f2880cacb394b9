"""Trap 31, a key made of a name can be empty: every printable character is a whole name, everywhere."""

import json
import sys
import unicodedata
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

import markup
from conference.models import Edition
from operations.indexing.update import refresh
from people import names
from people.duplicates import storage
from people.duplicates.evidence import PersonCandidate
from people.duplicates.finder import find_duplicate_people
from people.duplicates.institutions import (
    InstitutionCandidate,
    compare_institutions,
    find_duplicate_institutions,
    short_forms,
)
from people.duplicates.spelling import compare_names
from people.models import Person, PersonPair
from tests import factories as make
from tests.reading import read

NAMED = ["-", "?", "…", "*", "_", "’", "¿!", "~", "@", "<>", "«»", "☃", "$", "€", "^", "\u0301", "½"]


def one_of_each_category() -> list[str]:
    """Return printable names of one character, four of each general category of Unicode."""
    found: dict[str, list[str]] = {}
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        of_category = found.setdefault(unicodedata.category(sign), [])
        if len(of_category) < 4 and names.normalize(sign):
            of_category.append(sign)
    return [sign for signs in found.values() for sign in signs]


@given(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=6))
def test_functions_of_names_take_any_text(one: str, other: str) -> None:
    for text in (names.normalize(one), names.normalize(other)):
        if text:
            key = names.sort_key("", "", text)
            letter = names.initial(key)
            assert key
            assert letter == "#" or letter.isalpha()
            assert markup.slug(text)
            assert isinstance(names.suspicions(text), list)
        short_forms(text)
    assert compare_names(one, other) == compare_names(one, other)
    assert compare_institutions(one, other) == compare_institutions(one, other)
    find_duplicate_people(
        [PersonCandidate(1, (one,)), PersonCandidate(2, (other,)), PersonCandidate(3, (one, other))]
    )
    find_duplicate_institutions([InstitutionCandidate(1, (one,)), InstitutionCandidate(2, (other,))])


def test_names_without_a_letter_are_sorted_last_and_never_alike() -> None:
    keys = [names.sort_key("", "", name) for name in ("Zoë Zz", "7 Eleven", "-", "李", "?")]

    assert sorted(keys) == ["eleven, 7", "li", "zz, zoe", f"{names.SORTS_LAST} -", f"{names.SORTS_LAST} ?"]
    assert {names.initial(key) for key in keys[2:3]} == {"#"}
    assert [compare_names("-", other) for other in ("-", "?", "Ada")] == [None, None, None]
    assert compare_institutions("—", "…") is None


@pytest.mark.parametrize("name", ["-", "?", "…", "*", "_"])
def test_a_name_without_a_letter_is_pointed_out(name: str) -> None:
    assert names.suspicions(name) == ["It has no letter and no digit."]


@pytest.mark.django_db
def test_lists_show_people_of_every_category_of_character(edition: Edition) -> None:
    odd = [*NAMED, *one_of_each_category()]
    for start in range(0, len(odd), 40):
        make.make_paper(edition, [make.make_person(name) for name in dict.fromkeys(odd[start : start + 40])])
    make.make_paper(edition, ["Zoë Zz"])
    client = Client()

    assert listed(client, "?letter=Z") == ["Zz, Zoë"]
    without = Person.objects.published().beginning_with("#").count()
    everybody = [name for number in (1, 2) for name in listed(client, f"?page={number}")]
    assert len(everybody) == Person.objects.count()
    assert len(listed(client, "?letter=%23")) == min(without, 100)
    last = everybody[everybody.index("Zz, Zoë") + 1 :]
    assert {*NAMED[:5]} <= {*last}
    assert [name for name in last if names.initial(names.sort_key("", "", name)) != "#"] == []


def listed(client: Client, query: str) -> list[str]:
    return [
        link.text for part in read(client, f"/people/{query}").all("ul", "names") for link in part.inside("a")
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["-", "?", "…", "*"])
def test_everything_about_somebody_without_a_letter_opens(name: str, edition_with: Edition) -> None:
    person = make.make_person(name, affiliation=name)
    paper = make.make_paper(edition_with, [person], title="About nothing")
    make.add_author(paper, make.make_person(name, affiliation=name))
    session = make.make_session(edition_with, room=make.make_room(edition_with))
    make.make_presentation(session, paper)
    make.make_presentation(session, speakers=[person], title="A talk")
    make.add_role(session, person)
    make.make_institution(name, slug="nothing")
    refresh()
    client = Client()
    slug = edition_with.slug
    paths = [
        "/people/",
        person.get_absolute_url(),
        paper.get_absolute_url(),
        "/institutions/",
        f"/{slug}/papers/",
    ]
    paths += [
        f"/{slug}/schedule/",
        session.get_absolute_url(),
        f"/search/?q={name}",
        f"/search/?q=author:{name}",
    ]
    paths += ["/api/v1/people/", "/api/v1/papers/", f"/{slug}/search/suggest?q={name}"]

    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)
    assert person.name in client.get(person.get_absolute_url()).content.decode()


@pytest.mark.django_db
def test_desk_of_duplicates_takes_names_without_a_letter(admin_client: Client) -> None:
    for name in ("-", "-", "?", "Ada Lovelace", "Ada Lovelace"):
        make.make_person(name)
    storage.search_all()

    assert PersonPair.objects.count() == 1
    for path in ("/admin/people/personpair/", "/admin/people/person/?q=-", "/admin/people/person/"):
        assert admin_client.get(path).status_code == 200, path


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["orals_posters", "program_json", "xlsx", "bibtex", "frab_json", "frab_xml"])
def test_exports_keep_a_name_without_a_letter(form: str, edition_with: Edition, tmp_path: Path) -> None:
    people = [make.make_person(name) for name in ("-", "Ada Lovelace")]
    paper = make.make_paper(edition_with, people, title="About nothing")
    session = make.make_session(edition_with, room=make.make_room(edition_with))
    make.make_presentation(session, paper)
    for person in people:
        make.add_role(session, person, role="speaker")
    target = tmp_path / "program"
    call_command(
        "export_program", form, "--edition", edition_with.slug, "--output", str(target), stdout=StringIO()
    )
    for rows in (edition_with.presentations, edition_with.sessions, edition_with.papers):
        rows.all().delete()
    Person.objects.all().delete()
    said = StringIO()
    arguments = [form, str(target), "--edition", edition_with.slug, "--no-progress"]
    call_command("import_program", *arguments, stdout=said, stderr=said)

    assert {*Person.objects.values_list("name", flat=True)} == {"-", "Ada Lovelace"}, said.getvalue()


@pytest.mark.django_db
def test_import_takes_a_name_without_a_letter_and_says_what_it_is(tmp_path: Path) -> None:
    author = {"fullname": "-", "id": 4711, "institution": "", "url": ""}
    event = {"id": 1, "uid": "a1", "eventtype": "Poster", "name": "About nothing", "authors": [author]}
    path = tmp_path / "program.json"
    path.write_text(json.dumps({"count": 1, "results": [event]}))
    make.make_edition(2031)
    said = StringIO()
    call_command("import_program", "orals_posters", str(path), "--edition", "2031", stdout=said, stderr=said)

    assert [*Person.objects.values_list("name", flat=True)] == ["-"]
    assert "It has no letter and no digit." in said.getvalue()


@pytest.fixture
def edition_with() -> Edition:
    return make.make_edition()
