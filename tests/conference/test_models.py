"""Days and URLs of an edition, and the constraints of the database."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model

from conference.models import Edition, KeyDate
from papers.models import AwardGrant, Material
from schedule.models import Presentation, Session
from tests import factories
from tests.pseudolocale import pseudolocale

pytestmark = pytest.mark.django_db


def test_day_of_a_talk_after_midnight_is_the_evening_before() -> None:
    edition = factories.make_edition(timezone="Asia/Seoul")
    assert edition.day_of(datetime(2021, 4, 6, 15, 30, tzinfo=UTC)) == date(2021, 4, 6)  # 00:30 on the 7th
    assert edition.day_of(datetime(2021, 4, 6, 18, 59, tzinfo=UTC)) == date(2021, 4, 6)  # 03:59
    assert edition.day_of(datetime(2021, 4, 6, 19, 0, tzinfo=UTC)) == date(2021, 4, 7)  # 04:00


def test_day_bounds_over_a_clock_change_hold_23_hours() -> None:
    edition = factories.make_edition(timezone="Europe/Berlin")
    start, end = edition.day_bounds(date(2026, 3, 28))
    assert (end - start).total_seconds() == 23 * 3600


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("timezone", "Mars/Olympus", "is not a time zone"),
        ("second_timezone", "Mars/Olympus", "is not a time zone"),
        ("second_timezone", "America/Los_Angeles", "This is already the venue's time zone."),
        ("year", 99_999, "less than or equal to 2200"),
        ("slug", "admin", "is an address of the site itself"),
        ("slug", "MLSys 2021", "Use lower-case letters and digits"),
        ("accent", "red", "hexadecimal"),
        ("home_sections", ["news", "weather"], "“weather” is not a section."),
        ("home_sections", ["news", "news"], "List each section once."),
        ("hero_focus", "middle", "not a valid choice"),
        ("isbn", "978-3-16-148410-1", "is not an ISBN"),
        ("isbn", "0-306-40615-3", "is not an ISBN"),
        ("isbn", "soon", "is not an ISBN"),
        ("issn", "2640-3497", "is not an ISSN"),
        ("issn", "26403498", "is not an ISSN"),
        ("end_date", date(2020, 1, 1), "The end date is before the start date."),
        ("day_start_hour", 24, "less than or equal to 23"),
    ],
)
def test_edition_refuses_with_a_sentence(field: str, value: Any, sentence: str) -> None:
    edition = factories.make_edition()
    setattr(edition, field, value)
    with pytest.raises(ValidationError) as refusal:
        edition.full_clean()
    assert sentence in " ".join(refusal.value.message_dict[field])


@pytest.mark.parametrize(
    ("field", "value"),
    [("isbn", "978-3-16-148410-0"), ("isbn", "0 306 40615 2"), ("isbn", "080442957X"), ("issn", "2434-561X")],
)
def test_edition_takes_numbers_whose_check_digit_is_right(field: str, value: str) -> None:
    edition = factories.make_edition()
    setattr(edition, field, value)
    edition.full_clean()


def broken_rows(edition: Edition) -> dict[str, Model]:
    paper, session = factories.make_paper(edition), factories.make_session(edition)
    award, person = factories.make_award(edition), factories.make_person()
    early = session.start.replace(year=2020)
    return {
        "session ends before it starts": Session(edition=edition, title="S", start=session.start, end=early),
        "presentation of nothing": Presentation(edition=edition, session=session),
        "presentation ends before it starts": Presentation(
            edition=edition, paper=paper, start=session.start, end=early
        ),
        "same uid twice": Presentation(
            edition=edition, paper=paper, uid=factories.make_presentation(session).uid
        ),
        "material without address": Material(paper=paper, kind="pdf"),
        "award for nobody": AwardGrant(award=award),
        "award for two": AwardGrant(award=award, paper=paper, person=person),
    }


def test_database_refuses_what_must_not_be() -> None:
    accepted = []
    for name, row in broken_rows(factories.make_edition()).items():
        try:
            with transaction.atomic():
                row.save()
        except IntegrityError:
            continue
        accepted.append(name)
    assert accepted == []


def test_page_slugs_are_unique_in_an_edition_and_in_the_site() -> None:
    edition = factories.make_edition()
    factories.make_page(edition, slug="faq")
    factories.make_page(None, slug="faq")
    for owner in (edition, None):
        with pytest.raises(IntegrityError), transaction.atomic():
            factories.make_page(owner, slug="faq")


def test_session_nests_once() -> None:
    edition = factories.make_edition()
    workshop = factories.make_session(edition, kind="workshop")
    part = factories.make_session(edition, parent=workshop)
    deeper = Session(edition=edition, title="S", start=part.start, end=part.end, parent=part)
    with pytest.raises(ValidationError) as refusal:
        deeper.full_clean()
    assert refusal.value.message_dict["parent"] == [
        "Sessions have two levels: choose one that isn’t part of another session."
    ]


def test_topics_nest_four_levels_deep() -> None:
    edition = factories.make_edition()
    above, chain = None, []
    for name in "ABCD":
        above = factories.make_topic(edition, name, parent=above)
        above.full_clean()
        chain.append(above)
    chain[0].parent = factories.make_topic(edition, "Top")
    for row in (factories.make_topic(edition, "E", parent=above), chain[0]):
        with pytest.raises(ValidationError) as refusal:
            row.full_clean()
        assert refusal.value.message_dict["parent"] == [
            "Topics have at most 4 levels. Choose a higher parent."
        ]


def test_what_has_parts_becomes_no_part() -> None:
    edition = factories.make_edition()
    workshop, line = factories.make_session(edition, kind="workshop"), factories.make_menu_item(edition)
    factories.make_session(edition, parent=workshop)
    factories.make_menu_item(edition, parent=line)
    pairs: list[tuple[Any, Any]] = [
        (workshop, factories.make_session(edition)),
        (line, factories.make_menu_item(edition)),
    ]
    sentences = []
    for row, above in pairs:
        row.parent = above
        with pytest.raises(ValidationError) as refusal:
            row.full_clean()
        sentences += refusal.value.message_dict["parent"]
    assert sentences == [
        "Sessions have two levels, and this one already has parts.",
        "Menus have two levels, and this item already has items below it.",
    ]


def test_frame_lines_name_place_dates_and_zone() -> None:
    edition = factories.make_edition(venue="Convention Center", country="USA")
    assert edition.place_line == "Convention Center, San Jose, USA"
    assert edition.date_line == "5 to 9 April 2021"
    assert edition.zone_label == "Los Angeles time (PDT)"


def test_virtual_edition_without_a_place_says_so() -> None:
    virtual = factories.make_edition(mode="virtual", city="")
    assert virtual.place_line == "Virtual"
    with pseudolocale():
        assert virtual.place_line == "⟦Virtual⟧"


@pytest.mark.parametrize("fields", [{}, {"day": date(2021, 4, 5), "moment": factories.MORNING}])
def test_key_date_is_either_a_day_or_a_moment(edition: Edition, fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="Give either a day, or a day and time"):
        KeyDate(edition=edition, title="Doors", **fields).full_clean()
