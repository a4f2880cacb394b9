"""Tests of trap 31, empty keys of names: any printable character is a valid name everywhere."""

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
from tests.html_pages import read

ODD_NAMES = ["-", "?", "…", "*", "_", "’", "¿!", "~", "@", "<>", "«»", "☃", "$", "€", "^", "\u0301", "½"]


def characters_of_each_category() -> list[str]:
    """Return printable names of one character, four of each general category of Unicode."""
    by_category: dict[str, list[str]] = {}
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        same_category = by_category.setdefault(unicodedata.category(character), [])
        if len(same_category) < 4 and names.normalize(character):
            same_category.append(character)
    return [character for characters in by_category.values() for character in characters]


@given(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=6))
def test_name_functions_accept_any_text(text: str, other_text: str) -> None:
    for name in filter(None, (names.normalize(text), names.normalize(other_text))):
        assert names.sort_key("", "", name)
        assert markup.slug(name)
        short_forms(name)
    assert compare_names(text, other_text) == compare_names(text, other_text)
    assert compare_institutions(text, other_text) == compare_institutions(text, other_text)
    find_duplicate_people(
        [
            PersonCandidate(1, (text,)),
            PersonCandidate(2, (other_text,)),
            PersonCandidate(3, (text, other_text)),
        ]
    )
    find_duplicate_institutions([InstitutionCandidate(1, (text,)), InstitutionCandidate(2, (other_text,))])


def test_names_without_a_letter_are_sorted_last_and_match_no_other() -> None:
    keys = [names.sort_key("", "", name) for name in ("Zoë Zz", "7 Eleven", "-", "李", "?")]

    assert sorted(keys) == ["eleven, 7", "li", "zz, zoe", f"{names.SORTS_LAST} -", f"{names.SORTS_LAST} ?"]
    assert {names.initial(key) for key in keys[2:3]} == {"#"}
    assert [compare_names("-", other) for other in ("-", "?", "Ada")] == [None, None, None]
    assert compare_institutions("—", "…") is None


@pytest.mark.parametrize("name", ["-", "?", "…", "*", "_"])
def test_name_without_a_letter_is_suspicious(name: str) -> None:
    assert names.suspicions(name) == ["It has no letter and no digit."]


@pytest.mark.django_db
def test_people_list_shows_names_of_every_unicode_category(client: Client, edition: Edition) -> None:
    odd_names = [*ODD_NAMES, *characters_of_each_category()]
    for start in range(0, len(odd_names), 40):
        make.make_paper(
            edition, [make.make_person(name) for name in dict.fromkeys(odd_names[start : start + 40])]
        )
    make.make_paper(edition, ["Zoë Zz"])

    assert listed_names(client, "?letter=Z") == ["Zz, Zoë"]
    unlettered_count = Person.objects.published().beginning_with("#").count()
    all_names = [name for number in (1, 2) for name in listed_names(client, f"?page={number}")]
    assert len(all_names) == Person.objects.count()
    assert len(listed_names(client, "?letter=%23")) == min(unlettered_count, 100)
    last_names = all_names[all_names.index("Zz, Zoë") + 1 :]
    assert {*ODD_NAMES[:5]} <= {*last_names}
    assert [name for name in last_names if names.initial(names.sort_key("", "", name)) != "#"] == []


def listed_names(client: Client, query: str) -> list[str]:
    return [
        link.text for part in read(client, f"/people/{query}").all("ul", "names") for link in part.inside("a")
    ]


@pytest.mark.django_db
def test_all_pages_of_people_without_a_letter_open(client: Client, edition: Edition) -> None:
    names = ["-", "?", "…", "*"]
    people = [make.make_person(name, affiliation=name) for name in names]
    paper = make.make_paper(edition, people, title="About nothing")
    session = make.make_session(edition, room=make.make_room(edition))
    make.make_presentation(session, paper)
    make.make_presentation(session, speakers=people, title="A talk")
    for number, person in enumerate(people):
        make.add_author(paper, make.make_person(person.name, affiliation=person.name))
        make.add_role(session, person)
        make.make_institution(person.name, slug=f"nothing-{number}")
    refresh()
    paths = ["/people/", "/institutions/", "/2021/papers/", "/2021/schedule/"]
    paths += ["/api/v1/people/", "/api/v1/papers/", paper.get_absolute_url(), session.get_absolute_url()]
    for search in ("/search/?q=", "/search/?q=author:", "/2021/search/suggest?q="):
        paths += [f"{search}{name}" for name in names]

    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)
    for person in people:
        assert person.name in read(client, person.get_absolute_url()).main


@pytest.mark.django_db
def test_duplicates_in_the_admin_accept_names_without_a_letter(admin_client: Client) -> None:
    for name in ("-", "-", "?", "Ada Lovelace", "Ada Lovelace"):
        make.make_person(name)
    storage.search_all()

    assert PersonPair.objects.count() == 1
    for path in ("/admin/people/personpair/", "/admin/people/person/?q=-", "/admin/people/person/"):
        assert admin_client.get(path).status_code == 200, path


@pytest.mark.django_db
@pytest.mark.parametrize(
    "format_name", ["orals_posters", "program_json", "xlsx", "bibtex", "frab_json", "frab_xml"]
)
def test_export_and_import_keep_a_name_without_a_letter(
    format_name: str, edition: Edition, tmp_path: Path
) -> None:
    people = [make.make_person(name) for name in ("-", "Ada Lovelace")]
    paper = make.make_paper(edition, people, title="About nothing")
    session = make.make_session(edition, room=make.make_room(edition))
    make.make_presentation(session, paper)
    for person in people:
        make.add_role(session, person, role="speaker")
    target = tmp_path / "program"
    call_command(
        "export_program", format_name, "--edition", edition.slug, "--output", str(target), stdout=StringIO()
    )
    for rows in (edition.presentations, edition.sessions, edition.papers):
        rows.all().delete()
    Person.objects.all().delete()
    output = StringIO()
    arguments = [format_name, str(target), "--edition", edition.slug, "--no-progress"]
    call_command("import_program", *arguments, stdout=output, stderr=output)

    assert {*Person.objects.values_list("name", flat=True)} == {"-", "Ada Lovelace"}, output.getvalue()


@pytest.mark.django_db
def test_import_accepts_and_reports_a_name_without_a_letter(tmp_path: Path) -> None:
    author = {"fullname": "-", "id": 4711, "institution": "", "url": ""}
    event = {"id": 1, "uid": "a1", "eventtype": "Poster", "name": "About nothing", "authors": [author]}
    path = tmp_path / "program.json"
    path.write_text(json.dumps({"count": 1, "results": [event]}))
    make.make_edition(2031)
    output = StringIO()
    call_command(
        "import_program", "orals_posters", str(path), "--edition", "2031", stdout=output, stderr=output
    )

    assert [*Person.objects.values_list("name", flat=True)] == ["-"]
    assert "It has no letter and no digit." in output.getvalue()
