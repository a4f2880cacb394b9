"""Tests of the page and the feed of changes: text, old and new times with their zone, public data only."""

from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from conference.models import Edition
from papers.models import Paper
from schedule.models import Session
from schedule.releases import announce
from tests import factories as make
from tests.schedule.page_text import fetch, headings, main_text, read_text

pytestmark = pytest.mark.django_db
NOON = datetime(2021, 4, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
PAGE, FEED = "/2021/changes/", "/2021/changes.atom"
ATOM = "{http://www.w3.org/2005/Atom}"


def feed_entries(client: Client, path: str = FEED) -> list[dict[str, str]]:
    """Return the entries of the feed, parsed as XML."""
    root = ElementTree.fromstring(fetch(client, path))  # noqa: S314 - our own feed
    entries = []
    for entry in root.iter(f"{ATOM}entry"):
        texts = {element.tag.removeprefix(ATOM): element.text or "" for element in entry}
        entries.append({**texts, "link": entry.find(f"{ATOM}link").attrib["href"]})  # type: ignore[union-attr]
    return entries


def test_page_without_releases_says_that_nothing_changed(client: Client, edition: Edition) -> None:
    assert "No changes announced" in read_text(client, PAGE)
    assert feed_entries(client) == []


def test_move_shows_both_times_with_zone_and_rooms(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Engines", room=make.make_room(edition))
    announce(edition, NOON)
    session.start, session.end = session.start + 24 * HOUR, session.end + 24 * HOUR
    session.room = make.make_room(edition, "Aula")
    session.save()
    announce(edition, NOON + HOUR, "It moved")
    page = fetch(client, PAGE)
    expected = (
        "Moved · Oral session Engines Before: Tue 6 Apr, 08:00 to 09:00 PDT, Hall A "
        "→ now: Wed 7 Apr, 08:00 to 09:00 PDT, Aula"
    )

    assert expected in main_text(page)
    assert f'<a href="{session.get_absolute_url()}">Engines</a>' in page
    assert headings(page) == [(1, "Changes"), (2, "It moved"), (2, "The program is public")]


def test_page_labels_cancelled_withdrawn_new_and_renamed_rows(client: Client, edition: Edition) -> None:
    cancelled, renamed = make.make_session(edition, title="Off"), make.make_session(edition, title="Old")
    paper = make.make_paper(edition, title="Gone *far*")
    announce(edition, NOON)
    Session.objects.filter(pk=cancelled.pk).update(status="cancelled", cancellation_reason="Strike.")
    Session.objects.filter(pk=renamed.pk).update(title="Renamed", title_html="Renamed")
    Paper.objects.filter(pk=paper.pk).update(status="withdrawn")
    make.make_session(edition, title="Fresh")
    announce(edition, NOON)
    page = fetch(client, PAGE)
    text = main_text(page)

    assert "Canceled · Oral session Off Strike." in text
    assert "Withdrawn · Paper Gone far" in text
    assert "New · Oral session Fresh Tue 6 Apr, 08:00 to 09:00 PDT" in text
    assert "New title · Oral session Renamed Before: Old" in text
    assert page.count("<s>") == page.count("</s>") == 3


def test_row_back_in_draft_is_hidden_until_its_withdrawal_is_announced(
    client: Client, edition: Edition
) -> None:
    announce(edition, NOON)
    session = make.make_session(edition, title="Secret")
    announce(edition, NOON)
    Session.objects.update(status="draft")
    text_after_draft = read_text(client, PAGE) + fetch(client, FEED)
    announce(edition, NOON, without=[f"withdrawn:session:{session.uid}"])
    text_after_omission = read_text(client, PAGE) + fetch(client, FEED)
    Session.objects.update(status="published")
    announce(edition, NOON)
    Session.objects.update(status="draft")
    announce(edition, NOON)

    assert "Secret" not in text_after_draft + text_after_omission
    assert "Withdrawn · Session Secret" in read_text(client, PAGE)


def test_feed_has_an_entry_per_release_with_permanent_ids(
    client: Client, edition: Edition, settings: Settings
) -> None:
    settings.SITE_URL = "https://program.test"
    announce(edition, NOON)
    make.make_session(edition, title="A & B\x0b", uid="s1")
    announce(edition, NOON + HOUR, "More < less\x0b", "See *this*.")
    entries = feed_entries(client)

    address = "https://program.test/2021/changes/#release-"
    assert [entry["id"] for entry in entries] == [f"{address}2", f"{address}1"]
    assert [entry["link"] for entry in entries] == [f"{address}2", f"{address}1"]
    assert [entry["title"] for entry in entries] == ["More < less", "The program is public"]
    assert [entry["updated"] for entry in entries] == [
        "2021-04-01T13:00:00+00:00",
        "2021-04-01T12:00:00+00:00",
    ]
    assert 'href="https://program.test/2021/sessions/s1/' in entries[0]["summary"]
    assert "testserver" not in fetch(client, FEED)


@pytest.mark.parametrize("path", [FEED, "/2021/announcements.atom"])
def test_feed_is_the_same_while_the_program_is_unchanged(client: Client, edition: Edition, path: str) -> None:
    first, second = fetch(client, path), fetch(client, path)

    assert first == second
    assert client.get(path).headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    assert client.post(path).status_code == 405
    assert client.get(path.replace("2021", "1999")).status_code == 404


def test_announcements_feed_is_sorted_by_time_without_drafts(client: Client, edition: Edition) -> None:
    make.make_announcement(edition, uid="n1", title="First", text="*Hello*", pinned=True)
    make.make_announcement(edition, uid="n2", title="Second", published_at=NOON)
    make.make_announcement(edition, title="Draft", status="draft")
    entries = feed_entries(client, "/2021/announcements.atom")

    assert [entry["title"] for entry in entries] == ["Second", "First"]
    assert entries[1]["id"].endswith("/2021/#news-n1")
    assert "<em>Hello</em>" in entries[1]["summary"]
    assert 'id="news-n1"' in fetch(client, "/2021/")


def test_home_page_links_feeds_and_changes(client: Client, edition: Edition) -> None:
    make.make_session(edition)
    page_before = fetch(client, "/2021/")
    announce(edition, NOON)
    page = fetch(client, "/2021/")

    assert page.count('rel="alternate" type="application/atom+xml"') == 3
    assert page_before.count('href="/2021/changes/"') == 1
    # The link is in the menu, in the collapsed menu, and on the page.
    assert page.count('href="/2021/changes/"') == 3


def test_releases_of_a_schedule_under_embargo_are_not_shown(client: Client, edition: Edition) -> None:
    announce(edition, NOON)
    Edition.objects.update(schedule_public_from=None)

    assert "The program is public" not in read_text(client, PAGE) + fetch(client, FEED)


def test_moved_session_is_marked_until_the_next_release(client: Client, edition: Edition) -> None:
    session, talk = make.make_session(edition), make.make_presentation(make.make_session(edition))
    announce(edition, NOON)
    Session.objects.filter(pk=session.pk).update(start=make.MORNING + HOUR, end=make.MORNING + 2 * HOUR)
    type(talk).objects.update(session=session)
    announce(edition, NOON)
    mark = '<span class="status elsewhere">Moved from Tue 6 Apr, 08:00 PDT</span>'
    day = "/2021/schedule/2021-04-06/"
    paths = [day, f"{day}?view=grid", "/2021/schedule/?view=week", session.get_absolute_url()]
    counts = [fetch(client, path).count(mark) for path in paths]
    Session.objects.filter(pk=session.pk).update(status="cancelled")
    announce(edition, NOON)

    assert counts == [2, 1, 1, 2]
    assert [fetch(client, path).count("Moved from") for path in paths] == [0, 0, 0, 0]


def test_session_and_talk_that_moved_back_are_not_marked(client: Client, edition: Edition) -> None:
    session, talk = make.make_session(edition), make.make_presentation(make.make_session(edition))

    def move_to(start: datetime) -> None:
        for row in (session, talk):
            type(row).objects.filter(pk=row.pk).update(start=start, end=start + HOUR)

    move_to(make.MORNING)
    announce(edition, NOON)
    move_to(make.MORNING + HOUR)
    announce(edition, NOON)
    day = "/2021/schedule/2021-04-06/"
    mark_count = fetch(client, day).count("Moved from")
    move_to(make.MORNING)

    assert mark_count == 2
    assert "Moved from" not in fetch(client, day)


@pytest.mark.parametrize(("path", "expected"), [(PAGE, 5), (FEED, 5), ("/2021/announcements.atom", 2)])
def test_query_counts_are_the_same_for_1_and_3_rows(
    client: Client, edition: Edition, path: str, expected: int
) -> None:
    counts: list[Any] = []
    announce(edition, NOON)
    for rows in (1, 3):
        for _ in range(rows):
            make.make_session(edition, status="cancelled", parent=make.make_session(edition, kind="workshop"))
            make.make_presentation(make.make_session(edition), make.make_paper(edition))
            make.make_presentation(paper=make.make_paper(edition))
            make.make_paper(edition)
            make.make_announcement(edition)
            announce(edition, NOON)
        client.get(path)
        with CaptureQueriesContext(connection) as queries:
            fetch(client, path)
        counts.append(len(queries))

    assert counts == [expected, expected]
