"""Questions that are composed once and asked again with other values."""

from collections.abc import Collection
from datetime import datetime, timedelta
from threading import Thread
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import Case, F, Value, When
from django.db.models.expressions import RawSQL
from django.test.utils import CaptureQueriesContext

from conference.environment import safe_database
from conference.models import Edition
from content.array_lookup import Among, Keys
from content.prepared import Blank, Form, Place, compose, prepared, prepared_for_any, prepared_update
from content.preview_context import Lifted, seen_as
from papers.models import Authorship, Paper, Topic
from tests import factories as make

pytestmark = pytest.mark.django_db

LATER = make.MORNING + timedelta(days=4000)


def papers_of(keys: Collection[int], word: str, at: datetime) -> Any:
    rows = Paper.objects.published(at).with_authors(at).with_materials(at)
    return rows.filter(pk__in=keys, uid__gte=word).select_related("edition").order_by("pk")


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(2021)


def shown(papers: list[Any]) -> list[Any]:
    return [
        (paper, paper.edition, [(author, author.shown_name) for author in paper.shown_authors])
        for paper in papers
    ]


@pytest.mark.parametrize("number", [0, 1, 2, 3, 5])
def test_the_answers_are_those_of_the_queryset(edition: Edition, number: int) -> None:
    papers = [make.make_paper(edition, ["Ada Lovelace", "Alan Turing"]) for _ in range(6)]
    values = [paper.pk for paper in papers[:number]], "", LATER
    assert shown(prepared(papers_of)(*values)) == shown(list(papers_of(*values)))


def test_the_statement_is_that_of_the_queryset(edition: Edition) -> None:
    keys = [make.make_paper(edition, uid=uid).pk for uid in ("ant", "bee")]
    with CaptureQueriesContext(connection) as composed:
        list(papers_of(keys, "a", LATER))
    with CaptureQueriesContext(connection) as asked:
        prepared(papers_of)(keys, "a", LATER)
    assert [plain(one["sql"]) for one in asked] == [plain(one["sql"]) for one in composed]


def constants(word: Any) -> Any:
    written = Case(When(uid="ant", then=Value("100 %s 'sure\\")), default=Value("not"))
    return (
        Paper.objects.filter(uid__contains="n")
        .exclude(uid=word)
        .filter(status=Paper.Status.PUBLISHED, pk__gt=-1)
        .annotate(written=written)
    )


def test_what_is_always_the_same_is_written_into_the_statement(edition: Edition) -> None:
    """PostgreSQL plans once for any values: only of a status that it sees it knows how many rows have it."""
    make.make_paper(edition, uid="ant")
    with CaptureQueriesContext(connection) as queries:
        rows = prepared(constants)("bee")
    assert [row.written for row in rows] == ["100 %s 'sure\\"]
    composed = compose(constants(Blank(0, Form(str))))
    assert composed
    places = [isinstance(one, Place) for one in composed.parameters]
    assert places == [True] if connection.vendor == "postgresql" else places.count(True) == 1
    assert "100 %s" in queries[0]["sql"]


def plain(sql: str) -> str:
    """Return a statement without the brackets around what was filled in."""
    return sql.replace("(", "").replace(")", "")


def test_a_question_is_composed_once_for_lists_of_about_one_length(edition: Edition) -> None:
    calls = []

    @prepared
    def asked(keys: Collection[int], at: datetime) -> Any:
        calls.append(keys)
        return Paper.objects.published(at).filter(pk__in=keys).order_by("pk")

    papers = [make.make_paper(edition) for _ in range(5)]
    keys = [paper.pk for paper in papers]
    assert asked(keys[:3], LATER) == papers[:3]
    assert asked(keys[1:], LATER) == papers[1:]
    assert asked(keys[:1], LATER) == papers[:1]
    assert len(calls) == 2


def test_keys_are_one_value_however_many_they_are(edition: Edition, django_assert_num_queries: Any) -> None:
    calls = []

    @prepared
    def asked(keys: Keys, at: datetime) -> Any:
        calls.append(keys)
        return Paper.objects.published(at).filter(Among("pk", keys)).order_by("pk")

    papers = [make.make_paper(edition) for _ in range(5)]
    keys = [paper.pk for paper in papers]
    with django_assert_num_queries(2):
        assert [asked(Keys(some), LATER) for some in (keys, keys[2:3], ())] == [papers, papers[2:3], []]
    assert len(calls) == 1


