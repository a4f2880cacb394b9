"""Tests of the pages of people: the A-Z list, a person across years, committees."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from pagecache import per_revision
from people.models import Person, PersonIdentifier, PersonName
from tests import factories as make
from tests.html_pages import read

pytestmark = pytest.mark.django_db


def make_busy_person(edition: Edition, number: int) -> Person:
    """Create a person with every kind of role in an edition."""
    person = make.make_person(f"Ada Part{number}", uid=f"a{number}")
    paper = make.make_paper(edition, [f"Before {number}", person, f"After {number}"], title=f"Paper {number}")
    session = make.make_session(edition, title=f"Session {number}", room=make.make_room(edition))
    make.make_presentation(session, paper)
    make.make_presentation(session, speakers=[person], title=f"Talk {number}")
    make.add_role(session, person)
    make.make_award(edition, [paper, person], name=f"Award {number}")
    make.make_committee_role(edition, person)
    PersonName.objects.create(person=person, name=f"A. Part{number}")
    return person


# A-Z


def test_people_are_listed_by_family_name_with_their_years(client: Client, edition: Edition) -> None:
    names = ["Ada Znojil", "Petr Šimek", "Jan van der Berg", "Łukasz Simek", "李"]
    make.make_paper(edition, names)
    make.make_paper(make.make_edition(2022), [Person.objects.get(name="Ada Znojil")])

    page = read(client, "/people/")

    assert page.outline == ["1 People 5", "2 L", "2 S", "2 V", "2 Z"]
    assert [link.text for link in page.all("ul", "names")[1].inside("a")] == ["Simek, Łukasz", "Šimek, Petr"]
    assert page.texts("ul", "names")[-1] == "Znojil, Ada2021, 2022"


def test_letter_page_shows_only_names_of_that_letter(client: Client, edition: Edition) -> None:
    make.make_paper(edition, ["Ada Banbury", "Alan Turing", "7 Eleven"])

    page = read(client, "/people/?letter=B")

    assert page.texts("ul", "names") == ["Banbury, Ada2021"]
    assert page.title == "People, B · Plenary"
    assert page.canonical.endswith("/people/?letter=B")
    assert [link.text for link in page.all("nav", "letters")[0].inside("a")] == ["All", "B", "E", "T"]


def test_people_without_a_letter_are_listed_under_a_number_sign(client: Client, edition: Edition) -> None:
    make.make_paper(edition, [make.make_person("007", family="007"), "Ada Banbury"])

    assert read(client, "/people/?letter=%23").outline == ["1 People 1", "2 #"]


@pytest.mark.parametrize("letter", ["b", "BB", "%C3%89", "%00", "1"])
def test_unknown_letter_is_refused(client: Client, edition: Edition, letter: str) -> None:
    page = read(client, f"/people/?letter={letter}", 400)

    assert page.texts("p", "lead")[0].endswith(
        "isn’t a valid value for “letter”. Choose a capital letter from A to Z, or #."
    )


def test_only_people_of_published_rows_are_listed(client: Client, edition: Edition) -> None:
    make.make_person("Nobody Known")
    make.make_paper(edition, ["Ada Draft"], status="draft")

    assert read(client, "/people/").outline == ["1 People 0", "2 No people yet"]


# A person


def test_person_page_shows_years_papers_and_coauthors(client: Client, edition: Edition) -> None:
    person = make_busy_person(edition, 1)
    make.make_paper(make.make_edition(2022), [person, "Mia New"], title="Later")

    page = read(client, person.get_absolute_url())

    assert page.title == "Ada Part1 · Plenary"
    assert page.outline[:7] == [
        "1 Ada Part1",
        "2 MLSys 2022",
        "3 Later",
        "2 MLSys 2021",
        "3 Session 1",
        "3 Talk 1",
        "3 Paper 1",
    ]
    assert page.texts("div", "people") == ["Ada Part1 · Mia New", "Before 1 · Ada Part1 · After 1"]
    assert page.texts("p", "kind") == ["Moderator · Oral session", "Talk"]
    assert page.texts("p", "awards") == ["Award 1", "Award 1"]
    assert "Committee Program Chair" in page.main
    assert "Also published as A. Part1" in page.main


def test_person_page_shows_identity_but_no_email_and_no_hidden_name(client: Client, edition: Edition) -> None:
    person = make.make_person(
        "Ada Lovelace",
        email="ada@example.org",
        affiliation="Analytical Engines",
        orcid="0000-0002-1825-0097",
        homepage="https://example.org/ada",
        biography="Wrote *notes*.",
        native_name="エイダ",
    )
    make.make_paper(edition, [person])
    PersonName.objects.create(person=person, name="Ada Byron", hidden=True)

    markup = client.get(person.get_absolute_url()).content.decode()
    links = read(client, person.get_absolute_url()).links()

    assert (links["Homepage"], links["ORCID"]) == (
        "https://example.org/ada",
        "https://orcid.org/0000-0002-1825-0097",
    )
    assert [word in markup for word in ("Analytical Engines", "<em>notes</em>", "エイダ")] == [True] * 3
    assert [word in markup for word in ("ada@", "Byron")] == [False] * 2


def test_namesakes_have_separate_pages(client: Client, edition: Edition) -> None:
    first, second = make.make_person("Yang Liu"), make.make_person("Yang Liu")
    make.make_paper(edition, [first], title="One")
    make.make_paper(edition, [second], title="Two")

    assert read(client, first.get_absolute_url()).texts("h3") == ["One"]
    assert read(client, second.get_absolute_url()).texts("h3") == ["Two"]


def test_person_page_lists_next_appearances(client: Client, edition: Edition) -> None:
    person = make.make_person("Ada Lovelace")
    hall = make.make_room(edition, "Hall A")
    paper = make.make_paper(edition, [person, "Bob"], title="Engines")
    later = make.make_session(
        edition, start=make.MORNING + timedelta(hours=6), title="Posters", kind="poster"
    )
    make.make_presentation(later, paper, kind="poster", board="12", room=hall)
    make.make_presentation(later, make.make_paper(edition, [person], title="Off"), status="cancelled")
    make.add_role(make.make_session(edition, title="Opening", room=hall), person)

    def cards() -> list[str]:
        return [card.text for card in read(client, person.get_absolute_url()).all("li", "card")]

    with time_machine.travel(make.MORNING - timedelta(days=1), tick=False):
        opening, posters = cards()
    assert [word for word in ("Opening", "Hall A", "Moderator") if word not in opening] == []
    assert [word for word in ("Engines", "Hall A", "12", "14:00 to 15:00") if word not in posters] == []
    # The poster session is from 6 to 7 hours later.
    for minutes, count in ((5 * 60, 1), (7 * 60 - 1, 1), (7 * 60, 0)):
        with time_machine.travel(make.MORNING + timedelta(minutes=minutes), tick=False):
            assert len(cards()) == count
    with time_machine.travel(make.MORNING + timedelta(days=9), tick=False):
        assert cards() == []


def test_person_page_orders_co_authors_by_papers_in_common(client: Client, edition: Edition) -> None:
    person, often = make.make_person("Ada Lovelace"), make.make_person("Bob Often")
    make.make_paper(edition, [person, "Mia Once", often])
    make.make_paper(make.make_edition(2022), [often, person])
    make.make_paper(edition, [person, "Dot Draft"], status="draft")

    page = read(client, person.get_absolute_url())

    assert page.texts("ul", "chips")[-1] == "Bob Often 2 papersMia Once 1 paper"


def test_person_page_links_to_external_profiles(client: Client, edition: Edition) -> None:
    person = make.make_person("Ada Lovelace", orcid="0000-0002-1825-0097")
    make.make_paper(edition, [person])
    for scheme, value in (("openreview.net", "~Ada_Lovelace1"), ("dblp", "l/Ada"), ("neurips.cc", "17")):
        PersonIdentifier.objects.create(person=person, scheme=scheme, value=value)

    links = read(client, person.get_absolute_url()).links()

    assert links["ORCID"] == "https://orcid.org/0000-0002-1825-0097"
    assert links["OpenReview"] == "https://openreview.net/profile?id=~Ada_Lovelace1"
    assert links["DBLP"] == "https://dblp.org/pid/l/Ada"
    assert "neurips.cc" not in links


def test_merged_person_redirects_to_the_survivor(client: Client, edition: Edition) -> None:
    survivor, merged, earlier = (
        make.make_person("Ada Lovelace", uid=uid) for uid in ("kept", "gone", "before")
    )
    make.make_paper(edition, [survivor])
    Person.objects.filter(pk=merged.pk).update(merged_into=survivor)
    Person.objects.filter(pk=earlier.pk).update(merged_into=merged)

    for path in ("/people/gone/ada-lovelace/", "/people/gone/", "/people/before/x/", "/people/kept/"):
        response = client.get(path)
        assert (response.status_code, response.headers["Location"]) == (301, "/people/kept/ada-lovelace/")
    location = client.get("/people/gone/?edition=2021&other=x").headers["Location"]
    assert location == "/people/kept/ada-lovelace/?edition=2021"


def test_person_merged_into_a_person_without_page_has_no_page(client: Client, edition: Edition) -> None:
    hidden = make.make_person("Ada Draft")
    make.make_person("Ada Old", uid="old", merged_into=hidden)

    assert client.get("/people/old/").status_code == 404


def test_cycle_of_merges_is_not_found(client: Client, edition: Edition) -> None:
    first = make.make_person("One", uid="one")
    second = make.make_person("Two", uid="two", merged_into=first)
    Person.objects.filter(pk=first.pk).update(merged_into=second)

    assert client.get("/people/one/").status_code == 404


# The committee


def test_committee_is_grouped_by_office_in_order(client: Client, edition: Edition) -> None:
    offices = {"Ion": "General Chair", "Alex": "Program Chair", "Mia": "General Chair"}
    for name, role in offices.items():
        make.make_committee_role(edition, make.make_person(name), role, affiliation=f"Lab of {name}")

    page = read(client, "/2021/committee/")

    assert page.outline == ["1 Committee", "2 General Chairs", "2 Program Chair"]
    assert page.texts("ul", "folk") == ["I IonLab of Ion M MiaLab of Mia", "A AlexLab of Alex"]


def test_offices_stay_as_written_in_other_languages(client: Client, edition: Edition) -> None:
    for name in ("Ion", "Mia"):
        make.make_committee_role(edition, make.make_person(name), "Program Chair")
    assert read(client, "/de/2021/committee/").outline[-1] == "2 Program Chair"


@pytest.mark.parametrize("path", ["/2021/committee/", "/people/"])
def test_page_without_rows_shows_an_empty_state(client: Client, edition: Edition, path: str) -> None:
    assert len(read(client, path).all("div", "empty")) == 1


# Queries


@pytest.mark.parametrize(
    ("path", "queries"), [("/people/", 12), ("/people/?letter=P", 12), ("/2021/committee/", 6)]
)
def test_query_count_is_the_same_for_1_and_3_people(
    client: Client,
    edition: Edition,
    django_assert_num_queries: DjangoAssertNumQueries,
    path: str,
    queries: int,
) -> None:
    make.make_menu_item(edition)
    for numbers in ([1], [2, 3]):
        for number in numbers:
            make_busy_person(edition, number)
        per_revision.clear_caches()
        with django_assert_num_queries(queries):
            read(client, path)


def test_query_count_of_a_person_is_the_same_for_1_and_3_years(
    client: Client, edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    person = make_busy_person(edition, 1)
    for years in ([], [2022, 2023]):
        for year in years:
            later = make.make_edition(year)
            paper = make.make_paper(later, [person, "Mia New"])
            session = make.make_session(later, start=make.MORNING + timedelta(days=365))
            make.make_presentation(session, paper)
            make.make_presentation(session, speakers=[person])
            make.add_role(session, person)
            make.make_award(later, [paper, person])
            make.make_committee_role(later, person)
        per_revision.clear_caches()
        with django_assert_num_queries(15):
            read(client, person.get_absolute_url())
