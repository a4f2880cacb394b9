"""Tests of announcing a release, leaving lines out, and editing it afterwards."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from conference.models import Edition
from schedule.models import Release, Session
from schedule.releases import ProgramChange, announce
from tests import factories as make

pytestmark = pytest.mark.django_db
ADD = "/admin/schedule/release/add/"


@pytest.fixture
def edition() -> Edition:
    edition = make.make_edition()
    for number in (1, 2):
        make.make_session(edition, uid=f"s{number}", title=f"Session {number}", room=make.make_room(edition))
    announce(edition, make.PAST)
    Session.objects.filter(uid="s1").update(room=make.make_room(edition, "Aula"))
    Session.objects.filter(uid="s2").update(status="cancelled")
    return edition


def get_page(client: Client) -> str:
    return client.get(ADD).text


def form_data(markup: str, edition: Edition, **fields: Any) -> dict[str, Any]:
    """Return the data of the form as it was rendered, with other values in these fields."""
    seen = re.findall(r'name="seen" value="(\w+)"', markup)[0]
    lines = re.findall(r'name="lines" value="([^"]+)"[^>]* checked', markup)
    return {"edition": edition.pk, "title": "", "text": "", "lines": lines, "seen": seen, **fields}


def test_notes_are_shown_with_their_lines_on_page_and_feed(admin_client: Client, edition: Edition) -> None:
    notes = {"lines-note-room:session:s1": "Bring a *badge*.", "lines-note-cancelled:session:s2": "x"}
    data = form_data(get_page(admin_client), edition, lines=["room:session:s1"], **notes)
    admin_client.post(ADD, data)
    texts = [admin_client.get(f"/2021/changes{ending}").text for ending in ("/", ".atom")]

    assert Release.objects.get(number=2).changes[0]["note"] == "Bring a *badge*."
    assert '<p class="note">Bring a <em>badge</em>.</p>' in texts[0]
    assert "Bring a &lt;em&gt;badge&lt;/em&gt;." in texts[1]


def test_published_release_is_edited_line_by_line(admin_client: Client, edition: Edition) -> None:
    admin_client.post(ADD, form_data(get_page(admin_client), edition))
    release = Release.objects.get(number=2)
    path = f"/admin/schedule/release/{release.pk}/change/"
    page = admin_client.get(path).text
    published_at = dict(re.findall(r'name="(published_at_\d)" value="([^"]*)"', page))
    values = {"title": "Rooms", "text": "", **published_at, "lines": ["room:session:s1"]}
    response = admin_client.post(path, {**values, "lines-note-room:session:s1": "Two floors  up"})
    release.refresh_from_db()

    assert response.status_code == 302
    assert re.findall(r'name="lines" value="([^"]+)" checked', page) == [
        "cancelled:session:s2",
        "room:session:s1",
    ]
    assert [(row["kind"], row["note"]) for row in release.changes] == [("room", "Two floors up")]
    assert ProgramChange.read(release.changes[0]).before is not None


def test_text_of_a_release_has_a_preview(admin_client: Client, edition: Edition) -> None:
    page = get_page(admin_client)
    texts = re.findall(r'name="_text" value="([^"]+)"', page)
    data = form_data(page, edition, text="*Sorry*, costs $5", _text=texts)
    preview = admin_client.post("/admin/text/", data).text

    assert texts == ["block text Text"]
    assert 'data-text-help="block" data-address="/admin/text/"' in page
    assert re.search(r'<script src="[^"]*js/admin-text[^"]*\.js"', page)
    assert "<em>Sorry</em>, costs $5" in preview
    assert Release.objects.count() == 1


@pytest.fixture
def published_release(admin_client: Client, edition: Edition) -> Release:
    """Publish a release with two lines; the first has a note."""
    notes = {"lines-note-room:session:s1": "Up"}
    admin_client.post(ADD, form_data(get_page(admin_client), edition, **notes))
    return Release.objects.get(number=2)


def release_form_data(client: Client, release: Release) -> dict[str, Any]:
    """Return the data of the form of a release as it is rendered."""
    page = client.get(change_address(release)).text
    inputs = re.findall(r'name="((?:published_at|lines-)[^"]*)"(?: class="\w+")? value="([^"]*)"', page)
    checked_lines = re.findall(r'name="lines" value="([^"]+)" checked', page)
    return {"title": "", "text": "", **dict(inputs), "lines": checked_lines}


def change_address(release: Release) -> str:
    return f"/admin/schedule/release/{release.pk}/change/"


def stored_notes(release: Release) -> dict[str, str]:
    rows = map(ProgramChange.read, Release.objects.get(pk=release.pk).changes)
    return {change.line: change.note for change in rows}


ROOM, CANCELLED = "room:session:s1", "cancelled:session:s2"


def test_concurrent_notes_on_different_lines_are_both_saved(
    admin_client: Client, published_release: Release
) -> None:
    path, stale = change_address(published_release), release_form_data(admin_client, published_release)
    admin_client.post(path, {**stale, f"lines-note-{ROOM}": "Two floors up"})
    admin_client.post(path, {**stale, f"lines-note-{CANCELLED}": "Ill"})

    assert stored_notes(published_release) == {ROOM: "Two floors up", CANCELLED: "Ill"}


@pytest.mark.parametrize("own_change", [{f"lines-note-{ROOM}": "Down"}, {"lines": [CANCELLED]}])
def test_concurrent_notes_on_one_line_are_a_conflict(
    admin_client: Client, published_release: Release, own_change: dict[str, Any]
) -> None:
    path, stale = change_address(published_release), release_form_data(admin_client, published_release)
    admin_client.post(path, {**stale, f"lines-note-{ROOM}": "Two floors up"})
    response = admin_client.post(path, {**stale, **own_change})
    notes_after_conflict = stored_notes(published_release)
    admin_client.post(path, {**stale, **own_change, f"lines-was-{ROOM}": "Two floors up"})

    assert "in the meantime: “Two floors up”. Save again to replace it." in response.text
    assert f'name="lines-was-{ROOM}" value="Two floors up"' in response.text
    assert (notes_after_conflict, stored_notes(published_release)) == (
        {ROOM: "Two floors up", CANCELLED: ""},
        {CANCELLED: ""} if "lines" in own_change else {ROOM: "Down", CANCELLED: ""},
    )


def test_too_long_note_is_refused(admin_client: Client, edition: Edition) -> None:
    data = form_data(get_page(admin_client), edition, **{"lines-note-room:session:s1": "x" * 501})
    response = admin_client.post(ADD, data)

    assert "A note has at most 500 characters." in response.text
    assert Release.objects.count() == 1


def line_names(release: Release) -> list[str]:
    return [ProgramChange.read(row).line for row in release.changes]


def test_page_lists_the_changes_in_the_editions_zone(admin_client: Client, edition: Edition) -> None:
    page = get_page(admin_client)

    assert "New room: session “Session 1”; Tue 6 Apr, 08:00 to 09:00 PDT, Hall A → Tue 6 Apr" in page
    assert "Canceled: session “Session 2”" in page
    assert "What changed since release 1" in page
    assert Release.objects.count() == 1


def test_release_is_published_with_its_text_and_without_unchecked_lines(
    admin_client: Client, edition: Edition
) -> None:
    data = form_data(
        get_page(admin_client), edition, title="Rooms", text="*Sorry.*", lines=["room:session:s1"]
    )
    assert admin_client.post(ADD, data).status_code == 302
    release = Release.objects.get(number=2)

    assert (release.title, release.text, line_names(release)) == ("Rooms", "*Sorry.*", ["room:session:s1"])
    assert "Rooms" in admin_client.get("/2021/changes/").text
    assert "Nothing changed since release 2" in get_page(admin_client)


def test_release_is_refused_if_the_program_changed_meanwhile(admin_client: Client, edition: Edition) -> None:
    data = form_data(get_page(admin_client), edition, title="Rooms")
    Session.objects.filter(uid="s2").update(status="published")
    response = admin_client.post(ADD, data)

    assert Release.objects.count() == 1
    assert "Review the changes again" in response.text
    assert 'value="Rooms"' in response.text
    data = form_data(response.text, edition, title="Rooms")
    assert admin_client.post(ADD, data).status_code == 302
    assert line_names(Release.objects.get(number=2)) == ["room:session:s1"]


def test_first_release_has_a_suggested_title_and_text(admin_client: Client) -> None:
    edition = make.make_edition()
    make.make_paper(edition)
    page = get_page(admin_client)
    data = form_data(page, edition, title="The program is public", text="1 paper.")
    admin_client.post(ADD, data)

    assert 'value="The program is public"' in page
    assert "1 paper." in page
    assert (Release.objects.get().number, Release.objects.get().text) == (1, "1 paper.")


def test_program_that_is_not_public_cannot_be_announced(admin_client: Client) -> None:
    edition = make.make_edition(papers_public_from=None, schedule_public_from=None)
    make.make_session(edition)
    page = get_page(admin_client)
    admin_client.post(ADD, {"edition": edition.pk, "seen": "x"})

    assert "nothing to announce" in page
    assert Release.objects.count() == 0


def test_page_requires_permission_to_add_releases(client: Client, edition: Edition) -> None:
    client.force_login(User.objects.create_user("viewer", is_staff=True))

    assert client.get(ADD).status_code == 403
    assert client.post(ADD, {"edition": edition.pk}).status_code == 403


def test_list_and_form_show_a_published_release(admin_client: Client, edition: Edition) -> None:
    release = announce(edition, make.PAST)
    list_page = admin_client.get("/admin/schedule/release/").text
    change_page = admin_client.get(f"/admin/schedule/release/{release.pk}/change/").text

    assert "Release 2" in list_page
    assert "> Canceled: session “Session 2”; Tue 6 Apr, 08:00 to 09:00 PDT, Hall A</label>" in change_page
    assert "not scheduled" not in change_page
