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


def test_notes_are_told_with_their_lines_on_page_and_feed(admin_client: Client, edition: Edition) -> None:
    notes = {"lines-note-room:session:s1": "Bring a *badge*.", "lines-note-cancelled:session:s2": "x"}
    data = form_data(get_page(admin_client), edition, lines=["room:session:s1"], **notes)
    admin_client.post(ADD, data)
    told = [admin_client.get(f"/2021/changes{ending}").text for ending in ("/", ".atom")]

    assert Release.objects.get(number=2).changes[0]["note"] == "Bring a *badge*."
    assert '<p class="note">Bring a <em>badge</em>.</p>' in told[0]
    assert "Bring a &lt;em&gt;badge&lt;/em&gt;." in told[1]


def test_release_that_is_out_is_edited_line_by_line(admin_client: Client, edition: Edition) -> None:
    admin_client.post(ADD, form_data(get_page(admin_client), edition))
    release = Release.objects.get(number=2)
    path = f"/admin/schedule/release/{release.pk}/change/"
    form = admin_client.get(path).text
    shown = dict(re.findall(r'name="(published_at_\d)" value="([^"]*)"', form))
    values = {"title": "Rooms", "text": "", **shown, "lines": ["room:session:s1"]}
    answer = admin_client.post(path, {**values, "lines-note-room:session:s1": "Two floors  up"})
    release.refresh_from_db()

    assert answer.status_code == 302
    assert re.findall(r'name="lines" value="([^"]+)" checked', form) == [
        "cancelled:session:s2",
        "room:session:s1",
    ]
    assert [(row["kind"], row["note"]) for row in release.changes] == [("room", "Two floors up")]
    assert ProgramChange.read(release.changes[0]).before is not None


def test_text_is_previewed_as_other_texts_are(admin_client: Client, edition: Edition) -> None:
    shown = get_page(admin_client)
    texts = re.findall(r'name="_text" value="([^"]+)"', shown)
    data = form_data(shown, edition, text="*Sorry*, costs $5", _text=texts)
    all_texts = admin_client.post("/admin/text/", data).text

    assert texts == ["block text Text"]
    assert 'data-text-help="block" data-address="/admin/text/"' in shown
    assert re.search(r'<script src="[^"]*js/admin-text[^"]*\.js"', shown)
    assert "<em>Sorry</em>, costs $5" in all_texts
    assert Release.objects.count() == 1


@pytest.fixture
def out(admin_client: Client, edition: Edition) -> Release:
    """Publish a release with two lines; the first has a note."""
    notes = {"lines-note-room:session:s1": "Up"}
    admin_client.post(ADD, form_data(get_page(admin_client), edition, **notes))
    return Release.objects.get(number=2)


def release_form_data(client: Client, release: Release) -> dict[str, Any]:
    """Return the data of the form of a release as it is rendered."""
    form = client.get(change_address(release)).text
    pairs = re.findall(r'name="((?:published_at|lines-)[^"]*)"(?: class="\w+")? value="([^"]*)"', form)
    kept = re.findall(r'name="lines" value="([^"]+)" checked', form)
    return {"title": "", "text": "", **dict(pairs), "lines": kept}


def change_address(release: Release) -> str:
    return f"/admin/schedule/release/{release.pk}/change/"


def stored_notes(release: Release) -> dict[str, str]:
    rows = map(ProgramChange.read, Release.objects.get(pk=release.pk).changes)
    return {one.line: one.note for one in rows}


ROOM, OFF = "room:session:s1", "cancelled:session:s2"


def test_note_of_another_chair_stays_beside_ones_own(admin_client: Client, out: Release) -> None:
    first, second = release_form_data(admin_client, out), release_form_data(admin_client, out)
    admin_client.post(change_address(out), {**first, f"lines-note-{ROOM}": "Two floors up"})
    admin_client.post(change_address(out), {**second, f"lines-note-{OFF}": "Ill"})

    assert stored_notes(out) == {ROOM: "Two floors up", OFF: "Ill"}


