"""Tests of e-mail addresses in files: they say who is who, are stored for chairs, and appear nowhere else."""

from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from exchange.exports.dump import dump, writing_context
from exchange.files import Source
from exchange.formats import openreview, spreadsheet, writable
from exchange.imports.known_rows import reading_context
from exchange.imports.load import Report, load
from exchange.jobs.undo import undo
from exchange.models import ImportRun, PlannedRow, Provenance
from exchange.records import AuthorRecord, PersonRef
from papers.models import Authorship
from people.models import Person
from tests import factories as make
from tests.exchange.programs import paper, program
from tests.exchange.test_column_mapping import submit_columns
from tests.exchange.uploads import job_url, press_button, upload

pytestmark = pytest.mark.django_db

PAPERS = "#,title,decision\n1,On n bodies,accept\n2,Chips for all,accept\n3,Tides in video,accept\n"
AUTHORS = (
    "submission #,first name,last name,email,country,affiliation,Web page,person #,corresponding?\n"
    "1,Mia,Zed,mia@example.org,Norway,NTNU,,10,yes\n"
    "1,Bo,Li,bo@example.org,,ETH,,11,no\n"
    "2,Mia,Zed,mia@example.org,Norway,NTNU,,10,yes\n"
    "3,Bo,Li,other@example.org,,MIT,,12,yes\n"
)
CONTACTS = ["bo@example.org", "mia@example.org", "other@example.org"]


def author(name: str, email: str = "", key: str = "", **fields: Any) -> AuthorRecord:
    return AuthorRecord(person=PersonRef(name=name, email=email, key=key, **fields))


def import_easychair(edition: Edition) -> Report:
    sources = [Source("submission.csv", PAPERS.encode()), Source("author.csv", AUTHORS.encode())]
    return load(spreadsheet.read(sources, reading_context(edition)), edition.slug)


def contacts() -> list[tuple[str, str]]:
    return sorted(Person.objects.values_list("name", "email"))


def people_of_papers() -> list[list[int]]:
    keys: dict[str, list[int]] = {}
    for uid, person in Authorship.objects.order_by("paper__uid", "position").values_list(
        "paper__uid", "person"
    ):
        keys.setdefault(uid, []).append(person)
    return list(keys.values())


def test_addresses_of_easychair_are_stored_and_person_numbers_tell_who_is_who(edition: Edition) -> None:
    report = import_easychair(edition)

    assert contacts() == [
        ("Bo Li", "bo@example.org"),
        ("Bo Li", "other@example.org"),
        ("Mia Zed", "mia@example.org"),
    ]
    (zed, li), (second_zed,), (other_li,) = people_of_papers()
    assert (zed, zed == second_zed, li == other_li) == (zed, True, False)
    assert "E-mail addresses of 3 people are taken. Only chairs see them." in [
        note.message for note in report.notes
    ]
    assert import_easychair(edition).run is None


def test_addresses_are_in_no_export_page_or_stored_import(client: Client, edition: Edition) -> None:
    import_easychair(edition)
    exported = dump(edition, drafts=True)
    context = writing_context(edition)
    files = {
        name: b"".join(chunk for file in fmt.outputs(exported, context) for chunk in file.chunks)
        for name, fmt in writable().items()
        if name != "xlsx"
    }
    person = Person.objects.get(name="Mia Zed")
    pages = [client.get(path).content for path in (person.get_absolute_url(), f"/{edition.slug}/papers/")]
    stored = [
        *Provenance.objects.values_list("values", flat=True),
        *ImportRun.objects.values("notes", "counts"),
    ]

    assert len(files) > 5
    for content in (*files.values(), *pages, repr(stored).encode()):
        assert not [address for address in CONTACTS if address.encode() in content]
    response = client.get(f"/api/people/{person.uid}/")
    assert response.status_code in (200, 404)
    assert b"mia@example.org" not in response.content


def test_records_with_addresses_are_written_without_them() -> None:
    records = program(paper("p1", author("Mia Zed", "mia@example.org", key="10")))
    context = reading_context(None, "2021")
    for name, fmt in writable().items():
        content = b"".join(chunk for file in fmt.outputs(records, context) for chunk in file.chunks)
        assert b"mia@example.org" not in content, name
        assert b'"key"' not in content, name


def test_address_matches_a_known_person_whose_name_is_abbreviated(edition: Edition) -> None:
    known = make.make_person("Mia Zed", email="Mia@Example.org")
    load(program(paper("p1", author("M. Zed", "mia@example.org"))), edition.slug)

    assert people_of_papers() == [[known.pk]]
    assert contacts() == [("Mia Zed", "Mia@Example.org")]


@pytest.mark.parametrize("name", ["Bo Li", "Ann Zed"])
def test_address_of_another_name_matches_nobody(edition: Edition, name: str) -> None:
    known = make.make_person("Mia Zed", email="lab@example.org")
    load(program(paper("p1", author(name, "lab@example.org"))), edition.slug)

    assert [known.pk] not in people_of_papers()
    assert Person.objects.count() == 2


def test_co_authors_with_one_address_are_several_people(edition: Edition) -> None:
    address = "lab@example.org"
    authors = [author("Mia Zed", address), author("Bo Li", address), author("Mia Zed", address)]
    load(program(paper("p1", *authors)), edition.slug)

    assert len(set(people_of_papers()[0])) == 3


