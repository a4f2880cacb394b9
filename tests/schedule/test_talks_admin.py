"""Tests of the page that orders the presentations of a session and sets their times."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.history import ChangeSet
from schedule.models import Presentation, Session
from tests.factories import MORNING, make_edition, make_paper, make_presentation, make_session
from tests.schedule.form_data import fields_of, resolve_conflicts
from tests.schedule.page_text import read_text

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def session() -> Session:
    """Create a session of an hour from 08:00 with four talks, one of them canceled."""
    session = make_session(make_edition())
    for title in ("A", "B", "C"):
        make_presentation(session, title=title)
    make_presentation(session, title="Off", status="cancelled")
    return session


def address(session: Session) -> str:
    return f"/admin/schedule/session/{session.pk}/talks/"


def page_fields(client: Client, session: Session) -> dict[str, Any]:
    return fields_of(client.get(address(session)), "talks")


def press_button(client: Client, session: Session, data: dict[str, Any], button: str, **more: Any) -> Any:
    return client.post(address(session), {**data, f"_{button}": "1", **more}, follow=True)


def talk(session: Session, title: str) -> Presentation:
    return session.presentations.get(title=title)


def field(session: Session, title: str, name: str) -> str:
    return f"t{talk(session, title).pk}-{name}"


def stored_times(session: Session) -> list[tuple[str, str]]:
    """Return the presentations in order with their times in the edition's zone."""
    zone = session.edition.zone
    return [
        (row.title, " ".join(f"{t.astimezone(zone):%H:%M}" if t else "-" for t in (row.start, row.end)))
        for row in session.presentations.order_by("position")
    ]


def test_spread_and_edited_times_are_saved_as_one_change_set(admin_client: Client, session: Session) -> None:
    page = press_button(admin_client, session, page_fields(admin_client, session), "spread")
    assert stored_times(session)[0] == ("A", "- -")
    assert [row.in_words(row.after) for row in page.context["rows"]] == [
        "08:00 – 08:20",
        "08:20 – 08:40",
        "08:40 – 09:00",
        "–",
    ]
    change_set_count = ChangeSet.objects.count()
    press_button(
        admin_client, session, fields_of(page, "talks"), "save", **{field(session, "C", "start"): "08:45"}
    )
    assert stored_times(session) == [
        ("A", "08:00 08:20"),
        ("B", "08:20 08:40"),
        ("C", "08:45 09:00"),
        ("Off", "- -"),
    ]
    assert ChangeSet.objects.count() == change_set_count + 1


def test_spreading_uses_entered_minutes_gap_and_pauses(admin_client: Client, session: Session) -> None:
    data = page_fields(admin_client, session) | {"since": "08:10", "minutes": "10", "gap": "2"}
    page = press_button(admin_client, session, data, "spread", **{field(session, "A", "pause"): "8"})
    assert [row.in_words(row.after) for row in page.context["rows"]][:3] == [
        "08:10 – 08:20",
        "08:30 – 08:40",
        "08:42 – 08:52",
    ]
    assert page.context["rows"][0].values["pause"] == 8


def test_too_short_session_says_how_many_minutes_are_needed(admin_client: Client, session: Session) -> None:
    data = page_fields(admin_client, session) | {"until": "08:02"}
    page = press_button(admin_client, session, data, "spread")
    assert "There are 2 minutes, and 3 are needed for a minute each." in page.text


def test_talks_are_spread_over_midnight_and_a_dst_change(admin_client: Client) -> None:
    edition = make_edition(timezone="Europe/Berlin", start_date="2027-03-27", end_date="2027-03-28")
    night = make_session(edition, start=datetime(2027, 3, 27, 22, 30, tzinfo=UTC), minutes=240)
    for title in ("A", "B"):
        make_presentation(night, title=title)
    page = press_button(admin_client, night, page_fields(admin_client, night), "spread")
    press_button(admin_client, night, fields_of(page, "talks"), "save")
    assert stored_times(night) == [("A", "23:30 01:30"), ("B", "01:30 04:30")]
    assert talk(night, "B").end == night.end


def test_order_follows_the_entered_numbers_with_ties(admin_client: Client, session: Session) -> None:
    data = page_fields(admin_client, session) | {field(session, "C", "place"): "1"}
    press_button(admin_client, session, data, "save")
    assert [title for title, _ in stored_times(session)] == ["C", "A", "B", "Off"]
    assert [row.position for row in session.presentations.order_by("position")] == [1, 2, 3, 4]


