"""Tests of the metadata of a session's page: an event with its place, time with offset, and status."""

from datetime import timedelta

import pytest
from django.test import Client

from conference.models import Edition
from schedule.models import Session
from schedule.releases import announce
from tests import factories as make
from tests.linked import linked, tags
from tests.reading import read

pytestmark = pytest.mark.django_db
SITE = "http://127.0.0.1:8000"


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(venue="Center", country="USA")


def event(client: Client, session: Session) -> dict[str, object]:
    found: dict[str, object] = linked(client, session.get_absolute_url())["Event"]
    return found


def test_event_has_time_with_offset_place_and_people(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, uid="s1", title="Opening", room=make.make_room(edition, "Hall B"))
    make.add_role(session, "Ada Lovelace", "speaker", affiliation="MIT")
    make.add_role(session, "Chair Person", "chair")

    found = event(client, session)

    assert (found["startDate"], found["endDate"]) == (
        "2021-04-06T08:00:00-07:00",
        "2021-04-06T09:00:00-07:00",
    )
    assert found["eventStatus"] == "https://schema.org/EventScheduled"
    assert found["eventAttendanceMode"] == "https://schema.org/OfflineEventAttendanceMode"
    address = {"@type": "PostalAddress", "addressLocality": "San Jose", "addressCountry": "USA"}
    center = {"@type": "Place", "name": "Center", "address": address}
    assert found["location"] == [
        {"@type": "Place", "name": "Hall B", "address": address, "containedInPlace": center}
    ]
    assert [one["name"] for one in found["performer"]] == ["Ada Lovelace"]  # type: ignore[attr-defined]
    assert found["superEvent"]["@id"] == f"{SITE}/2021/"  # type: ignore[index]
    assert found["image"] == f"{SITE}/2021/sessions/s1/card.png"


@pytest.mark.parametrize(
    ("mode", "attendance", "places"),
    [
        ("in_person", "Offline", ["Place"]),
        ("virtual", "Online", ["VirtualLocation"]),
        ("hybrid", "Mixed", ["Place", "VirtualLocation"]),
    ],
)
def test_event_says_how_to_attend(client: Client, mode: str, attendance: str, places: list[str]) -> None:
    found = event(client, make.make_session(make.make_edition(mode=mode)))

    assert found["eventAttendanceMode"] == f"https://schema.org/{attendance}EventAttendanceMode"
    assert [one["@type"] for one in found["location"]] == places  # type: ignore[attr-defined]


def test_virtual_room_is_online(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, room=make.make_room(edition, "Zoom", virtual=True))

    assert [one["@type"] for one in event(client, session)["location"]] == ["VirtualLocation"]  # type: ignore[attr-defined]


def test_cancelled_event_says_so(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, status="cancelled")

    assert event(client, session)["eventStatus"] == "https://schema.org/EventCancelled"


def test_moved_event_says_when_it_was(client: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    announce(edition, make.PAST)
    session.start += timedelta(hours=1)
    session.end += timedelta(hours=1)
    session.save()
    announce(edition, make.PAST + timedelta(days=1))

    found = event(client, session)

    assert found["eventStatus"] == "https://schema.org/EventRescheduled"
    assert found["previousStartDate"] == "2021-04-06T08:00:00-07:00"
    assert found["startDate"] == "2021-04-06T09:00:00-07:00"


def test_whole_and_parts_know_each_other(client: Client, edition: Edition) -> None:
    whole = make.make_session(edition, uid="w", kind="workshop", title="Workshop")
    part = make.make_session(edition, uid="p", title="Part", parent=whole)
    make.make_session(edition, title="Secret", parent=whole, status="draft")

    assert [one["name"] for one in event(client, whole)["subEvent"]] == ["Part"]  # type: ignore[attr-defined]
    assert event(client, part)["superEvent"]["name"] == "Workshop"  # type: ignore[index]


def test_zero_length_without_room_or_people_is_valid(client: Client) -> None:
    edition = make.make_edition(city="")
    session = make.make_session(edition, minutes=0)
    long = make.make_session(edition, minutes=10_000)

    assert event(client, session)["location"] == [
        {"@type": "Place", "name": "MLSys 2021", "address": "MLSys 2021"}
    ]
    assert event(client, long)["endDate"] == "2021-04-13T06:40:00-07:00"


def test_card_tags_name_time_and_place(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, uid="s1", title="Opening", room=make.make_room(edition, "Hall B"))
    found = dict(tags(read(client, session.get_absolute_url()), "property"))

    assert found["og:title"] == "Opening"
    assert found["og:description"] == "Oral session, Tue 6 Apr, 08:00 to 09:00 PDT, Hall B."
    assert found["og:image:alt"] == "Oral session, Tue 6 Apr, 08:00 to 09:00 PDT: Opening. MLSys 2021"
