"""Tests of the metadata of a session's page: an event with its place, time with offset, and status."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from schedule.models import Session
from schedule.releases import announce
from tests import factories as make
from tests.html_pages import read
from tests.linked_data import linked_data, meta_tags

pytestmark = pytest.mark.django_db
SITE = "http://127.0.0.1:8000"


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(venue="Center", country="USA")


def event_metadata(client: Client, session: Session) -> dict[str, Any]:
    data: dict[str, Any] = linked_data(client, session.get_absolute_url())["Event"]
    return data


def test_event_has_time_with_offset_place_and_people(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, uid="s1", title="Opening", room=make.make_room(edition, "Hall B"))
    make.add_role(session, "Ada Lovelace", "speaker", affiliation="MIT")
    make.add_role(session, "Chair Person", "chair")

    data = event_metadata(client, session)

    assert (data["startDate"], data["endDate"]) == (
        "2021-04-06T08:00:00-07:00",
        "2021-04-06T09:00:00-07:00",
    )
    assert data["eventStatus"] == "https://schema.org/EventScheduled"
    assert data["eventAttendanceMode"] == "https://schema.org/OfflineEventAttendanceMode"
    address = {"@type": "PostalAddress", "addressLocality": "San Jose", "addressCountry": "USA"}
    center = {"@type": "Place", "name": "Center", "address": address}
    assert data["location"] == [
        {"@type": "Place", "name": "Hall B", "address": address, "containedInPlace": center}
    ]
    assert [performer["name"] for performer in data["performer"]] == ["Ada Lovelace"]
    assert data["superEvent"]["@id"] == f"{SITE}/2021/"
    assert data["image"] == f"{SITE}/2021/sessions/s1/card.png"


@pytest.mark.parametrize(
    ("mode", "attendance", "types"),
    [
        ("in_person", "Offline", ["Place"]),
        ("virtual", "Online", ["VirtualLocation"]),
        ("hybrid", "Mixed", ["Place", "VirtualLocation"]),
    ],
)
def test_attendance_mode_follows_the_mode_of_the_edition(
    client: Client, mode: str, attendance: str, types: list[str]
) -> None:
    data = event_metadata(client, make.make_session(make.make_edition(mode=mode)))

    assert data["eventAttendanceMode"] == f"https://schema.org/{attendance}EventAttendanceMode"
    assert [location["@type"] for location in data["location"]] == types


def test_session_in_a_virtual_room_has_a_virtual_location(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, room=make.make_room(edition, "Zoom", virtual=True))

    (location,) = event_metadata(client, session)["location"]
    assert location["@type"] == "VirtualLocation"


def test_cancelled_session_has_the_cancelled_event_status(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, status="cancelled")

    assert event_metadata(client, session)["eventStatus"] == "https://schema.org/EventCancelled"


def test_moved_session_has_its_previous_start_date(client: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    announce(edition, make.PAST)
    session.start += timedelta(hours=1)
    session.end += timedelta(hours=1)
    session.save()
    announce(edition, make.PAST + timedelta(days=1))

    data = event_metadata(client, session)

    assert data["eventStatus"] == "https://schema.org/EventRescheduled"
    assert data["previousStartDate"] == "2021-04-06T08:00:00-07:00"
    assert data["startDate"] == "2021-04-06T09:00:00-07:00"


def test_workshop_and_parts_refer_to_each_other(client: Client, edition: Edition) -> None:
    workshop = make.make_session(edition, uid="w", kind="workshop", title="Workshop")
    part = make.make_session(edition, uid="p", title="Part", parent=workshop)
    make.make_session(edition, title="Secret", parent=workshop, status="draft")

    assert [part_data["name"] for part_data in event_metadata(client, workshop)["subEvent"]] == ["Part"]
    assert event_metadata(client, part)["superEvent"]["name"] == "Workshop"


def test_zero_length_and_very_long_sessions_have_metadata(client: Client) -> None:
    edition = make.make_edition(city="")
    session = make.make_session(edition, minutes=0)
    long = make.make_session(edition, minutes=10_000)

    assert event_metadata(client, session)["location"] == [
        {"@type": "Place", "name": "MLSys 2021", "address": "MLSys 2021"}
    ]
    assert event_metadata(client, long)["endDate"] == "2021-04-13T06:40:00-07:00"


def test_card_tags_have_title_time_and_room(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, uid="s1", title="Opening", room=make.make_room(edition, "Hall B"))
    properties = dict(meta_tags(read(client, session.get_absolute_url()), "property"))

    assert properties["og:title"] == "Opening"
    assert properties["og:description"] == "Oral session, Tue 6 Apr, 08:00 to 09:00 PDT, Hall B."
    assert properties["og:image:alt"] == "Oral session, Tue 6 Apr, 08:00 to 09:00 PDT: Opening. MLSys 2021"