def test_reordered_talks_are_spread_in_their_new_order(admin_client: Client, session: Session) -> None:
    data = page_fields(admin_client, session) | {field(session, "C", "place"): "1"}
    page = press_button(admin_client, session, data, "spread")
    press_button(admin_client, session, fields_of(page, "talks"), "save")
    assert stored_times(session)[:2] == [("C", "08:00 08:20"), ("A", "08:20 08:40")]


@pytest.fixture
def timed(session: Session) -> Session:
    """Give the talks 20, 10 and 25 minutes, with five minutes after the first."""
    for title, since, until in (("A", 0, 20), ("B", 25, 35), ("C", 35, 60)):
        times = {"start": MORNING + since * MINUTE, "end": MORNING + until * MINUTE}
        session.presentations.filter(title=title).update(**times)
    return session


SWAPPED = [("C", "08:00 08:20"), ("B", "08:25 08:35"), ("A", "08:35 09:00")]


@pytest.mark.parametrize(
    ("moving", "positions", "expected"),
    [
        ("shift", {"C": 1}, [("C", "08:00 08:25"), ("A", "08:30 08:50"), ("B", "08:50 09:00")]),
        ("shift", {"A": 2, "B": 1}, [("B", "08:00 08:10"), ("A", "08:15 08:35"), ("C", "08:35 09:00")]),
        ("swap", {"A": 3, "C": 1}, SWAPPED),
        ("swap", {"C": 1}, SWAPPED),
        ("swap", {"A": 3}, SWAPPED),
        ("swap", {"C": 1, "A": 2, "B": 3}, SWAPPED),
        ("order", {"A": 3, "C": 1}, [("C", "08:35 09:00"), ("B", "08:25 08:35"), ("A", "08:00 08:20")]),
        ("nonsense", {"A": 2, "B": 1}, [("B", "08:00 08:10"), ("A", "08:15 08:35"), ("C", "08:35 09:00")]),
    ],
)
@pytest.mark.parametrize("is_checked_first", [False, True])
def test_reordered_talks_get_times_by_the_chosen_rule(
    admin_client: Client,
    timed: Session,
    moving: str,
    positions: dict[str, int],
    expected: list[tuple[str, str]],
    is_checked_first: bool,
) -> None:
    data = page_fields(admin_client, timed) | {"moving": moving}
    data |= {field(timed, title, "place"): str(position) for title, position in positions.items()}
    if is_checked_first:
        data = fields_of(press_button(admin_client, timed, data, "check"), "talks")
    press_button(admin_client, timed, data, "save")
    assert stored_times(timed)[:3] == expected


def test_preview_and_public_page_show_the_same_times(
    admin_client: Client, client: Client, timed: Session
) -> None:
    data = page_fields(admin_client, timed) | {field(timed, "C", "place"): "1"}
    page = press_button(admin_client, timed, data, "check")
    previewed = [(row.talk.title, row.clock) for row in page.context["visible"] if row.clock]
    assert previewed == [
        ("C", "08:00 – 08:25"),
        ("A", "08:30 – 08:50"),
        ("B", "08:50 – 09:00"),
    ]
    press_button(admin_client, timed, fields_of(page, "talks"), "save")
    text = read_text(client, timed.get_absolute_url())
    public_rows = re.findall(r"([0-9:]{5}) to ([0-9:]{5}) PDT ([A-C])\b", text)
    assert [(title, f"{since} – {until}") for since, until, title in public_rows] == previewed


def test_order_without_effect_for_visitors_is_reported(admin_client: Client, timed: Session) -> None:
    data = page_fields(admin_client, timed) | {field(timed, "C", "place"): "1", "moving": "order"}
    page = press_button(admin_client, timed, data, "save")
    assert "Nothing changed for visitors: they see presentations in order of time." in page.text


def test_concurrent_times_of_one_talk_are_a_conflict(admin_client: Client, timed: Session) -> None:
    data = page_fields(admin_client, timed) | {
        field(timed, "A", "place"): "2",
        field(timed, "B", "place"): "1",
    }
    Presentation.objects.filter(title="B").update(start=MORNING + 30 * MINUTE)
    page = press_button(admin_client, timed, data, "save")
    assert page.status_code == 409
    (difference,) = page.context["differences"]
    assert (difference["theirs"], difference["mine"]) == ("08:30 – 08:35", "08:00 – 08:05")


def test_accepted_order_of_the_other_chair_keeps_its_times(admin_client: Client, timed: Session) -> None:
    mine = page_fields(admin_client, timed) | {field(timed, "C", "place"): "1"}
    theirs = page_fields(admin_client, timed) | {field(timed, "B", "place"): "1", "moving": "order"}
    press_button(admin_client, timed, theirs, "save")
    page = press_button(admin_client, timed, mine, "save")
    admin_client.post(address(timed), resolve_conflicts(page, order="theirs"))
    assert stored_times(timed)[:3] == [("B", "08:25 08:35"), ("A", "08:00 08:20"), ("C", "08:35 09:00")]


