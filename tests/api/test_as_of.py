"""`as_of`: with it, a client misses no change, even of transactions that commit late."""

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from content.changed import cursor
from papers.models import Paper
from tests import factories as make
from tests.api.reading import get
from tests.connections import run_over_another_connection

needs_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="Concurrent writers")


def read(client: Client, since: str = "") -> tuple[dict[str, Any], str]:
    """Return the titles of the papers by id, and `as_of`."""
    parameters: dict[str, Any] = {"changed_since": since} if since else {}
    answer = get(client, "papers/", fields="id,title,changed_at", **parameters)
    return {row["id"]: row["title"] for row in answer["results"]}, answer["as_of"]


@pytest.mark.django_db
def test_client_that_uses_as_of_equals_a_full_read(client: Client) -> None:
    edition = make.make_edition()
    for number in range(5):
        make.make_paper(edition, uid=f"p{number}", title="First")
    copy, since = read(client)
    for number in (3, 1, 4):
        Paper.objects.filter(uid=f"p{number}").update(title=f"Title {number}")
        changed, since = read(client, since)
        copy |= changed
        assert changed[f"p{number}"] == f"Title {number}"
        assert copy == read(client)[0]


@pytest.mark.django_db
def test_as_of_stands_still_until_something_changes(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that is up to date gets nothing, and conditional requests keep their 304."""
    paper = make.make_paper(make.make_edition())
    assert datetime.fromisoformat(read(client)[1]) < timezone.now() - cursor.CLOCKS + timedelta(seconds=1)
    monkeypatch.setattr(cursor, "CLOCKS", timedelta(0))
    _rows, since = read(client)

    assert read(client, since) == ({}, since)
    paper.title = "New"
    paper.save()
    rows, later = read(client, since)
    assert list(rows.values()) == ["New"]
    assert later > since


@needs_postgresql
@pytest.mark.django_db(transaction=True)
def test_change_that_commits_after_a_pass_is_not_skipped(client: Client) -> None:
    edition = make.make_edition()
    for name in ("late", "early"):
        make.make_paper(edition, uid=name, title="First")
    written, go_on = threading.Event(), threading.Event()

    def write_late() -> None:
        with transaction.atomic():
            Paper.objects.filter(uid="late").update(title="Late")
            written.set()
            go_on.wait(20)

    thread, errors = run_over_another_connection(write_late)
    try:
        assert written.wait(20)
        other = make.make_edition(2022)
        make.make_paper(other, uid="early-2", title="Early")
        rows, since = read(client)
        assert rows["late"] == "First"
        stamped_at = Paper.objects.get(uid="early-2").changed_at
        assert datetime.fromisoformat(since) < stamped_at - cursor.CLOCKS
    finally:
        go_on.set()
        thread.join()
    assert errors == []
    assert read(client, since)[0]["late"] == "Late"


@pytest.mark.django_db
def test_gate_that_opens_with_an_award_moves_the_older_paper(client: Client) -> None:
    now = timezone.now()
    paper = make.make_paper(make.make_edition(), uid="old")
    later = make.make_edition(2022, papers_public_from=now + timedelta(days=1))
    make.make_award(later, [paper])
    stored = Paper.objects.filter(uid="old").values_list("changed_at", flat=True)
    before = stored.get()
    assert get(client, "papers/2021/old/")["changed_at"] == before.isoformat().replace("+00:00", "Z")
    later.papers_public_from = opened = now - timedelta(seconds=1)
    type(later)._base_manager.filter(pk=later.pk).update(papers_public_from=opened)
    Paper._base_manager.update(changed_at=now - timedelta(days=9))

    changed_at = datetime.fromisoformat(get(client, "papers/2021/old/")["changed_at"])
    assert changed_at == opened
    since = (opened - timedelta(seconds=1)).isoformat()
    assert read(client, since)[0].keys() == {"old"}
