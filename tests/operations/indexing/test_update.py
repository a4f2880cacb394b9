"""The search index is updated after every kind of change."""

from datetime import timedelta
from io import StringIO
from unittest import mock

import pytest
from django.core.management import call_command
from django.db import DatabaseError
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from conference.models import Edition
from operations.indexing import update
from operations.indexing.states import read_states
from operations.indexing.update import refresh
from papers.models import Authorship, Paper
from people.models import Person
from search.models import Document, Indexed, Word
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def paper() -> Paper:
    paper = make.make_paper(make.make_edition(), ["Ada Lovelace"], uid="p1", title="Engines")
    refresh()
    return paper


def indexed_titles() -> dict[str, str]:
    """Update the index; return its titles by document, such as `paper p1`."""
    refresh()
    return {str(row): row.title for row in Document.objects.order_by("kind", "key")}


def stale_editions() -> list[int]:
    return read_states().stale()


def author_document() -> str:
    return f"person {Person.objects.get().uid}"


def test_refresh_without_changes_takes_one_query(
    paper: Paper, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert stale_editions() == []
    with django_assert_num_queries(1):
        refresh()


def test_change_makes_only_its_own_edition_stale(paper: Paper) -> None:
    other = make.make_paper(make.make_edition(2022))
    refresh()

    paper.save()

    assert stale_editions() == [0, paper.edition_id]
    assert other.edition_id not in stale_editions()


def test_updated_title_is_indexed(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(title="Pistons")

    assert indexed_titles() == {"paper p1": "pistons", author_document(): "ada lovelace"}


def test_withdrawn_paper_is_removed_with_its_author_and_words(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(status="withdrawn")

    assert indexed_titles() == {}
    assert Word.objects.count() == 0


def test_deleted_author_is_removed(paper: Paper) -> None:
    Authorship.objects.all().delete()

    assert indexed_titles() == {"paper p1": "engines"}


def test_renamed_person_is_indexed_by_the_new_name(paper: Paper) -> None:
    person = Person.objects.get()
    person.name = "Ada King"
    person.save()

    assert indexed_titles()[author_document()] == "ada king"


def test_papers_are_indexed_when_their_embargo_ends(paper: Paper) -> None:
    publication_time = timezone.now() + timedelta(hours=1)
    Edition.objects.update(papers_public_from=publication_time)
    assert indexed_titles() == {}

    with mock.patch("content.querysets.timezone.now", return_value=publication_time):
        assert indexed_titles() == {"paper p1": "engines", author_document(): "ada lovelace"}


def test_deleted_edition_leaves_no_documents(paper: Paper) -> None:
    Edition.objects.get().delete()

    assert indexed_titles() == {}
    assert [row.edition for row in Indexed.objects.all()] == [0]


def test_index_is_unchanged_after_a_database_error(paper: Paper, caplog: pytest.LogCaptureFixture) -> None:
    Paper.objects.filter(pk=paper.pk).update(title="Engines")
    with mock.patch.object(update, "update_edition", side_effect=DatabaseError("locked")):
        refresh()

    assert "could not be brought up to date" in caplog.text
    assert indexed_titles()["paper p1"] == "engines"


def test_import_updates_the_index(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        call_command("import_program", "program_json", "demo/mlsys-2022.json", edition="2022", verbosity=0)

    assert stale_editions() == []
    assert Document.objects.filter(kind="paper").count() == Paper.objects.published().count() > 0


def test_rebuild_command_makes_the_same_index(paper: Paper) -> None:
    before = indexed_titles()
    Document.objects.update(title="damaged")
    out = StringIO()
    call_command("rebuild_search", stdout=out)

    assert (indexed_titles(), out.getvalue()[:12]) == (before, "2 documents ")
    assert stale_editions() == []


def test_search_does_not_wait_for_an_indexing_process(paper: Paper) -> None:
    paper.save()
    with update._busy:
        refresh()

    assert stale_editions() == [0, paper.edition_id]
