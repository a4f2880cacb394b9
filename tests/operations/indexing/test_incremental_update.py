"""Search index updates: a change of a paper's words indexes this paper; others compare the edition."""

from typing import Any
from unittest import mock

import pytest
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection, transaction

from content import revision
from content.invalidation import MAX_TAGS_PER_CHANGE
from operations.indexing import documents, update
from operations.indexing.update import read_states, refresh
from operations.verify import repair_search_index, search_index_errors
from papers.models import Paper
from people.models import PersonName
from search.models import Document, Indexed
from tests import factories as make

pytestmark = pytest.mark.django_db

# Numbers of queries: of the search index, of the indexed rows, and of the transaction.
QUERIES = {"sqlite": 26, "postgresql": 25}


@pytest.fixture
def paper() -> Paper:
    edition = make.make_edition()
    first = make.make_paper(edition, ["Ada Lovelace"], uid="p1", title="Engines")
    make.make_paper(edition, ["Bob"], uid="p2", title="Looms")
    assert refresh()
    return first


def retitle(paper: Paper, title: str) -> None:
    paper.title = title
    paper.save()


def compared_editions() -> list[int]:
    """Update the index; return the primary keys of completely compared editions (0 for the site)."""
    with mock.patch.object(update, "reindex", wraps=documents.reindex) as reindex:
        assert refresh()
    return [edition.pk if edition else 0 for (edition,), _ in reindex.call_args_list]


def indexed_titles() -> list[str]:
    return sorted(Document.objects.filter(kind="paper").values_list("title", flat=True))


def test_change_of_titles_indexes_only_these_papers(paper: Paper) -> None:
    retitle(paper, "Pistons")
    retitle(paper.edition.papers.get(uid="p2"), "Cranks")

    assert (compared_editions(), indexed_titles()) == ([], ["cranks", "pistons"])
    assert read_states().stale() == []
    assert [*search_index_errors()] == []


def test_change_of_title_does_not_compare_editions_linked_by_an_award(paper: Paper) -> None:
    other = make.make_paper(make.make_edition(2022), uid="p1", title="Looms of old")
    make.make_award(paper.edition, [other])
    refresh()

    retitle(paper, "Pistons")

    assert (compared_editions(), indexed_titles()) == ([], ["looms", "looms of old", "pistons"])
    assert [*search_index_errors()] == []


