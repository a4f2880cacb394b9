"""Tests of what imports make public: the choice, the numbers in the preview, roles, distant dates."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from conference.models import Edition, Page
from content.history import ChangeSet
from exchange.files import Context
from exchange.formats import program_json
from exchange.imports.load import Report, load
from exchange.imports.publication_counts import describe_publication
from exchange.jobs.undo import undo
from exchange.models import Conflict, ImportJob
from exchange.records import AwardRecord, PageRecord, Program
from papers.models import Award, Paper
from schedule.models import Presentation, Session
from tests import factories as make
from tests.access.world import add_member
from tests.exchange.programs import START, paper, program, session, talk
from tests.exchange.uploads import job_url, papers_file, press_button, program_file, upload
from tests.schedule.unreleased.waiting import open_plan, planned_rows, release_all, waiting_fields

pytestmark = pytest.mark.django_db


@pytest.fixture
def edition() -> Edition:
    return make.make_edition()


@pytest.fixture
def waiting_edition(edition: Edition) -> Edition:
    """Return an edition whose schedule has changes that wait for a release."""
    open_plan(edition)
    return edition


def small_program(**fields: Any) -> Program:
    """Return a program without its edition: two papers, a talk in a session, an award and a page."""
    return Program(
        **{
            "papers": (paper("p1"), paper("p2", status="draft")),
            "sessions": (session("s1"),),
            "presentations": (talk("t1", paper="p1", session="s1"), talk("t2", paper="p2", session="s1")),
            "awards": (AwardRecord(uid="best", name="Best", status="published"),),
            "pages": (PageRecord(slug="help", title="Help", status="published"),),
            **fields,
        }
    )


def lines_of(report: Report) -> list[str]:
    return list(describe_publication(report.publications))


def public_counts() -> list[int]:
    """Return the numbers of public papers, sessions, talks, awards and pages."""
    return [model.objects.published().count() for model in (Paper, Session, Presentation, Award, Page)]


# The choice


def test_preview_says_what_becomes_public(edition: Edition) -> None:
    report = load(small_program(), "2021", dry_run=True)
    load(small_program(), "2021")

    # The talk of a draft is not public.
    assert lines_of(report) == [
        "5 become public now: 1 page, 1 paper, 1 award, 1 session, 1 presentation.",
        "1 stays a draft: 1 paper.",
    ]
    assert public_counts() == [1, 1, 1, 1, 1]


def test_rows_of_a_hidden_part_become_public_with_it() -> None:
    make.make_edition(papers_public_from=None, schedule_public_from=datetime(2999, 1, 1, tzinfo=UTC))

    assert lines_of(load(small_program(), "2021")) == [
        "1 becomes public now: 1 page.",
        (
            "4 become public when this part of the edition is published: "
            "1 paper, 1 award, 1 session, 1 presentation."
        ),
        "1 stays a draft: 1 paper.",
    ]


def test_drafts_are_published_by_a_later_import(edition: Edition) -> None:
    report = load(small_program(), "2021", publication="drafts")
    drafts = public_counts()
    again = load(small_program(), "2021", publication="drafts")
    published = load(small_program(), "2021", publication="now")

    assert lines_of(report)[0] == "Nothing becomes public."
    assert report.publications == {
        "drafts": {"page": 1, "paper": 2, "award": 1, "session": 1, "presentation": 2}
    }
    assert (drafts, again.run, again.total["changed"]) == ([0, 0, 0, 0, 0], None, 0)
    assert published.publications["now"] == {
        "page": 1, "paper": 1, "award": 1, "session": 1, "presentation": 1
    }  # fmt: skip
    assert public_counts() == [1, 1, 1, 1, 1]


def test_draft_made_by_hand_is_kept_by_an_import_that_publishes(edition: Edition) -> None:
    load(small_program(), "2021")
    Paper.objects.filter(uid="p1").update(status="draft")
    report = load(small_program(), "2021", publication="now")

    assert (report.publications, Paper.objects.get(uid="p1").status) == ({}, "draft")


def test_published_row_stays_public_when_new_ones_are_drafts(edition: Edition) -> None:
    load(small_program(), "2021")
    changed = (paper("p1", title="Better"), paper("p2"), paper("p3"))
    report = load(small_program(papers=changed), "2021", publication="drafts")

    statuses = dict(Paper.objects.values_list("uid", "status"))
    assert statuses == {"p1": "published", "p2": "draft", "p3": "draft"}
    assert Paper.objects.get(uid="p1").title == "Better"
    assert report.publications == {"drafts": {"paper": 2}}


def test_withdrawn_paper_is_hidden_and_counted(edition: Edition) -> None:
    load(small_program(), "2021")
    withdrawn = Program(papers=(paper("p1", status="withdrawn"),))
    report = load(withdrawn, "2021", publication="drafts")

    assert lines_of(report) == ["Nothing becomes public.", "1 is hidden at once: 1 paper."]
    assert Paper.objects.get(uid="p1").status == "withdrawn"


# While changes wait for a release


def test_import_waits_for_the_release(waiting_edition: Edition) -> None:
    preview = load(small_program(), "2021", dry_run=True)
    report = load(small_program(), "2021")
    public = public_counts()
    again = load(small_program(), "2021", dry_run=True)
    release_all(waiting_edition)

    assert (
        lines_of(preview)
        == lines_of(report)
        == [
            "3 become public with the next release: 1 paper, 1 session, 1 presentation.",
            "3 stay drafts: 1 page, 1 paper, 1 award.",
        ]
    )
    assert public == [0, 0, 0, 0, 0]
    assert (again.total["new"], again.total["changed"]) == (0, 0)
    assert public_counts() == [1, 1, 1, 0, 0]


def test_chair_publishes_at_once_while_changes_wait(waiting_edition: Edition) -> None:
    report = load(small_program(), "2021", publication="now")

    assert report.publications["now"] == {
        "page": 1, "paper": 1, "award": 1, "session": 1, "presentation": 1
    }  # fmt: skip
    assert public_counts() == [1, 1, 1, 1, 1]
    assert waiting_fields() == []


def test_drafts_do_not_wait_for_the_release(waiting_edition: Edition) -> None:
    load(small_program(), "2021", publication="drafts")
    assert waiting_fields() == []

    assert public_counts() == [0, 0, 0, 0, 0]
    assert {*Session.objects.values_list("status", flat=True)} == {"draft"}


def test_withdrawn_paper_does_not_wait_and_undo_restores_it(edition: Edition) -> None:
    load(small_program(), "2021")
    open_plan(edition)
    moved = session("s1", start=START + timedelta(hours=1), end=START + timedelta(hours=2))
    changed = Program(papers=(paper("p1", status="withdrawn"),), sessions=(moved,))
    run = load(changed, "2021").run
    assert run is not None
    hidden = Paper.objects.get(uid="p1").status
    waiting = waiting_fields()
    undo(run)

    assert (hidden, waiting) == ("withdrawn", [{"start", "end"}])
    assert (Paper.objects.get(uid="p1").status, waiting_fields()) == ("published", [])


def test_undo_of_an_import_drops_its_waiting_papers(waiting_edition: Edition) -> None:
    run = load(small_program(), "2021").run
    assert run is not None
    undo(run)

    assert (Paper.objects.count(), waiting_fields()) == (0, [])
    assert ChangeSet.objects.filter(reference=f"exchange.importrun:{run.pk}", origin="import").count() == 1


# Roles and the page


def client_of(edition: Edition, role: str) -> Client:
    client = Client()
    client.force_login(add_member(role, edition, role))
    return client


def published_papers() -> list[str]:
    return [*Paper.objects.filter(status="published").values_list("uid", flat=True)]


@pytest.mark.parametrize("role", ["owner", "chair"])
def test_roles_that_decide_on_publishing_publish_by_import(edition: Edition, role: str) -> None:
    client = client_of(edition, role)
    job = upload(client, edition, ("p.json", papers_file(program(paper("p1")))))
    page = client.get(job_url(job)).text
    press_button(client, job, "confirm")

    assert "<li>1 becomes public now: 1 paper.</li>" in page
    assert published_papers() == ["p1"]


@pytest.mark.parametrize("role", ["editor", "importer"])
@pytest.mark.parametrize("choice", ["", "now", "with-release"])
def test_roles_that_only_edit_import_drafts(edition: Edition, role: str, choice: str) -> None:
    make.make_paper(edition, uid="old", status="draft")
    client = client_of(edition, role)
    file = papers_file(program(paper("p1"), paper("old", title="New title")))
    job = upload(client, edition, ("p.json", file))
    if choice:
        client.post(job_url(job), {"do": "publish", "publication": choice})
        job.refresh_from_db()
    page = client.get(job_url(job)).text
    job = press_button(client, job, "confirm")

    assert (job.state, published_papers(), Paper.objects.count()) == ("done", [], 2)
    assert "Your role imports drafts" in page
    assert "<li>Nothing becomes public.</li>" in page
    assert 'name="publication"' not in page


def test_chair_chooses_on_the_page_of_the_preview(waiting_edition: Edition) -> None:
    chair = client_of(waiting_edition, "chair")
    file = papers_file(program(paper("p1")))
    job = upload(chair, waiting_edition, ("p.json", file))
    first = chair.get(job_url(job)).text
    chair.post(job_url(job), {"do": "publish", "publication": "now"})
    job = ImportJob.objects.get()
    second = chair.get(job_url(job)).text
    press_button(chair, job, "confirm")

    assert "<li>1 becomes public with the next release: 1 paper.</li>" in first
    assert '<option value="with-release" selected>' in first
    assert "<li>1 becomes public now: 1 paper.</li>" in second
    assert '<option value="now" selected>' in second
    assert published_papers() == ["p1"]


def test_import_is_previewed_again_if_changes_wait_by_now(edition: Edition) -> None:
    chair = client_of(edition, "chair")
    job = upload(chair, edition, ("p.json", papers_file(program(paper("p1")))))
    open_plan(edition)
    job = press_button(chair, job, "confirm")

    assert (job.state, job.is_again, job.publications) == ("ready", True, {"with-release": {"paper": 1}})


@pytest.mark.parametrize(("role", "status"), [("importer", "draft"), ("chair", "published")])
def test_decision_of_a_conflict_publishes_only_for_chairs(edition: Edition, role: str, status: str) -> None:
    load(Program(papers=(paper("p1", status="withdrawn"),)), "2021")
    Paper.objects.update(status="draft")
    load(Program(papers=(paper("p1"),)), "2021")
    conflict = Conflict.objects.get()
    client = client_of(edition, role)
    address = f"/admin/exchange/conflict/{conflict.pk}/change/"
    seen = client.get(address).context["sides"]["mark"]
    for decision in ({"decision": "edited", "edit-status": "published"}, {"decision": "theirs"}):
        client.post(address, {"seen": seen, **decision})

    assert Paper.objects.get().status == status


# The command


def write_file(folder: Path, records: Program) -> str:
    (file,) = program_json.write(records, Context("2021", 2021, "UTC"))
    path = folder / "program.json"
    path.write_bytes(b"".join(file.chunks))
    return str(path)


def run_import(path: str, *args: str) -> list[str]:
    out, err = StringIO(), StringIO()
    try:
        arguments = ["program_json", path, "--edition=2021", "--no-progress", *args]
        call_command("import_program", *arguments, stdout=out, stderr=err)
    except CommandError:
        return err.getvalue().splitlines()
    return out.getvalue().splitlines()


def test_command_ends_with_what_becomes_public(edition: Edition, tmp_path: Path) -> None:
    path = write_file(tmp_path, program(paper("p1")))
    preview = run_import(path, "--dry-run")
    drafts = run_import(path, "--publish=drafts")

    assert preview[-2:] == [
        "1 becomes public now: 1 paper.",
        "This was a preview: nothing was written.",
    ]
    assert drafts[-2:] == ["Nothing becomes public.", "1 stays a draft: 1 paper."]
    assert published_papers() == []
    assert run_import(path, "--publish=with-release") == [
        "No changes of this edition wait for a release. Choose now or drafts."
    ]


def test_command_waits_for_the_release(waiting_edition: Edition, tmp_path: Path) -> None:
    path = write_file(tmp_path, program(paper("p1")))

    assert run_import(path)[-1] == "1 becomes public with the next release: 1 paper."
    assert published_papers() == []
    (planned_paper,) = planned_rows(waiting_edition, Paper)
    assert planned_paper.status == "published"


# Dates far outside the edition


LAST_YEAR = START - timedelta(days=364)
QUESTION = (
    "1 entry of the timetable lies far outside the days of the edition (2021-04-05 – 2021-04-09): "
    "“Session s1” on 2020-04-07. Is the date right?"
)


def distant_program() -> Program:
    last_year = session("s1", start=LAST_YEAR, end=LAST_YEAR + timedelta(hours=1))
    workshop = session("s2", start=START + timedelta(days=14), end=START + timedelta(days=14, hours=1))
    return replace(program(paper("p1")), sessions=(last_year, workshop))


def test_command_asks_about_dates_far_outside_the_edition(edition: Edition, tmp_path: Path) -> None:
    path = write_file(tmp_path, distant_program())
    preview = run_import(path, "--dry-run")
    refused = run_import(path)
    count = Session.objects.count()
    run_import(path, "--allow-distant-dates")

    assert preview[-3] == QUESTION
    assert refused == [f"{QUESTION} To import it as it is, add --allow-distant-dates."]
    assert (count, Session.objects.count()) == (0, 2)
    # What is here already is not asked about again.
    assert run_import(path)[-1] == "Nothing has changed."


def test_dates_far_outside_the_edition_must_be_confirmed(admin_client: Client, edition: Edition) -> None:
    job = upload(admin_client, edition, ("p.json", program_file(distant_program())))
    page = admin_client.get(job_url(job)).text
    job = press_button(admin_client, job, "confirm")
    refused = (job.state, Session.objects.count())
    admin_client.post(job_url(job), {"do": "confirm", "confirmed": "1"})

    assert QUESTION in page
    assert refused == ("ready", 0)
    assert Session.objects.count() == 2
