"""Tests of releases, which store the public changes since the previous one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from papers.models import Paper
from schedule.models import Presentation, Release, Session
from schedule.releases import ProgramChange, announce, pending_release
from tests import factories as make
from tests.website.sample_program import (
    MARKER_LOWER,
    add_draft_content,
    add_draft_papers,
    add_draft_schedule,
    make_public_program,
)

pytestmark = pytest.mark.django_db
NOON = datetime(2021, 4, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def change_lines(release: Release) -> list[str]:
    return [ProgramChange.read(row).line for row in release.changes]


def test_first_release_has_counts_instead_of_changes(edition: Edition) -> None:
    make.make_presentation(make.make_session(edition), make.make_paper(edition))
    make.make_paper(edition)
    release = announce(edition, NOON)

    assert (release.number, release.changes, release.published_at) == (1, [], NOON)
    assert (str(release), release.text) == ("The program is public", "1 session and 2 papers.")


def test_second_release_holds_moves_with_the_names_of_rooms(edition: Edition) -> None:
    session = make.make_session(edition, uid="s1", title="On $n$ *engines*", room=make.make_room(edition))
    announce(edition, NOON)
    session.start, session.room = session.start - HOUR, make.make_room(edition, "Aula")
    session.save()
    release = announce(edition, NOON + HOUR)
    change = ProgramChange.read(release.changes[0])

    assert (release.number, change_lines(release)) == (2, ["moved:session:s1"])
    assert change.before
    assert change.after
    assert (change.before.start, change.before.room) == (make.MORNING, "Hall A")
    assert (change.after.start, change.after.room) == (make.MORNING - HOUR, "Aula")
    assert change.title == "On n engines"


def test_unchanged_program_has_no_pending_changes(edition: Edition) -> None:
    make.make_presentation(make.make_session(edition, start=make.MORNING + timedelta(microseconds=5)))
    announce(edition, NOON)

    assert pending_release(edition, NOON).changes == []


def test_omitted_line_is_in_no_later_release(edition: Edition) -> None:
    announce(edition, NOON)
    for uid in ("s1", "s2"):
        make.make_session(edition, uid=uid)
    release = announce(edition, NOON, "More", "", without=["new:session:s1"])

    assert (release.title, release.text, change_lines(release)) == ("More", "", ["new:session:s2"])
    assert pending_release(edition, NOON).changes == []


def test_release_after_one_without_snapshot_is_like_a_first(edition: Edition) -> None:
    Release.objects.create(edition=edition, number=4)
    make.make_session(edition)
    release = announce(edition, NOON)

    assert (release.number, release.title, release.changes) == (5, "The program is public", [])


def test_reading_the_pending_release_writes_nothing(edition: Edition) -> None:
    announce(edition, NOON)
    make.make_session(edition)
    revision = Edition.objects.get().revision
    pending_release(edition, NOON)

    assert (Release.objects.count(), Edition.objects.get().revision) == (1, revision)


def test_release_advances_the_revision_of_its_edition_by_one(edition: Edition) -> None:
    make.make_paper(edition)
    revision = Edition.objects.get().revision
    announce(edition, NOON)

    assert Edition.objects.get().revision == revision + 1


def test_trap_16_drafts_and_embargoed_things_are_in_no_release() -> None:
    program = make_public_program()
    announce(program["edition"], NOON)
    add_draft_content(program["edition"])
    add_draft_schedule(program["edition"], program["paper"], program["person"], program["session"])
    add_draft_papers(program["edition"], program["paper"], program["person"])
    announce(program["edition"], NOON)
    embargoed = make.make_edition(2032, papers_public_from=None)
    make.make_presentation(
        make.make_session(embargoed, uid="open"), make.make_paper(embargoed, uid=MARKER_LOWER)
    )
    announce(embargoed, NOON)
    releases = Release.objects.filter(published_at=NOON)
    stored = str(list(releases.values("title", "text", "changes", "snapshot"))).lower()

    assert MARKER_LOWER not in stored
    assert [*(Release.objects.get(edition=embargoed).snapshot or {})] == ["session:open"]


def test_withdrawn_paper_is_not_published_and_is_in_the_next_release(edition: Edition) -> None:
    paper, _draft = make.make_paper(edition, ["Ada"]), make.make_paper(edition, status="draft")
    announce(edition, NOON)
    Paper.objects.update(status="withdrawn")

    assert list(Paper.objects.published(NOON)) == []
    assert change_lines(announce(edition, NOON)) == [f"withdrawn:paper:{paper.uid}"]


@pytest.mark.parametrize("rows", [1, 3])
def test_query_count_is_the_same_for_1_and_3_rows(edition: Edition, rows: int) -> None:
    def add(**fields: Any) -> None:
        for _ in range(rows):
            make.make_presentation(make.make_session(edition, **fields), make.make_paper(edition))

    add()
    announce(edition, NOON)
    Session.objects.update(start=make.MORNING - HOUR)
    Presentation.objects.update(board="7")
    add()
    with CaptureQueriesContext(connection) as queries:
        announce(edition, NOON)

    # PostgreSQL also lets the gates of the edition wait.
    assert len(queries) == 27 + connection.features.has_select_for_update
