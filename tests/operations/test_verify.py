"""Every invariant, violated on purpose: `verify` reports the row, and `--repair` repairs it if possible."""

import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from conference.models import Conference, Edition
from exchange.models import Provenance
from operations.indexing.update import refresh
from operations.verify import CHECKS
from papers.models import Authorship, Paper
from people.models import Person
from search.models import Document, Word
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def paper() -> Paper:
    paper = make.make_paper(make.make_edition(), ["Ada", "Béla", "Cleo"])
    refresh()
    return paper


def verify(**options: Any) -> tuple[bool, list[str]]:
    """Return whether no problem remains, and the reported problems with their rows."""
    out = io.StringIO()
    try:
        call_command("verify", verbosity=0, stdout=out, **options)
    except CommandError:
        return False, out.getvalue().splitlines()
    return True, out.getvalue().splitlines()


def break_positions(paper: Paper) -> None:
    Authorship._base_manager.filter(paper=paper, position=2).delete()


def break_derived_text(paper: Paper) -> None:
    Paper._base_manager.filter(pk=paper.pk).update(abstract_html="<p>old</p>", sort_title="zzz")


def break_provenance(paper: Paper) -> None:
    Provenance.objects.create(kind="paper", object_id=987_654, edition=paper.edition)


def break_change_time(paper: Paper) -> None:
    Edition._base_manager.update(changed_at=timezone.now() - timedelta(days=2))


def break_index(paper: Paper) -> None:
    Document.objects.filter(object_id=paper.pk, kind="paper").update(fingerprint=1)
    Word.objects.filter(word="paper").update(documents=77)


@pytest.mark.parametrize(
    "break_rows", [break_positions, break_derived_text, break_provenance, break_change_time, break_index]
)
def test_repairable_problems_are_found_and_repaired(paper: Paper, break_rows: Any) -> None:
    assert verify() == (True, [])
    break_rows(paper)
    is_valid, lines = verify()
    assert (is_valid, lines[0].split(":")[0]) == (False, "WRONG")

    assert verify(repair=True)[0]
    assert verify() == (True, [])


def test_repair_invalidates_cached_pages(paper: Paper) -> None:
    before = Edition.objects.get().revision
    break_derived_text(paper)
    verify(repair=True)

    paper.refresh_from_db()
    assert "What was done" in paper.abstract_html
    assert Edition.objects.get().revision > before


def test_related_row_of_another_edition_is_reported(paper: Paper) -> None:
    topic = make.make_topic(make.make_edition(2022))
    Paper._base_manager.filter(pk=paper.pk).update(topic=topic)

    assert verify(repair=True) == (False, [
        "WRONG: related rows belong to the same edition",
        f"    paper {paper.pk}: “topic” is of another edition",
    ])  # fmt: skip


def test_missing_file_is_reported(paper: Paper) -> None:
    Conference._base_manager.update(logo="logos/lost.png")

    lines = verify(repair=True)[1]
    assert [line for line in lines if "lost.png" in line] == [
        f"    conference {Conference.objects.get().pk}: the file logos/lost.png is not there"
    ]


def test_circular_merges_of_people_are_reported(paper: Paper) -> None:
    first, second = (row.person_id for row in paper.authorships.order_by("position")[:2])
    Person._base_manager.filter(pk=first).update(merged_into=second)
    Person._base_manager.filter(pk=second).update(merged_into=first)

    text = "\n".join(verify()[1])
    assert len(re.findall("is merged in a circle", text)) == 2
    assert len(re.findall("who was merged into another", text)) == 2


def test_merged_institution_in_use_is_reported(paper: Paper) -> None:
    first, second = make.make_institution("Tech"), make.make_institution("MIT")
    author = paper.authorships.order_by("position")[0]
    author.institutions.add(first)
    type(first)._base_manager.filter(pk=first.pk).update(merged_into=second)
    lines = verify()[1]
    type(first)._base_manager.filter(pk=second.pk).update(merged_into=first)

    expected = f"    authorship {author.pk}: is of institution {first.pk}, who was merged into another"
    assert expected in lines
    assert len(re.findall("institution .* is merged in a circle", "\n".join(verify()[1]))) == 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL takes no longer texts")
def test_too_long_text_is_reported_on_sqlite(paper: Paper) -> None:
    Paper._base_manager.filter(pk=paper.pk).update(pages="1" * 31)

    assert f"    paper {paper.pk}: “pages” is over 30 characters" in verify()[1]


def test_provenance_of_deleted_rows_is_no_problem(paper: Paper) -> None:
    Provenance.objects.create(kind="paper", object_id=paper.pk, edition=paper.edition)
    paper.delete()
    refresh()

    assert verify() == (True, [])


def test_row_changed_since_indexing_is_no_problem(paper: Paper) -> None:
    paper.title = "Another title"
    paper.save()

    assert verify() == (True, [])


def test_every_check_has_a_unique_title() -> None:
    titles = [check.title for check in CHECKS]

    assert len({*titles}) == len(titles) == 10
