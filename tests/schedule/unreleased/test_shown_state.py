"""While changes wait, pages of the desk and previews say which state of the schedule they show."""

import pytest
from django.test import Client

from conference.models import Edition
from papers.models import Paper
from people.models import Person
from tests.schedule.unreleased import planned_program as program
from tests.schedule.unreleased.test_planned_equals_released import PAGES, admin_pages

pytestmark = pytest.mark.django_db

PLANNED = "This page shows the planned schedule"
PUBLIC = "This page shows the public schedule"


@pytest.fixture
def waiting(edition: Edition) -> Edition:
    program.make_program(edition)
    program.let_changes_wait(edition)
    return edition


def test_pages_of_the_desk_say_which_state_they_show(waiting: Edition, admin_client: Client) -> None:
    program.make_edits(waiting)
    session, paper = program.session("s1"), Paper.objects.get(uid="late")
    planned = [
        *admin_pages(waiting),
        f"/admin/papers/paper/{paper.pk}/change/",
        f"/admin/schedule/programinvitation/prepare/?session={session.pk}",
        f"/admin/schedule/session/{session.pk}/preview/",
    ]
    public = [
        f"/admin/?edition={waiting.pk}",
        "/admin/search/?q=session",
        "/admin/schedule/room/",
        "/admin/people/person/",
        "/admin/schedule/programinvitation/",
        f"/admin/schedule/session/{session.pk}/delete/",
    ]
    neither = [
        "/admin/schedule/session/",
        "/admin/papers/paper/",
        f"/admin/schedule/release/working-copy/?edition={waiting.pk}",
        f"/admin/schedule/session/{session.pk}/announce/",
        f"/admin/schedule/session/{session.pk}/history/",
        "/admin/accounts/membership/",
        "/admin/exchange/importrun/",
    ]

    def states(pages: list[str]) -> set[tuple[int, bool, bool]]:
        answers = [admin_client.get(page) for page in pages]
        return {(answer.status_code, PLANNED in answer.text, PUBLIC in answer.text) for answer in answers}

    assert states(planned) == {(200, True, False)}
    assert states(public) == {(200, False, True)}
    assert states(neither) == {(200, False, False)}
    chosen = {"action": "set_kind", "_selected_action": session.pk}
    assert PLANNED in admin_client.post("/admin/schedule/session/", chosen).text


def test_previews_say_which_state_they_show(waiting: Edition, admin_client: Client) -> None:
    admin_client.get(f"/admin/conference/edition/{waiting.pk}/preview/")
    quiet = admin_client.get("/2021/").text
    program.rename_session(waiting)
    person = Person.objects.order_by("pk")[0]
    planned = [*PAGES, program.session("s1").get_absolute_url(), person.get_absolute_url()]
    public = ["/2021/", "/2021/papers/", "/2021/rooms/hall-1/", "/2021/changes/"]
    link = f'<a href="/admin/schedule/release/working-copy/?edition={waiting.pk}">Review and release</a>'

    assert "unreleased change" not in quiet
    for page in planned:
        text = admin_client.get(page).text
        shown = f"{PLANNED}, with 1 unreleased change." in text, link in text
        assert shown == (True, False), page
    for page in public:
        text = admin_client.get(page).text
        shown = f"{PUBLIC}, without 1 unreleased change." in text, link in text
        assert shown == (True, True), page


def test_no_page_names_a_state_where_nothing_waits(waiting: Edition, admin_client: Client) -> None:
    pages = [admin_client.get(page).text for page in ("/admin/", "/admin/schedule/room/")]

    assert [text for text in pages if PUBLIC in text or PLANNED in text] == []


def test_clashes_are_those_of_the_planned_schedule(waiting: Edition, admin_client: Client) -> None:
    address = f"/admin/schedule/session/clashes/?edition={waiting.pk}"
    before = admin_client.get(address).context["total"]
    first = program.session("s1")
    program.change_attributes(program.session("s2"), start=first.start, end=first.end, room=first.room)

    assert admin_client.get(address).context["total"] > before


def test_the_desk_counts_the_clashes_of_the_page_that_lists_them(
    waiting: Edition, admin_client: Client
) -> None:
    clashes, desk = f"/admin/schedule/session/clashes/?edition={waiting.pk}", f"/admin/?edition={waiting.pk}"

    def shown() -> tuple[int, str]:
        context = admin_client.get(desk).context["desk"]
        lines = [*context["open_checks"], *context["passed_checks"]]
        (line,) = [line for line in lines if line.address == clashes]
        assert admin_client.get(clashes).context["total"] == line.count
        return line.count, line.label

    public_count, public_label = shown()
    first = program.session("s1")
    program.change_attributes(program.session("s2"), start=first.start, end=first.end, room=first.room)
    planned_count, planned_label = shown()
    program.change_attributes(program.session("s2"), room=program.room("hall-1"))
    changed_count, _label = shown()

    assert public_label == "clashes in the timetable"
    assert planned_label == f"clash{'es' * (planned_count > 1)} in the planned timetable"
    assert planned_count > changed_count >= public_count
