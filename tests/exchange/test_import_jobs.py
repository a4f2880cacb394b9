"""Tests of import jobs from upload to end: the previewed changes are written once, or nothing is."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from conference.models import Edition
from content.history import ChangeSet
from exchange.files import Source
from exchange.imports.load import load
from exchange.jobs import tasks
from exchange.jobs.progress import Progress, progress_key, store_token, take_token, token_key
from exchange.jobs.uploads import PART_BYTES, sources, store
from exchange.models import Conflict, ImportJob, ImportRun, PlannedRow, UploadPart
from exchange.records import EditionRecord
from papers.models import Paper
from tests import factories as make
from tests.access.world import add_member
from tests.exchange.programs import author, complete_program, paper, program
from tests.exchange.samples import OPENREVIEW
from tests.exchange.uploads import (
    ADD_URL,
    job_url,
    papers_file,
    press_button,
    program_file,
    staff_client,
    upload,
)
from tests.pseudolocale import pseudolocale, untranslated

pytestmark = pytest.mark.django_db


@pytest.fixture
def here() -> Edition:
    return make.make_edition()


def fields(job: ImportJob, label: str) -> list[list[str]]:
    """Return the fields of a row in the preview."""
    found: list[list[str]] = job.rows.get(label=label).fields
    return found


def test_upload_is_previewed_and_writes_nothing(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1", "Ada", "Zed")))))

    assert (job.state, job.format) == ("ready", "program_json")
    assert (Paper.objects.count(), ImportRun.objects.count()) == (0, 0)
    assert [(row.kind, row.label, row.is_new) for row in job.rows.all()] == [
        ("person", "Ada", True),
        ("person", "Zed", True),
        ("paper", "On p1", True),
    ]
    assert ["Authors", "taken", "", "", "1. Ada\n2. Zed"] in fields(job, "On p1")
    page = admin_client.get(job_url(job)).text
    assert "Import: 3 new, 0 changed" in page
    assert "p.json, papers[0] (p1)" in page


def test_confirmed_import_is_written_once(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1", "Ada")))))
    assert UploadPart.objects.filter(job=job).exists()
    job = press_button(admin_client, job, "confirm")
    press_button(admin_client, job, "confirm")

    run = ImportRun.objects.get()
    assert (job.state, job.run, run.files, str(run.user)) == ("done", run, ["p.json"], "admin")
    assert ChangeSet.objects.filter(reference=f"exchange.importrun:{run.pk}", user=run.user).count() == 1
    assert (UploadPart.objects.exists(), PlannedRow.objects.count(), job.has_files) == (False, 0, False)
    page = admin_client.get(job_url(job)).text
    assert "2 new and 0 changed rows" in page
    assert f"/admin/exchange/importrun/{run.pk}/undo/" in page


def fates(row: PlannedRow) -> str:
    """Return the flags of a row: n(ew), c(hanged), k(ept), x for conflicting."""
    marks = {"n": row.is_new, "c": row.is_changed, "k": row.is_kept, "x": row.is_conflicting}
    return "".join(letter for letter, holds in marks.items() if holds)


def test_every_fate_of_a_row_is_shown_with_its_fields(admin_client: Client, here: Edition) -> None:
    load(program(*(paper(f"p{n}", title="Old") for n in range(4))), "2021")
    Paper.objects.filter(uid__in=["p1", "p2"]).update(title="By hand")
    titles = ["New", "Old", "New", "Old", "Fifth"]
    news = [paper(f"p{n}", title=title) for n, title in enumerate(titles)]
    job = upload(admin_client, here, ("p.json", papers_file(program(*news))))

    assert job.counts["paper"] == {"new": 1, "changed": 1, "kept": 1, "conflicting": 1, "skipped": 1}
    rows = {row.where.partition("(")[2][:2]: row for row in job.rows.filter(kind="paper")}
    assert {uid: fates(row) for uid, row in rows.items()} == {
        "p0": "c",
        "p1": "k",
        "p2": "x",
        "p3": "",
        "p4": "n",
    }
    assert [rows[uid].fields for uid in ("p0", "p1", "p2")] == [
        [["Title", "taken", "", "Old", "New"]],
        [["Title", "kept", "Old", "By hand", "Old"]],
        [["Title", "conflict", "Old", "By hand", "New"]],
    ]


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("", ["New", "By hand", "Fifth"]),
        ("?what=all", ["New", "By hand", "Fifth", "Old"]),
        ("?what=skipped", ["Old"]),
        ("?what=new&kind=paper", ["Fifth"]),
        ("?what=new&kind=person", []),
        ("?what=nonsense&kind=%27&p=99", ["New", "By hand", "Fifth"]),
    ],
)
def test_rows_of_the_preview_can_be_narrowed(
    admin_client: Client, here: Edition, query: str, labels: list[str]
) -> None:
    load(program(*(paper(f"p{n}", title="Old") for n in range(3))), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")
    titles = {"p0": "New", "p1": "News", "p2": "Old", "p4": "Fifth"}
    news = [paper(uid, title=title) for uid, title in titles.items()]
    job = upload(admin_client, here, ("p.json", papers_file(program(*news))))
    shown = admin_client.get(job_url(job) + query).context["planned"]

    assert [one["row"].label for one in shown if one["row"].kind == "paper"] == labels


def test_program_that_changed_meanwhile_is_previewed_again(admin_client: Client, here: Edition) -> None:
    load(program(paper("p1", title="Old")), "2021")
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1", title="New")))))
    Paper.objects.update(title="By hand")
    job = press_button(admin_client, job, "confirm")

    assert (job.state, job.is_again, Paper.objects.get().title) == ("ready", True, "By hand")
    assert fields(job, "By hand") == [["Title", "conflict", "Old", "By hand", "New"]]
    assert "the program changed after the preview" in admin_client.get(job_url(job)).text
    job = press_button(admin_client, job, "confirm")
    assert (job.state, Paper.objects.get().title, Conflict.objects.count()) == ("done", "By hand", 1)


def test_change_that_does_not_matter_hinders_nothing(admin_client: Client, here: Edition) -> None:
    other = make.make_paper(here, ["Somebody"])
    # New people get a random uid in every plan.
    news = program(paper("p1", author("Ada"), author("Zed")), paper("p2", author("Ada")))
    job = upload(admin_client, here, ("p.json", papers_file(news)))
    other.title = "Edited"
    other.save()
    job = press_button(admin_client, job, "confirm")

    assert (job.state, job.is_again, Paper.objects.count()) == ("done", False, 3)


def test_problems_are_listed_with_place_and_field(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("papers.csv", b"uid,title,topic\np1,A,nowhere\n"), format="tables")
    page = admin_client.get(job_url(job)).text

    assert (job.state, Paper.objects.count()) == ("refused", 0)
    assert [problem[:2] for problem in job.problems] == [["papers.csv, row 2", "topic"]]
    assert "There is no topic “nowhere” in this file or in edition 2021." in page
    assert press_button(admin_client, job, "drop").state == "dropped"
    assert not UploadPart.objects.exists()


def test_file_brings_a_new_edition(admin_client: Client) -> None:
    make.make_conference()
    job = press_button(
        admin_client, upload(admin_client, None, ("2021.json", program_file(complete_program()))), "confirm"
    )

    assert (job.state, Edition.objects.get().slug, Paper.objects.count()) == ("done", "2021", 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (program_file(program(paper("p1"))), "edition “2021”, which already exists"),
        (papers_file(program(paper("p1"))), "The file doesn’t describe an edition."),
    ],
)
def test_new_edition_must_be_new_and_described(
    admin_client: Client, here: Edition, content: bytes, message: str
) -> None:
    job = upload(admin_client, None, ("2021.json", content))

    assert job.state == "refused"
    assert message in job.problems[0][2]


def test_spreadsheet_may_have_a_mapping(admin_client: Client, here: Edition) -> None:
    table = ("x.csv", "Nummer,Überschrift,Leute\n7,On n bodies,Mia Zed\n".encode())
    mapping = ("map.toml", '[columns]\nNummer = "uid"\n"Überschrift" = "title"\nLeute = "authors"\n'.encode())
    job = upload(admin_client, here, table, mapping)

    assert (job.problems, job.state) == ([], "ready")
    assert [row.label for row in job.rows.filter(is_new=True)] == ["Mia Zed", "On n bodies"]


def test_program_is_fetched_once_with_a_token_that_is_not_kept(
    admin_client: Client, here: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def fetched(url: str, pages: Any, policy: Any, progress: Any) -> list[Source]:
        asked.append((url, policy.token))
        return [Source("api2.openreview.net-1.json", OPENREVIEW.encode())]

    monkeypatch.setattr("exchange.jobs.tasks.fetch", fetched)
    url = "https://api2.openreview.net/notes?content.venueid=MLSys.org/2021/Conference"
    job = upload(admin_client, here, url=url, token="secret-token")
    kept = b"".join(bytes(part.content) for part in UploadPart.objects.all())
    stored_token = take_token(job.pk)
    job = press_button(admin_client, job, "confirm")

    assert asked == [(url, "secret-token")]
    assert (b"secret-token" in kept, stored_token) == (False, "")
    assert (job.state, Paper.objects.get().title) == ("done", "On n bodies")


def test_token_beside_files_is_not_kept(admin_client: Client, here: Edition) -> None:
    file = ("p.json", papers_file(program(paper("p1"))))
    job = upload(admin_client, here, file, token="secret-token")

    assert (job.state, take_token(job.pk)) == ("ready", "")


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({}, "Choose files, paste a table, or enter an address"),
        ({"sources": [("a.txt", b"Dear all")]}, "The format couldn’t be detected from these files."),
        ({"sources": [("a.json", b"x" * 1_000_001)]}, "the limit is 1 MB"),
        ({"sources": [("a.csv", b"x"), ("a.csv", b"x")]}, "Two files are called “a.csv”."),
        ({"url": "https://example.org/notes"}, "Programs are fetched only from"),
        ({"url": "http://api2.openreview.net/notes"}, "Programs are fetched only from"),
        ({"url": "https://api2.openreview.net/", "format": "bibtex"}, "This format can’t be fetched."),
        ({"url": "https://api2.openreview.net/", "token": "two words"}, "does not look like a token"),
        ({"edition": "999"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_taken_is_said_beside_the_field(
    admin_client: Client, here: Edition, settings: Settings, sent: dict[str, Any], message: str
) -> None:
    settings.IMPORT_MEGABYTES = 1
    files = [SimpleUploadedFile(*file) for file in sent.pop("sources", [])]
    response = admin_client.post(ADD_URL, {"edition": here.pk, "sources": files, **sent})

    assert response.status_code == 200
    assert message in response.text.replace("&#x27;", "'")
    assert ImportJob.objects.count() == 0


# Workers


@pytest.fixture
def queued(settings: Settings) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}


def work() -> None:
    call_command("db_worker", batch=True, interval=0, startup_delay=False, verbosity=0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("queued")
def test_worker_does_what_the_request_does_not(admin_client: Client) -> None:
    job = upload(admin_client, make.make_edition(), ("p.json", papers_file(program(paper("p1", "Ada")))))
    states, pages = [job.state], [admin_client.get(job_url(job)).text]
    work()
    job = press_button(admin_client, ImportJob.objects.get(), "confirm")
    states.append(job.state)
    pages.append(admin_client.get(f"/admin/exchange/importjob/{job.pk}/progress/").text)
    work()

    assert [*states, ImportJob.objects.get().state] == ["reading", "writing", "done"]
    assert all("Waiting for the worker" in page for page in pages)
    assert 'http-equiv="refresh"' in pages[0]
    assert Paper.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("queued")
def test_task_of_a_failed_import_has_failed(admin_client: Client) -> None:
    upload(admin_client, make.make_edition(), ("p.json", papers_file(program(paper("p1", "Ada")))))
    UploadPart.objects.all().delete()
    work()

    assert (ImportJob.objects.get().state, DBTaskResult.objects.get().status) == ("failed", "FAILED")


def stopped(job: ImportJob, seconds: int) -> None:
    """Store the progress of a worker that was last seen so many seconds ago."""
    seen_at = timezone.now() - timedelta(seconds=seconds)
    caches["imports"].set(progress_key(job.pk), Progress("papers", 3, 10, seen_at))


@pytest.mark.usefixtures("queued")
@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "Comparing: papers: 3 of 10"), (90, "The worker has stopped.")]
)
def test_worker_that_died_is_told_from_one_at_work(
    admin_client: Client, here: Edition, seconds: int, words: str
) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1")))))
    stopped(job, seconds)

    assert words in " ".join(admin_client.get(job_url(job)).text.split())
    again = press_button(admin_client, job, "again")
    assert (again.progress is None) == (seconds > 60)


@pytest.mark.usefixtures("queued")
def test_import_that_no_worker_takes_says_so(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1")))))
    ImportJob.objects.update(changed_at=timezone.now() - timedelta(minutes=2))

    assert "manage.py db_worker" in admin_client.get(job_url(job)).text
    assert press_button(admin_client, job, "drop").state == "dropped"
    work_done = tasks.preview.call(job.pk)
    assert (work_done, ImportJob.objects.get().state) == (None, "dropped")


def test_failure_of_ours_writes_nothing_and_can_be_tried_again(
    admin_client: Client, here: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1")))))
    with monkeypatch.context() as patched:
        patched.setattr("exchange.imports.load.write_rows", lambda *args: 1 / 0)
        job = press_button(admin_client, job, "confirm")
    page = admin_client.get(job_url(job)).text

    assert (job.state, Paper.objects.count()) == ("failed", 0)
    assert "Your files are not the cause." in page
    job = press_button(admin_client, press_button(admin_client, job, "again"), "confirm")
    assert (job.state, Paper.objects.count()) == ("done", 1)


# Stored files


def test_files_are_removed_after_a_day(admin_client: Client, here: Edition) -> None:
    old = upload(admin_client, here, ("old.json", papers_file(program(paper("p1")))))
    young = upload(admin_client, here, ("young.json", papers_file(program(paper("p1")))))
    ImportJob.objects.filter(pk=old.pk).update(changed_at=timezone.now() - timedelta(hours=25))
    store_token(old.pk, "secret")
    call_command("sweep_imports", verbosity=0)

    assert token_key(old.pk) not in caches["imports"]
    assert {part.job for part in UploadPart.objects.all()} == {young}
    assert [job.state for job in ImportJob.objects.order_by("pk")] == ["dropped", "ready"]
    assert {row.job for row in PlannedRow.objects.all()} == {young}
    assert "expired after a day" in admin_client.get(job_url(old)).text


def test_files_that_are_gone_are_asked_for(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1")))))
    UploadPart.objects.all().delete()
    job = press_button(admin_client, job, "confirm")
    page = admin_client.get(job_url(job)).text

    assert job.state == "failed"
    assert "Nothing was written. The uploaded files have been removed. Upload them again." in page
    assert "Start again" not in page


def test_files_that_are_fetched_again_take_the_place_of_the_first(here: Edition) -> None:
    job = ImportJob.objects.create(edition=here, files=["a"])
    for content in (b"old", b"new"):
        store(job, [[content]])

    assert [one.content for one in sources(job)] == [b"new"]


def test_large_file_is_stored_in_parts(admin_client: Client, here: Edition) -> None:
    content = papers_file(program(paper("p1"))) + b" " * (2 * PART_BYTES)
    files = [("../../evil.json", content), ("b.json", papers_file(program(paper("p2"))))]
    job = upload(admin_client, here, *files, format="program_json")

    assert job.files == ["evil.json", "b.json"]
    assert [one.content for one in sources(job)] == [content for _, content in files]
    assert max(len(part.content) for part in UploadPart.objects.all()) == PART_BYTES


# Permissions


def test_viewer_sees_and_changes_nothing(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1")))))
    viewer = staff_client("view_importjob", "view_edition")
    page = viewer.get(job_url(job))

    assert "You can view this import but not confirm it." in page.text
    refused = [viewer.post(job_url(job), {"do": "confirm"}), viewer.get(ADD_URL)]
    assert [one.status_code for one in refused] == [403, 403]
    assert Paper.objects.count() == 0


def test_importer_chooses_among_editions_that_one_may_change(here: Edition) -> None:
    importer = staff_client("add_importjob", "view_importjob", "change_importjob", "view_edition")
    choices = importer.get(ADD_URL).context["form"].fields["edition"].choices

    assert choices == []


def test_stranger_sees_no_upload(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1")))))
    stranger = staff_client("view_paper")
    progress = f"/admin/exchange/importjob/{job.pk}/progress/"

    assert [stranger.get(one).status_code for one in (job_url(job), progress)] == [403, 403]


def test_editor_imports_the_program_but_not_the_edition(here: Edition) -> None:
    editor = Client()
    editor.force_login(add_member("mia", here, "editor"))
    head = replace(program(paper("p1")), edition=EditionRecord(slug="2021", venue="Elsewhere"))
    refused = upload(editor, here, ("p.json", program_file(head)))
    done = press_button(editor, upload(editor, here, ("p.json", papers_file(head))), "confirm")

    assert (refused.state, done.state) == ("refused", "done")
    said = "which your role may not. Leave it out of the file, or ask somebody who may."
    assert refused.problems == [["p.json, edition", "venue", f"The file changes this of {here}, {said}"]]
    assert Edition.objects.get().venue == here.venue


def test_program_chair_imports_the_edition_too(here: Edition) -> None:
    chair = Client()
    chair.force_login(add_member("mia", here, "chair"))
    head = replace(program(paper("p1")), edition=EditionRecord(slug="2021", venue="Elsewhere"))
    press_button(chair, upload(chair, here, ("p.json", program_file(head))), "confirm")

    assert Edition.objects.get().venue == "Elsewhere"


# Queries


@pytest.mark.parametrize("page", ["upload", "list", "preview", "done"])
def test_pages_cost_the_same_for_one_row_and_three(
    admin_client: Client, here: Edition, page: str, django_assert_num_queries: Any
) -> None:
    expected = {"upload": 5, "list": 5, "preview": 6, "done": 4}[page]
    for size in (1, 3):
        make.make_edition(2010 + size)
        job = upload(admin_client, here, ("p.json", papers_file(crowd_of(size))))
        if page == "done":
            job = press_button(admin_client, job, "confirm")
        address = {"upload": ADD_URL, "list": "/admin/exchange/importjob/"}.get(page, job_url(job))
        with django_assert_num_queries(expected):
            admin_client.get(address)


def crowd_of(size: int) -> Any:
    return program(*(paper(f"p{size}{n}", f"Ann {size}{n}") for n in range(size)))


# Messages


def test_pages_say_nothing_untranslated(admin_client: Client, here: Edition) -> None:
    load(program(paper("p1", title="Old")), "2021")
    Paper.objects.update(title="By hand")
    files = [("p.json", papers_file(program(paper("p1", title="New"), paper("p2", title="Old"))))]
    with pseudolocale():
        ready = upload(admin_client, here, *files)
        refused = upload(
            admin_client, here, ("papers.csv", b"uid,title,topic\np1,A,nowhere\n"), format="tables"
        )
        pages = [ADD_URL, job_url(ready), job_url(refused)]
        said = {one: untranslated(admin_client.get(one).text, WORDS) for one in pages}

    assert {one: words for one, words in said.items() if words} == {}


# Names of the parts of formats, and values in the files.
WORDS = [
    "Plenary",
    "admin",
    "UTC",
    "MLSys 2021",
    "p.json",
    "papers.csv",
    "topic",
    "nowhere",
    "papers",
    "title",
]
WORDS += ["Old", "New", "By hand", "TOML", "JSON", "row 2", "p1", "p2", "What was done."]