def test_times_are_cleared(admin_client: Client, session: Session) -> None:
    session.presentations.update(start=MORNING, end=MORNING + MINUTE)
    page = press_button(admin_client, session, page_fields(admin_client, session), "clear")
    press_button(admin_client, session, fields_of(page, "talks"), "save")
    assert {times for _, times in stored_times(session)} == {"- -"}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("end", "07:00", "The end is before the start."),
        ("start", "99:00", "Enter a valid time."),
        ("pause", "-1", "Ensure this value is greater than or equal to 0."),
    ],
)
def test_nothing_is_saved_if_one_value_is_invalid(
    admin_client: Client, session: Session, name: str, value: str, message: str
) -> None:
    data = page_fields(admin_client, session) | {field(session, "A", "start"): "08:05"}
    data |= {field(session, "B", "start"): "08:00", field(session, "B", name): value}
    page = press_button(admin_client, session, data, "save")
    assert message in page.text
    assert stored_times(session)[:2] == [("A", "- -"), ("B", "- -")]


def test_clash_is_shown_before_saving(admin_client: Client, session: Session) -> None:
    data = page_fields(admin_client, session) | {
        field(session, "A", "start"): "10:00",
        field(session, "A", "end"): "11:00",
    }
    page = press_button(admin_client, session, data, "check")
    assert "is outside its session" in page.text
    assert [row["is_new"] for row in page.context["clashes"]] == [True]


def test_concurrent_changes_offer_both_versions(admin_client: Client, session: Session) -> None:
    data = page_fields(admin_client, session) | {
        field(session, "A", "start"): "08:05",
        field(session, "C", "place"): "1",
    }
    talk(session, "A").delete()
    data_of_b = page_fields(admin_client, session) | {field(session, "B", "start"): "08:30"}
    Presentation.objects.filter(title="B").update(start=MORNING + 10 * MINUTE)
    page = press_button(admin_client, session, data_of_b, "save")
    assert page.status_code == 409
    (difference,) = page.context["differences"]
    assert (difference["theirs"], difference["mine"]) == ("08:10 – …", "08:30 – …")
    admin_client.post(address(session), resolve_conflicts(page, **{f"t{talk(session, 'B').pk}": "mine"}))
    assert ("B", "08:30 -") in stored_times(session)
    press_button(admin_client, session, data, "save")
    assert [title for title, _ in stored_times(session)] == ["C", "B", "Off"]


def test_concurrent_orders_are_shown_side_by_side(admin_client: Client, session: Session) -> None:
    first, second = (
        page_fields(admin_client, session) | {field(session, title, "place"): "1"} for title in ("B", "C")
    )
    press_button(admin_client, session, first, "save")
    page = press_button(admin_client, session, second, "save")
    assert page.status_code == 409
    theirs, mine = (page.context["differences"][0][side].split("\n") for side in ("theirs", "mine"))
    assert (theirs[:2], mine[:2]) == (["1. B", "2. A"], ["1. C", "2. A"])
    admin_client.post(address(session), resolve_conflicts(page, order="theirs"))
    assert [title for title, _ in stored_times(session)] == ["B", "A", "C", "Off"]


def test_saved_times_are_reverted(admin_client: Client, session: Session) -> None:
    data = page_fields(admin_client, session) | {field(session, "C", "place"): "1"}
    page = press_button(admin_client, session, data, "spread")
    saved = press_button(admin_client, session, fields_of(page, "talks"), "save")
    admin_client.post(saved.context["saved"]["undo"])
    assert stored_times(session) == [("A", "- -"), ("B", "- -"), ("C", "- -"), ("Off", "- -")]


@pytest.mark.parametrize("rows", [1, 3])
def test_query_count_is_the_same_for_1_and_3_rows(admin_client: Client, rows: int) -> None:
    session = make_session(make_edition())
    for _ in range(rows):
        make_presentation(session, make_paper(session.edition, ["Ada"]), start=MORNING)
    admin_client.get(address(session))
    with CaptureQueriesContext(connection) as queries:
        assert admin_client.get(address(session)).status_code == 200
    assert len(queries) == 8


def test_page_of_an_empty_session_says_so(admin_client: Client) -> None:
    assert "This session is empty." in admin_client.get(address(make_session(make_edition()))).text
