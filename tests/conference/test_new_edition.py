"""A new edition from an earlier one: selected parts, drafts only, one change set, with permissions."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import Membership
from accounts.roles import Role
from conference.edition_copy import parts
from conference.models import Edition
from content.history import ChangeSet
from schedule.models import SessionRole
from tests.access.world import add_member
from tests.factories import (
    MORNING,
    add_role,
    make_award,
    make_committee_role,
    make_conference,
    make_edition,
    make_key_date,
    make_menu_item,
    make_page,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
    make_session_kind,
    make_sponsor,
    make_topic,
)

pytestmark = pytest.mark.django_db

ADDRESS = "/admin/conference/edition/new/"
URL = "https://example.org/"
NEW = {
    "name": "Next", "year": 2022, "slug": "2022", "start_date": "2022-08-29", "end_date": "2022-09-01",
    "timezone": "Seoul", "city": "Seoul",
}  # fmt: skip


def make_source_edition() -> Edition:
    edition = make_edition(2021, accent="#aa0000", description="Welcome", sponsor_tiers=["Platinum"])
    make_room(edition, "Hall A")
    make_room(edition, "Hall B")
    parent = make_topic(edition, "Systems")
    make_topic(edition, "Compilers", parent=parent)
    page = make_page(edition, title="Travel", slug="travel", status="published")
    item = make_menu_item(edition, "More", section="", url="https://example.org/")
    make_menu_item(edition, "Travel", section="", page=page, parent=item)
    make_key_date(edition, "Doors", day=date(2021, 4, 1), status="published")
    make_key_date(edition, "Deadline", day=None, moment=datetime(2021, 3, 6, 7, 59, tzinfo=UTC))
    make_sponsor(edition, "Babbage", tier="Gold", status="published")
    make_committee_role(edition, make_person("Ada"), role="Program Chair")
    make_award(edition, name="Best Paper")
    make_paper(edition)
    make_session_kind(edition.conference)
    return edition


def post_form(
    client: Client, source: Edition, selected_parts: list[str] | None = None, **changes: Any
) -> Any:
    page = client.get(ADDRESS, {"edition": source.pk})
    initial_parts = page.context["form"]["parts"].initial
    data = {**NEW, "parts": initial_parts if selected_parts is None else selected_parts, **changes}
    return client.post(f"{ADDRESS}?edition={source.pk}", data)


def test_initial_parts_are_copied_as_drafts_in_one_change_set(admin_client: Client) -> None:
    source = make_source_edition()
    before = ChangeSet.objects.count()
    response = post_form(admin_client, source)
    new = Edition.objects.get(slug="2022")

    assert response["Location"] == f"/admin/?edition={new.pk}"
    assert ChangeSet.objects.count() == before + 1
    assert (new.timezone, new.accent) == ("Asia/Seoul", "#aa0000")
    assert new.description_html == source.description_html
    assert (new.public_from, new.papers_public_from, new.schedule_public_from) == (None, None, None)
    assert [(room.name, room.position) for room in new.rooms.all()] == [("Hall A", 1), ("Hall B", 2)]
    topics = {(topic.name, str(topic.parent)) for topic in new.topics.all()}
    assert topics == {("Systems", "None"), ("Compilers", "Systems")}
    assert [(page.title, page.status) for page in new.pages.all()] == [("Travel", "draft")]
    items = {
        (item.label, item.page and item.page.edition_id, str(item.parent)) for item in new.menu_items.all()
    }
    assert items == {("More", None, "None"), ("Travel", new.pk, "More")}
    assert (new.sponsor_tiers, new.committee_offices) == (["Platinum", "Gold"], ["Program Chair"])
    assert [rows.count() for rows in (new.sponsors, new.committee_roles, new.awards, new.papers)] == [0] * 4


def test_key_dates_shift_with_the_start_date_and_keep_their_local_time(admin_client: Client) -> None:
    source = make_source_edition()
    post_form(admin_client, source, ["key_dates"])
    shift = date(2022, 8, 29) - source.start_date
    copies = {
        key_date.title: (key_date.day, key_date.moment, key_date.status)
        for key_date in Edition.objects.get(slug="2022").key_dates.all()
    }

    # 5 March 2021, 23:59 in Los Angeles is 23:59 in Seoul.
    deadline = datetime(2021, 3, 5, 14, 59, tzinfo=UTC) + shift
    assert copies == {
        "Doors": (date(2021, 4, 1) + shift, None, "draft"),
        "Deadline": (None, deadline, "draft"),
    }


def test_each_part_can_be_selected_or_left_out(admin_client: Client) -> None:
    source = make_source_edition()
    post_form(admin_client, source, [])
    post_form(admin_client, source, [part.name for part in parts() if part.copy], slug="all", name="All")
    empty, full = Edition.objects.get(slug="2022"), Edition.objects.get(slug="all")
    names = ("rooms", "topics", "pages", "menu_items", "key_dates", "sponsors", "committee_roles", "awards")

    assert [getattr(empty, name).count() for name in names] == [0] * 8
    assert [getattr(full, name).count() for name in names] == [2, 2, 1, 2, 2, 1, 1, 1]
    assert empty.accent != source.accent
    assert [sponsor.status for sponsor in full.sponsors.all()] == ["draft"]


def test_page_shows_row_counts_and_is_linked_from_the_admin(admin_client: Client) -> None:
    source = make_source_edition()
    page = admin_client.get(ADDRESS, {"edition": source.pk}).text

    assert "Rooms (2)" in page
    assert "Pages (1)" in page
    assert (
        "Kinds of sessions and presentations (1) belong to the conference: the new edition has them too."
        in page
    )
    for path in ("/admin/", "/admin/conference/edition/", f"/admin/conference/edition/{source.pk}/change/"):
        assert f'href="{ADDRESS}?edition={source.pk}"' in admin_client.get(path).text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slug": "2021"}, "Edition with this Slug already exists."),
        ({"slug": "admin"}, "is an address of the site itself"),
        ({"start_date": ""}, "This field is required."),
        ({"end_date": "2022-08-01"}, "The end date is before the start date."),
        ({"end_date": "9999-12-31"}, "The year must be between 1900 and 2200."),
        ({"start_date": "0001-01-01"}, "The year must be between 1900 and 2200."),
        ({"timezone": "Atlantis"}, "is not a time zone"),
        ({"parts": ["everything"]}, "Select a valid choice."),
    ],
)
def test_invalid_form_shows_an_error_and_creates_nothing(
    changes: dict[str, Any], message: str, admin_client: Client
) -> None:
    source = make_source_edition()
    page = post_form(admin_client, source, **changes)

    assert message in page.text
    assert Edition.objects.count() == 1


def test_revert_deletes_the_new_edition_unless_it_is_in_use(admin_client: Client) -> None:
    source = make_source_edition()
    post_form(admin_client, source)
    first = ChangeSet.objects.latest("pk")
    post_form(admin_client, source, slug="used", name="Used")
    second = ChangeSet.objects.latest("pk")
    make_paper(Edition.objects.get(slug="used"))
    for change_set in (first, second):
        admin_client.post(f"/admin/acts/{change_set.pk}/take-back/")

    assert {*Edition.objects.values_list("slug", flat=True)} == {"2021", "used"}
    assert Edition.objects.get(slug="used").rooms.count() == 0


@pytest.mark.parametrize(
    ("role", "owned", "allowed"),
    [(Role.OWNER, [2020, 2021], True), (Role.OWNER, [2021], False), (Role.CHAIR, [2020, 2021], False)],
)
def test_only_owners_of_all_editions_create_the_next_one(
    role: str, owned: list[int], allowed: bool, client: Client
) -> None:
    make_edition(2020)
    source = make_source_edition()
    user = get_user_model().objects.create_user("somebody", is_staff=True)
    for edition in Edition.objects.filter(year__in=owned):
        Membership.objects.create(user=user, edition=edition, role=role)
    client.force_login(user)
    page = client.get(ADDRESS, {"edition": source.pk})

    assert page.status_code == (200 if allowed else 403)
    if allowed:
        post_form(client, source)
        assert Membership.objects.get(edition__slug="2022").role == Role.OWNER
    else:
        assert ADDRESS not in client.get("/admin/").text


def test_sessions_are_copied_with_moved_times_and_without_papers_or_people(admin_client: Client) -> None:
    source = make_edition(2021)
    room = make_room(source, "Hall A")
    workshop = make_session(
        source, kind="workshop", title="Workshop", room=room, abstract="Old", stream_url=URL
    )
    part = make_session(
        source, title="Part", start=MORNING + timedelta(minutes=10), minutes=20, parent=workshop
    )
    make_presentation(part, make_paper(source, ["Ada"]))
    add_role(part, "Grace", "chair")
    make_session(source, kind="invited_talk", title="Turing on engines")
    make_session(source, title="Dropped", status="cancelled")
    post_form(admin_client, source, ["rooms", "sessions"])
    post_form(admin_client, source, ["sessions"], slug="bare", name="Bare")
    new, bare = Edition.objects.get(slug="2022"), Edition.objects.get(slug="bare")
    sessions = {session.title: session for session in new.sessions.all()}

    # 08:00 in Los Angeles on the second day is 08:00 in Seoul on the second day.
    assert {
        title: session.start.astimezone(new.zone).strftime("%Y-%m-%d %H:%M")
        for title, session in sessions.items()
    } == {"Workshop": "2022-08-30 08:00", "Part": "2022-08-30 08:10", "Invited talk": "2022-08-30 08:00"}
    assert sessions["Part"].end - sessions["Part"].start == timedelta(minutes=20)
    assert (sessions["Part"].parent, sessions["Workshop"].room) == (sessions["Workshop"], new.rooms.get())
    assert {(session.status, session.abstract, session.stream_url) for session in sessions.values()} == {
        ("draft", "", "")
    }
    assert (new.presentations.count(), SessionRole.objects.filter(session__edition=new).count()) == (0, 0)
    assert {session.room for session in bare.sessions.all()} == {None}
    assert {*source.sessions.values_list("pk", flat=True)}.isdisjoint({row.pk for row in sessions.values()})


def test_members_are_copied_if_the_user_may_grant_their_roles(client: Client) -> None:
    source = make_edition(2021)
    owner = add_member("owner", source, Role.OWNER)
    for role in (Role.CHAIR, Role.VIEWER, Role.SESSION_CHAIR, Role.TRACK_CHAIR):
        add_member(role, source, role)
    gone = add_member("gone", source, Role.CHAIR)
    gone.is_active = False
    gone.save()
    client.force_login(owner)
    post_form(client, source, ["members"])
    post_form(client, source, [], slug="alone", name="Alone")

    def roles(slug: str) -> set[tuple[str, str]]:
        return {*Membership.objects.filter(edition__slug=slug).values_list("user__username", "role")}

    assert roles("2022") == {("owner", "owner"), ("chair", "chair"), ("viewer", "viewer")}
    assert roles("alone") == {("owner", "owner")}


def test_user_with_permission_to_add_editions_grants_no_role_that_they_may_not_grant(client: Client) -> None:
    source = make_edition(2021)
    add_member("owner", source, Role.OWNER)
    add_member("viewer", source, Role.VIEWER)
    chair = add_member("chair", source, Role.CHAIR)
    chair.user_permissions.set(Permission.objects.filter(codename__in=["add_edition", "view_edition"]))
    client.force_login(chair)
    post_form(client, source, ["members"])
    members = Membership.objects.filter(edition__slug="2022")

    assert {*members.values_list("user__username", "role")} == {
        ("chair", "chair"), ("chair", "owner"), ("viewer", "viewer"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("taken", "proposed"), [([], "2022"), (["2022"], "mlsys-2022"), (["2022", "mlsys-2022"], "mlsys-2022-2")]
)
def test_proposed_slug_is_free(admin_client: Client, taken: list[str], proposed: str) -> None:
    source = make_edition(2021)
    for slug in taken:
        make_edition(2022, slug=slug, conference=make_conference(slug="other", name="Other"))
    page = admin_client.get(ADDRESS, {"edition": source.pk})

    assert page.context["form"]["slug"].initial == proposed


def test_slug_of_an_added_edition_is_proposed_from_its_name_beside_other_conferences(
    admin_client: Client,
) -> None:
    make_edition(2021)
    fields = [prepopulated_fields(admin_client)]
    make_conference(slug="other", name="Other")
    fields.append(prepopulated_fields(admin_client))

    assert fields == [["#id_year"], ["#id_name"]]


def prepopulated_fields(client: Client) -> list[str]:
    """Return the fields from which the form fills in the slug."""
    page = client.get("/admin/conference/edition/add/").text
    (constants,) = re.findall(
        r'id="django-admin-prepopulated-fields-constants"[^>]*data-prepopulated-fields="([^"]*)"', page
    )
    (field,) = json.loads(unescape(constants))
    dependencies: list[str] = field["dependency_ids"]
    return dependencies
