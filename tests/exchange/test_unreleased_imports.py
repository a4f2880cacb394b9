"""Tests of imports while changes wait: the schedule waits for the release, people are public at once."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from content.unreleased.plan import planned
from exchange.files import Source
from exchange.formats import spreadsheet
from exchange.imports.known_rows import reading_context
from exchange.imports.load import load
from exchange.jobs.undo import plan_undo, undo
from exchange.models import ImportRun, Provenance
from papers.models import Paper
from people.models import Person
from schedule.models import Presentation, Session, SessionRole, Speaker, UnreleasedChange
from tests import factories as make
from tests.exchange.programs import complete_program
from tests.schedule.unreleased.waiting import open_plan, release_all

pytestmark = pytest.mark.django_db
SCHEDULE: tuple[Any, ...] = (Session, Presentation, SessionRole, Speaker)


@pytest.fixture
def run() -> ImportRun:
    """Import a complete program into an edition whose changes wait; return the run."""
    edition = make.make_edition()
    open_plan(edition)
    import_run = load(complete_program(), "2021", files=["program.json"]).run
    assert import_run is not None
    return import_run


def public_counts() -> dict[str, int]:
    return {model.__name__: model.objects.published().count() for model in SCHEDULE}


def test_imported_schedule_waits(run: ImportRun) -> None:
    public = public_counts()
    with planned(run.edition):
        planned_counts = public_counts()
    report = load(complete_program(), "2021")
    release_all(run.edition)

    assert {*public.values()} == {0}
    assert all(planned_counts.values())
    assert not report.total["new"]
    assert public_counts() == planned_counts


def test_tables_refer_to_sessions_that_wait() -> None:
    edition = make.make_edition()
    open_plan(edition)
    session = make.make_session(edition, title="Posters", kind="poster")
    Session.objects.filter(pk=session.pk).update(title="Late posters", status="published")
    table = Source("a.csv", b"ID,Title,Accept as,Session name\n1,A,Poster,Late posters\n")
    program = spreadsheet.read([table], reading_context(edition))

    assert [(record.paper, record.session) for record in program.presentations] == [("1", session.uid)]
    assert not Session.objects.published().exists()


def test_second_import_changes_nothing_while_the_first_waits(run: ImportRun) -> None:
    changes = [*UnreleasedChange.objects.order_by("pk").values()]
    preview = load(complete_program(), "2021", dry_run=True)
    report = load(complete_program(), "2021")

    assert (preview.total["new"], preview.total["changed"]) == (0, 0)
    assert report.run is None
    assert [*UnreleasedChange.objects.order_by("pk").values()] == changes


def test_undo_takes_back_what_waits(run: ImportRun) -> None:
    assert plan_undo(run).removed
    undo(run)

    assert not UnreleasedChange.objects.exists()
    assert (Paper.objects.count(), Person.objects.count(), Session.objects.count()) == (0, 0, 0)
    assert not Provenance.objects.filter(kind="session").exists()
    second_run = load(complete_program(), "2021").run
    assert second_run is not None
    assert UnreleasedChange.objects.exists()


def test_preview_of_the_undo_command_says_what_the_undo_does(
    run: ImportRun, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session.objects.order_by("pk").first()
    assert session is not None
    session.title = "By hand"
    session.save()
    call_command("undo_import", str(run.pk), dry_run=True)
    *preview, last = capsys.readouterr().out.splitlines()
    call_command("undo_import", str(run.pk))

    assert last == "This was a preview: nothing was changed."
    assert [line for line in preview if "By hand" in line] != []
    assert preview == capsys.readouterr().out.splitlines()


def test_undo_keeps_sessions_that_were_edited_later(run: ImportRun) -> None:
    user = User.objects.create_user("chair")
    session = Session.objects.order_by("pk").first()
    assert session is not None
    session.title = "By hand"
    session.save()
    plan = undo(run, user)

    assert any("By hand" in str(label) for label in plan.kept)
    assert Session.objects.get().title == "By hand"