@pytest.mark.parametrize("mine", [{f"lines-note-{ROOM}": "Down"}, {"lines": [OFF]}])
def test_note_changed_by_two_is_asked_about(admin_client: Client, out: Release, mine: dict[str, Any]) -> None:
    stale = release_form_data(admin_client, out)
    admin_client.post(change_address(out), {**stale, f"lines-note-{ROOM}": "Two floors up"})
    answer = admin_client.post(change_address(out), {**stale, **mine})
    kept = stored_notes(out)
    admin_client.post(change_address(out), {**stale, **mine, f"lines-was-{ROOM}": "Two floors up"})

    assert "in the meantime: “Two floors up”. Save again to replace it." in answer.text
    assert f'name="lines-was-{ROOM}" value="Two floors up"' in answer.text
    assert (kept, stored_notes(out)) == (
        {ROOM: "Two floors up", OFF: ""},
        {OFF: ""} if "lines" in mine else {ROOM: "Down", OFF: ""},
    )


def test_note_that_is_too_long_is_refused_in_words(admin_client: Client, edition: Edition) -> None:
    data = form_data(get_page(admin_client), edition, **{"lines-note-room:session:s1": "x" * 501})
    answer = admin_client.post(ADD, data)

    assert "A note has at most 500 characters." in answer.text
    assert Release.objects.count() == 1


def line_names(release: Release) -> list[str]:
    return [ProgramChange.read(row).line for row in release.changes]


def test_page_lists_what_changed_in_words_and_in_the_editions_zone(
    admin_client: Client, edition: Edition
) -> None:
    shown = get_page(admin_client)

    assert "New room: session “Session 1”; Tue 6 Apr, 08:00 to 09:00 PDT, Hall A → Tue 6 Apr" in shown
    assert "Canceled: session “Session 2”" in shown
    assert "What changed since release 1" in shown
    assert Release.objects.count() == 1


def test_release_is_announced_with_its_words_and_without_lines_left_out(
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


def test_release_is_not_announced_when_the_program_changed_meanwhile(
    admin_client: Client, edition: Edition
) -> None:
    data = form_data(get_page(admin_client), edition, title="Rooms")
    Session.objects.filter(uid="s2").update(status="published")
    answer = admin_client.post(ADD, data)

    assert Release.objects.count() == 1
    assert "Review the changes again" in answer.text
    assert 'value="Rooms"' in answer.text
    data = form_data(answer.text, edition, title="Rooms")
    assert admin_client.post(ADD, data).status_code == 302
    assert line_names(Release.objects.get(number=2)) == ["room:session:s1"]


def test_first_release_offers_its_words(admin_client: Client) -> None:
    edition = make.make_edition()
    make.make_paper(edition)
    shown = get_page(admin_client)
    data = form_data(shown, edition, title="The program is public", text="1 paper.")
    admin_client.post(ADD, data)

    assert 'value="The program is public"' in shown
    assert "1 paper." in shown
    assert (Release.objects.get().number, Release.objects.get().text) == (1, "1 paper.")


def test_program_that_is_not_public_is_not_announced(admin_client: Client) -> None:
    edition = make.make_edition(papers_public_from=None, schedule_public_from=None)
    make.make_session(edition)
    shown = get_page(admin_client)
    admin_client.post(ADD, {"edition": edition.pk, "seen": "x"})

    assert "nothing to announce" in shown
    assert Release.objects.count() == 0


def test_page_asks_for_the_right_to_add(client: Client, edition: Edition) -> None:
    client.force_login(User.objects.create_user("viewer", is_staff=True))

    assert client.get(ADD).status_code == 403
    assert client.post(ADD, {"edition": edition.pk}).status_code == 403


def test_list_and_form_show_a_release_as_it_was_told(admin_client: Client, edition: Edition) -> None:
    release = announce(edition, make.PAST)
    listed = admin_client.get("/admin/schedule/release/").text
    form = admin_client.get(f"/admin/schedule/release/{release.pk}/change/").text

    assert "Release 2" in listed
    assert "> Canceled: session “Session 2”; Tue 6 Apr, 08:00 to 09:00 PDT, Hall A</label>" in form
    assert "not scheduled" not in form
