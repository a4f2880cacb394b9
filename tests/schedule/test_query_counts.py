"""Tests that every page of the schedule makes the same number of queries for one row and for three."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from content.revision import lock
from schedule.models import Room, Session
from tests import factories as make

pytestmark = pytest.mark.django_db
WATCH = "https://example.org/watch"


def create_program(edition: Edition, room: Room, rows: int) -> Session:
    """Create so many rows of everything that a page can show; return their workshop."""
    workshop = make.make_session(edition, kind="workshop", room=room, minutes=600)
    parent = workshop
    for number in range(rows):
        start = make.MORNING + timedelta(hours=number)
        fields: dict[str, Any] = {"start": start, "recording_url": WATCH, "room": room}
        for kind, above in (("poster", None), ("invited_talk", None), ("oral", parent)):
            session = make.make_session(edition, kind=kind, parent=above, **fields)
            add_talks(session, rows)
        add_talks(workshop, 1)
        make.make_presentation(paper=make.make_paper(edition, ["Ada"]), kind="poster")
    return workshop


def add_talks(session: Session, rows: int) -> None:
    for _ in range(rows):
        paper = make.make_paper(session.edition, ["Ada", "Grace"][:rows])
        make.make_award(session.edition, [paper])
        make.make_material(paper, "video")
        make.make_presentation(session, paper, ["Alan"], kind="poster", recording_url=WATCH)
        make.make_presentation(session, speakers=["Alan"], recording_url=WATCH)
        make.add_role(session, make.make_person(biography="Life."), "speaker")


def count_queries(client: Client, path: str) -> int:
    client.get(path)  # Fill caches of the process, such as content types.
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


EXPECTED = {
    "schedule/": 10,
    "schedule/2021-04-06/": 10,
    "schedule/2021-04-06/?view=grid": 11,
    "schedule/?view=week": 6,
    "schedule/?view=now": 5,
    "sessions/": 10,
    "rooms/hall/": 4,
    "talks/": 3,
    "posters/": 13,
    "recordings/": 12,
}


def test_query_counts_are_the_same_for_1_and_3_rows(client: Client, edition: Edition) -> None:
    room = make.make_room(edition, slug="hall")
    counts = []
    for rows in (1, 3):
        edition.sessions.all().delete()
        with lock():
            workshop = create_program(edition, room, rows)
        addresses = {path: f"/2021/{path}" for path in EXPECTED}
        addresses["sessions/"] = workshop.get_absolute_url()
        counts.append({path: count_queries(client, address) for path, address in addresses.items()})

    assert counts == [EXPECTED, EXPECTED]
