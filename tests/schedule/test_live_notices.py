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
from schedule.models import Room, Session
from schedule.releases import announce, pending_release
from tests import factories as make
from tests.access.world import add_member

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def session(edition: Edition) -> Session:
    """Create an upcoming session with a paper, in an edition whose program was announced."""
    start = timezone.now().replace(second=0, microsecond=0) + HOUR
    room, when = make.make_room(edition, "Hall A"), dict[str, Any](start=start, end=start + HOUR)
    make.make_room(edition, "Hall B")
    session = make.make_session(
        edition, title="Compilers", start=start, end=start + HOUR, room=room, uid="s1"
    )
    make.make_presentation(session, make.make_paper(edition, uid="p1"), start=start, uid="t1")
    make.make_session(edition, title="Other", uid="s2", **when)
    announce(edition, timezone.now())
    return session


def notice(session: Session, **fields: Any) -> Announcement:
    values = {"title": "Compilers moves", "session_uid": session.uid, "banner_until": session.end, **fields}
    return make.make_announcement(session.edition, published_at=make.PAST, status="published", **values)


def page_of(session: Session) -> str:
    return reverse("admin:schedule_session_announce", args=[session.pk])


def publish(client: Client, session: Session, **sent: Any) -> Any:
    """Choose a change, preview the notice, and publish it as suggested, or with other values."""
    shown = client.post(page_of(session), sent)
    form = shown.context["notice"]
    words = {name: form[name].value() for name in ("title", "text", "seen")}
    until = timezone.localtime(form.initial["until"], session.edition.zone).strftime("%Y-%m-%dT%H:%M")
    return client.post(page_of(session), {**words, "until": until, **sent, "_publish": "1"}, follow=True)


def local(moment: datetime, edition: Edition) -> str:
    return moment.astimezone(edition.zone).strftime("%Y-%m-%dT%H:%M")


# The banner


def addresses(edition: Edition) -> dict[str, str]:
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


def showing(client: Client, edition: Edition) -> set[str]:
    """Return the names of the pages with a banner or a notice line."""
    pages = {name: client.get(address).text for name, address in addresses(edition).items()}
    return {name for name, text in pages.items() if 'class="live-notice"' in text or "notice-line" in text}


EVERYWHERE = {"home", "session", "paper", "day", "room", "agenda"}


@pytest.fixture
def running(edition: Edition) -> Edition:
    """Move the edition to the days around today, so that the session is on a day page."""
    today = edition.day_of(timezone.now())
    Edition.objects.filter(pk=edition.pk).update(
        start_date=today - timedelta(days=1), end_date=today + timedelta(days=2)
    )
    edition.refresh_from_db()
    return edition


def test_banner_is_where_it_matters_alone(client: Client, running: Edition, session: Session) -> None:
    notice(session, text="Please come to *Hall B*.")
    home = client.get(running.get_absolute_url()).text

    assert showing(client, running) == EVERYWHERE
    assert '<div class="notices" role="status">' in home
    assert f'<a href="/{running.slug}/sessions/s1/">Compilers moves</a>' in home
    assert "Please come to <em>Hall B</em>." in home


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "draft"},
        {"published_at": datetime(2100, 1, 1, tzinfo=UTC)},
        {"banner_until": make.PAST},
        {"banner_until": None},
    ],
)
def test_no_banner_of_a_draft_before_or_after_its_time(
    client: Client, running: Edition, session: Session, fields: dict[str, Any]
) -> None:
    values = {
        "title": "Compilers moves",
        "session_uid": "s1",
        "banner_until": session.end,
        "status": "published",
    }
    make.make_announcement(running, **{"published_at": make.PAST, **values, **fields})

    assert showing(client, running) == set()


def test_banner_of_no_session_or_of_a_draft_is_on_the_home_page_without_a_link(
    client: Client, running: Edition, session: Session
) -> None:
    notice(session, session_uid="", title="Lunch is late")
    draft = make.make_session(running, status="draft", uid="hidden")
    notice(draft, title="Hidden moves", banner_until=session.end)
    home = client.get(running.get_absolute_url()).text

    assert ("Lunch is late" in home, "Hidden moves" in home, "/sessions/hidden/" in home) == (
        True,
        True,
        False,
    )
    assert showing(client, running) == {"home"}


def test_notice_of_a_workshop_is_at_its_parts(client: Client, running: Edition, session: Session) -> None:
    part = make.make_session(running, parent=session, start=session.start, end=session.end, uid="part")
    notice(session)

    assert 'class="live-notice"' in client.get(part.get_absolute_url()).text


def test_pages_with_banners_ask_at_most_16_queries(
    client: Client, running: Edition, session: Session, django_assert_max_num_queries: Any
) -> None:
    for number in range(3):
        notice(session, title=f"Notice {number}")
    for address in addresses(running).values():
        with django_assert_max_num_queries(16):
            client.get(address)


def test_notices_are_read_only_while_a_banner_lasts(client: Client, session: Session) -> None:
    def reads() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(session.get_absolute_url())
        return sum(query["sql"].startswith('SELECT "conference_announcement"') for query in queries)

    assert reads() == 0
    notice(session, banner_until=timezone.now() - HOUR)
    assert reads() == 0
    notice(session, title="Still shown")
    assert reads() == 1


def test_pages_are_cached_until_a_banner_ends(running: Edition, session: Session) -> None:
    at = timezone.now()
    before = read_cache_states(at)[running.slug]
    notice(session, banner_until=at + timedelta(seconds=40))
    during = read_cache_states(at)[running.slug]
    after = read_cache_states(at + timedelta(seconds=50))[running.slug]

    assert before.next_gate == float("inf")
    assert during.next_gate == pytest.approx(40)
    assert (after.next_gate, after.shown_at) == (float("inf"), at + timedelta(seconds=40))


