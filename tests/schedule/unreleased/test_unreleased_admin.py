"""Tests of the page of unreleased changes: listing, releasing, planning, discarding, undoing, taking back."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conference.models import Edition
from content.history import ChangeSet
from content.revision import lock
from content.unreleased.plan import RELEASE_DETAIL, publishing
from content.unreleased.worker_report import MAX_REPORT_AGE, WorkerReport, report
from papers.models import Paper
from schedule.admin.releases import MAX_LISTED_LINES
from schedule.admin.unreleased_rows import ChangeList
from schedule.models import Presentation, Release, ReleasePlan, Room, Session, UnreleasedChange
from schedule.releases import announce
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
        make.make_room(edition, "Hall B", slug="hall-b")
        for number in (1, 2):
            title, uid = f"Session {number}", f"s{number}"
            session = make.make_session(edition, uid=uid, title=title, room=room if number == 1 else None)
            for talk in (1, 2):
                paper = make.make_paper(edition, title=f"Paper {number}{talk}")
                make.make_presentation(session, paper=paper, uid=f"t{number}{talk}")
    return edition


@pytest.fixture
def plan(admin_client: Client, program: Edition) -> ReleasePlan:
    admin_client.post(PAGE, {"edition": program.pk, "act": "open"})
    return ReleasePlan.objects.get()


def get_page(client: Client, path: str = PAGE) -> str:
    return client.get(path).text


def get_session(uid: str) -> Session:
    row: Session = Session.objects.get(uid=uid)
    return row


def save_form(client: Client, row: Any, **fields: Any) -> Any:
    path = admin_url(row, "change")
    form = fields_of(client.get(path), f"{row._meta.model_name}_form")
    return client.post(path, {**form, **fields})


def press(client: Client, act: str, **fields: Any) -> Any:
    """Press a button of the page, with the values that it shows."""
    page = get_page(client)
    seen = re.findall(r'name="seen" value="(\w+)"', page)
    data = {
        "edition": ReleasePlan.objects.get().edition_id,
        "seen_version": re.findall(r'name="seen_version" value="([^"]*)"', page)[0],
        "seen": seen[0] if seen else "",
        "lines": re.findall(r'name="lines" value="([^"]+)"[^>]* checked', page),
        "title": "",
        "text": "",
        "act": act,
    }
    return client.post(PAGE, {**data, **fields})


def labels() -> list[str]:
    return [str(change) for change in UnreleasedChange.objects.order_by("pk")]


def test_a_form_saves_an_unreleased_change(admin_client: Client, plan: ReleasePlan, client: Client) -> None:
    public_page = client.get("/2021/schedule/").content
    response = save_form(admin_client, get_session("s1"), title="A new title")
    change = UnreleasedChange.objects.get()
    page = get_page(admin_client)

    assert response.status_code == 302
    assert get_session("s1").title == "Session 1"
    assert (change.values, change.began, change.by_name) == (
        {"title": "A new title"},
        {"title": "Session 1"},
        "admin",
    )
    assert client.get("/2021/schedule/").content == public_page
    assert "<div>Title: <del>Session 1</del> → <ins>A new title</ins></div>" in page
    assert "1 unreleased change" in get_page(admin_client, admin_url(Session, "changelist"))


def test_release_publishes_and_announces_the_changes(admin_client: Client, plan: ReleasePlan) -> None:
    assert "0 unreleased changes" in get_page(admin_client)
    save_form(admin_client, get_session("s1"), title="A new title")
    response = press(admin_client, "release", announce="1")
    announced = Release.objects.get()

    assert response.status_code == 302
    assert get_session("s1").title == "A new title"
    # The first release lists its changes.
    assert (announced.number, [(row["kind"], row["key"]) for row in announced.changes]) == (
        1,
        [("retitled", "session:s1")],
    )
    assert "0 unreleased changes" in get_page(admin_client)


def test_second_release_is_refused_and_names_the_first(admin_client: Client, plan: ReleasePlan) -> None:
    save_form(admin_client, get_session("s1"), title="A new title")
    old = re.findall(r'name="seen_version" value="([^"]*)"', get_page(admin_client))[0]
    press(admin_client, "release")
    response = press(admin_client, "release", seen_version=old)

    assert response.status_code == 409
    assert "Already released by admin at" in response.text


def test_only_chosen_changes_are_released(admin_client: Client, plan: ReleasePlan) -> None:
    save_form(admin_client, get_session("s1"), title="Urgent")
    save_form(admin_client, get_session("s2"), title="Later")
    key = UnreleasedChange.objects.get(session__uid="s1").pk
    press(admin_client, "release_chosen", row=[key])

    assert (get_session("s1").title, get_session("s2").title) == ("Urgent", "Session 2")
    assert "1 unreleased change<" in get_page(admin_client)


def test_discarding_needs_a_confirmation(admin_client: Client, plan: ReleasePlan) -> None:
    save_form(admin_client, get_session("s1"), title="Not so")
    confirmation = press(admin_client, "discard", all="1")
    count = UnreleasedChange.objects.count()
    press(admin_client, "discard", all="1", confirmed="1")

    assert "Not so (admin)" in confirmation.text
    assert (count, UnreleasedChange.objects.count()) == (1, 0)
    assert get_session("s1").title == "Session 1"


def test_changes_are_public_at_once_after_switching_off(admin_client: Client, plan: ReleasePlan) -> None:
    save_form(admin_client, get_session("s1"), title="Waits")
    refused = press(admin_client, "close")
    press(admin_client, "release")
    press(admin_client, "close")
    save_form(admin_client, get_session("s1"), title="At once")

    assert "Release or discard the unreleased changes first." in refused.text
    assert get_session("s1").title == "At once"
    assert "Changes of the schedule are public as soon as they are saved." in get_page(admin_client)


def test_reading_the_page_writes_and_locks_nothing(admin_client: Client, plan: ReleasePlan) -> None:
    save_form(admin_client, get_session("s1"), title="Waits")
    get_page(admin_client)
    with CaptureQueriesContext(connection) as queries:
        get_page(admin_client)
    statements = [query["sql"] for query in queries]

    assert [sql for sql in statements if not sql.startswith("SELECT")] == []
    assert [sql for sql in statements if " FOR " in sql] == []


def test_an_edit_that_comes_while_the_page_is_made_is_not_released_unseen(
    admin_client: Client, plan: ReleasePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_form(admin_client, get_session("s1"), title="Seen")
    list_changes = ChangeList.__init__

    def edit_before_listing(changes: ChangeList, *args: Any) -> None:
        Session.objects.filter(uid="s2").update(title="Unseen version")
        list_changes(changes, *args)

    with monkeypatch.context() as patch:
        patch.setattr(ChangeList, "__init__", edit_before_listing)
        seen = re.findall(r'name="seen_version" value="([^"]*)"', get_page(admin_client))[0]
    response = press(admin_client, "release", seen_version=seen)

    assert response.status_code == 409
    assert "Changes were made after you opened this page." in response.text
    assert [get_session(uid).title for uid in ("s1", "s2")] == ["Session 1", "Session 2"]


# Conflicts


@pytest.mark.parametrize(("choice", "title"), [("mine", "Mine"), ("theirs", "Theirs")])
def test_conflicts_are_shown_and_decided(
    admin_client: Client, plan: ReleasePlan, choice: str, title: str
) -> None:
    save_form(admin_client, get_session("s1"), title="Mine")
    with publishing():
        Session.objects.filter(uid="s1").update(title="Theirs")
    page = get_page(admin_client)
    refused = press(admin_client, "release")
    change = UnreleasedChange.objects.get()
    press(admin_client, "release", **{f"choice-{change.pk}:title": choice})

    assert "Leave what is public: Theirs" in page
    assert "Release the unreleased value: Mine" in page
    assert "Choose what holds where both differ." in refused.text
    assert get_session("s1").title == title
    assert not UnreleasedChange.objects.exists()


# Clashes


def make_clash(client: Client) -> None:
    """Move a session, unreleased, into the room and time of another."""
    save_form(client, get_session("s2"), room=Room.objects.get(slug="hall-a").pk)


def test_new_clashes_ask_for_a_confirmation(admin_client: Client, plan: ReleasePlan) -> None:
    make_clash(admin_client)
    page = get_page(admin_client)
    asked = press(admin_client, "release", announce="1")
    room_before = get_session("s2").room
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', asked.text))
    response = press(admin_client, "release", **fields)

    assert "The release would bring 1 clash:" in page
    assert asked.status_code == 200
    assert "Hall A" in asked.text
    assert room_before is None
    assert response.status_code == 302
    assert get_session("s2").room == Room.objects.get(slug="hall-a")
    assert Release.objects.count() == 1


def test_clashes_of_chosen_changes_alone_count(admin_client: Client, plan: ReleasePlan) -> None:
    make_clash(admin_client)
    save_form(admin_client, get_session("s1"), title="Harmless")
    harmless, clashing = (UnreleasedChange.objects.get(session__uid=uid).pk for uid in ("s1", "s2"))
    responses = [press(admin_client, "release_chosen", row=[key]) for key in (harmless, clashing)]

    assert [response.status_code for response in responses] == [302, 200]
    assert (get_session("s1").title, get_session("s2").room) == ("Harmless", None)


def test_clash_of_a_new_session_asks_too(admin_client: Client, plan: ReleasePlan, program: Edition) -> None:
    make.make_session(program, uid="s3", title="Late", room=Room.objects.get(slug="hall-a"))
    asked = press(admin_client, "release")

    assert UnreleasedChange.objects.get().on_release == "published"
    assert asked.status_code == 200
    assert get_session("s3").status == "draft"


# Planned releases


def test_a_plan_needs_a_worker(admin_client: Client, plan: ReleasePlan) -> None:
    save_form(admin_client, get_session("s1"), title="Planned")
    page = get_page(admin_client)
    refused = press(admin_client, "plan", release_at="2050-01-01T10:00")
    report(timezone.now() - 2 * MAX_REPORT_AGE)
    refused_later = press(admin_client, "plan", release_at="2050-01-01T10:00")
    report()
    accepted = press(admin_client, "plan", release_at="2050-01-01T10:00")

    assert "No worker has reported in the last two minutes" in page
    assert [response.status_code for response in (refused, refused_later, accepted)] == [409, 409, 302]
    assert "Will be released at" in get_page(admin_client)
    assert WorkerReport.objects.count() == 1


def test_planned_release_happens_at_its_time(admin_client: Client, plan: ReleasePlan, capsys: Any) -> None:
    report()
    save_form(admin_client, get_session("s1"), title="Planned")
    past = press(admin_client, "plan", release_at="2020-01-01T10:00")
    press(admin_client, "plan", release_at="2050-01-01T10:00", announce="1", title="News")
    call_command("release_planned")
    early = get_session("s1").title
    ReleasePlan.objects.update(release_at=timezone.now())
    # Readers release nothing.
    get_page(admin_client)
    get_page(admin_client, admin_url(Session, "changelist"))
    read = get_session("s1").title
    call_command("release_working_copies")

    assert "Choose a moment in the future." in past.text
    assert (early, read, get_session("s1").title) == ("Session 1", "Session 1", "Planned")
    assert ChangeSet.objects.filter(detail=RELEASE_DETAIL, user_name="admin").exists()
    assert Release.objects.get().title == "News"
    assert capsys.readouterr().out == "Released: MLSys 2021.\n"


def test_planned_release_with_unconfirmed_clashes_is_refused(admin_client: Client, plan: ReleasePlan) -> None:
    report()
    save_form(admin_client, get_session("s1"), title="Planned")
    press(admin_client, "plan", release_at="2050-01-01T10:00")
    make_clash(admin_client)
    ReleasePlan.objects.update(release_at=timezone.now())
    call_command("release_planned")
    page = get_page(admin_client)

    assert get_session("s1").title == "Session 1"
    assert "The planned release was not made:" in page
    assert "Hall A" in ReleasePlan.objects.get().refusal
    assert ReleasePlan.objects.get().release_at is None


def test_planned_release_with_confirmed_clashes_happens(admin_client: Client, plan: ReleasePlan) -> None:
    report()
    make_clash(admin_client)
    asked = press(admin_client, "plan", release_at="2050-01-01T10:00")
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', asked.text))
    response = press(admin_client, "plan", **fields)
    ReleasePlan.objects.update(release_at=timezone.now())
    call_command("release_planned")

    assert (asked.status_code, response.status_code) == (200, 302)
    assert get_session("s2").room == Room.objects.get(slug="hall-a")


def test_planned_release_can_be_canceled(admin_client: Client, plan: ReleasePlan) -> None:
    report()
    save_form(admin_client, get_session("s1"), title="Planned")
    press(admin_client, "plan", release_at="2050-01-01T10:00")
    press(admin_client, "unplan")

    assert ReleasePlan.objects.get().release_at is None
    assert "Will be released at" not in get_page(admin_client)


# Undo


def undo_last(client: Client) -> Any:
    asked = press(client, "undo")
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', asked.text))
    return client.post(PAGE, {**fields, "act": "undo"}, follow=True)


def test_undo_puts_the_work_back_and_withdraws_the_announcement(
    admin_client: Client, plan: ReleasePlan, program: Edition
) -> None:
    announce(program, timezone.now())
    save_form(admin_client, get_session("s1"), title="Released")
    press(admin_client, "release", announce="1")
    has_button = "Undo this release" in get_page(admin_client)
    response = undo_last(admin_client)
    change = UnreleasedChange.objects.get()

    assert has_button
    assert "The release is undone: 1 change waits again. Its announcement is withdrawn." in response.text
    assert get_session("s1").title == "Session 1"
    assert (change.values, change.began, change.by_name) == (
        {"title": "Released"},
        {"title": "Session 1"},
        "admin",
    )
    assert [row.number for row in Release.objects.all()] == [1]
    assert "Undo this release" not in get_page(admin_client)
    press(admin_client, "release", announce="1")
    assert [row["kind"] for row in Release.objects.get(number=2).changes] == ["retitled"]


def test_undo_is_offered_for_a_day(admin_client: Client, plan: ReleasePlan) -> None:
    save_form(admin_client, get_session("s1"), title="Released")
    press(admin_client, "release")
    ChangeSet.objects.filter(detail=RELEASE_DETAIL).update(at=timezone.now() - timedelta(hours=25))

    assert "Undo this release" not in get_page(admin_client)
    assert "Already released by admin at" in get_page(admin_client)


def test_undo_says_what_stays_because_it_was_changed_since(admin_client: Client, plan: ReleasePlan) -> None:
    save_form(admin_client, get_session("s1"), title="Released")
    save_form(admin_client, get_session("s2"), title="Released, too")
    press(admin_client, "release")
    with publishing():
        Session.objects.filter(uid="s1").update(title="Corrected")
    response = undo_last(admin_client)

    assert "It has been changed since." in response.text
    assert [get_session(uid).title for uid in ("s1", "s2")] == ["Corrected", "Session 2"]
    assert "Leave what is public: Corrected" in response.text


# Taking back, and the history


def test_an_edit_is_taken_back_by_its_author_and_by_those_who_may_release(
    admin_client: Client, plan: ReleasePlan, client: Client, program: Edition
) -> None:
    client.force_login(add_member("editor", program, "editor"))
    save_form(admin_client, get_session("s1"), title="Chair’s")
    save_form(client, get_session("s2"), title="Editor’s")
    chairs, editors = ChangeSet.objects.filter(rows__model="schedule.unreleasedchange").order_by("pk")
    page = get_page(client)

    assert "Release all now" not in page
    assert client.post(PAGE, {"edition": program.pk, "act": "release"}).status_code == 403
    assert f"/admin/acts/{chairs.pk}/take-back/" not in page
    assert f"/admin/acts/{editors.pk}/take-back/" in page
    assert client.get(f"/admin/acts/{chairs.pk}/take-back/").status_code == 403
    assert client.post(f"/admin/acts/{chairs.pk}/take-back/").status_code == 403
    assert client.post(f"/admin/acts/{editors.pk}/take-back/").status_code == 302
    assert labels() == ["Session 1"]
    assert admin_client.post(f"/admin/acts/{chairs.pk}/take-back/").status_code == 302
    assert labels() == []


def test_undo_of_a_bulk_action_takes_its_changes_back(admin_client: Client, plan: ReleasePlan) -> None:
    page = run_action(admin_client, "cancel", [get_session("s1"), get_session("s2")], reason="")
    link = re.findall(r'href="(/admin/acts/\d+/take-back/)"', page)[0]
    values = [change.on_release for change in UnreleasedChange.objects.all()]
    preview = get_page(admin_client, link)
    response = admin_client.post(link, follow=True)

    assert values == ["cancelled", "cancelled"]
    assert "Session 1" in preview
    assert "2 rows reverted" in response.text
    assert not UnreleasedChange.objects.exists()
    assert [*Session.objects.values_list("status", "on_release")] == [("published", "")] * 2


def test_an_editor_cannot_revert_a_release(
    admin_client: Client, plan: ReleasePlan, client: Client, program: Edition
) -> None:
    save_form(admin_client, get_session("s1"), title="Released")
    press(admin_client, "release")
    act = ChangeSet.objects.get(detail=RELEASE_DETAIL).pk
    client.force_login(add_member("editor", program, "editor"))

    assert client.post(f"/admin/acts/{act}/take-back/").status_code == 403
    assert get_session("s1").title == "Released"
    assert admin_client.post(f"/admin/acts/{act}/take-back/").status_code == 302
    assert get_session("s1").title == "Session 1"
    assert UnreleasedChange.objects.get().values == {"title": "Released"}


def test_history_shows_unreleased_changes_their_authors_and_the_release(
    admin_client: Client, plan: ReleasePlan, client: Client, program: Edition
) -> None:
    link = f'<a href="{PAGE}?edition={plan.edition_id}">unreleased changes</a>'
    client.force_login(add_member("editor", program, "editor"))
    save_form(client, get_session("s1"), title="Planned")
    path = admin_url(get_session("s1"), "history")
    waiting, other = (
        get_page(admin_client, path),
        get_page(admin_client, admin_url(get_session("s2"), "history")),
    )
    press(admin_client, "release")
    released = get_page(admin_client, path)

    assert [link in page for page in (waiting, other, released)] == [True, False, False]
    assert "<caption>Unreleased change “Session 1”</caption>" in waiting
    assert '<th scope="row">Title</th><td>Session 1</td><td>Planned</td>' in waiting
    entry = released.partition("release of unreleased changes")[2].partition('<div class="act">')[0]
    assert '<th scope="row">Title</th><td>Session 1</td><td>Planned</td>' in entry
    assert '<th scope="row">Changed by</th><td>editor</td>' in entry


# Kinds of rows


def test_new_session_with_a_role_waits(admin_client: Client, plan: ReleasePlan, program: Edition) -> None:
    path = admin_url(Session, "add") + f"?edition={program.pk}"
    data = fields_of(admin_client.get(path), "session_form")
    person = make.make_person("Grace Hopper")
    rows = {
        "roles-TOTAL_FORMS": "1",
        "roles-0-role": "chair",
        "roles-0-person": person.pk,
        "roles-0-name": "Grace Hopper",
        "roles-0-affiliation": "",
        "roles-0-position": "",
    }
    response = admin_client.post(
        path, {**data, "title": "Late", "uid": "late", "status": "published", **rows}
    )
    page = get_page(admin_client)
    sets = re.findall(r'href="(/admin/acts/\d+/take-back/)"', page)

    assert response.status_code == 302
    assert (get_session("late").status, get_session("late").on_release) == ("draft", "published")
    assert labels() == ["Late"]
    assert f'New: session <a href="{admin_url(get_session("late"), "change")}">Late</a>' in page
    admin_client.post(sets[0])
    assert not Session.objects.filter(uid="late").exists()


def test_title_of_a_paper_is_public_and_its_publication_waits(
    admin_client: Client, plan: ReleasePlan, program: Edition
) -> None:
    paper = make.make_paper(program, title="Draft", status="draft")
    response = save_form(admin_client, paper, title="Retitled", status="published")
    paper = Paper.objects.get(pk=paper.pk)

    assert response.status_code == 302
    assert (paper.title, paper.status, paper.on_release) == ("Retitled", "draft", "published")
    assert labels() == ["Retitled"]
    press(admin_client, "release")
    assert Paper.objects.get(pk=paper.pk).status == "published"


def test_withdrawing_a_paper_is_public_at_once(admin_client: Client, plan: ReleasePlan) -> None:
    paper = Paper.objects.get(title="Paper 11")
    save_form(admin_client, paper, status="draft")

    assert Paper.objects.get(pk=paper.pk).status == "draft"
    assert not UnreleasedChange.objects.exists()


def test_deleted_paper_is_public_at_once(admin_client: Client, plan: ReleasePlan) -> None:
    paper = Paper.objects.get(title="Paper 11")
    save_form(admin_client, Presentation.objects.get(uid="t11"), board="7")
    admin_client.post(admin_url(paper, "delete"), {"post": "yes"})

    assert not Presentation.objects.filter(uid="t11").exists()
    assert not UnreleasedChange.objects.exists()


# Access


def test_unreleased_changes_are_hidden_from_chairs_of_other_editions(
    admin_client: Client, plan: ReleasePlan, client: Client
) -> None:
    save_form(admin_client, get_session("s1"), title="Waiting title")
    client.force_login(add_member("other", make.make_edition(2022), "chair"))

    for path in ("/admin/", admin_url(Session, "changelist"), f"{PAGE}?edition={plan.edition_id}"):
        text = get_page(client, path)
        assert ("Waiting title" in text, "1 unreleased change" in text) == (False, False)


def test_session_chair_is_not_shown_the_bar(
    admin_client: Client, plan: ReleasePlan, client: Client, program: Edition
) -> None:
    save_form(admin_client, get_session("s1"), title="Waiting title")
    client.force_login(add_member("leader", program, "session_chair"))

    assert client.get(PAGE).status_code == 403
    assert "unreleased change" not in get_page(client, "/admin/")


def test_page_with_many_changes_needs_no_more_queries_and_is_bounded(
    admin_client: Client, plan: ReleasePlan
) -> None:
    start = get_session("s1").start

    def rename_sessions(count: int) -> None:
        with publishing(), lock():
            rows: list[Any] = Session.objects.bulk_create(
                Session(
                    edition=plan.edition,
                    uid=f"x{count}-{number}",
                    title=f"X {number}",
                    status="published",
                    start=start + timedelta(hours=number),
                    end=start + timedelta(hours=number + 1),
                )
                for number in range(count)
            )
        for row in rows:
            row.title += " renamed"
        Session.objects.bulk_update(rows, ["title"], batch_size=200)

    def measure_page() -> tuple[int, Any]:
        get_page(admin_client)
        with CaptureQueriesContext(connection) as queries:
            response = admin_client.get(PAGE)
        return len(queries), response

    rename_sessions(3)
    few_queries, _response = measure_page()
    rename_sessions(1_100)
    many_queries, response = measure_page()
    text = response.text

    assert many_queries == few_queries
    assert text.count('<input type="checkbox" name="row"') == 100
    assert text.count('<input type="checkbox" name="lines"') == MAX_LISTED_LINES
    assert "more changes are announced, too." in text
    assert len(text) < 1_000_000
    assert "And 903 more." in press(admin_client, "discard", all="1").text


def test_changes_that_the_page_does_not_list_are_announced(
    admin_client: Client, plan: ReleasePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.admin.releases.MAX_LISTED_LINES", 1)
    save_form(admin_client, get_session("s1"), title="A new title")
    save_form(admin_client, get_session("s2"), title="Another new title")
    assert "1 more change is announced, too." in get_page(admin_client)
    press(admin_client, "release", announce="1", lines=[])

    assert [(row["kind"], row["key"]) for row in Release.objects.get().changes] == [
        ("retitled", "session:s2")
    ]
