"""Tests of import runs in the admin: labels, the filter by edition, read-only pages."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from exchange.imports.load import load
from exchange.models import Conflict, ImportRun, Provenance
from papers.models import Paper
from tests.exchange.programs import paper, program, program_with_papers

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> ImportRun:
    load(program(paper("p1", "Ada Lovelace", "Ada Lovelace", title="Old")), "2021", files=["x.json"])
    Paper.objects.update(title="By hand")
    second_run = load(program(paper("p1", "Ada Lovelace", title="<b>New</b>")), "2021", files=["y.json"]).run
    assert second_run is not None
    return second_run


def page_html(client: Client, name: str, *args: int) -> str:
    response = client.get(reverse(f"admin:exchange_{name}", args=args))
    assert response.status_code == 200
    return response.content.decode()


def test_runs_are_listed_with_files_counts_and_open_conflicts(admin_client: Client, run: ImportRun) -> None:
    page = page_html(admin_client, "importrun_changelist")

    assert [word in page for word in ("x.json", "y.json", "4 new", "1 conflicting")] == [True] * 4


def test_run_shows_its_counts_and_remarks(admin_client: Client, run: ImportRun) -> None:
    first_run = ImportRun.objects.earliest("pk")

    page = page_html(admin_client, "importrun_change", first_run.pk)

    assert "Ada Lovelace is listed twice in authors" in page
    assert '<th scope="row">People</th>\n<td>1</td>' in page
    assert "<summary>Listed twice: 1</summary>" in page


def test_conflict_shows_its_three_values_and_links_to_its_row(admin_client: Client, run: ImportRun) -> None:
    page = page_html(admin_client, "conflict_change", Conflict.objects.get().pk)

    assert [word in page for word in ("By hand", "&lt;b&gt;New&lt;/b&gt;", "Old")] == [True] * 3
    assert reverse("admin:papers_paper_change", args=[Paper.objects.get().pk]) in page


def test_conflicts_can_be_filtered_by_state(admin_client: Client, run: ImportRun) -> None:
    Conflict.objects.update(resolved_at=timezone.now())
    address = reverse("admin:exchange_conflict_changelist")

    counts = [
        admin_client.get(address, {"state": state}).context["cl"].result_count
        for state in ("open", "decided")
    ]

    assert counts == [0, 1]


def test_provenance_shows_the_values_as_imported(admin_client: Client, run: ImportRun) -> None:
    page = page_html(admin_client, "provenance_change", Provenance.objects.get(kind="paper").pk)

    assert "<dt>title</dt><dd>Old</dd>" in page


@pytest.mark.parametrize("name", ["importrun", "conflict", "provenance"])
def test_rows_cannot_be_added_or_deleted(admin_client: Client, run: ImportRun, name: str) -> None:
    row = {"importrun": run, "conflict": Conflict.objects.get(), "provenance": Provenance.objects.first()}[
        name
    ]
    assert row is not None

    assert admin_client.get(reverse(f"admin:exchange_{name}_add")).status_code == 403
    assert admin_client.post(reverse(f"admin:exchange_{name}_delete", args=[row.pk])).status_code == 403
    assert Conflict.objects.count() == 1


@pytest.mark.parametrize("name", ["importrun", "conflict", "provenance"])
def test_list_query_count_is_the_same_for_1_and_3_papers(admin_client: Client, name: str) -> None:
    counts = []
    for size in (1, 3):
        load(program_with_papers(size), "2021")
        Paper.objects.update(title=f"By hand {size}")
        papers = program_with_papers(size).papers
        load(program(*(paper(record.uid, title=f"File {size}") for record in papers)), "2021")
        with CaptureQueriesContext(connection) as queries:
            page_html(admin_client, f"{name}_changelist")
        counts.append(len(queries))
    assert counts[0] == counts[1]
