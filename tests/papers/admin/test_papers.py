"""Tests of papers in the admin: order of authors in one POST, large forms, search, choices, actions."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from papers.models import Authorship, Award, AwardGrant, Paper
from tests import factories as make
from tests.admin_forms import admin_url, autocomplete_choices, formset, listed_rows, run_action

pytestmark = pytest.mark.django_db

LIST_URL = "/admin/papers/paper/"
INLINES = ("authorships", "materials", "presentations")


def author_row(authorship: Authorship, **fields: Any) -> dict[str, Any]:
    values = {
        "id": authorship.pk,
        "paper": authorship.paper_id,
        "person": authorship.person_id,
        "name": authorship.name,
        "position": authorship.position,
        "affiliations": "",
    }
    return {**values, **fields}


def new_author(paper: Paper, person: int, position: int | str = "", name: str = "") -> dict[str, Any]:
    return {"paper": paper.pk, "person": person, "position": position, "name": name, "affiliations": ""}


def form_data(paper: Paper, authors: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"title": paper.title, "abstract": paper.abstract, "status": paper.status}
    for prefix in INLINES:
        values |= formset(prefix)
    return {**values, **(authors or {}), **fields}


def authors(paper: Paper) -> list[tuple[int, str]]:
    return list(paper.authorships.order_by("position").values_list("position", "name"))


def test_trap_7_author_order_survives_swap_and_addition_in_one_post(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), ["Zed", "Abe"])
    zed, abe = paper.authorships.order_by("position")
    swapped = [author_row(zed, position=2), author_row(abe, position=1)]
    rows = formset("authorships", swapped, [new_author(paper, make.make_person("Mia").pk)])
    response = admin_client.post(admin_url(paper, "change"), form_data(paper, rows))

    assert response.status_code == 302
    assert authors(paper) == [(1, "Abe"), (2, "Zed"), (3, "Mia")]


def test_trap_7_author_order_survives_removal_swap_and_return_in_one_post(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), ["Zed", "Abe", "Mia"])
    zed, abe, mia = paper.authorships.order_by("position")
    stored = [author_row(zed, DELETE="on"), author_row(abe, position=3), author_row(mia, position=2)]
    rows = formset("authorships", stored, [new_author(paper, zed.person_id, 9, "Zed II")])
    response = admin_client.post(admin_url(paper, "change"), form_data(paper, rows))

    assert response.status_code == 302
    assert authors(paper) == [(1, "Mia"), (2, "Abe"), (3, "Zed II")]


@pytest.mark.parametrize(
    ("positions", "order"),
    [
        ((1, 2, 1), "Mia Zed Abe"),
        ((3, 2, 3), "Abe Mia Zed"),
        ((3, 1, 2), "Abe Mia Zed"),
        ((0, 2, 3), "Abe Mia Zed"),
        (("", 2, 3), "Abe Mia Zed"),
        ((10, 30, 20), "Zed Mia Abe"),
    ],
)
def test_author_moves_to_the_entered_position(
    positions: tuple[int | str, ...], order: str, admin_client: Client
) -> None:
    paper = make.make_paper(make.make_edition(), ["Zed", "Abe", "Mia"])
    stored = paper.authorships.order_by("position")
    changed = [author_row(row, position=position) for row, position in zip(stored, positions, strict=True)]
    admin_client.post(admin_url(paper, "change"), form_data(paper, formset("authorships", changed)))

    assert authors(paper) == list(enumerate(order.split(), start=1))


def test_duplicate_author_is_refused_with_a_message(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), ["Zed"])
    zed = paper.authorships.get()
    rows = formset("authorships", [author_row(zed)], [new_author(paper, zed.person_id)])
    page = admin_client.post(admin_url(paper, "change"), form_data(paper, rows))

    assert "Twice in one form: This person is already an author of the paper." in page.text
    assert authors(paper) == [(1, "Zed")]


def test_authors_who_exchange_rows_are_refused_with_a_message(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), ["Zed", "Abe"])
    zed, abe = paper.authorships.order_by("position")
    crossed = [author_row(zed, person=abe.person_id), author_row(abe, person=zed.person_id)]
    page = admin_client.post(admin_url(paper, "change"), form_data(paper, formset("authorships", crossed)))

    assert "change the order numbers instead of the names." in page.text
    assert authors(paper) == [(1, "Zed"), (2, "Abe")]


def test_new_paper_is_saved_with_authors_material_and_presentation(
    admin_client: Client, edition: Edition
) -> None:
    room = make.make_room(edition)
    session = make.make_session(edition, room=room)
    author_rows = [
        {"person": make.make_person("Zed").pk, "position": 2},
        {"person": make.make_person("Abe").pk},
    ]
    values = {
        "edition": edition.pk,
        "uid": "p1",
        "title": "New",
        "status": "draft",
        **formset("authorships", added=author_rows),
        **formset("materials", added=[{"kind": "pdf", "url": "https://example.org/a.pdf", "visible": "on"}]),
        **formset("presentations", added=[{"kind": "oral", "session": session.pk, "status": "published"}]),
    }
    response = admin_client.post(admin_url(Paper, "add"), values)
    paper = Paper.objects.get()

    assert response.status_code == 302
    assert authors(paper) == [(1, "Zed"), (2, "Abe")]
    assert paper.materials.get().position == 1
    assert [(presentation.edition, presentation.session) for presentation in session.presentations.all()] == [
        (edition, session)
    ]


def test_saving_several_rows_advances_the_revision_once(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), ["Zed", "Abe"])
    before = Edition.objects.get().revision
    changed = [author_row(row, name=f"{row.name} II") for row in paper.authorships.all()]
    admin_client.post(
        admin_url(paper, "change"), form_data(paper, formset("authorships", changed), title="New")
    )

    assert Edition.objects.get().revision == before + 1


def test_query_count_of_saving_is_the_same_for_3_and_150_authors(admin_client: Client) -> None:
    edition = make.make_edition()
    query_counts = []
    for number in (3, 3, 150):
        paper = make.make_paper(edition, [f"Author {n}" for n in range(number)])
        rows = [author_row(row) for row in paper.authorships.order_by("position")]
        rows[-1]["position"] = 1
        with CaptureQueriesContext(connection) as queries:
            admin_client.post(admin_url(paper, "change"), form_data(paper, formset("authorships", rows)))
        query_counts.append(len(queries))

        assert authors(paper)[:2] == [(1, f"Author {number - 1}"), (2, "Author 0")]
    assert query_counts[1] == query_counts[2]


def test_query_count_of_the_form_is_the_same_for_1_and_3_rows(admin_client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, topic=make.make_topic(edition))
    query_counts = {}
    for rows in (1, 2, 3):
        make.add_author(paper, f"Author {rows}")
        make.make_material(paper)
        make.make_presentation(make.make_session(edition), paper, room=make.make_room(edition))
        # Request the page once first, because Django then caches content types.
        admin_client.get(admin_url(paper, "change"))
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(admin_url(paper, "change"))
        query_counts[rows] = len(queries)

    assert query_counts[1] == query_counts[3] <= 20


def test_uid_and_edition_of_a_stored_paper_are_read_only(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), uid="abc123")
    page = admin_client.get(admin_url(paper, "change"))

    assert 'name="uid"' not in page.text
    assert 'name="edition"' not in page.text
    assert ">abc123<" in page.text


@pytest.mark.parametrize("term", ["simek", "Šimek", "SIMEK", "vasek simek", "schroding", "Schrödinger cat"])
def test_search_finds_authors_and_titles_without_accents(term: str, admin_client: Client) -> None:
    edition = make.make_edition()
    person = make.make_person("Václav Šimek")
    person.names.create(name="Vašek Šimek")
    make.make_paper(edition, [person], title="Schrödinger's Cat")
    make.make_paper(edition, ["Ada Lovelace"], title="Other")

    assert listed_rows(admin_client, LIST_URL, q=term) == ["Schrödinger's Cat"]


def test_search_finds_each_paper_once(admin_client: Client) -> None:
    make.make_paper(make.make_edition(), ["Ada Lovelace", "Ada Byron"], title="One")

    assert listed_rows(admin_client, LIST_URL, q="ada byron lovelace") == ["One"]


def test_list_shows_math_authors_kinds_and_topic(admin_client: Client, edition: Edition) -> None:
    names = ["Zed", "Abe", "Mia", "Bob", "Eve"]
    paper = make.make_paper(edition, names, title="On $x^2$", topic=make.make_topic(edition, "Math"))
    for kind in ("oral", "poster", "poster"):
        make.make_presentation(make.make_session(edition), paper, kind=kind)
    page = admin_client.get(LIST_URL).text

    assert "<math" in page
    assert "Zed, Abe, Mia and 2 more" in page
    assert "Oral, Poster" in page
    assert '<td class="field-topic nowrap">Math</td>' in page


def test_topic_and_track_filters_are_of_the_chosen_edition(admin_client: Client) -> None:
    old, new = make.make_edition(2020), make.make_edition(2021)
    make.make_paper(old, track="Old track", topic=make.make_topic(old, "Old topic"))
    make.make_paper(new, track="New track", topic=make.make_topic(new, "New topic"))
    page = admin_client.get(LIST_URL, {"edition__id__exact": new.pk}).text
    choices = re.findall(r'<a href="\?[^"]*(?:track|topic)=[^"]+">\s*([^<]+?)\s*</a>', page)

    assert sorted(choices) == ["New topic", "New track"]


def test_status_actions_report_how_many_papers_changed(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition, status=status) for status in ("draft", "draft", "published")]
    before = Edition.objects.get().revision
    page = run_action(admin_client, "publish", papers)

    assert "2 papers published. 1 was already published." in page
    assert Edition.objects.get().revision == before + 1
    assert "1 paper withdrawn." in run_action(admin_client, "withdraw", papers[:1])
    assert "1 was already withdrawn." in run_action(admin_client, "withdraw", papers[:1])
    assert "3 papers returned to draft." in run_action(admin_client, "back_to_draft", papers)
    assert {*Paper.objects.values_list("status", flat=True)} == {"draft"}


def test_topic_choices_are_of_the_edition_of_the_paper(admin_client: Client) -> None:
    old, new = make.make_edition(2020), make.make_edition(2021)
    make.make_topic(old, "Old topic")
    make.make_topic(new, "New topic")
    page = admin_client.get(admin_url(make.make_paper(new), "change"))

    assert autocomplete_choices(admin_client, Paper, "topic", new) == ["New topic"]
    assert f"/admin/autocomplete/?edition={new.pk}" in page.text


def test_topic_of_another_edition_is_refused(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(2021))
    topic = make.make_topic(make.make_edition(2020))
    page = admin_client.post(admin_url(paper, "change"), form_data(paper, topic=topic.pk))

    assert "The topic belongs to another edition." in page.text


def test_award_accepts_an_older_paper_and_stores_the_order_of_winners(admin_client: Client) -> None:
    new, old = make.make_edition(2021), make.make_edition(2016)
    papers = [make.make_paper(old, title="Old"), make.make_paper(new, title="New")]
    award = make.make_award(new, papers)
    stored = [
        {"id": grant.pk, "award": award.pk, "paper": grant.paper_id, "position": 3 - grant.position}
        for grant in award.grants.order_by("position")
    ]
    values = {"name": award.name, "position": 1, "status": "published", **formset("grants", stored)}
    admin_client.post(admin_url(award, "change"), values)
    winners = Award.objects.get().grants.order_by("position")

    assert autocomplete_choices(admin_client, AwardGrant, "paper", None, "old") == ["Old (2016)"]
    assert "autocomplete/?edition=" not in admin_client.get(admin_url(award, "change")).text
    assert list(winners.values_list("position", "paper__title")) == [(1, "New"), (2, "Old")]


def test_decision_country_and_kind_filters_are_of_the_chosen_edition(admin_client: Client) -> None:
    edition = make.make_edition()
    oral = make.make_paper(edition, title="Oral", decision="Accept (oral)", topic=make.make_topic(edition))
    poster = make.make_paper(edition, title="Poster", decision="Accept")
    for place in ("Analytical Engines", "Difference Engines"):
        author = make.add_author(oral, place)
        author.institutions.add(make.make_institution(place, country="Chile"))
    for paper, kind in ((oral, "oral"), (oral, "poster"), (poster, "poster")):
        make.make_presentation(edition=edition, paper=paper, kind=kind)
    make.make_paper(make.make_edition(2022), decision="Reject")

    def filtered_titles(path: str, **query: str) -> list[str]:
        return sorted(listed_rows(admin_client, path, edition__id__exact=edition.pk, **query))

    assert (
        filtered_titles(LIST_URL, decision="Accept (oral)")
        == filtered_titles(LIST_URL, country="Chile")
        == ["Oral"]
    )
    assert filtered_titles(LIST_URL, presented_as="oral") == ["Oral"]
    assert filtered_titles(LIST_URL, presented_as="poster") == ["Oral", "Poster"]
    # A value that only occurs in another edition does not filter the list.
    assert filtered_titles(LIST_URL, decision="Reject") == ["Oral", "Poster"]
    presentations = "/admin/schedule/presentation/"
    assert filtered_titles(presentations, decision="Accept") == ["Poster"]
    assert filtered_titles(presentations, country="Chile", kind__exact="poster") == ["Oral"]
    assert filtered_titles(presentations, topic=str(oral.topic_id)) == ["Oral", "Oral"]
