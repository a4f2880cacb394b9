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
    made = make.make_paper(edition, ["Ada Lovelace"], uid="p1", title="Engines")
    make.make_paper(edition, ["Bob"], uid="p2", title="Looms")
    assert refresh()
    return made


def retitled(paper: Paper, title: str) -> None:
    paper.title = title
    paper.save()


def compared() -> list[int]:
    """Update the index; return the primary keys of completely compared editions (0 for the site)."""
    with mock.patch.object(update, "reindex", wraps=documents.reindex) as whole:
        assert refresh()
    return [edition.pk if edition else 0 for (edition,), _ in whole.call_args_list]


def titles() -> list[str]:
    return sorted(Document.objects.filter(kind="paper").values_list("title", flat=True))


def test_edit_of_words_indexes_the_paper_alone(paper: Paper) -> None:
    retitled(paper, "Pistons")
    retitled(paper.edition.papers.get(uid="p2"), "Cranks")

    assert (compared(), titles()) == ([], ["cranks", "pistons"])
    assert read_states().stale() == []
    assert [*search_index_errors()] == []


def test_pages_of_other_editions_stay_valid(paper: Paper) -> None:
    other = make.make_paper(make.make_edition(2022), uid="p1", title="Looms of old")
    make.make_award(paper.edition, [other])
    refresh()

    retitled(paper, "Pistons")

    assert (compared(), titles()) == ([], ["looms", "looms of old", "pistons"])
    assert [*search_index_errors()] == []


def test_words_of_a_draft_are_not_indexed(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(status="draft")
    refresh()
    retitled(Paper.objects.get(pk=paper.pk), "Pistons")

    assert (compared(), titles()) == ([], ["looms"])


def everything(paper: Paper) -> None:
    revision.advance([paper.edition_id])


def by_hand(paper: Paper) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE papers_paper SET title = 'Pistons' WHERE id = %s", [paper.pk])
    everything(paper)


def in_bulk(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(title="Pistons")


def with_more(paper: Paper) -> None:
    paper.keywords = ["steam"]
    retitled(paper, "Pistons")


def many_edits(paper: Paper) -> None:
    retitled(paper, "Pistons")
    revision.advance([paper.edition_id], [f"paper:{number}" for number in range(MAX_TAGS_PER_CHANGE + 1)])


def back_in_time(paper: Paper) -> None:
    retitled(paper, "Pistons")
    Indexed.objects.filter(edition=paper.edition_id).update(state="99 (True, True, True) 2021 x")


@pytest.mark.parametrize("change", [everything, by_hand, in_bulk, with_more, many_edits, back_in_time])
def test_other_changes_compare_edition_and_site(paper: Paper, change: Any) -> None:
    change(paper)

    assert compared() == [0, paper.edition_id]
    assert [*search_index_errors()] == []


def test_hidden_name_and_a_changed_text_compare_all(paper: Paper) -> None:
    retitled(paper, "Pistons")
    PersonName.objects.create(person=paper.authorships.get().person, name="Ada Byron", hidden=True)

    assert compared() == [0, paper.edition_id]


def test_edition_that_is_new_or_gone_compares_the_site(paper: Paper) -> None:
    new = make.make_edition(2022)
    retitled(paper, "Pistons")
    assert compared() == [0, paper.edition_id, new.pk]

    new.delete()
    retitled(paper, "Cranks")
    assert compared() == [0, paper.edition_id]
    assert titles() == ["cranks", "looms"]


def test_change_that_is_taken_back_leaves_the_index_right(paper: Paper) -> None:
    try:
        with transaction.atomic():
            retitled(paper, "Pistons")
            assert (compared(), titles()) == ([], ["looms", "pistons"])
            raise DatabaseError
    except DatabaseError:
        pass

    assert (compared(), titles()) == ([], ["engines", "looms"])
    retitled(Paper.objects.get(pk=paper.pk), "Cranks")
    assert (compared(), titles()) == ([], ["cranks", "looms"])


def test_crash_in_between_leaves_all_to_the_next(paper: Paper) -> None:
    retitled(paper, "Pistons")
    crash = mock.patch.object(update, "reindex_papers", side_effect=KeyboardInterrupt)
    with crash, pytest.raises(KeyboardInterrupt):
        refresh()
    assert titles() == ["engines", "looms"]

    with mock.patch("django.db.models.QuerySet.update", side_effect=DatabaseError("gone")):
        assert not refresh()

    assert (compared(), titles()) == ([], ["looms", "pistons"])


def test_wrong_index_is_found_and_mended(paper: Paper) -> None:
    Document.objects.filter(key="p1").update(fingerprint=1, title="damaged")
    retitled(paper.edition.papers.get(uid="p2"), "Cranks")
    refresh()
    assert next(iter(search_index_errors())).endswith(f"paper {paper.pk} is out of date")

    repair_search_index()

    assert [*search_index_errors()] == []
    call_command("rebuild_search", verbosity=0)
    assert titles() == ["cranks", "engines"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="others let several write at once")
def test_search_waits_a_second_for_another_writer_and_says_so_in_a_line(
    paper: Paper, caplog: pytest.LogCaptureFixture
) -> None:
    waits: list[int] = []

    def locked() -> None:
        waits.append(patience())
        raise OperationalError("database is locked")

    retitled(paper, "Pistons")
    usual = patience()
    with mock.patch.object(update, "update_papers", locked):
        assert not refresh()

    assert (waits, patience()) == ([1000], usual)
    assert [(one.levelname, one.exc_info) for one in caplog.records] == [("WARNING", None)]
    assert compared() == []


def patience() -> int:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        milliseconds: int = cursor.fetchone()[0]
    return milliseconds


@pytest.mark.parametrize("number", [1, 3])
def test_queries_do_not_grow_with_papers(paper: Paper, number: int, django_assert_num_queries: Any) -> None:
    for one in range(number):
        make.make_paper(paper.edition, ["Cy"], title=f"Levers {one}")
    refresh()
    retitled(paper, "Pistons")

    with django_assert_num_queries(QUERIES[connection.vendor]):
        refresh()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
def test_search_does_not_index_while_another_process_does(paper: Paper) -> None:
    retitled(paper, "Pistons")
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT id FROM search_indexed FOR UPDATE")
    assert (refresh(), titles()) == (False, ["engines", "looms"])

    other.rollback()
    other.close()

    assert (compared(), titles()) == ([], ["looms", "pistons"])
    assert [*search_index_errors()] == []