def test_title_of_a_draft_is_not_indexed(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(status="draft")
    refresh()
    retitle(Paper.objects.get(pk=paper.pk), "Pistons")

    assert (compared_editions(), indexed_titles()) == ([], ["looms"])


def advance_without_tags(paper: Paper) -> None:
    revision.advance([paper.edition_id])


def retitle_in_sql(paper: Paper) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE papers_paper SET title = 'Pistons' WHERE id = %s", [paper.pk])
    advance_without_tags(paper)


def retitle_in_bulk(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(title="Pistons")


def retitle_and_add_keyword(paper: Paper) -> None:
    paper.keywords = ["steam"]
    retitle(paper, "Pistons")


def retitle_with_too_many_tags(paper: Paper) -> None:
    retitle(paper, "Pistons")
    revision.advance([paper.edition_id], [f"paper:{number}" for number in range(MAX_TAGS_PER_CHANGE + 1)])


def retitle_with_unknown_index_state(paper: Paper) -> None:
    retitle(paper, "Pistons")
    Indexed.objects.filter(edition=paper.edition_id).update(state="99 (True, True, True) 2021 x")


@pytest.mark.parametrize(
    "change",
    [
        advance_without_tags,
        retitle_in_sql,
        retitle_in_bulk,
        retitle_and_add_keyword,
        retitle_with_too_many_tags,
        retitle_with_unknown_index_state,
    ],
)
def test_other_changes_compare_the_edition_and_the_site(paper: Paper, change: Any) -> None:
    change(paper)

    assert compared_editions() == [0, paper.edition_id]
    assert [*search_index_errors()] == []


def test_hidden_name_and_changed_title_compare_edition_and_site(paper: Paper) -> None:
    retitle(paper, "Pistons")
    PersonName.objects.create(person=paper.authorships.get().person, name="Ada Byron", hidden=True)

    assert compared_editions() == [0, paper.edition_id]


def test_new_or_deleted_edition_compares_editions_and_site(paper: Paper) -> None:
    new_edition = make.make_edition(2022)
    retitle(paper, "Pistons")
    assert compared_editions() == [0, paper.edition_id, new_edition.pk]

    new_edition.delete()
    retitle(paper, "Cranks")
    assert compared_editions() == [0, paper.edition_id]
    assert indexed_titles() == ["cranks", "looms"]


def test_index_is_correct_after_a_rollback(paper: Paper) -> None:
    try:
        with transaction.atomic():
            retitle(paper, "Pistons")
            assert (compared_editions(), indexed_titles()) == ([], ["looms", "pistons"])
            raise DatabaseError
    except DatabaseError:
        pass

    assert (compared_editions(), indexed_titles()) == ([], ["engines", "looms"])
    retitle(Paper.objects.get(pk=paper.pk), "Cranks")
    assert (compared_editions(), indexed_titles()) == ([], ["cranks", "looms"])


def test_update_after_a_crash_indexes_everything(paper: Paper) -> None:
    retitle(paper, "Pistons")
    crash = mock.patch.object(update, "reindex_papers", side_effect=KeyboardInterrupt)
    with crash, pytest.raises(KeyboardInterrupt):
        refresh()
    assert indexed_titles() == ["engines", "looms"]

    with mock.patch("django.db.models.QuerySet.update", side_effect=DatabaseError("gone")):
        assert not refresh()

    assert (compared_editions(), indexed_titles()) == ([], ["looms", "pistons"])


def test_wrong_document_is_reported_and_repaired(paper: Paper) -> None:
    Document.objects.filter(key="p1").update(fingerprint=1, title="damaged")
    retitle(paper.edition.papers.get(uid="p2"), "Cranks")
    refresh()
    assert next(iter(search_index_errors())).endswith(f"paper {paper.pk} is out of date")

    repair_search_index()

    assert [*search_index_errors()] == []
    call_command("rebuild_search", verbosity=0)
    assert indexed_titles() == ["cranks", "engines"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="others let several write at once")
def test_update_waits_one_second_for_another_writer_and_logs_one_line(
    paper: Paper, caplog: pytest.LogCaptureFixture
) -> None:
    timeouts: list[int] = []

    def locked() -> None:
        timeouts.append(busy_timeout())
        raise OperationalError("database is locked")

    retitle(paper, "Pistons")
    default = busy_timeout()
    with mock.patch.object(update, "update_papers", locked):
        assert not refresh()

    assert (timeouts, busy_timeout()) == ([1000], default)
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("WARNING", None)]
    assert compared_editions() == []


def busy_timeout() -> int:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        milliseconds: int = cursor.fetchone()[0]
    return milliseconds


@pytest.mark.parametrize("count", [1, 3])
def test_query_count_is_the_same_with_1_and_3_more_papers(
    paper: Paper, count: int, django_assert_num_queries: Any
) -> None:
    for index in range(count):
        make.make_paper(paper.edition, ["Cy"], title=f"Levers {index}")
    refresh()
    retitle(paper, "Pistons")

    with django_assert_num_queries(QUERIES[connection.vendor]):
        refresh()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
def test_refresh_does_nothing_while_another_process_indexes(paper: Paper) -> None:
    retitle(paper, "Pistons")
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT id FROM search_indexed FOR UPDATE")
    assert (refresh(), indexed_titles()) == (False, ["engines", "looms"])

    other.rollback()
    other.close()

    assert (compared_editions(), indexed_titles()) == ([], ["looms", "pistons"])
    assert [*search_index_errors()] == []