def test_api_and_feed_have_the_notice(client: Client, session: Session) -> None:
    row = notice(session)
    found = client.get(f"/api/v1/announcements/{session.edition.slug}/{row.uid}/").json()
    feed = client.get(reverse("website:announcements_feed", args=[session.edition.slug])).text

    assert (found["session_uid"], found["banner_until"] is not None) == ("s1", True)
    assert "Compilers moves" in feed


# The form


def test_room_change_is_one_change_set(admin_client: Client, session: Session) -> None:
    hall = Room.objects.get(name="Hall B")
    page = publish(admin_client, session, kind="room", room=hall.pk)
    session.refresh_from_db()
    row, release = session.edition.announcements.get(), session.edition.releases.get(number=2)
    done = ChangeSet.objects.filter(origin=Origin.ACTION).latest("pk")

    assert (session.room, row.session_uid, row.banner_until) == (hall, "s1", session.end)
    assert row.title == "“Compilers” moves to Hall B"
    assert row.text.startswith("It takes place in Hall B, not in Hall A: ")
    assert [(one["kind"], one["key"]) for one in release.changes] == [("room", "session:s1")]
    assert f'<a href="/admin/acts/{done.pk}/take-back/">Revert</a>' in page.text

    undo(done, done.user)
    session.refresh_from_db()
    assert session.room is not None
    assert (session.room.name, session.edition.announcements.count()) == ("Hall A", 0)
    assert session.edition.releases.count() == 1


def test_new_time_takes_talks_along(admin_client: Client, session: Session) -> None:
    start = session.start + HOUR
    sent = {"start": local(start, session.edition), "end": local(start + HOUR, session.edition)}
    publish(admin_client, session, kind="time", **sent)
    session.refresh_from_db()

    assert (session.start, session.presentations.get().start) == (start, start)
    assert session.edition.announcements.get().banner_until == start + HOUR


def test_cancellation_has_a_reason_and_reaches_calendars(
    admin_client: Client, client: Client, session: Session
) -> None:
    publish(admin_client, session, kind="cancel", reason="The speaker is ill.")
    session.refresh_from_db()
    row = session.edition.announcements.get()
    calendar = client.get(reverse("exchange:session_calendar", args=[session.edition.slug, "s1"]))
    text = b"".join(calendar.streaming_content).decode() if calendar.streaming else calendar.text  # type: ignore[attr-defined]

    assert (session.status, session.why_cancelled) == ("cancelled", "The speaker is ill.")
    assert (row.title, row.text) == ("“Compilers” is canceled", "The speaker is ill.")
    assert "STATUS:CANCELLED" in text
    assert (
        "“Compilers” is canceled" in client.get(reverse("schedule:changes", args=[session.edition.slug])).text
    )


def test_other_changes_wait_for_the_next_release(admin_client: Client, session: Session) -> None:
    edition, other = session.edition, session.edition.sessions.get(uid="s2")
    other.room = Room.objects.get(name="Hall A")
    other.save()
    publish(admin_client, session, kind="cancel")
    waiting = pending_release(edition, timezone.now())

    assert [(one.kind, one.key) for one in waiting.changes] == [("room", "session:s2")]


def test_note_changes_nothing_and_makes_no_release(admin_client: Client, session: Session) -> None:
    publish(admin_client, session, kind="note")

    assert session.edition.announcements.get().title == "About “Compilers”"
    assert session.edition.releases.count() == 1


def test_words_can_be_changed_and_are_shown_before(admin_client: Client, session: Session) -> None:
    hall = Room.objects.get(name="Hall B")
    shown = admin_client.post(page_of(session), {"kind": "room", "room": hall.pk})
    publish(admin_client, session, kind="room", room=hall.pk)

    assert "“Compilers” moves to Hall B" in shown.text
    assert "What visitors will see" in shown.text
    assert shown.context["clashes"] == []


@pytest.mark.parametrize(
    ("sent", "said"),
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
def test_bad_input_is_told(admin_client: Client, session: Session, sent: dict[str, str], said: str) -> None:
    page = admin_client.post(page_of(session), {**sent, "_publish": "1"})

    assert said in page.text
    assert session.edition.announcements.count() == 0


def test_banner_that_would_be_over_is_refused(admin_client: Client, session: Session) -> None:
    sent = {"kind": "note", "title": "A", "until": "2020-01-01T10:00", "seen": "x", "_publish": "1"}

    assert "This moment has passed. Enter a later one." in admin_client.post(page_of(session), sent).text


def test_session_that_somebody_else_changed_is_shown_again(admin_client: Client, session: Session) -> None:
    shown = admin_client.post(page_of(session), {"kind": "cancel"})
    form = shown.context["notice"]
    words = {
        "title": "A",
        "text": "",
        "seen": form["seen"].value(),
        "until": local(session.end, session.edition),
    }
    session.room = Room.objects.get(name="Hall B")
    session.save()
    page = admin_client.post(page_of(session), {"kind": "cancel", **words, "_publish": "1"})

    assert "Somebody else changed the session meanwhile." in page.text
    assert session.edition.announcements.count() == 0


def test_draft_is_not_announced(admin_client: Client, session: Session) -> None:
    session.status = "draft"
    session.save()

    assert admin_client.get(page_of(session)).status_code == 302


def test_button_is_for_those_who_may_press_it(session: Session) -> None:
    shown = {}
    for role in (Role.CHAIR, Role.EDITOR):
        client = Client()
        client.force_login(add_member(role, session.edition, role))
        form = client.get(reverse("admin:schedule_session_change", args=[session.pk]))
        shown[role] = page_of(session) in form.text

    assert shown == {Role.CHAIR: True, Role.EDITOR: False}