def test_address_of_a_person_out_of_reach_is_neither_matched_nor_changed(edition: Edition) -> None:
    known = make.make_person("Mia Zed", email="mia@example.org")
    silent = make.make_person("Bo Li", orcid="0000-0002-1825-0097")
    records = program(
        paper(
            "p1", author("M. Zed", "mia@example.org"), author("Bo Li", "bo@example.org", orcid=silent.orcid)
        )
    )
    load(records, edition.slug, protected={"person": frozenset([known.pk, silent.pk])})

    silent.refresh_from_db()
    assert [known.pk in keys for keys in people_of_papers()] == [False]
    assert (silent.email, people_of_papers()[0][1]) == ("", silent.pk)


def test_missing_address_is_added_and_reverted_and_a_stored_one_kept(edition: Edition) -> None:
    load(program(paper("p1", author("Mia Zed"), author("Bo Li"))), edition.slug)
    Person.objects.filter(name="Bo Li").update(email="bo@home.example.org")
    run = load(
        program(paper("p1", author("Mia Zed", "mia@example.org"), author("Bo Li", "bo@example.org"))),
        edition.slug,
    ).run

    assert run is not None
    assert contacts() == [("Bo Li", "bo@home.example.org"), ("Mia Zed", "mia@example.org")]
    undo(run)
    assert contacts() == [("Bo Li", "bo@home.example.org"), ("Mia Zed", "")]


def test_preview_says_that_addresses_are_taken_but_not_which(admin_client: Client, edition: Edition) -> None:
    job = upload(admin_client, edition, ("submission.csv", PAPERS.encode()), ("author.csv", AUTHORS.encode()))
    job = submit_columns(admin_client, job)
    page = admin_client.get(job_url(job)).text

    assert (job.state, job.problems) == ("ready", [])
    assert "E-mail addresses of 3 people are taken." in page
    assert not [address for address in CONTACTS if address in page]
    assert "@" not in repr(list(PlannedRow.objects.values()))
    assert press_button(admin_client, job, "confirm").columns == {}
    assert len(contacts()) == 3


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            "id,title,authors,author emails\n1,A,Mia Zed*; Bo Li,mia@example.org*; bo@example.org\n",
            ["mia@example.org", "bo@example.org"],
        ),
        ("id,title,authors,e-mail\n1,A,Mia Zed*; Bo Li,mia@example.org\n", ["mia@example.org", ""]),
        ("id,title,authors,e-mail\n1,A,Mia Zed; Bo Li,mia@example.org\n", ["", ""]),
        ("id,title,authors\n1,A,Mia Zed <mia@example.org>; Bo Li (ETH)\n", ["mia@example.org", ""]),
        (
            "id,title,Author 1,Email 1,Author 2,Email 2\n1,A,Mia Zed,,Bo Li,bo@example.org\n",
            ["", "bo@example.org"],
        ),
        ("id,title,authors,authorids\n1,A,Mia Zed|Bo Li,~Mia_Zed1|bo@example.org\n", ["", "bo@example.org"]),
        ("id,title,authors,emails\n1,A,Mia Zed; Bo Li,mia@example.org; none\n", ["", ""]),
    ],
)
def test_addresses_in_rows_of_papers_belong_to_their_authors(table: str, expected: list[str]) -> None:
    (record,) = spreadsheet.read([Source("list.csv", table.encode())], reading_context(None)).papers

    assert isinstance(record.authors, tuple)
    assert [author.person.email for author in record.authors] == expected
    assert [author.person.name for author in record.authors] == ["Mia Zed", "Bo Li"]
    assert "@" not in repr(record)


def test_address_in_place_of_a_profile_of_openreview_is_taken() -> None:
    note = (
        b'{"notes": [{"id": "aB1", "forum": "aB1", "content": {"title": {"value": "A"}, '
        b'"authors": {"value": ["Mia Zed", "Bo Li"]}, "venue": {"value": "X 2026 Oral"}, '
        b'"authorids": {"value": ["~Mia_Zed1", "bo@example.org"]}}}]}'
    )
    (record,) = openreview.read([Source("notes.json", note)], reading_context(None)).papers

    assert isinstance(record.authors, tuple)
    assert [(author.person.ids, author.person.email) for author in record.authors] == [
        ((("openreview.net", "~Mia_Zed1"),), ""),
        ((), "bo@example.org"),
    ]


def test_profile_identifies_a_person_in_spreadsheets_and_notes_alike(edition: Edition) -> None:
    known = make.make_person("Mia Zed")
    known.identifiers.create(scheme="openreview.net", value="~Mia_Zed1")
    old = make.make_person("Bo Li")
    old.identifiers.create(scheme="openreview", value="~Bo_Li1")
    table = b"id,title,authors,authorids\n1,A,M. Z.|B. L.,~Mia_Zed1|~Bo_Li1\n"
    records = spreadsheet.read([Source("list.csv", table)], reading_context(edition))
    load(records, edition.slug)

    assert people_of_papers() == [[known.pk, old.pk]]
    assert load(records, edition.slug).run is None
