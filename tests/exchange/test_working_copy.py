"""Tests of imports with a working copy: the schedule waits for the release, people are public at once."""

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
    """Import a complete program into an edition with an open working copy; return the run."""
    edition = make.make_edition()
    releasing.open_copy(edition, None, timezone.now())
    import_run = load(complete_program(), "2021", files=["program.json"]).run
    assert import_run is not None
    return import_run


def schedule_counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in SCHEDULE}


def test_imported_schedule_is_pending(run: ImportRun) -> None:
    public = schedule_counts()
    with show_working_copy(open_copies()):
        working = schedule_counts()
        report = load(complete_program(), "2021")
    releasing.release(open_copies()[0], None, timezone.now())

    assert {*public.values()} == {0}
    assert all(working.values())
    assert not report.total["new"]
    assert schedule_counts() == working


def test_tables_refer_to_pending_sessions() -> None:
    edition = make.make_edition()
    releasing.open_copy(edition, None, timezone.now())
    with edit_working_copy(open_copies()):
        uid = make.make_session(edition, title="Late posters", kind="poster").uid
    table = Source("a.csv", b"ID,Title,Accept as,Session name\n1,A,Poster,Late posters\n")
    program = spreadsheet.read([table], reading_context(edition))

    assert [(record.paper, record.session) for record in program.presentations] == [("1", uid)]
    assert not Session.objects.exists()


def test_second_import_changes_nothing_while_the_first_is_pending(run: ImportRun) -> None:
    pending_count = PendingChanges.objects.count()
    preview = load(complete_program(), "2021", dry_run=True)
    report = load(complete_program(), "2021")

    assert (preview.total["new"], preview.total["changed"]) == (0, 0)
    assert report.run is None
    assert PendingChanges.objects.count() == pending_count


def test_undo_drops_pending_changes(run: ImportRun) -> None:
    assert plan_undo(run).removed
    undo(run)

    assert [row for changes in PendingChanges.objects.all() for row in changes.rows] == []
    assert (Paper.objects.count(), Person.objects.count()) == (0, 0)
    assert not Provenance.objects.filter(kind="session").exists()
    second_run = load(complete_program(), "2021").run
    assert second_run is not None
    assert pending_rows(open_copies())


def test_import_with_later_edits_cannot_be_undone(run: ImportRun) -> None:
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
