"""Tests of import jobs: upload, preview and confirmation; workers, stored files and permissions."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from conference.models import Edition
from content.history import ChangeSet
from exchange.files import Source
from exchange.imports.load import load
from exchange.jobs import tasks
from exchange.jobs.progress import Progress, progress_key, read_token, store_token, token_key
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
    upload_papers,
)
from tests.pseudolocale import pseudolocale, untranslated

pytestmark = pytest.mark.django_db


def preview_fields(job: ImportJob, label: str) -> list[list[str]]:
    """Return the fields of a row in the preview."""
    rows: list[list[str]] = job.rows.get(label=label).fields
    return rows


def test_upload_is_previewed_and_writes_nothing(admin_client: Client, edition: Edition) -> None:
    job = upload_papers(admin_client, edition, paper("p1", "Ada", "Zed"))

    assert (job.state, job.format) == ("ready", "program_json")
    assert (Paper.objects.count(), ImportRun.objects.count()) == (0, 0)
    assert [(row.kind, row.label, row.is_new) for row in job.rows.all()] == [
        ("person", "Ada", True),
        ("person", "Zed", True),
        ("paper", "On p1", True),
    ]
    assert ["Authors", "taken", "", "", "1. Ada\n2. Zed"] in preview_fields(job, "On p1")
    page = admin_client.get(job_url(job)).text
    assert "Import: 3 new, 0 changed" in page
    assert "p.json, papers[0] (p1)" in page


def test_confirmed_import_is_written_once(admin_client: Client, edition: Edition) -> None:
    job = upload_papers(admin_client, edition, paper("p1", "Ada"))
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


def outcome_flags(row: PlannedRow) -> str:
    """Return the flags of a row: n for new, c for changed, k for kept, x for conflicting."""
    flags = {"n": row.is_new, "c": row.is_changed, "k": row.is_kept, "x": row.is_conflicting}
    return "".join(letter for letter, is_set in flags.items() if is_set)


def test_preview_shows_the_outcome_and_fields_of_each_row(admin_client: Client, edition: Edition) -> None:
    load(program(*(paper(f"p{n}", title="Old") for n in range(4))), "2021")
    Paper.objects.filter(uid__in=["p1", "p2"]).update(title="By hand")
    titles = ["New", "Old", "New", "Old", "Fifth"]
    papers = [paper(f"p{n}", title=title) for n, title in enumerate(titles)]
    job = upload_papers(admin_client, edition, *papers)

    assert job.counts["paper"] == {"new": 1, "changed": 1, "kept": 1, "conflicting": 1, "skipped": 1}
    rows = {row.where.partition("(")[2][:2]: row for row in job.rows.filter(kind="paper")}
    assert {uid: outcome_flags(row) for uid, row in rows.items()} == {
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
def test_preview_rows_can_be_filtered(
    admin_client: Client, edition: Edition, query: str, labels: list[str]
) -> None:
    load(program(*(paper(f"p{n}", title="Old") for n in range(3))), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")
    titles = {"p0": "New", "p1": "News", "p2": "Old", "p4": "Fifth"}
    papers = [paper(uid, title=title) for uid, title in titles.items()]
    job = upload_papers(admin_client, edition, *papers)
    planned = admin_client.get(job_url(job) + query).context["planned_rows"]

    assert [item["row"].label for item in planned if item["row"].kind == "paper"] == labels


def test_confirmation_after_a_change_shows_a_new_preview(admin_client: Client, edition: Edition) -> None:
    load(program(paper("p1", title="Old")), "2021")
    job = upload_papers(admin_client, edition, paper("p1", title="New"))
    Paper.objects.update(title="By hand")
    job = press_button(admin_client, job, "confirm")

    assert (job.state, job.is_again, Paper.objects.get().title) == ("ready", True, "By hand")
    assert preview_fields(job, "By hand") == [["Title", "conflict", "Old", "By hand", "New"]]
    assert "the program changed after the preview" in admin_client.get(job_url(job)).text
    job = press_button(admin_client, job, "confirm")
    assert (job.state, Paper.objects.get().title, Conflict.objects.count()) == ("done", "By hand", 1)


def test_unrelated_change_does_not_block_the_confirmation(admin_client: Client, edition: Edition) -> None:
    other_paper = make.make_paper(edition, ["Somebody"])
    # New people get a random uid in every plan.
    new_program = program(paper("p1", author("Ada"), author("Zed")), paper("p2", author("Ada")))
    job = upload(admin_client, edition, ("p.json", papers_file(new_program)))
    other_paper.title = "Edited"
    other_paper.save()
    job = press_button(admin_client, job, "confirm")

    assert (job.state, job.is_again, Paper.objects.count()) == ("done", False, 3)


def test_problems_are_listed_with_place_and_field(admin_client: Client, edition: Edition) -> None:
    job = upload(admin_client, edition, ("papers.csv", b"uid,title,topic\np1,A,nowhere\n"), format="tables")
    page = admin_client.get(job_url(job)).text

    assert (job.state, Paper.objects.count()) == ("refused", 0)
    assert [problem[:2] for problem in job.problems] == [["papers.csv, row 2", "topic"]]
    assert "There is no topic “nowhere” in this file or in edition 2021." in page
    assert press_button(admin_client, job, "drop").state == "dropped"
    assert not UploadPart.objects.exists()


def test_file_creates_a_new_edition(admin_client: Client) -> None:
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
def test_existing_or_undescribed_new_edition_is_refused(
    admin_client: Client, edition: Edition, content: bytes, message: str
) -> None:
    job = upload(admin_client, None, ("2021.json", content))

    assert job.state == "refused"
    assert message in job.problems[0][2]


def test_spreadsheet_is_read_with_a_mapping_file(admin_client: Client, edition: Edition) -> None:
    table = ("x.csv", "Nummer,Überschrift,Leute\n7,On n bodies,Mia Zed\n".encode())
    mapping = ("map.toml", '[columns]\nNummer = "uid"\n"Überschrift" = "title"\nLeute = "authors"\n'.encode())
    job = upload(admin_client, edition, table, mapping)

    assert (job.problems, job.state) == ([], "ready")
    assert [row.label for row in job.rows.filter(is_new=True)] == ["Mia Zed", "On n bodies"]


def test_program_is_fetched_once_and_its_token_is_not_stored(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[Any] = []

    def fake_fetch(url: str, pages: Any, policy: Any, progress: Any) -> list[Source]:
        requests.append((url, policy.token))
        return [Source("api2.openreview.net-1.json", OPENREVIEW.encode())]

    monkeypatch.setattr("exchange.jobs.tasks.fetch", fake_fetch)
    url = "https://api2.openreview.net/notes?content.venueid=MLSys.org/2021/Conference"
    job = upload(admin_client, edition, url=url, token="secret-token")
    stored_content = b"".join(bytes(part.content) for part in UploadPart.objects.all())
    stored_token = read_token(job.pk)
    job = press_button(admin_client, job, "confirm")

    assert requests == [(url, "secret-token")]
    assert (b"secret-token" in stored_content, stored_token) == (False, "")
    assert (job.state, Paper.objects.get().title) == ("done", "On n bodies")


def test_token_is_kept_for_the_next_attempt_of_a_fetch(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens: list[str] = []

    def fail_once(url: str, pages: Any, policy: Any, progress: Any) -> list[Source]:
        tokens.append(policy.token)
        if len(tokens) == 1:
            raise OperationalError("the connection is closed")
        return [Source("api2.openreview.net-1.json", OPENREVIEW.encode())]

    monkeypatch.setattr("exchange.jobs.tasks.fetch", fail_once)
    url = "https://api2.openreview.net/notes?content.venueid=MLSys.org/2021/Conference"
    job = upload(admin_client, edition, url=url, token="secret-token")
    assert job.change_state("reading", before="failed")
    tasks.preview.func(job.pk)
    job.refresh_from_db()

    assert job.state == "ready"
    assert (tokens, read_token(job.pk)) == (["secret-token", "secret-token"], "")


def test_import_started_again_does_not_use_the_first_token(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens: list[str] = []

    def fail(url: str, pages: Any, policy: Any, progress: Any) -> list[Source]:
        tokens.append(policy.token)
        raise OperationalError("the connection is closed")

    monkeypatch.setattr("exchange.jobs.tasks.fetch", fail)
    url = "https://api2.openreview.net/notes?content.venueid=MLSys.org/2021/Conference"
    job = upload(admin_client, edition, url=url, token="secret-token")
    press_button(admin_client, job, "again")

    assert tokens == ["secret-token", ""]


def test_token_uploaded_with_files_is_not_stored(admin_client: Client, edition: Edition) -> None:
    file = ("p.json", papers_file(program(paper("p1"))))
    job = upload(admin_client, edition, file, token="secret-token")

    assert (job.state, read_token(job.pk)) == ("ready", "")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "Choose files, paste a table, or enter an address"),
        ({"sources": [("a.txt", b"Dear all")]}, "No reader knows these files: a.txt. Save the program"),
        ({"sources": [("a.json", b"x" * 1_000_001)]}, "the limit is 1 MB"),
        ({"sources": [("a.csv", b"x"), ("a.csv", b"x")]}, "Two files are called “a.csv”."),
        ({"url": "https://example.org/notes"}, "Programs are fetched only from"),
        ({"url": "http://api2.openreview.net/notes"}, "Programs are fetched only from"),
        ({"url": "https://api2.openreview.net/", "format": "bibtex"}, "This format can’t be fetched."),
        ({"url": "https://api2.openreview.net/", "token": "two words"}, "does not look like a token"),
        ({"edition": "999"}, "Select a valid choice"),
    ],
)
def test_invalid_upload_is_reported_in_the_form(
    admin_client: Client, edition: Edition, settings: Settings, data: dict[str, Any], message: str
) -> None:
    settings.IMPORT_MEGABYTES = 1
    files = [SimpleUploadedFile(*file) for file in data.pop("sources", [])]
    response = admin_client.post(ADD_URL, {"edition": edition.pk, "sources": files, **data})

    assert response.status_code == 200
    assert message in response.text.replace("&#x27;", "'")
    assert ImportJob.objects.count() == 0


# Workers


@pytest.fixture
def task_queue(settings: Settings) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}


def run_worker() -> None:
    call_command("db_worker", batch=True, interval=0, startup_delay=False, verbosity=0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("task_queue")
def test_worker_reads_and_writes_queued_imports(admin_client: Client) -> None:
    job = upload_papers(admin_client, make.make_edition(), paper("p1", "Ada"))
    states, pages = [job.state], [admin_client.get(job_url(job)).text]
    run_worker()
    job = press_button(admin_client, ImportJob.objects.get(), "confirm")
    states.append(job.state)
    pages.append(admin_client.get(f"/admin/exchange/importjob/{job.pk}/progress/").text)
    run_worker()

    assert [*states, ImportJob.objects.get().state] == ["reading", "writing", "done"]
    assert all("Waiting for the worker" in page for page in pages)
    assert 'http-equiv="refresh"' in pages[0]
    assert Paper.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("task_queue")
def test_task_of_a_failed_import_has_failed(admin_client: Client) -> None:
    upload_papers(admin_client, make.make_edition(), paper("p1", "Ada"))
    UploadPart.objects.all().delete()
    run_worker()

    assert (ImportJob.objects.get().state, DBTaskResult.objects.get().status) == ("failed", "FAILED")


def store_progress(job: ImportJob, seconds: int) -> None:
    """Store the progress of a worker that was last seen so many seconds ago."""
    seen_at = timezone.now() - timedelta(seconds=seconds)
    caches["imports"].set(progress_key(job.pk), Progress("papers", 3, 10, seen_at))


@pytest.mark.usefixtures("task_queue")
@pytest.mark.parametrize(
    ("seconds", "message"), [(5, "Comparing: papers: 3 of 10"), (90, "The worker has stopped.")]
)
def test_worker_without_progress_for_90_seconds_is_reported_as_stopped(
    admin_client: Client, edition: Edition, seconds: int, message: str
) -> None:
    job = upload_papers(admin_client, edition, paper("p1"))
    store_progress(job, seconds)

    assert message in " ".join(admin_client.get(job_url(job)).text.split())
    restarted_job = press_button(admin_client, job, "again")
    assert (restarted_job.progress is None) == (seconds > 60)


@pytest.mark.usefixtures("task_queue")
def test_import_without_worker_shows_how_to_start_one(admin_client: Client, edition: Edition) -> None:
    job = upload_papers(admin_client, edition, paper("p1"))
    ImportJob.objects.update(changed_at=timezone.now() - timedelta(minutes=2))

    assert "manage.py worker" in admin_client.get(job_url(job)).text
    assert press_button(admin_client, job, "drop").state == "dropped"
    result = tasks.preview.call(job.pk)
    assert (result, ImportJob.objects.get().state) == (None, "dropped")


def test_failed_import_writes_nothing_and_can_be_retried(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload_papers(admin_client, edition, paper("p1"))
    with monkeypatch.context() as patch:
        patch.setattr("exchange.imports.load.write_rows", lambda *args: 1 / 0)
        job = press_button(admin_client, job, "confirm")
    page = admin_client.get(job_url(job)).text

    assert (job.state, Paper.objects.count()) == ("failed", 0)
    assert "Your files are not the cause." in page
    job = press_button(admin_client, press_button(admin_client, job, "again"), "confirm")
    assert (job.state, Paper.objects.count()) == ("done", 1)


def test_import_that_needs_too_much_memory_says_so(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(job: ImportJob) -> list[Any]:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("exchange.jobs.uploads.sources", read)
        job = upload_papers(admin_client, edition, paper("p1"))
    page = admin_client.get(job_url(job)).text

    assert job.state == "failed"
    assert "Nothing was written. These files need more memory than the worker may use." in page
    assert "Your files are not the cause." not in page


# Stored files


def test_files_are_removed_after_a_day(admin_client: Client, edition: Edition) -> None:
    old_job = upload(admin_client, edition, ("old.json", papers_file(program(paper("p1")))))
    new_job = upload(admin_client, edition, ("young.json", papers_file(program(paper("p1")))))
    ImportJob.objects.filter(pk=old_job.pk).update(changed_at=timezone.now() - timedelta(hours=25))
    store_token(old_job.pk, "secret")
    call_command("sweep_imports", verbosity=0)

    assert token_key(old_job.pk) not in caches["imports"]
    assert {part.job for part in UploadPart.objects.all()} == {new_job}
    assert [job.state for job in ImportJob.objects.order_by("pk")] == ["dropped", "ready"]
    assert {row.job for row in PlannedRow.objects.all()} == {new_job}
    assert "expired after a day" in admin_client.get(job_url(old_job)).text


def test_import_with_removed_files_asks_for_a_new_upload(admin_client: Client, edition: Edition) -> None:
    job = upload_papers(admin_client, edition, paper("p1"))
    UploadPart.objects.all().delete()
    job = press_button(admin_client, job, "confirm")
    page = admin_client.get(job_url(job)).text

    assert job.state == "failed"
    assert "Nothing was written. The uploaded files have been removed. Upload them again." in page
    assert "Start again" not in page


def test_stored_files_replace_earlier_ones(edition: Edition) -> None:
    job = ImportJob.objects.create(edition=edition, files=["a"])
    for content in (b"old", b"new"):
        store(job, [[content]])

    assert [file.content for file in sources(job)] == [b"new"]


def test_large_file_is_stored_in_parts(admin_client: Client, edition: Edition) -> None:
    content = papers_file(program(paper("p1"))) + b" " * (2 * PART_BYTES)
    files = [("../../evil.json", content), ("b.json", papers_file(program(paper("p2"))))]
    job = upload(admin_client, edition, *files, format="program_json")

    assert job.files == ["evil.json", "b.json"]
    assert [file.content for file in sources(job)] == [content for _, content in files]
    assert max(len(part.content) for part in UploadPart.objects.all()) == PART_BYTES


# Permissions


def test_viewer_can_see_but_not_confirm_an_import(admin_client: Client, edition: Edition) -> None:
    job = upload_papers(admin_client, edition, paper("p1"))
    viewer = staff_client("view_importjob", "view_edition")
    page = viewer.get(job_url(job))

    assert "You can view this import but not confirm it." in page.text
    responses = [viewer.post(job_url(job), {"do": "confirm"}), viewer.get(ADD_URL)]
    assert [response.status_code for response in responses] == [403, 403]
    assert Paper.objects.count() == 0


def test_importer_without_change_permission_can_choose_no_edition(edition: Edition) -> None:
    importer = staff_client("add_importjob", "view_importjob", "change_importjob", "view_edition")
    choices = importer.get(ADD_URL).context["form"].fields["edition"].choices

    assert choices == []


def test_user_without_permission_cannot_see_an_import(admin_client: Client, edition: Edition) -> None:
    job = upload_papers(admin_client, edition, paper("p1"))
    stranger = staff_client("view_paper")
    progress = f"/admin/exchange/importjob/{job.pk}/progress/"

    assert [stranger.get(url).status_code for url in (job_url(job), progress)] == [403, 403]


def test_editor_imports_the_program_but_not_the_edition(edition: Edition) -> None:
    editor = Client()
    editor.force_login(add_member("mia", edition, "editor"))
    program_with_venue = replace(program(paper("p1")), edition=EditionRecord(slug="2021", venue="Elsewhere"))
    refused = upload(editor, edition, ("p.json", program_file(program_with_venue)))
    written = press_button(
        editor, upload(editor, edition, ("p.json", papers_file(program_with_venue))), "confirm"
    )

    assert (refused.state, written.state) == ("refused", "done")
    reason = "which your role may not. Leave it out of the file, or ask somebody who may."
    assert refused.problems == [["p.json, edition", "venue", f"The file changes this of {edition}, {reason}"]]
    assert Edition.objects.get().venue == edition.venue


def test_program_chair_imports_the_edition_too(edition: Edition) -> None:
    chair = Client()
    chair.force_login(add_member("mia", edition, "chair"))
    program_with_venue = replace(program(paper("p1")), edition=EditionRecord(slug="2021", venue="Elsewhere"))
    press_button(chair, upload(chair, edition, ("p.json", program_file(program_with_venue))), "confirm")

    assert Edition.objects.get().venue == "Elsewhere"


# Queries


@pytest.mark.parametrize("page", ["upload", "list", "preview", "done"])
def test_page_query_count_is_the_same_for_1_and_3_papers(
    admin_client: Client, edition: Edition, page: str, django_assert_num_queries: Any
) -> None:
    expected = {"upload": 6, "list": 6, "preview": 8, "done": 5}[page]
    for size in (1, 3):
        make.make_edition(2010 + size)
        job = upload(admin_client, edition, ("p.json", papers_file(program_of_size(size))))
        if page == "done":
            job = press_button(admin_client, job, "confirm")
        address = {"upload": ADD_URL, "list": "/admin/exchange/importjob/"}.get(page, job_url(job))
        with django_assert_num_queries(expected):
            admin_client.get(address)


def program_of_size(size: int) -> Any:
    return program(*(paper(f"p{size}{n}", f"Ann {size}{n}") for n in range(size)))


# Messages


def test_pages_have_no_untranslated_text(admin_client: Client, edition: Edition) -> None:
    load(program(paper("p1", title="Old")), "2021")
    Paper.objects.update(title="By hand")
    files = [("p.json", papers_file(program(paper("p1", title="New"), paper("p2", title="Old"))))]
    with pseudolocale():
        ready = upload(admin_client, edition, *files)
        refused = upload(
            admin_client, edition, ("papers.csv", b"uid,title,topic\np1,A,nowhere\n"), format="tables"
        )
        pages = [ADD_URL, job_url(ready), job_url(refused)]
        texts_by_page = {url: untranslated(admin_client.get(url).text, UNTRANSLATABLE) for url in pages}

    assert {url: texts for url, texts in texts_by_page.items() if texts} == {}


# Names of formats and their parts, and values of the files.
UNTRANSLATABLE = [
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
UNTRANSLATABLE += ["Old", "New", "By hand", "TOML", "JSON", "row 2", "p1", "p2", "What was done."]
