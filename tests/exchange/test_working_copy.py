"""Tests of imports with a working copy: the schedule stays unreleased, papers and people are public."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from content.history.revert import CannotRevertError
from exchange.files import Source
from exchange.formats import spreadsheet
from exchange.imports.known_rows import reading_context
from exchange.imports.load import load
from exchange.jobs.undo import plan_undo, undo
from exchange.models import ImportRun, Provenance
from papers.models import Paper
from people.models import Person
from schedule.models import PendingChanges, Presentation, Room, Session, SessionRole, Speaker
from schedule.working_copy import release as releasing
from schedule.working_copy.block import edit_working_copy, open_copies, pending_rows, show_working_copy
from tests import factories as make
from tests.exchange.programs import complete_program

pytestmark = pytest.mark.django_db
SCHEDULE = (Room, Session, Presentation, SessionRole, Speaker)


@pytest.fixture
def run() -> ImportRun:
    """Return the run of an import of a whole program into an edition with an open working copy."""
    empty = make.make_edition()
    releasing.open_copy(empty, None, timezone.now())
    found = load(complete_program(), "2021", files=["program.json"]).run
    assert found is not None
    return found


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in SCHEDULE}


def test_schedule_waits_and_papers_are_public(run: ImportRun) -> None:
    public = counts()
    with show_working_copy(open_copies()):
        working = counts()
        again = load(complete_program(), "2021")
    releasing.release(open_copies()[0], None, timezone.now())

    assert {*public.values()} == {0}
    assert all(working.values())
    assert Paper.objects.exists()
    assert not again.total["new"]
    assert counts() == working


def test_tables_find_sessions_that_wait() -> None:
    edition = make.make_edition()
    releasing.open_copy(edition, None, timezone.now())
    with edit_working_copy(open_copies()):
        uid = make.make_session(edition, title="Late posters", kind="poster").uid
    table = Source("a.csv", b"ID,Title,Accept as,Session name\n1,A,Poster,Late posters\n")
    program = spreadsheet.read([table], reading_context(edition))

    assert [(one.paper, one.session) for one in program.presentations] == [("1", uid)]
    assert not Session.objects.exists()


def test_same_file_changes_nothing_while_it_waits(run: ImportRun) -> None:
    sets = PendingChanges.objects.count()
    report = load(complete_program(), "2021", dry_run=True)
    again = load(complete_program(), "2021")

    assert (report.total["new"], report.total["changed"]) == (0, 0)
    assert again.run is None
    assert PendingChanges.objects.count() == sets


def test_reverting_the_import_drops_what_waits(run: ImportRun) -> None:
    assert plan_undo(run).removed
    undo(run)

    assert [row for one in PendingChanges.objects.all() for row in one.rows] == []
    assert (Paper.objects.count(), Person.objects.count()) == (0, 0)
    assert not Provenance.objects.filter(kind="session").exists()
    again = load(complete_program(), "2021").run
    assert again is not None
    assert pending_rows(open_copies())


def test_import_on_which_others_build_stays(run: ImportRun) -> None:
    user = User.objects.create_user("chair")
    with edit_working_copy(open_copies()):
        session = Session.objects.order_by("pk").first()
        assert session is not None
        session.title = "By hand"
        session.save()
    with pytest.raises(CannotRevertError) as error:
        undo(run, user)

    assert "By hand" in error.value.reasons[0]
    assert Paper.objects.exists()
