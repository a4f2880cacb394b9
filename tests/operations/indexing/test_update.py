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
from operations.indexing.update import read_states, refresh
from papers.models import Authorship, Paper
from people.models import Person
from search.models import Document, Indexed, Word
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def paper() -> Paper:
    made = make.make_paper(make.make_edition(), ["Ada Lovelace"], uid="p1", title="Engines")
    refresh()
    return made


def kept() -> dict[str, str]:
    """Update the index; return its titles by document, such as `paper p1`."""
    refresh()
    return {str(row): row.title for row in Document.objects.order_by("kind", "key")}


def stale() -> list[int]:
    return read_states().stale()


def ada() -> str:
    return f"person {Person.objects.get().uid}"


def test_nothing_is_read_while_nothing_changes(
    paper: Paper, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert stale() == []
    with django_assert_num_queries(1):
        refresh()


def test_a_change_leaves_other_editions_alone(paper: Paper) -> None:
    other = make.make_paper(make.make_edition(2022))
    refresh()

    paper.save()

    assert stale() == [0, paper.edition_id]
    assert other.edition_id not in stale()


def test_saved_paper_is_found_under_its_new_title(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(title="Pistons")

    assert kept() == {"paper p1": "pistons", ada(): "ada lovelace"}


def test_withdrawn_paper_leaves_the_index_with_author_and_words(paper: Paper) -> None:
    Paper.objects.filter(pk=paper.pk).update(status="withdrawn")

    assert kept() == {}
    assert Word.objects.count() == 0


def test_deleted_author_leaves_the_index(paper: Paper) -> None:
    Authorship.objects.all().delete()

    assert kept() == {"paper p1": "engines"}


def test_renamed_person_is_found_under_the_new_name(paper: Paper) -> None:
    person = Person.objects.get()
    person.name = "Ada King"
    person.save()

    assert kept()[ada()] == "ada king"


def test_embargo_ends_without_a_change(paper: Paper) -> None:
    later = timezone.now() + timedelta(hours=1)
    Edition.objects.update(papers_public_from=later)
    assert kept() == {}

    with mock.patch("content.querysets.timezone.now", return_value=later):
        assert kept() == {"paper p1": "engines", ada(): "ada lovelace"}


def test_edition_that_is_gone_leaves_nothing(paper: Paper) -> None:
    Edition.objects.get().delete()

    assert kept() == {}
    assert [row.edition for row in Indexed.objects.all()] == [0]


def test_database_that_is_busy_leaves_the_index_as_it_is(
    paper: Paper, caplog: pytest.LogCaptureFixture
) -> None:
    Paper.objects.filter(pk=paper.pk).update(title="Engines")
    with mock.patch.object(update, "update_edition", side_effect=DatabaseError("locked")):
        refresh()

    assert "could not be brought up to date" in caplog.text
    assert kept()["paper p1"] == "engines"


def test_import_leaves_nothing_to_the_next_search(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        call_command("import_program", "program_json", "demo/mlsys-2022.json", edition="2022", verbosity=0)

    assert stale() == []
    assert Document.objects.filter(kind="paper").count() == Paper.objects.published().count() > 0


def test_rebuilding_makes_the_same_index(paper: Paper) -> None:
    before = kept()
    Document.objects.update(title="damaged")
    out = StringIO()
    call_command("rebuild_search", stdout=out)

    assert (kept(), out.getvalue()[:12]) == (before, "2 documents ")
    assert stale() == []


def test_search_does_not_wait_for_an_indexing_process(paper: Paper) -> None:
    paper.save()
    with update._busy:
        refresh()

    assert stale() == [0, paper.edition_id]
