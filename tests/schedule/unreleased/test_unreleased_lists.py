"""Lists of the desk show both values where a change waits."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import strip_tags

from accounts.models import Membership
from conference.models import Edition
from people.models import PersonAccount
from schedule.models import ReleasePlan, Session, SessionRole, UnreleasedChange
from tests import factories as make
from tests.access.world import add_member
from tests.schedule.unreleased import planned_program as program

pytestmark = pytest.mark.django_db

LISTS = ("schedule/session", "schedule/presentation", "papers/paper", "schedule/sessionrole")


@pytest.fixture
def waiting(edition: Edition) -> Edition:
    program.make_program(edition)
    program.let_changes_wait(edition)
    return edition


def list_page(client: Client, name: str, **filters: Any) -> Any:
    return client.get(f"/admin/{name}/", filters)


def cells(client: Client, name: str, column: str, **filters: Any) -> list[str]:
    """Return the texts of a column with unreleased values or marks, in the order of the list."""
    found = re.findall(
        rf'<t[dh] class="field-{column}[^"]*">(.*?)</t[dh]>', list_page(client, name, **filters).text, re.S
    )
    return [" ".join(strip_tags(cell).split()) for cell in found if "unreleased-value" in cell]


def uids(client: Client, name: str, **filters: Any) -> list[str]:
    rows = list_page(client, name, **filters).context["cl"].result_list
    return sorted(getattr(row, "uid", str(row)) for row in rows)


def test_list_of_sessions_shows_both_values(waiting: Edition, admin_client: Client) -> None:
    for edit in (program.move_session, program.rename_session, program.change_kind, program.cancel_session):
        edit(waiting)
    program.add_session(waiting)
    program.remove_session(waiting)
    page = "schedule/session"

    assert cells(admin_client, page, "shown_title", o="1") == [
        "New session (new with the release)",
        "Part 2 (removed with the release)",
        "Session 2 to Renamed session",
    ]
    assert cells(admin_client, page, "when") == [
        "Mon 5 Apr, 10:00 to 11:00 PDT to Tue 6 Apr, 12:00 to 14:00 PDT"
    ]
    assert cells(admin_client, page, "room") == ["Hall 2 to Hall 3"]
    assert cells(admin_client, page, "shown_kind") == ["Oral session to Invited talk"]
    assert cells(admin_client, page, "status", o="5") == ["Draft to Published", "Published to Canceled"]


def test_list_of_sessions_shows_both_counts_of_presentations(waiting: Edition, admin_client: Client) -> None:
    page = "schedule/session"
    assert cells(admin_client, page, "presentation_count") == []

    program.move_talk(waiting)
    program.remove_talk(waiting)
    assert sorted(cells(admin_client, page, "presentation_count")) == ["3 to 1", "3 to 4"]


def test_list_of_presentations_shows_both_values(waiting: Edition, admin_client: Client) -> None:
    program.move_talk(waiting)
    program.retitle_talk(waiting)
    program.change_board(waiting)
    program.remove_talk(waiting)
    page = "schedule/presentation"

    assert cells(admin_client, page, "__str__") == [
        "Paper 12 (removed with the release)",
        "A talk without a paper to Another title",
    ]
    assert cells(admin_client, page, "session") == ["Session 1 to Session 2"]
    assert cells(admin_client, page, "board") == ["A1 to B17"]


def test_talk_of_a_moved_session_shows_both_times(waiting: Edition, admin_client: Client) -> None:
    program.move_session(waiting)

    program.remove_talk(waiting)

    # Of the three talks, one is removed.
    assert len(cells(admin_client, "schedule/presentation", "when")) == 2
    assert uids(admin_client, "schedule/presentation", unreleased="yes") == ["t12"]


def test_lists_of_papers_and_people_show_what_waits(waiting: Edition, admin_client: Client) -> None:
    program.publish_paper(waiting)
    program.add_person(waiting)
    program.change_role(waiting)
    SessionRole.objects.get(name="Chair 1").delete()

    assert cells(admin_client, "papers/paper", "shown_title") == ["Late paper (new with the release)"]
    assert cells(admin_client, "papers/paper", "status") == ["Draft to Published"]
    assert cells(admin_client, "schedule/sessionrole", "name") == [
        "Chair 1 (removed with the release)",
        "Added person (new with the release)",
    ]
    assert cells(admin_client, "schedule/sessionrole", "role") == ["Speaker to Panelist"]


def test_lists_sort_by_the_public_value(waiting: Edition, admin_client: Client) -> None:
    before = [row.uid for row in list_page(admin_client, "schedule/session", o="1").context["cl"].result_list]
    program.change_attributes(program.session("s1"), title="Zoology")
    page = list_page(admin_client, "schedule/session", o="1")

    assert [row.uid for row in page.context["cl"].result_list] == before
    assert uids(admin_client, "schedule/session", status__exact="cancelled") == []
    assert 'class="sortable column-shown_title' in page.text


def test_filter_finds_rows_with_unreleased_changes(waiting: Edition, admin_client: Client) -> None:
    program.rename_session(waiting)
    program.add_person(waiting)
    program.publish_paper(waiting)
    program.remove_talk(waiting)
    sessions = {"s1", "s2", "s3", "s4", "posters", "w1", "w1p1", "w1p2"}
    key = {"edition__id__exact": waiting.pk}

    # The chair of `s3` waits.
    assert uids(admin_client, "schedule/session", unreleased="yes", **key) == ["s2", "s3"]
    assert set(uids(admin_client, "schedule/session", unreleased="no")) == sessions - {"s2", "s3"}
    assert uids(admin_client, "schedule/presentation", unreleased="yes") == ["t12"]
    assert uids(admin_client, "papers/paper", unreleased="yes") == ["late"]
    assert len(uids(admin_client, "schedule/sessionrole", unreleased="yes")) == 1
    assert set(uids(admin_client, "schedule/session", unreleased="maybe")) == sessions
    assert "By unreleased changes" in list_page(admin_client, "schedule/session", **key).text
    assert "?unreleased=yes" in list_page(admin_client, "schedule/session").text


def test_only_those_who_may_see_unreleased_changes_are_shown_them(waiting: Edition, client: Client) -> None:
    program.rename_session(waiting)
    other = make.make_edition(2022)
    shown = {}
    for name, edition, role in (
        ("chair", waiting, "chair"),
        ("leader", waiting, "session_chair"),
        ("other", other, "chair"),
    ):
        client.force_login(add_member(name, edition, role))
        page = list_page(client, "schedule/session", unreleased="yes")
        shown[name] = "Renamed" in page.text, "unreleased changes" in page.text.lower()

    assert shown == {"chair": (True, True), "leader": (False, False), "other": (False, False)}


def test_rows_of_editions_whose_changes_one_may_not_see_are_not_marked(
    waiting: Edition, client: Client
) -> None:
    other = make.make_edition(2022)
    ReleasePlan.objects.create(edition=other)
    user = add_member("mixed", waiting, "session_chair")
    Membership.objects.create(user=user, edition=other, role="chair")
    person = make.make_person("Mixed")
    PersonAccount.objects.create(user=user, person=person)
    SessionRole.objects.create(session=program.session("w1p2"), person=person, role="chair", name="Mixed")
    program.remove_session(waiting)
    client.force_login(user)

    assert uids(client, "schedule/session") == ["w1p2"]
    assert "removed with the release" not in list_page(client, "schedule/session").text


def test_filter_is_offered_for_editions_whose_changes_wait(waiting: Edition, admin_client: Client) -> None:
    program.rename_session(waiting)
    other = make.make_edition(2022)
    page = list_page(admin_client, "schedule/session", edition__id__exact=other.pk)

    assert "By unreleased changes" not in page.text


@pytest.mark.parametrize("name", LISTS)
def test_query_count_is_the_same_for_1_and_3_changed_rows(
    name: str, waiting: Edition, admin_client: Client
) -> None:
    expected = {
        "schedule/session": 16,
        "schedule/presentation": 16,
        "papers/paper": 18,
        "schedule/sessionrole": 14,
    }
    counts = []
    for uids in (["s1"], ["s2", "s3"]):
        for session in Session.objects.filter(uid__in=uids):
            program.change_attributes(session, title=f"{session.title}, changed")
            role = session.roles.order_by("pk")[0]
            program.change_attributes(role, role="panelist")
            for talk in session.presentations.all()[:1]:
                program.change_attributes(talk, status="cancelled", board="B")
            paper = make.make_paper(waiting, title="Draft", status="draft")
            program.change_attributes(paper, status="published")
        list_page(admin_client, name)
        with CaptureQueriesContext(connection) as queries:
            list_page(admin_client, name, unreleased="yes")
        counts.append(len(queries))

    assert UnreleasedChange.objects.count() == 12
    assert counts == [expected[name]] * 2


def test_list_without_unreleased_changes_needs_no_further_query(
    edition: Edition, admin_client: Client
) -> None:
    program.make_program(edition)
    counts = []
    for _number in (1, 2):
        list_page(admin_client, "schedule/session")
        with CaptureQueriesContext(connection) as queries:
            list_page(admin_client, "schedule/session")
        counts.append(len(queries))
        ReleasePlan.objects.get_or_create(edition=edition)

    assert counts[0] == counts[1]
