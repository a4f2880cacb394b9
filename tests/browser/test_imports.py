"""Imports in a browser: preview, confirmation, revert; a resolved conflict; an exported list."""

from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import FilePayload, Page, Route, expect
from pytest_django import Settings

from conference.models import Edition
from exchange.imports.load import load
from exchange.jobs import tasks
from exchange.jobs.progress import ProgressWriter
from exchange.models import Conflict, ImportJob
from papers.models import Paper
from schedule.models import Presentation
from tests.browser.axe import DESK_DISPLAYS, display_issues
from tests.browser.visitor import OpenPage
from tests.exchange.programs import paper, program
from tests.exchange.uploads import ADD_URL, job_url, papers_file
from tests.factories import make_edition

pytestmark = pytest.mark.browser

SCRIPTS = pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])


@pytest.fixture
def open_chair_page(open_desk: OpenPage, console_errors: list[str]) -> Iterator[OpenPage]:
    """Yield a function that opens a page as a chair. An error in its console fails the test."""
    yield open_desk
    assert console_errors == []


@pytest.fixture
def edition(transactional_db: None) -> Edition:
    """Create an edition whose first paper was edited since the import, and whose second was not."""
    edition = make_edition()
    load(program(*(paper(f"p{n}", "Ada", title="Old") for n in range(3))), "2021", format_name="program_json")
    Paper.objects.filter(uid="p0").update(title="By hand")
    return edition


def import_file(*titles: str) -> FilePayload:
    papers = [paper(f"p{n}", "Ada", title=title) for n, title in enumerate(titles)]
    return {"name": "news.json", "mimeType": "application/json", "buffer": papers_file(program(*papers))}


def press(page: Page, name: str) -> None:
    """Press a button with the keyboard."""
    page.get_by_role("button", name=name).focus()
    page.keyboard.press("Enter")


def upload_papers(page: Page, *titles: str) -> None:
    page.goto(ADD_URL)
    page.set_input_files("input[name=sources]", import_file(*titles))
    press(page, "Continue")
    page.wait_for_url("**/change/")


@SCRIPTS
def test_import_is_previewed_confirmed_and_reverted(
    open_chair_page: OpenPage, edition: Edition, script: bool
) -> None:
    page = open_chair_page(java_script_enabled=script)
    upload_papers(page, "New", "Newer", "Old", "Fourth")
    expect(page.locator("details.planned")).to_have_count(3)
    expect(page.locator("details.planned[open] .is-conflict").first).to_be_visible()
    assert sorted(Paper.objects.values_list("title", flat=True)) == ["By hand", "Old", "Old"]

    press(page, "Import: 1 new, 1 changed")
    expect(page.locator(".import-done")).to_contain_text("1 new and 1 changed rows")
    assert sorted(Paper.objects.values_list("title", flat=True)) == ["By hand", "Fourth", "Newer", "Old"]

    page.get_by_role("link", name="Revert the import").click()
    press(page, "Revert the import")
    expect(page.locator(".messagelist .success")).to_contain_text("The import was reverted")
    assert sorted(Paper.objects.values_list("title", flat=True)) == ["By hand", "Old", "Old"]


def refresh_after_a_second(route: Route) -> None:
    """Respond with a page that refreshes itself after one second instead of three."""
    response = route.fetch(max_redirects=0)
    route.fulfill(response=response, body=response.text().replace('content="3"', 'content="1"'))


@SCRIPTS
def test_import_page_shows_the_progress_of_the_worker(
    open_chair_page: OpenPage, edition: Edition, script: bool, settings: Settings
) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    page = open_chair_page(java_script_enabled=script)
    if not script:
        page.route("**/change/", refresh_after_a_second)
    upload_papers(page, "New")
    expect(page.locator("progress")).to_be_visible()
    expect(page.locator("#stage")).to_have_text("Waiting for the worker")
    job = ImportJob.objects.get()
    ProgressWriter(job.pk)("papers", 3, 10)
    expect(page.locator("#stage")).to_have_text("Comparing: papers: 3 of 10")
    expect(page.locator("progress")).to_have_js_property("position", 0.3)
    tasks.preview.call(job.pk)

    expect(page.get_by_role("button", name="Cancel import")).to_be_visible(timeout=10_000)


