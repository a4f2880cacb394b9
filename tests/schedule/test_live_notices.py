"""Tests of live notices, which announce a change of a session in a banner until a set time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.roles import Role
from conference.cache_lifetimes import read_cache_states
from conference.models import Announcement, Edition
from content.history import ChangeSet, Origin
from content.history.revert import undo
from content.row_values import to_json_value
from content.unreleased.plan import publishing
from schedule.models import ReleasePlan, Room, Session, UnreleasedChange
from schedule.releases import announce, pending_release
from schedule.unreleased.conflicts import find_conflicts
from tests import factories as make
from tests.access.world import add_member

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def session(edition: Edition) -> Session:
    """Create an upcoming session with a paper, in an edition whose program was announced."""
    start = timezone.now().replace(second=0, microsecond=0) + HOUR
    room, times = make.make_room(edition, "Hall A"), dict[str, Any](start=start, end=start + HOUR)
    make.make_room(edition, "Hall B")
    session = make.make_session(
        edition, title="Compilers", start=start, end=start + HOUR, room=room, uid="s1"
    )
    make.make_presentation(session, make.make_paper(edition, uid="p1"), start=start, uid="t1")
    make.make_session(edition, title="Other", uid="s2", **times)
    announce(edition, timezone.now())
    return session


def create_notice(session: Session, **fields: Any) -> Announcement:
    values = {
        "title": "Compilers moves",
        "session_uid": session.uid,
        "banner_until": session.end,
        "published_at": make.PAST,
        "status": "published",
        **fields,
    }
    return make.make_announcement(session.edition, **values)


def announce_address(session: Session) -> str:
    return reverse("admin:schedule_session_announce", args=[session.pk])


def publish(client: Client, session: Session, **data: Any) -> Any:
    """Choose a change, preview the notice, and publish it as suggested, or with other values."""
    preview = client.post(announce_address(session), data)
    form = preview.context["notice"]
    values = {name: form[name].value() for name in ("title", "text", "seen")}
    until = timezone.localtime(form.initial["until"], session.edition.zone).strftime("%Y-%m-%dT%H:%M")
    data = {**values, "until": until, **data, "_publish": "1"}
    return client.post(announce_address(session), data, follow=True)


def local_value(moment: datetime, edition: Edition) -> str:
    return moment.astimezone(edition.zone).strftime("%Y-%m-%dT%H:%M")


# The banner


def page_addresses(edition: Edition) -> dict[str, str]:
    """Return the addresses of pages that show a notice of the session, and of some that do not."""
    session, paper = edition.sessions.get(uid="s1"), edition.papers.get()
    day = edition.day_of(session.start).isoformat()
    return {
        "home": edition.get_absolute_url(),
        "session": session.get_absolute_url(),
        "paper": paper.get_absolute_url(),
        "day": reverse("schedule:day", args=[edition.slug, day]),
        "room": reverse("schedule:room", args=[edition.slug, session.room.slug]) if session.room else "",
        "agenda": f"{reverse('schedule:agenda', args=[edition.slug])}?s=p.t1",
        "other session": edition.sessions.get(uid="s2").get_absolute_url(),
        "other agenda": f"{reverse('schedule:agenda', args=[edition.slug])}?s=s.s2",
    }


def pages_with_notice(client: Client, edition: Edition) -> set[str]:
    """Return the names of the pages with a banner or a notice line."""
    pages = {name: client.get(address).text for name, address in page_addresses(edition).items()}
    return {name for name, text in pages.items() if 'class="live-notice"' in text or "notice-line" in text}


RELATED_PAGES = {"home", "session", "paper", "day", "room", "agenda"}


@pytest.fixture
def running_edition(edition: Edition) -> Edition:
    """Move the edition to the days around today, so that the session is on a day page."""
    today = edition.day_of(timezone.now())
    Edition.objects.filter(pk=edition.pk).update(
        start_date=today - timedelta(days=1), end_date=today + timedelta(days=2)
    )
    edition.refresh_from_db()
    return edition


def test_banner_is_only_on_the_home_page_and_related_pages(
    client: Client, running_edition: Edition, session: Session
) -> None:
    create_notice(session, text="Please come to *Hall B*.")
    home = client.get(running_edition.get_absolute_url()).text

    assert pages_with_notice(client, running_edition) == RELATED_PAGES
    assert '<div class="notices" role="status">' in home
    assert f'<a href="/{running_edition.slug}/sessions/s1/">Compilers moves</a>' in home
    assert "Please come to <em>Hall B</em>." in home


def test_draft_future_or_expired_notice_has_no_banner(
    client: Client, running_edition: Edition, session: Session
) -> None:
    create_notice(session, status="draft")
    create_notice(session, published_at=datetime(2100, 1, 1, tzinfo=UTC))
    create_notice(session, banner_until=make.PAST)
    create_notice(session, banner_until=None)

    assert pages_with_notice(client, running_edition) == set()


def test_notice_without_a_public_session_is_only_on_the_home_page(
    client: Client, running_edition: Edition, session: Session
) -> None:
    create_notice(session, session_uid="", title="Lunch is late")
    draft = make.make_session(running_edition, status="draft", uid="hidden")
    create_notice(draft, title="Hidden moves", banner_until=session.end)
    home = client.get(running_edition.get_absolute_url()).text

    assert "Lunch is late" in home
    assert "Hidden moves" in home
    assert "/sessions/hidden/" not in home
    assert pages_with_notice(client, running_edition) == {"home"}


def test_notice_of_a_workshop_is_shown_on_its_parts(
    client: Client, running_edition: Edition, session: Session
) -> None:
    times: dict[str, Any] = {"start": session.start, "end": session.end}
    part = make.make_session(running_edition, parent=session, uid="part", **times)
    create_notice(session)

    assert 'class="live-notice"' in client.get(part.get_absolute_url()).text


def test_pages_with_banners_make_at_most_16_queries(
    client: Client, running_edition: Edition, session: Session, django_assert_max_num_queries: Any
) -> None:
    for number in range(3):
        create_notice(session, title=f"Notice {number}")
    for address in page_addresses(running_edition).values():
        with django_assert_max_num_queries(16):
            client.get(address)


def test_notices_are_read_only_while_a_banner_lasts(client: Client, session: Session) -> None:
    def announcement_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(session.get_absolute_url())
        return sum(query["sql"].startswith('SELECT "conference_announcement"') for query in queries)

    assert announcement_queries() == 0
    create_notice(session, banner_until=timezone.now() - HOUR)
    assert announcement_queries() == 0
    create_notice(session, title="Still shown")
    assert announcement_queries() == 1


def test_pages_are_cached_until_a_banner_ends(running_edition: Edition, session: Session) -> None:
    now = timezone.now()
    before = read_cache_states(now)[running_edition.slug]
    create_notice(session, banner_until=now + timedelta(seconds=40))
    during = read_cache_states(now)[running_edition.slug]
    after = read_cache_states(now + timedelta(seconds=50))[running_edition.slug]

    assert before.next_gate == float("inf")
    assert during.next_gate == pytest.approx(40)
    assert (after.next_gate, after.shown_at) == (float("inf"), now + timedelta(seconds=40))


def test_notice_is_in_api_and_feed(client: Client, session: Session) -> None:
    row = create_notice(session)
    data = client.get(f"/api/v1/announcements/{session.edition.slug}/{row.uid}/").json()
    feed = client.get(reverse("website:announcements_feed", args=[session.edition.slug])).text

    assert (data["session_uid"], data["banner_until"] is not None) == ("s1", True)
    assert "Compilers moves" in feed


# The form


def test_room_change_is_one_change_set(admin_client: Client, session: Session) -> None:
    hall = Room.objects.get(name="Hall B")
    page = publish(admin_client, session, kind="room", room=hall.pk)
    session.refresh_from_db()
    announcement, release = session.edition.announcements.get(), session.edition.releases.get(number=2)
    change_set = ChangeSet.objects.filter(origin=Origin.ACTION).latest("pk")

    assert (session.room, announcement.session_uid, announcement.banner_until) == (hall, "s1", session.end)
    assert announcement.title == "“Compilers” moves to Hall B"
    assert announcement.text.startswith("It takes place in Hall B, not in Hall A: ")
    assert [(change["kind"], change["key"]) for change in release.changes] == [("room", "session:s1")]
    assert f'<a href="/admin/acts/{change_set.pk}/take-back/">Revert</a>' in page.text

    undo(change_set, change_set.user)
    session.refresh_from_db()
    assert session.room is not None
    assert (session.room.name, session.edition.announcements.count()) == ("Hall A", 0)
    assert session.edition.releases.count() == 1


def test_new_time_moves_the_talks_of_the_session(admin_client: Client, session: Session) -> None:
    start = session.start + HOUR
    times = {"start": local_value(start, session.edition), "end": local_value(start + HOUR, session.edition)}
    publish(admin_client, session, kind="time", **times)
    session.refresh_from_db()

    assert (session.start, session.presentations.get().start) == (start, start)
    assert session.edition.announcements.get().banner_until == start + HOUR


def test_cancellation_with_reason_is_in_calendar_and_changes(
    admin_client: Client, client: Client, session: Session
) -> None:
    publish(admin_client, session, kind="cancel", reason="The speaker is ill.")
    session.refresh_from_db()
    announcement = session.edition.announcements.get()
    calendar = client.get(reverse("exchange:session_calendar", args=[session.edition.slug, "s1"]))
    text = b"".join(calendar.streaming_content).decode() if calendar.streaming else calendar.text  # type: ignore[attr-defined]

    assert (session.status, session.why_cancelled) == ("cancelled", "The speaker is ill.")
    assert (announcement.title, announcement.text) == ("“Compilers” is canceled", "The speaker is ill.")
    assert "STATUS:CANCELLED" in text
    assert (
        "“Compilers” is canceled" in client.get(reverse("schedule:changes", args=[session.edition.slug])).text
    )


def test_other_changes_are_left_to_the_next_release(admin_client: Client, session: Session) -> None:
    edition, other = session.edition, session.edition.sessions.get(uid="s2")
    other.room = Room.objects.get(name="Hall A")
    other.save()
    publish(admin_client, session, kind="cancel")
    pending = pending_release(edition, timezone.now())

    assert [(change.kind, change.key) for change in pending.changes] == [("room", "session:s2")]


def test_note_creates_no_release(admin_client: Client, session: Session) -> None:
    publish(admin_client, session, kind="note")

    assert session.edition.announcements.get().title == "About “Compilers”"
    assert session.edition.releases.count() == 1


def test_preview_shows_the_suggested_notice(admin_client: Client, session: Session) -> None:
    hall = Room.objects.get(name="Hall B")
    preview = admin_client.post(announce_address(session), {"kind": "room", "room": hall.pk})

    assert "“Compilers” moves to Hall B" in preview.text
    assert "What visitors will see" in preview.text
    assert preview.context["clashes"] == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"kind": "room"}, "Choose the new room."),
        ({"kind": "room", "room": "x"}, "Select a valid choice."),
        ({"kind": "time", "start": "soon"}, "Enter a valid date/time."),
        (
            {"kind": "time", "start": "2021-04-06T10:00", "end": "2021-04-06T09:00"},
            "The end is before the start.",
        ),
        ({"kind": "time"}, "Enter the new start and end."),
        ({"kind": "explosion"}, "Select a valid choice."),
    ],
)
def test_invalid_input_is_reported(
    admin_client: Client, session: Session, data: dict[str, str], message: str
) -> None:
    page = admin_client.post(announce_address(session), {**data, "_publish": "1"})

    assert message in page.text
    assert session.edition.announcements.count() == 0


def test_banner_end_in_the_past_is_refused(admin_client: Client, session: Session) -> None:
    data = {"kind": "note", "title": "A", "until": "2020-01-01T10:00", "seen": "x", "_publish": "1"}

    page = admin_client.post(announce_address(session), data)

    assert "This moment has passed. Enter a later one." in page.text


def test_concurrent_change_of_the_session_stops_the_notice(admin_client: Client, session: Session) -> None:
    preview = admin_client.post(announce_address(session), {"kind": "cancel"})
    form = preview.context["notice"]
    values = {
        "title": "A",
        "text": "",
        "seen": form["seen"].value(),
        "until": local_value(session.end, session.edition),
    }
    session.room = Room.objects.get(name="Hall B")
    session.save()
    page = admin_client.post(announce_address(session), {"kind": "cancel", **values, "_publish": "1"})

    assert "Somebody else changed the session meanwhile." in page.text
    assert session.edition.announcements.count() == 0


def test_draft_session_cannot_be_announced(admin_client: Client, session: Session) -> None:
    session.status = "draft"
    session.save()

    assert admin_client.get(announce_address(session)).status_code == 302


def test_announce_button_is_shown_to_chairs_only(session: Session) -> None:
    has_button = {}
    for role in (Role.CHAIR, Role.EDITOR):
        client = Client()
        client.force_login(add_member(role, session.edition, role))
        page = client.get(reverse("admin:schedule_session_change", args=[session.pk]))
        has_button[role] = announce_address(session) in page.text

    assert has_button == {Role.CHAIR: True, Role.EDITOR: False}


# While changes wait for a release


@pytest.fixture
def waiting(session: Session) -> Session:
    """Let the session wait for another room and a later start."""
    ReleasePlan.objects.create(edition=session.edition)
    session.start, session.end = session.start + 3 * HOUR, session.end + 3 * HOUR
    session.title = "Compilers, II"
    session.save()
    return Session.objects.get(pk=session.pk)


def test_notice_is_public_at_once_and_the_waiting_change_begins_again(
    admin_client: Client, waiting: Session
) -> None:
    start, later = waiting.start + HOUR, waiting.start + 3 * HOUR
    times = {"start": local_value(start, waiting.edition), "end": local_value(start + HOUR, waiting.edition)}
    preview = admin_client.post(announce_address(waiting), {"kind": "time", **times})
    page = publish(admin_client, waiting, kind="time", **times)
    session, change = Session.objects.get(pk=waiting.pk), UnreleasedChange.objects.get()

    assert "Unreleased changes of this session" in preview.text
    assert "Title <del>Compilers</del> → <ins>Compilers, II</ins>" in preview.text
    assert "Unreleased changes of the session still wait" in page.text
    assert (session.start, session.title) == (start, "Compilers")
    assert change.values["start"] == to_json_value(later)
    assert change.began["start"] == to_json_value(start)
    assert find_conflicts([change]) == []
    releases = session.edition.releases
    assert [row["kind"] for row in releases.get(number=2).changes] == ["moved"]


def test_field_that_a_notice_makes_public_waits_no_longer(admin_client: Client, waiting: Session) -> None:
    later = waiting.start + 3 * HOUR
    times = {"start": local_value(later, waiting.edition), "end": local_value(later + HOUR, waiting.edition)}
    publish(admin_client, waiting, kind="time", **times)

    assert Session.objects.get(pk=waiting.pk).start == later
    assert UnreleasedChange.objects.get().values == {"title": "Compilers, II"}


def test_field_that_differed_before_the_notice_stays_a_conflict(
    admin_client: Client, waiting: Session
) -> None:
    first, second = (Room.objects.get(name=f"Hall {letter}") for letter in "AB")
    third = make.make_room(waiting.edition, "Hall C")
    Session.objects.filter(pk=waiting.pk).update(room=third)
    with publishing():
        Session.objects.filter(pk=waiting.pk).update(room=None)
    publish(admin_client, waiting, kind="room", room=second.pk)
    (conflict,) = find_conflicts([UnreleasedChange.objects.get()])

    assert (conflict.field, conflict.public, conflict.mine) == ("room", second.pk, third.pk)
    assert conflict.change.began["room"] == first.pk


def test_cancellation_by_a_notice_waits_no_longer(admin_client: Client, session: Session) -> None:
    ReleasePlan.objects.create(edition=session.edition)
    session.status = "cancelled"
    session.save()
    page = publish(admin_client, Session.objects.get(pk=session.pk), kind="cancel", reason="Storm")

    assert "Nothing of the session waits for a release any more" in page.text
    assert Session.objects.get(pk=session.pk).status == "cancelled"
    assert Session.objects.get(pk=session.pk).on_release == ""
    assert not UnreleasedChange.objects.exists()


def test_reverted_notice_is_gone_at_once(admin_client: Client, waiting: Session) -> None:
    before = UnreleasedChange.objects.values("values", "began", "on_release").get()
    publish(admin_client, waiting, kind="room", room=Room.objects.get(name="Hall B").pk)
    change_set = ChangeSet.objects.filter(origin=Origin.ACTION).latest("pk")
    response = admin_client.post(f"/admin/acts/{change_set.pk}/take-back/")
    session = Session.objects.get(pk=waiting.pk)

    assert response.status_code == 302
    assert session.room is not None
    assert (session.room.name, session.edition.announcements.count()) == ("Hall A", 0)
    assert UnreleasedChange.objects.values("values", "began", "on_release").get() == before


def test_notice_moves_the_talks_at_once_too(admin_client: Client, waiting: Session) -> None:
    start = waiting.start + HOUR
    times = {"start": local_value(start, waiting.edition), "end": local_value(start + HOUR, waiting.edition)}
    publish(admin_client, waiting, kind="time", **times)

    assert Session.objects.get(pk=waiting.pk).presentations.get().start == start
    assert UnreleasedChange.objects.filter(presentation__isnull=False).count() == 0


def test_notice_says_that_changes_of_the_talks_still_wait(admin_client: Client, session: Session) -> None:
    ReleasePlan.objects.create(edition=session.edition)
    talk = session.presentations.get()
    talk.board = "B17"
    talk.save()
    start = session.start + HOUR
    times = {"start": local_value(start, session.edition), "end": local_value(start + HOUR, session.edition)}
    preview = admin_client.post(announce_address(session), {"kind": "time", **times})
    page = publish(admin_client, session, kind="time", **times)

    assert "keeps waiting, and the next release writes it over the notice" in preview.text
    assert "Poster board <del>–</del> → <ins>B17</ins>" in preview.text
    assert "Unreleased changes of the session still wait" in page.text
    assert session.presentations.get().board == ""
    assert UnreleasedChange.objects.get().values == {"board": "B17"}


def test_notice_of_a_session_that_does_not_wait_says_nothing_of_it(
    admin_client: Client, session: Session
) -> None:
    ReleasePlan.objects.create(edition=session.edition)
    page = publish(admin_client, session, kind="room", room=Room.objects.get(name="Hall B").pk)

    assert "Unreleased changes of the session still wait" not in page.text
    assert "Nothing of the session waits" not in page.text