def test_without_keys_nothing_is_asked(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert prepared(papers_of)([], "", LATER) == []


def test_what_decides_is_the_moment_of_each_call(edition: Edition) -> None:
    paper, asked = make.make_paper(edition), prepared(papers_of)
    assert asked([paper.pk], "", LATER) == [paper]
    assert asked([paper.pk], "", make.PAST - timedelta(days=1)) == []


def test_rows_that_belong_to_others_know_them(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada Lovelace"])
    make.make_material(paper)
    (found,) = prepared(papers_of)([paper.pk], "", LATER)
    assert found.shown_authors[0].paper is found
    assert [one.paper for one in found.shown_materials] == [paper]


def test_other_values_belong_to_the_form(edition: Edition) -> None:
    @prepared
    def asked(model: type[Any], named: bool) -> Any:
        return model.objects.values_list("pk", named=named)

    paper = make.make_paper(edition)
    assert asked(Paper, False) == [(paper.pk,)]
    assert asked(Paper, True)[0].pk == paper.pk
    assert asked(Authorship, False) == []


def test_a_preview_is_asked_for_by_itself(edition: Edition) -> None:
    draft, asked = make.make_paper(edition, status="draft"), prepared(papers_of)
    assert asked([draft.pk], "", LATER) == []
    with seen_as(Lifted(edition.pk, drafts=True)):
        assert asked([draft.pk], "", LATER) == [draft]
    assert asked([draft.pk], "", LATER) == []


def test_a_question_is_composed_once_for_each_preview(edition: Edition) -> None:
    calls, other = [], make.make_edition(2022)

    @prepared
    def asked(at: datetime) -> Any:
        calls.append(at)
        return Paper.objects.published(at)

    drafts = [make.make_paper(one, status="draft") for one in (edition, other)]
    for one, draft in zip((edition, other) * 2, drafts * 2, strict=True):
        with seen_as(Lifted(one.pk, drafts=True)):
            assert asked(LATER) == [draft]
    assert len(calls) == 2


def test_an_update_is_composed_once_and_says_how_many_rows_it_changed(edition: Edition) -> None:
    topics, calls = [make.make_topic(edition) for _ in range(3)], []

    @prepared_update
    def numbered(keys: Collection[int], number: int) -> tuple[Any, dict[str, Any]]:
        calls.append(keys)
        return Topic._base_manager.filter(pk__in=keys), {"position": F("position") + number}

    changed = [numbered([topic.pk for topic in topics[:2]], number) for number in (5, 7)]
    positions = Topic.objects.order_by("pk").values_list("position", flat=True)
    assert (changed, [*positions], len(calls)) == ([2, 2], [13, 14, 3], 1)


def test_what_points_elsewhere_cannot_be_fetched_with_it() -> None:
    with pytest.raises(TypeError):
        prepared(lambda: Paper.objects.prefetch_related("edition"))()


@pytest.mark.django_db(transaction=True)
def test_each_thread_asks_over_its_own_connection(edition: Edition) -> None:
    paper, found, asked = make.make_paper(edition), [], prepared(papers_of)
    asked([paper.pk], "", LATER)

    def elsewhere() -> None:
        found.extend(asked([paper.pk], "", LATER))
        connection.close()

    thread = Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [paper]


on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps no plans")


@on_postgresql
def test_postgresql_keeps_the_plan_of_a_question_and_of_nothing_else(edition: Edition) -> None:
    paper, before = make.make_paper(edition), len(plans())
    asked = prepared(lambda key, at: Paper.objects.published(at).filter(pk=key))
    answers = [asked(paper.pk, LATER) for _ in range(3)]
    kept = len(plans())
    answers += [list(Paper.objects.filter(title=paper.title)) for _ in range(3)]

    assert answers == [[paper]] * 6
    assert (kept, len(plans())) == (before + 1, before + 1)


@on_postgresql
def test_question_planned_for_any_values_is_never_planned_for_some(edition: Edition) -> None:
    paper = make.make_paper(edition)
    asked = prepared_for_any(lambda key: Paper.objects.filter(pk=key))
    assert [asked(paper.pk) for _ in range(4)] == [[paper]] * 4
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
            " WHERE statement LIKE 'SELECT%papers_paper%' ORDER BY prepare_time"
        )
        assert cursor.fetchall()[-1] == (3, 0)
    assert mode() == "auto"


@on_postgresql
def test_way_of_planning_ends_with_a_question_that_fails(edition: Edition) -> None:
    broken = prepared_for_any(lambda key: Edition.objects.filter(pk=key).annotate(none=RawSQL("1 / 0", ())))
    with pytest.raises(DatabaseError), transaction.atomic():
        broken(edition.pk)
    assert mode() == "auto"


def mode() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW plan_cache_mode")
        return str(cursor.fetchone()[0])


def plans() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        return [statement for (statement,) in cursor.fetchall()]


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_plan_of_a_column_that_an_upgrade_changed_is_made_anew() -> None:
    topic = make.make_topic(make.make_edition(), name="Graphs")
    asked = prepared(lambda key: Topic.objects.filter(pk=key))
    before = [asked(topic.pk) for _ in range(3)]
    change = "ALTER TABLE papers_topic ALTER COLUMN name TYPE varchar({})"
    length: Any = Topic._meta.get_field("name").max_length
    with connection.cursor() as cursor:
        cursor.execute(change.format(length + 1))
    try:
        assert (before, asked(topic.pk)) == ([[topic]] * 3, [topic])
    finally:
        with connection.cursor() as cursor:
            cursor.execute(change.format(length))


@pytest.mark.parametrize("pgbouncer", [True, False])
def test_through_pgbouncer_nothing_is_prepared(pgbouncer: bool) -> None:
    found = safe_database({"ENGINE": "django.db.backends.postgresql"}, pgbouncer)

    assert found["OPTIONS"]["server_side_binding"] is not pgbouncer