@SCRIPTS
def test_conflict_is_decided_by_keyboard(open_chair_page: OpenPage, edition: Edition, script: bool) -> None:
    load(program(paper("p0", "Ada", title="New")), "2021", format_name="program_json")
    page = open_chair_page(java_script_enabled=script)
    page.goto(reverse("admin:exchange_conflict_change", args=[Conflict.objects.get().pk]))
    page.get_by_label("Keep the current value").focus()
    page.keyboard.press("ArrowDown")
    press(page, "Decide and go to next")

    expect(page.locator(".messagelist .success")).to_contain_text("Decided: By hand, Title.")
    assert Paper.objects.get(uid="p0").title == "New"


@SCRIPTS
def test_filtered_list_is_exported_as_csv(open_chair_page: OpenPage, edition: Edition, script: bool) -> None:
    page = open_chair_page(java_script_enabled=script)
    page.goto("/admin/papers/paper/?o=1&todo=without_session")
    page.locator(".export-menu summary").focus()
    page.keyboard.press("Enter")
    with page.expect_download() as download_info:
        page.get_by_role("link", name="CSV").click()

    content = download_info.value.path().read_text("utf-8-sig")
    assert sorted(line.split(",")[1] for line in content.splitlines()[1:]) == ["By hand", "Old", "Old"]


def test_import_pages_have_no_axe_violations(open_chair_page: OpenPage, edition: Edition) -> None:
    load(program(paper("p0", "Ada", title="New")), "2021", format_name="program_json")
    page = open_chair_page()
    upload_papers(page, "Newest", "Newer", "Old", "Fourth")
    ready_job = ImportJob.objects.latest("pk")
    jobs_by_state = {state: ImportJob.objects.create(edition=edition, state=state) for state in JOB_STATES}
    jobs_by_state["refused"].problems = [["a.csv, row 2", "title", "The title is missing. Add it."]]
    jobs_by_state["refused"].save()
    conflict_url = reverse("admin:exchange_conflict_change", args=[Conflict.objects.get().pk])
    list_urls = [
        "/admin/exchange/importrun/",
        "/admin/exchange/importjob/",
        "/admin/exchange/conflict/?state=open",
    ]
    issues_by_path = {}
    for path in [ADD_URL, *list_urls, conflict_url, *map(job_url, [ready_job, *jobs_by_state.values()])]:
        page.goto(path)
        for menu in page.locator("details").all():
            menu.evaluate("details => { details.open = true }")
        issues_by_path[path] = display_issues(page, DESK_DISPLAYS)

    assert {path: issues for path, issues in issues_by_path.items() if issues} == {}


JOB_STATES = ("reading", "refused", "failed", "dropped", "done")


POSTERS = """Nummer\tSession name\tTitel des Posters\tAuthors\tAuthor affil.\tDay\tTime
P1\tPosters of Tuesday\tOn n bodies\tMia Zed; Ann Abe\tNTNU; MIT\tApril 6\t10:00-11:30
P2\tPosters of Tuesday\tFast chips\tBo Li\tCMU\tApril 6\t10:00-11:30
"""


@SCRIPTS
def test_columns_of_a_pasted_table_are_mapped(
    open_chair_page: OpenPage, edition: Edition, script: bool
) -> None:
    page = open_chair_page(java_script_enabled=script)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{ADD_URL}?edition={edition.pk}")
    page.get_by_label("Or paste a table").fill(POSTERS)
    press(page, "Continue")
    page.wait_for_url("**/change/")
    expect(page.locator("#complaints")).to_contain_text("Title is not mapped")
    expect(page.locator(".mapping-left-out")).to_contain_text("Nummer, Titel des Posters")
    expect(page.get_by_label("Author affil.")).to_have_value("affiliation")

    page.get_by_label("Titel des Posters").select_option("Title")
    page.get_by_label("Nummer").select_option("Poster board")
    press(page, "Update this page")
    expect(page.locator(".mapping-rows li")).to_have_count(3)
    expect(page.locator(".mapping-rows")).to_contain_text("Mia Zed (NTNU); Ann Abe (MIT)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    if script:
        assert display_issues(page, DESK_DISPLAYS) == []
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    press(page, "Preview changes")
    press(page, "Import: 11 new, 0 changed")
    expect(page.locator(".import-done")).to_contain_text("11 new")
    assert list(
        Presentation.objects.order_by("board").values_list("board", "session__title", "paper__title")
    ) == [("P1", "Posters of Tuesday", "On n bodies"), ("P2", "Posters of Tuesday", "Fast chips")]
