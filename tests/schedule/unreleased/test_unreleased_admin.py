"""Tests of the working copy in the admin: pages show and change it; its page releases or discards it."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from conference.models import Edition
from content.history import ChangeSet
from content.revision import lock
from papers.models import Paper
from schedule.models import PendingChanges, Presentation, Release, Room, Session, WorkingCopy
from schedule.releases import announce
from schedule.working_copy import release as releasing
from schedule.working_copy.block import edit_working_copy, open_copies, pending_rows, show_working_copy
from tests import factories as make
from tests.access.world import add_member
from tests.admin_forms import admin_url, run_action
from tests.schedule.form_data import fields_of

pytestmark = pytest.mark.django_db
PAGE = "/admin/schedule/release/working-copy/"


@pytest.fixture
def program(edition: Edition) -> Edition:
    with lock():
        room = make.make_room(edition, "Hall A", slug="hall-a")
        for number in (1, 2):
            session = make.make_session(edition, uid=f"s{number}", title=f"Session {number}", room=room)
            for talk in (1, 2):
                paper = make.make_paper(edition, [f"Author {number}{talk}"], title=f"Paper {number}{talk}")
                make.make_presentation(session, paper=paper, uid=f"t{number}{talk}")
    return edition


@pytest.fixture
def copy(admin_client: Client, program: Edition) -> WorkingCopy:
    admin_client.post(PAGE, {"edition": program.pk, "act": "open"})
    return WorkingCopy.objects.get()


def get_page(client: Client, path: str = PAGE) -> str:
    return client.get(path).text


def form_data(client: Client, path: str, form: str) -> dict[str, Any]:
    return fields_of(client.get(path), form)


def save_form(client: Client, row: Any, **fields: Any) -> Any:
    path = admin_url(row, "change")
    name = f"{row._meta.model_name}_form"
    return client.post(path, {**form_data(client, path, name), **fields})


def get_session(uid: str) -> Session:
    return Session.objects.get(uid=uid)


def release(client: Client, **fields: Any) -> Any:
    page = get_page(client)
    data = {
        "edition": WorkingCopy.objects.get().edition_id,
        "seen_version": re.findall(r'name="seen_version" value="(\d+)"', page)[0],
        "seen": re.findall(r'name="seen" value="(\w+)"', page)[0],
        "lines": re.findall(r'name="lines" value="([^"]+)"[^>]* checked', page),
        "title": "",
        "text": "",
        "act": "release",
        "announce": "1",
    }
    return client.post(PAGE, {**data, **fields})


def test_form_saves_into_the_working_copy(admin_client: Client, copy: WorkingCopy, client: Client) -> None:
    public_page = client.get("/2021/schedule/").content
    response = save_form(admin_client, get_session("s1"), title="A new title")
    form_page = get_page(admin_client, admin_url(get_session("s1"), "change"))

    assert response.status_code == 302
    assert get_session("s1").title == "Session 1"
    assert 'value="A new title"' in form_page
    assert "Working copy: 1 change not released" in form_page
    assert client.get("/2021/schedule/").content == public_page
    assert "A new title" in get_page(admin_client, admin_url(Session, "changelist"))


def test_stale_form_is_refused_with_the_value_of_the_working_copy(
    admin_client: Client, copy: WorkingCopy
) -> None:
    row = get_session("s1")
    path = admin_url(row, "change")
    data = form_data(admin_client, path, "session_form")
    save_form(admin_client, row, title="First")
    response = admin_client.post(path, {**data, "title": "Second"})

    assert response.status_code == 409
    assert "First" in response.text
    assert len(pending_rows([copy.__class__.objects.get()])) == 1


def test_history_links_to_pending_changes(admin_client: Client, copy: WorkingCopy) -> None:
    link = f'Pending, not released: <a href="{PAGE}?edition={copy.edition_id}">'
    histories = [admin_url(get_session(uid), "history") for uid in ("s1", "s2")]
    save_form(admin_client, get_session("s1"), title="Planned")

    assert [link in get_page(admin_client, path) for path in histories] == [True, False]
    release(admin_client)
    assert [link in get_page(admin_client, path) for path in histories] == [False, False]


def test_release_publishes_and_announces_the_changes(admin_client: Client, copy: WorkingCopy) -> None:
    page_before = get_page(admin_client)
    save_form(admin_client, get_session("s1"), title="A new title")
    page = get_page(admin_client)
    response = release(admin_client)
    public_release = Release.objects.get()

    assert "0 changes not released" in page_before
    assert "A new title" in page
    assert response.status_code == 302
    assert get_session("s1").title == "A new title"
    assert public_release.number == 1
    assert "The working copy is as the public sees it" not in get_page(
        admin_client, admin_url(Session, "changelist")
    )


def test_announced_changes_name_new_rooms(admin_client: Client, copy: WorkingCopy, program: Edition) -> None:
    announce(program, timezone.now())
    with edit_working_copy([copy]):
        Session.objects.filter(uid="s1").update(room=make.make_room(program, "The Annex", slug="new-room"))

    pattern = r'<div role="group" aria-labelledby="changes">.*?</div>'
    (changes,) = re.findall(pattern, get_page(admin_client), re.S)
    assert "The Annex" in changes
    assert release(admin_client).status_code == 302
    assert Release.objects.order_by("-number")[0].changes[0]["after"][2] == "The Annex"


def test_second_release_is_refused_and_names_the_first(admin_client: Client, copy: WorkingCopy) -> None:
    save_form(admin_client, get_session("s1"), title="A new title")
    old_version = WorkingCopy.objects.get().version
    release(admin_client)
    data = {"edition": copy.edition_id, "act": "release", "seen_version": old_version}
    response = admin_client.post(PAGE, data)

    assert response.status_code == 409
    assert "Already released by admin at" in response.text


def test_preview_shows_the_working_copy(admin_client: Client, copy: WorkingCopy, program: Edition) -> None:
    save_form(admin_client, get_session("s1"), title="A new title")
    before = get_page(admin_client, "/2021/sessions/s1/")
    # This page shows the messages after saving, so that the compared pages have none.
    get_page(admin_client)
    admin_client.get(program.get_preview_url())
    preview = admin_client.get("/2021/sessions/s1/", follow=True).text
    day_preview = get_page(admin_client, "/2021/schedule/2021-04-06/")
    releasing.release(copy, None, timezone.now())
    after = admin_client.get("/2021/sessions/s1/", follow=True).text

    assert "A new title" not in before
    assert "A new title" in preview
    assert "1 change isn’t released" in preview
    assert "A new title" in day_preview
    assert without_preview_bar(after) == without_preview_bar(preview)


def without_preview_bar(markup: str) -> str:
    markup = re.sub(r'<aside class="preview".*?</aside>', "", markup, flags=re.DOTALL)
    return re.sub(r"csrf\w+|nonce-\S+", "", markup)


def test_undo_of_a_bulk_action_drops_its_pending_changes(admin_client: Client, copy: WorkingCopy) -> None:
    page = run_action(admin_client, "cancel", [get_session("s1"), get_session("s2")], reason="")
    link = re.findall(r'href="(/admin/acts/\d+/take-back/)"', page)[0]
    statuses = working_statuses()
    preview = get_page(admin_client, link)
    response = admin_client.post(link, follow=True)

    assert statuses == ["cancelled", "cancelled"]
    assert "Session 1" in preview
    assert "2 changes taken back" in response.text
    assert working_statuses() == ["published", "published"]
    assert PendingChanges.objects.count() == 0


def working_statuses() -> list[str]:
    with show_working_copy(open_copies()):
        return [*Session.objects.order_by("uid").values_list("status", flat=True)]


def test_undo_of_a_release_restores_the_public_program(admin_client: Client, copy: WorkingCopy) -> None:
    save_form(admin_client, get_session("s1"), title="Released")
    release(admin_client)
    change_set = ChangeSet.objects.get(detail=releasing.RELEASE_DETAIL)
    response = admin_client.post(f"/admin/acts/{change_set.pk}/take-back/")

    assert response.status_code == 302
    assert get_session("s1").title == "Session 1"
    assert pending_rows(open_copies()) == {}


def test_timetable_editor_saves_into_the_working_copy(
    admin_client: Client, copy: WorkingCopy, program: Edition
) -> None:
    room = make.make_room(program, "Annex", slug="annex")
    path = "/admin/schedule/session/timetable/?edition=" + str(program.pk)
    data = form_data(admin_client, path, "timetable")
    name = f"s{get_session('s1').pk}-room"
    assert name in data
    response = admin_client.post(path, {**data, name: room.pk, "_save": "1"})
    page = get_page(admin_client, response["Location"])
    public_room = get_session("s1").room

    assert "saved=" in response["Location"]
    assert public_room is not None
    assert public_room.slug == "hall-a"
    assert re.search(r"/admin/acts/\d+/take-back/", page)
    with show_working_copy(open_copies()):
        working_room = get_session("s1").room
        assert working_room is not None
        assert working_room.slug == "annex"


def test_new_session_with_a_role_is_pending(
    admin_client: Client, copy: WorkingCopy, program: Edition
) -> None:
    path = admin_url(Session, "add") + f"?edition={program.pk}"
    data = form_data(admin_client, path, "session_form")
    person = make.make_person("Grace Hopper")
    rows = {
        "roles-TOTAL_FORMS": "1",
        "roles-0-role": "chair",
        "roles-0-person": person.pk,
        "roles-0-name": "Grace Hopper",
        "roles-0-affiliation": "",
        "roles-0-position": "",
    }
    response = admin_client.post(path, {**data, "title": "Late", "uid": "late", **rows})
    pending = pending_rows(open_copies())
    page = get_page(admin_client, PAGE)
    address_of_new = re.findall(r'href="(/admin/schedule/session/\d+/change/)"', page)[0]

    assert response.status_code == 302
    assert not Session.objects.filter(uid="late").exists()
    assert {row.model for row in pending.values()} == {"schedule.session", "schedule.sessionrole"}
    assert 'value="Late"' in get_page(admin_client, address_of_new)


def test_paper_form_saves_the_title_at_once_and_the_status_as_pending(
    admin_client: Client, copy: WorkingCopy
) -> None:
    paper = Paper.objects.get(title="Paper 11")
    response = save_form(admin_client, paper, title="Retitled", status="draft")
    paper.refresh_from_db()

    assert response.status_code == 302
    assert (paper.title, paper.status) == ("Retitled", "published")
    assert [row.label for row in pending_rows(open_copies()).values()] == ["Retitled"]
    assert paper.presentations.count() == 1


def test_rooms_on_the_form_of_the_edition_are_pending(
    admin_client: Client, copy: WorkingCopy, program: Edition
) -> None:
    response = save_form(admin_client, program, name="MLSys XXI", **{"rooms-0-name": "Aula"})
    program.refresh_from_db()

    assert response.status_code == 302
    assert program.name == "MLSys XXI"
    assert Room.objects.get().name == "Hall A"
    assert len(pending_rows(open_copies())) == 1


def test_only_chosen_changes_are_released(admin_client: Client, copy: WorkingCopy) -> None:
    save_form(admin_client, get_session("s1"), title="Urgent")
    save_form(admin_client, get_session("s2"), title="Later")
    row = f"schedule.session:{get_session('s1').pk}"
    release(admin_client, act="release_chosen", row=[row])

    assert (get_session("s1").title, get_session("s2").title) == ("Urgent", "Session 2")
    assert "1 change not released" in get_page(admin_client)


def test_discarding_needs_a_confirmation(admin_client: Client, copy: WorkingCopy) -> None:
    save_form(admin_client, get_session("s1"), title="Not so")
    confirmation_page = release(admin_client, act="discard", all="1")
    count_before = PendingChanges.objects.count()
    release(admin_client, act="discard", all="1", confirmed="1")

    assert "Session 1" in confirmation_page.text or "Not so" in confirmation_page.text
    assert (count_before, PendingChanges.objects.count()) == (1, 0)


def test_planned_release_waits_for_its_time(admin_client: Client, copy: WorkingCopy) -> None:
    save_form(admin_client, get_session("s1"), title="Planned")
    refused = release(admin_client, act="plan", release_at="2020-01-01T10:00")
    release(admin_client, act="plan", release_at="2050-01-01T10:00")
    page = get_page(admin_client)
    WorkingCopy.objects.update(release_at=timezone.now())
    page_after = get_page(admin_client, admin_url(Session, "changelist"))

    assert "Choose a moment in the future." in refused.text
    assert "Will be released at" in page
    assert "0 changes not released" in page_after
    assert get_session("s1").title == "Planned"
    assert ChangeSet.objects.filter(detail=releasing.RELEASE_DETAIL, user_name="admin").exists()


def test_page_shows_clashes_that_a_release_would_bring(admin_client: Client, copy: WorkingCopy) -> None:
    person = make.make_person("Busy Chair")
    for uid in ("s1", "s2"):
        make.add_role(get_session(uid), person, "chair")
    other = get_session("s2")
    other.start, other.end = other.start.replace(hour=20), other.end.replace(hour=21)
    other.save()
    page_before = get_page(admin_client)
    row = get_session("s2")
    start = get_session("s1").start.astimezone(row.edition.zone)
    save_form(
        admin_client,
        row,
        start_0=f"{start:%Y-%m-%d}",
        start_1=f"{start:%H:%M}",
        end_0=f"{start:%Y-%m-%d}",
        end_1=f"{start:%H:%M}"[:-2] + "50",
    )
    page_after = get_page(admin_client)

    assert "would bring" not in page_before
    assert "Busy Chair" in page_after


def test_editor_takes_back_only_own_changes_and_cannot_release(
    admin_client: Client, copy: WorkingCopy, client: Client, program: Edition
) -> None:
    client.force_login(add_member("editor", program, "editor"))
    save_form(admin_client, get_session("s1"), title="Chair’s")
    save_form(client, get_session("s2"), title="Editor’s")
    page = get_page(client)
    chairs, editors = PendingChanges.objects.order_by("pk").values_list("act", flat=True)

    assert "Release all now" not in page
    assert client.post(PAGE, {"edition": program.pk, "act": "release"}).status_code == 403
    assert client.get(f"/admin/acts/{chairs}/take-back/").status_code == 403
    assert client.post(f"/admin/acts/{editors}/take-back/").status_code == 302
    assert [row.label for row in pending_rows(open_copies()).values()] == ["Chair’s"]


def test_pending_changes_are_hidden_from_chairs_of_other_editions(
    admin_client: Client, copy: WorkingCopy, client: Client
) -> None:
    other = add_member("other", make.make_edition(2022), "chair")
    save_form(admin_client, get_session("s1"), title="Pending")
    choices = {"app_label": "schedule", "model_name": "presentation", "field_name": "session", "term": "Pend"}
    pages = ("/admin/", admin_url(Session, "changelist"), f"/admin/autocomplete/?{urlencode(choices)}")
    client.force_login(other)

    assert "Pending" in get_page(admin_client, pages[2])
    for path in pages:
        response = client.get(path)
        assert response.status_code == 200
        assert b"Pending" not in response.content
        assert b"not released" not in response.content


def test_anonymous_requests_make_no_planned_release(copy: WorkingCopy, client: Client) -> None:
    releasing.plan_release(copy, None, timezone.now(), announcement=releasing.Announcement("News"))
    for send in (client.get, client.post):
        assert send(admin_url(Session, "changelist")).status_code == 302

    assert not Release.objects.exists()


def test_deleted_paper_is_public_at_once(admin_client: Client, copy: WorkingCopy) -> None:
    paper = Paper.objects.get(title="Paper 11")
    save_form(admin_client, Presentation.objects.get(uid="t11"), board="7")
    admin_client.post(admin_url(paper, "delete"), {"post": "yes"})

    assert not Presentation.objects.filter(uid="t11").exists()
    assert "deleted from the public program meanwhile" in get_page(admin_client)
