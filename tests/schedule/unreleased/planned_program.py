"""A program with changes of every kind that waits, and a browser that previews it."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from conference.models import Edition
from content.history import Origin
from content.history.recording import recording
from content.ordering import reorder
from content.revision import lock
from content.unreleased.plan import planned
from papers.models import Paper
from schedule.models import Presentation, ReleasePlan, Room, Session, SessionRole, Speaker
from tests import factories as make

HOUR = timedelta(hours=1)
# What differs from one response to the next.
SIGNATURE = rb"(?<=[A-Za-z0-9_-]):[A-Za-z0-9]{6}:[A-Za-z0-9_-]{43}"
# The bars that say that changes wait.
BARS = rb'<aside class="(?:preview|unreleased-bar)".*?</aside>'
TOKENS = rb'nonce="[^"]*"|name="csrfmiddlewaretoken" value="[^"]*"'
NONCES = re.compile(b"|".join((TOKENS, BARS, SIGNATURE)), re.S)


def make_program(edition: Edition) -> None:
    """Create rooms, sessions with talks and people, a session with parts, posters, and unscheduled talks."""
    with lock():
        rooms = [make.make_room(edition, f"Hall {number}", slug=f"hall-{number}") for number in (1, 2, 3)]
        for number in range(1, 5):
            start = edition_start(edition) + number * HOUR
            session = make.make_session(
                edition, uid=f"s{number}", title=f"Session {number}", room=rooms[number % 3], start=start
            )
            make.add_role(session, f"Chair {number}", "chair")
            make.add_role(session, f"Speaker {number}", "speaker")
            for talk in range(1, 4):
                paper = make.make_paper(
                    edition, [f"Author {number}{talk}"], title=f"Paper {number}{talk}", uid=f"p{number}{talk}"
                )
                make.make_presentation(session, paper=paper, uid=f"t{number}{talk}")
        workshop = make.make_session(edition, uid="w1", title="Workshop", kind="workshop", minutes=240)
        for number in (1, 2):
            make.make_session(edition, uid=f"w1p{number}", title=f"Part {number}", parent=workshop)
        posters = make.make_session(edition, uid="posters", title="Posters", kind="poster", room=rooms[2])
        for number in range(1, 5):
            paper = make.make_paper(edition, [f"Poster author {number}"], title=f"Poster {number}")
            make.make_presentation(posters, paper=paper, uid=f"po{number}", kind="poster", board=f"A{number}")
        free: Presentation = make.make_presentation(
            posters, title="A talk without a paper", uid="free", kind="talk"
        )
        person = make.make_person("Ada Speaker")
        Speaker.objects.create(presentation=free, person=person, name=person.name)
        make.make_paper(edition, ["Late author"], title="Late paper", uid="late", status="draft")


def edition_start(edition: Edition) -> Any:
    return edition.day_bounds(edition.start_date)[0] + 5 * HOUR


def let_changes_wait(edition: Edition) -> ReleasePlan:
    return ReleasePlan.objects.create(edition=edition)


def session(uid: str) -> Session:
    row: Session = Session.objects.get(uid=uid)
    return row


def talk(uid: str) -> Presentation:
    row: Presentation = Presentation.objects.get(uid=uid)
    return row


def room(slug: str) -> Room:
    return Room.objects.get(slug=slug)


def change_attributes(row: Any, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save()


# Edits, each of which waits.


def move_session(edition: Edition) -> None:
    row = session("s1")
    change_attributes(row, start=row.start + 26 * HOUR, end=row.end + 27 * HOUR, room=room("hall-3"))


def rename_session(edition: Edition) -> None:
    change_attributes(session("s2"), title="Renamed *session*")


def change_kind(edition: Edition) -> None:
    change_attributes(session("s3"), kind="invited_talk")


def cancel_session(edition: Edition) -> None:
    change_attributes(session("s4"), status="cancelled", cancellation_reason="The speaker is ill.")


def cancel_workshop(edition: Edition) -> None:
    change_attributes(session("w1"), status="cancelled")


def leave_workshop(edition: Edition) -> None:
    change_attributes(session("w1p1"), parent=None)


def move_talk(edition: Edition) -> None:
    change_attributes(talk("t11"), session=session("s2"), position=0)


def time_talk(edition: Edition) -> None:
    start = session("s2").start
    change_attributes(talk("t21"), start=start + HOUR / 4, end=start + HOUR / 2)


def move_talk_to_room(edition: Edition) -> None:
    change_attributes(talk("t22"), room=room("hall-1"))


def cancel_talk(edition: Edition) -> None:
    change_attributes(talk("t23"), status="cancelled")


def unschedule_talk(edition: Edition) -> None:
    change_attributes(talk("t31"), session=None)


def retitle_talk(edition: Edition) -> None:
    change_attributes(talk("free"), title="Another title")


def change_board(edition: Edition) -> None:
    change_attributes(talk("po1"), board="B17")


def change_kind_of_talk(edition: Edition) -> None:
    change_attributes(talk("po2"), kind="spotlight")


def order_talks(edition: Edition) -> None:
    with planned(edition):
        keys = {row.uid: row.pk for row in Presentation.objects.filter(uid__in=("t41", "t42", "t43"))}
        reorder(session("s4").presentations, [keys["t43"], keys["t41"], keys["t42"]])


def add_session(edition: Edition) -> None:
    row = Session.objects.create(
        edition=edition,
        uid="new",
        title="New session",
        kind="oral",
        status="published",
        start=edition_start(edition) + 2 * HOUR,
        end=edition_start(edition) + 3 * HOUR,
        room=room("hall-2"),
    )
    Presentation.objects.create(edition=edition, uid="newtalk", title="New talk", session=row, kind="talk")
    make.add_role(row, "New chair", "chair")


def add_talk(edition: Edition) -> None:
    Presentation.objects.create(
        edition=edition,
        uid="added",
        paper=Paper.objects.get(uid="p11"),
        session=session("posters"),
        kind="poster",
        board="C1",
        status="published",
    )


def remove_session(edition: Edition) -> None:
    session("w1p2").delete()


def remove_talk(edition: Edition) -> None:
    talk("t12").delete()


def add_person(edition: Edition) -> None:
    make.add_role(session("s3"), "Added person", "moderator")


def remove_person(edition: Edition) -> None:
    SessionRole.objects.get(session=session("s3"), role="chair").delete()


def change_role(edition: Edition) -> None:
    change_attributes(SessionRole.objects.get(session=session("s2"), role="speaker"), role="panelist")


def publish_paper(edition: Edition) -> None:
    change_attributes(Paper.objects.get(uid="late"), status="published")


EDITS: tuple[Callable[[Edition], None], ...] = (
    move_session,
    rename_session,
    change_kind,
    cancel_session,
    cancel_workshop,
    leave_workshop,
    move_talk,
    time_talk,
    move_talk_to_room,
    cancel_talk,
    unschedule_talk,
    retitle_talk,
    change_board,
    change_kind_of_talk,
    order_talks,
    add_session,
    add_talk,
    remove_session,
    remove_talk,
    add_person,
    remove_person,
    change_role,
    publish_paper,
)


def make_edits(edition: Edition, user: Any = None) -> None:
    """Make all edits, each as a change set of its own."""
    for edit in EDITS:
        with recording(Origin.FORM, user, edit.__name__):
            edit(edition)


def content_of(client: Client, address: str) -> bytes:
    """Return the status and the body of a page, without what differs from one response to the next.

    The page of an error is made outside of the planned state.
    """
    response = client.get(address)
    if response.status_code == 404:
        return b"404"
    return NONCES.sub(b"", b"%d %s" % (response.status_code, response.content))


def now() -> Any:
    return timezone.now()
