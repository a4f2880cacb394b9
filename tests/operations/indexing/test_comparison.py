"""Comparison of the search index with the rows: after a rollback, damage, another writer or process."""

from unittest import mock

import pytest
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection, transaction

from operations.indexing import documents, update
from operations.indexing.update import refresh
from operations.verify import repair_search_index, search_index_errors
from papers.models import Paper
from people.models import PersonName
from search.models import Document
from tests import factories as make

pytestmark = pytest.mark.django_db


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
    """Update the index; return the primary keys of completely compared editions, sorted (0 for the site)."""
    with mock.patch.object(update, "reindex", wraps=documents.reindex) as reindex:
        assert refresh()
    return sorted(edition.pk if edition else 0 for (edition,), _ in reindex.call_args_list)


def indexed_titles() -> list[str]:
    return sorted(Document.objects.filter(kind="paper").values_list("title", flat=True))


def test_hidden_name_compares_all_editions(paper: Paper) -> None:
    other = make.make_edition(2022)
    refresh()
    PersonName.objects.create(person=paper.authorships.get().person, name="Ada Byron", hidden=True)

    assert compared_editions() == [0, paper.edition_id, other.pk]


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
            assert (compared_editions(), indexed_titles()) == ([0, paper.edition_id], ["looms", "pistons"])
            raise DatabaseError
    except DatabaseError:
        pass

    assert (compared_editions(), indexed_titles()) == ([], ["engines", "looms"])
    retitle(Paper.objects.get(pk=paper.pk), "Cranks")
    assert (compared_editions(), indexed_titles()) == ([0, paper.edition_id], ["cranks", "looms"])


def test_update_after_a_crash_indexes_everything(paper: Paper) -> None:
    retitle(paper, "Pistons")
    crash = mock.patch.object(update, "reindex", side_effect=KeyboardInterrupt)
    with crash, pytest.raises(KeyboardInterrupt):
        refresh()
    assert indexed_titles() == ["engines", "looms"]

    with mock.patch("django.db.models.QuerySet.update", side_effect=DatabaseError("gone")):
        assert not refresh()

    assert (compared_editions(), indexed_titles()) == ([0, paper.edition_id], ["looms", "pistons"])


def test_wrong_document_is_reported_and_repaired(paper: Paper) -> None:
    Document.objects.filter(key="p1").update(fingerprint=1, title="damaged")
    assert next(iter(search_index_errors())).endswith(f"paper {paper.pk} is out of date")

    repair_search_index()

    assert [*search_index_errors()] == []
    call_command("rebuild_search", verbosity=0)
    assert indexed_titles() == ["engines", "looms"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="others let several write at once")
def test_update_waits_one_second_for_another_writer_and_logs_one_line(
    paper: Paper, caplog: pytest.LogCaptureFixture
) -> None:
    timeouts: list[int] = []

    def locked(*_: object) -> None:
        timeouts.append(busy_timeout())
        raise OperationalError("database is locked")

    retitle(paper, "Pistons")
    default = busy_timeout()
    with mock.patch.object(update, "compare", locked):
        assert not refresh()

    assert (timeouts, busy_timeout()) == ([1000], default)
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("WARNING", None)]
    assert compared_editions() == [0, paper.edition_id]


def busy_timeout() -> int:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        milliseconds: int = cursor.fetchone()[0]
    return milliseconds


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

    assert (compared_editions(), indexed_titles()) == ([0, paper.edition_id], ["looms", "pistons"])
    assert [*search_index_errors()] == []
