"""Tests of the querysets of papers, topics and awards."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from content.ordering import reorder
from content.preview_context import PreviewScope, preview_as
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from papers.querysets import is_cancelled
from schedule.models import Presentation
from tests import factories as make

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
LATER = datetime(2100, 1, 1, tzinfo=UTC)
CLOSED = {"public_from": LATER, "papers_public_from": LATER, "schedule_public_from": LATER}


def names(rows: Any) -> list[str]:
    return [str(row) for row in rows]


# Rows that are public at a given time


def make_program(**fields: Any) -> Paper:
    """Create a paper with one related row of each kind."""
    edition = make.make_edition(**fields)
    paper = make.make_paper(edition, title="P", topic=make.make_topic(edition, "T"))
    author = make.add_author(paper, "Ada")
    author.institutions.add(make.make_institution(slug="eth"))
    make.make_material(paper, kind="code")
    make.make_award(edition, [paper], name="A")
    make.make_presentation(make.make_session(edition), paper)
    return paper


def author_names(papers: Any) -> list[str]:
    return [author.name for paper in papers for author in paper.shown_authors]


def list_counts(at: datetime | None) -> list[Any]:
    rows = Paper.objects.all().list_rows(at)
    return [len(part) for row in rows for part in (row.shown_authors, row.shown_grants, row.appearances)]


def detail_counts(at: datetime | None) -> list[int]:
    paper = Paper.objects.with_details(at).get()
    parts = (paper.shown_authors, paper.shown_grants, paper.appearances, paper.shown_materials)
    return [*map(len, parts)]


def winner_counts(at: datetime | None) -> list[Any]:
    grants = Award.objects.with_winners(at).get().shown_grants
    return [(len(grant.paper.shown_authors), len(grant.paper.appearances)) for grant in grants]


type GetRows = Callable[[datetime | None], list[Any]]
PUBLIC_ROWS: list[tuple[GetRows, list[Any], list[Any]]] = [
    (lambda at: names(Topic.objects.published(at)), [], ["T"]),
    (lambda at: [topic.paper_count for topic in Topic.objects.with_counts(at)], [0], [1]),
    (lambda at: names(Paper.objects.published(at)), [], ["P"]),
    (lambda at: [row[2] for row in Paper.objects.all().award_rows(at)], [], ["A"]),
    (lambda at: [*Paper.objects.all().team_sizes(at)], [], [1]),
    (lambda at: author_names(Paper.objects.with_authors(at)), [], ["Ada"]),
    (list_counts, [0] * 3, [1] * 3),
    (detail_counts, [0] * 4, [1] * 4),
    (winner_counts, [], [(1, 1)]),
    (lambda at: names(Authorship.objects.published(at)), [], ["Ada"]),
    (lambda at: [row.kind for row in Material.objects.published(at)], [], ["code"]),
    (lambda at: names(Award.objects.published(at)), [], ["A"]),
    (lambda at: [row.award.name for row in AwardGrant.objects.published(at)], [], ["A"]),
]


def test_nothing_is_public_before_the_edition_opens(subtests: pytest.Subtests) -> None:
    make_program(**CLOSED)
    for public_rows, before, after in PUBLIC_ROWS:
        with subtests.test(after=after):
            assert public_rows(None) == before
            assert public_rows(LATER) == after


@pytest.mark.parametrize("field", ["public_from", "papers_public_from"])
def test_papers_need_both_the_edition_and_its_papers_to_be_public(field: str) -> None:
    make_program(**{field: LATER})

    for model in (Topic, Paper, Authorship, Material, Award, AwardGrant):
        rows = model._default_manager.published
        assert (len(rows()), len(rows(LATER))) == (0, 1)


def test_topic_of_a_hidden_edition_is_not_public_by_a_paper_of_a_public_one(edition: Edition) -> None:
    make.make_paper(edition, topic=make.make_topic(make.make_edition(2022, **CLOSED)))

    assert names(Topic.objects.published()) == []


def test_preview_publishes_the_related_rows_of_drafts(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"], status="draft")
    award = make.make_award(edition, [paper], name="A", status="draft")
    make.make_paper(make.make_edition(2022), ["Zoe"], status="draft")

    with preview_as(PreviewScope(edition.pk, drafts=True)):
        assert names(Authorship.objects.published()) == ["Ada"]
        assert [*Award.objects.published()] == [award]
        assert [row.paper for row in AwardGrant.objects.published()] == [paper]


def test_related_rows_are_public_only_with_their_paper_and_award(edition: Edition) -> None:
    for status in ("draft", "withdrawn"):
        paper = make.make_paper(edition, ["Ada"], status=status)
        make.make_material(paper)
        make.make_award(edition, [paper], name=f"of a {status}")
    public_paper = make.make_paper(edition, ["Mia"])
    make.make_material(public_paper, visible=False)
    make.make_award(edition, [public_paper], status="draft")
    make.make_award(edition, [make.make_person("Zoe")], name="of a person")

    assert names(Authorship.objects.published()) == ["Mia"]
    assert names(Material.objects.published()) == []
    assert sorted(names(Award.objects.published())) == ["of a draft", "of a person", "of a withdrawn"]
    assert [row.award.name for row in AwardGrant.objects.published()] == ["of a person"]


# Topics


def make_topics(edition: Edition, *levels: str) -> list[Topic]:
    """Create nested topics, from the topmost to the lowest."""
    topics: list[Topic] = []
    for name in levels:
        topics.append(make.make_topic(edition, name, parent=topics[-1] if topics else None))
    return topics


def test_topic_is_public_with_a_paper_in_it_or_up_to_three_levels_below(edition: Edition) -> None:
    for number, level in enumerate(("I", "II", "III", "IV")):
        topics = make_topics(edition, *(f"{level} {depth}" for depth in range(4)))
        make.make_paper(edition, topic=topics[number])
    make.make_paper(edition, topic=make.make_topic(edition, "of a draft"), status="draft")

    assert sorted(names(Topic.objects.published())) == [
        *("I 0", "II 0", "II 1", "III 0", "III 1", "III 2", "IV 0", "IV 1", "IV 2", "IV 3")
    ]


def test_papers_of_a_topic_include_those_of_its_subtopics(edition: Edition) -> None:
    topics = make_topics(edition, "a", "b", "c", "d")
    for topic in topics:
        make.make_paper(edition, title=topic.name, topic=topic)
    make.make_paper(edition, title="draft", topic=topics[3], status="draft")
    make.make_paper(edition, title="other", topic=make.make_topic(edition, "Compilers"))
    titles_by_topic = {
        topic.name: names(Paper.objects.published().in_topic(topic).by_title()) for topic in topics
    }
    counts = {
        topic.name: topic.paper_count for topic in Topic.objects.with_counts().exclude(name="Compilers")
    }

    assert titles_by_topic == {"a": ["a", "b", "c", "d"], "b": ["b", "c", "d"], "c": ["c", "d"], "d": ["d"]}
    assert counts == {"a": 4, "b": 3, "c": 2, "d": 1}


# Papers


def test_by_title_orders_by_folded_title_and_then_by_uid(edition: Edition) -> None:
    for uid, title in (("3", "Zoo"), ("2", "ästhetik"), ("1", "Asthetik"), ("4", "B")):
        make.make_paper(edition, uid=uid, title=title)

    assert [paper.uid for paper in Paper.objects.order_by("-uid").by_title()] == ["1", "2", "4", "3"]


def test_in_key_order_returns_papers_in_the_given_order(edition: Edition) -> None:
    one, two, three = (make.make_paper(edition) for _ in range(3))

    assert [*Paper.objects.in_key_order([three.pk, one.pk])] == [three, one]
    assert [*Paper.objects.in_key_order([one.pk, three.pk, two.pk])] == [one, three, two]
    assert [*Paper.objects.in_key_order([])] == []


def test_awards_of_a_paper_at_one_position_are_in_order_of_creation(edition: Edition) -> None:
    paper = make.make_paper(edition)
    old = make.make_award(edition, [make.make_paper(edition), paper], name="old")
    new = make.make_award(make.make_edition(2022), [paper], name="new")
    grants = Paper.objects.with_awards().get(pk=paper.pk).shown_grants

    assert [(grant.award, grant.position) for grant in grants] == [(old, 2), (new, 1)]


# Catalogs


def test_award_rows_are_of_the_papers_edition_in_order_of_position(edition: Edition) -> None:
    paper, other = make.make_paper(edition), make.make_paper(edition)
    second = make.make_award(edition, [paper], uid="second", name="B", position=2)
    first = make.make_award(edition, [paper], uid="first", name="C", position=1)
    make.make_award(edition, [other], uid="others", name="A", position=3)
    make.make_award(make.make_edition(2024), [paper], name="Test of Time")
    rows = Paper.objects.filter(pk=paper.pk).award_rows()

    assert [*rows] == [(paper.pk, "first", first.name), (paper.pk, "second", second.name)]


def test_talk_is_cancelled_by_itself_its_session_or_the_parent_session(edition: Edition) -> None:
    paper = make.make_paper(edition)
    cancelled_session, running_session = (
        make.make_session(edition, status=status) for status in ("cancelled", "published")
    )
    for title, session, status in (
        ("itself", running_session, "cancelled"),
        ("alone", None, "cancelled"),
        ("session", cancelled_session, "published"),
        ("parent", make.make_session(edition, parent=cancelled_session), "published"),
        ("on", make.make_session(edition, parent=running_session), "published"),
        ("unscheduled", None, "published"),
    ):
        make.make_presentation(session, paper, title=title, status=status)
    cancelled_titles = {"itself", "alone", "session", "parent"}

    appearances = Paper.objects.with_appearances().get().appearances
    assert {row.title for row in appearances if row.called_off} == cancelled_titles
    assert [row.called_off for row in appearances] == [row.cancelled for row in appearances]
    assert {row.title for row in Presentation.objects.filter(is_cancelled())} == cancelled_titles
    not_cancelled = Presentation.objects.filter(~is_cancelled())
    assert {row.title for row in not_cancelled} == {"on", "unscheduled"}


# Counts


def test_same_title_ignores_case_accents_and_withdrawn_papers(
    edition: Edition,
) -> None:
    titles = {"a": "On Café", "b": "on CAFE", "c": "On Tea", "d": "On Tea", "e": "On Milk"}
    for uid, title in titles.items():
        make.make_paper(edition, uid=uid, title=title, status="withdrawn" if uid == "d" else "draft")
    make.make_paper(make.make_edition(2030), uid="f", title="On Milk")

    assert sorted(Paper.objects.same_title().values_list("uid", flat=True)) == ["a", "b"]


def test_counts_by_edition_include_only_the_conference(edition: Edition) -> None:
    ada, mia = make.make_person("Ada"), make.make_person("Mia")
    second = make.make_edition(2022)
    other = make.make_edition(2023, conference=make.make_conference(slug="other"))
    for edition_of_paper, people in (
        (edition, [ada, mia]),
        (edition, [ada]),
        (second, [mia]),
        (other, [ada]),
    ):
        make.make_paper(edition_of_paper, people)
    conference = edition.conference_id

    assert Paper.objects.counts_by_edition(conference) == {edition.pk: 2, second.pk: 1}
    assert Authorship.objects.counts_by_edition(conference) == {edition.pk: (2, 2), second.pk: (1, 1)}


def test_returning_authors_had_a_paper_in_an_earlier_edition_of_the_conference(edition: Edition) -> None:
    people = {name: make.make_person(name) for name in ("back", "new", "elsewhere", "draft", "same year")}
    other = make.make_conference(slug="other")
    workshop = make.make_edition(2021, slug="2021-w", start_date=date(2022, 4, 5), end_date=date(2022, 4, 9))
    make.make_paper(edition, [people["back"]])
    make.make_paper(edition, [people["draft"]], status="draft")
    make.make_paper(make.make_edition(2020, conference=other), [people["elsewhere"]])
    make.make_paper(workshop, [people["same year"]])
    last = make.make_edition(2022)
    make.make_paper(last, people.values())

    assert names(last.papers.get().authorships.returning()) == ["back"]


def test_returning_authors_need_an_earlier_paper_that_is_public() -> None:
    ada = make.make_person("Ada")
    make.make_paper(make.make_edition(2021, **CLOSED), [ada])
    make.make_paper(make.make_edition(2022), [ada])

    assert names(Authorship.objects.published().returning()) == []
    assert names(Authorship.objects.published().returning(LATER)) == ["Ada"]


# Prefetched rows


@pytest.fixture
def full_paper(edition: Edition) -> Paper:
    """Create a paper with two related rows of each kind, created in reverse order."""
    topic = make_topics(edition, "a", "b", "c")[-1]
    paper = make.make_paper(edition, ["Zed", "Abe"], topic=topic)
    for number in (2, 1):
        make.make_material(paper, label=f"link {number}")
        make.make_award(edition, [paper, make.make_person(f"Zoe {number}")], name=f"award {number}")
        start = make.MORNING + number * HOUR
        session = make.make_session(edition, start=start, room=make.make_room(edition, "Hall"))
        make.make_presentation(session, paper, board=f"board {number}", room=make.make_room(edition, "Hut"))
    for rows in (paper.authorships, paper.materials, edition.awards):
        reorder(rows.all(), [*rows.order_by("-pk").values_list("pk", flat=True)])
    return paper


def names_and_awards(paper: Any) -> list[list[str]]:
    """Return the authors and awards of a paper, with the identifiers and addresses for links."""
    return [
        [f"{author.shown_name} {author.person.uid}" for author in paper.shown_authors],
        [f"{grant.award.name} {grant.award.get_absolute_url()}" for grant in paper.shown_grants],
    ]


def all_parts(paper: Any) -> list[list[str]]:
    """Return the authors, awards and presentations of a paper."""
    return [*names_and_awards(paper), [f"{row.board} {row.session.uid}" for row in paper.appearances]]


def expected_parts(paper: Paper) -> list[list[str]]:
    people = {author.name: author.person.uid for author in paper.authorships.select_related("person")}
    awards = {award.name: award.get_absolute_url() for award in paper.edition.awards.all()}
    sessions = [row.session for row in paper.presentations.order_by("-pk")]
    return [
        [f"{name} {people[name]}" for name in ("Abe", "Zed")],
        [f"{name} {awards[name]}" for name in ("award 1", "award 2")],
        [f"board {number} {session.uid}" for number, session in enumerate(sessions, start=1)],
    ]


def test_list_rows_take_4_queries(
    full_paper: Paper, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    expected = expected_parts(full_paper)

    with django_assert_num_queries(4):
        (paper,) = Paper.objects.list_rows()
    assert (paper.get_absolute_url(), paper.topic and paper.topic.name) == (
        full_paper.get_absolute_url(),
        "c",
    )
    assert names_and_awards(paper) == expected[:2]
    assert [row.board for row in paper.appearances] == ["board 1", "board 2"]


def test_paper_with_details_takes_5_queries(
    full_paper: Paper, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    expected = expected_parts(full_paper)

    with django_assert_num_queries(5):
        paper = Paper.objects.with_details().get()
        assert (paper.edition, paper.topic.edition) == (full_paper.edition,) * 2
        assert names(paper.topic.ancestors) == ["a", "b"]
        assert all_parts(paper) == expected
        assert names(paper.shown_materials) == ["link 1", "link 2"]
        editions = [
            (row.session.room.edition, row.room.edition, row.session.edition) for row in paper.appearances
        ]
        assert editions == [(full_paper.edition,) * 3] * 2


def test_detailed_list_rows_add_abstract_and_materials(
    full_paper: Paper, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    expected = expected_parts(full_paper)
    with django_assert_num_queries(4 + 5):
        (brief,), (detailed,) = Paper.objects.all().list_rows(), Paper.objects.all().list_rows(detailed=True)

    assert (brief.abstract_html, brief.shown_materials) == ("", ())
    assert detailed == brief._replace(
        abstract_html=full_paper.abstract_html, shown_materials=detailed.shown_materials
    )
    assert names(detailed.shown_materials) == ["link 1", "link 2"]
    assert [grant.name for grant in brief.shown_grants] == ["award 1", "award 2"]
    assert len(expected[2]) == len(brief.appearances)


def test_newest_first_orders_awards_by_edition_and_then_by_position(edition: Edition) -> None:
    new = make.make_edition(2023)
    twin = make.make_edition(2022, slug="2023-b", start_date=new.start_date, end_date=new.end_date)
    for edition_of_award in (edition, twin, new):
        for name in ("z", "a"):
            make.make_award(edition_of_award, name=f"{edition_of_award.slug} {name}")

    assert names(Award.objects.order_by("name").newest_first()) == [
        *("2023 z", "2023 a", "2023-b z", "2023-b a", "2021 z", "2021 a")
    ]


def test_award_winners_are_in_order_of_position(edition: Edition) -> None:
    award = make.make_award(edition, [make.make_person(name) for name in ("Abe", "Mia", "Zed")])
    reorder(award.grants.all(), [*award.grants.order_by("-pk").values_list("pk", flat=True)])
    grants = Award.objects.with_winners().get().shown_grants

    assert [grant.person.name for grant in grants] == ["Zed", "Mia", "Abe"]


def test_award_winners_with_authors_and_talks_take_5_queries(
    full_paper: Paper, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.make_award(full_paper.edition, [make.make_paper(full_paper.edition, status="draft")], name="hidden")
    expected = expected_parts(full_paper)

    with django_assert_num_queries(5):
        awards = {award.name: award for award in Award.objects.with_winners()}
        first = awards["award 1"].shown_grants
        assert [grant.person.name for grant in first if grant.person] == ["Zoe 1"]
        assert [grant.paper.get_absolute_url() for grant in first if grant.paper] == [
            full_paper.get_absolute_url()
        ]
        paper = first[0].paper
        assert [f"{author.shown_name} {author.person.uid}" for author in paper.shown_authors] == expected[0]
        assert [f"{row.board} {row.session.uid}" for row in paper.appearances] == expected[2]
        assert awards["award 1"].get_absolute_url() == f"/2021/awards/#award-{awards['award 1'].uid}"
    assert awards["hidden"].shown_grants == []
