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


def test_conference_day_lasts_until_4_am_in_the_edition_time_zone() -> None:
    edition = factories.make_edition(timezone="Asia/Seoul")
    assert edition.day_of(datetime(2021, 4, 6, 15, 30, tzinfo=UTC)) == date(2021, 4, 6)  # 00:30 on the 7th
    assert edition.day_of(datetime(2021, 4, 6, 18, 59, tzinfo=UTC)) == date(2021, 4, 6)  # 03:59
    assert edition.day_of(datetime(2021, 4, 6, 19, 0, tzinfo=UTC)) == date(2021, 4, 7)  # 04:00


def test_day_bounds_over_a_clock_change_span_23_hours() -> None:
    edition = factories.make_edition(timezone="Europe/Berlin")
    start, end = edition.day_bounds(date(2026, 3, 28))
    assert (end - start).total_seconds() == 23 * 3600


@pytest.mark.parametrize(
    ("field", "value", "message"),
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
        ("start_date", date(1, 1, 1), "The year must be between 1900 and 2200."),
        ("end_date", date(9999, 12, 31), "The year must be between 1900 and 2200."),
        ("day_start_hour", 24, "less than or equal to 23"),
    ],
)
def test_invalid_edition_field_is_refused_with_a_message(field: str, value: Any, message: str) -> None:
    edition = factories.make_edition()
    setattr(edition, field, value)
    with pytest.raises(ValidationError) as error:
        edition.full_clean()
    assert message in " ".join(error.value.message_dict[field])


@pytest.mark.parametrize(
    ("field", "value"),
    [("isbn", "978-3-16-148410-0"), ("isbn", "0 306 40615 2"), ("isbn", "080442957X"), ("issn", "2434-561X")],
)
def test_isbn_and_issn_with_valid_check_digit_are_accepted(field: str, value: str) -> None:
    edition = factories.make_edition()
    setattr(edition, field, value)
    edition.full_clean()


def invalid_rows(edition: Edition) -> dict[str, Model]:
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


def test_database_constraints_refuse_invalid_rows() -> None:
    accepted = []
    for name, row in invalid_rows(factories.make_edition()).items():
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


def test_sessions_nest_at_most_two_levels_deep() -> None:
    edition = factories.make_edition()
    workshop = factories.make_session(edition, kind="workshop")
    part = factories.make_session(edition, parent=workshop)
    deeper = Session(edition=edition, title="S", start=part.start, end=part.end, parent=part)
    with pytest.raises(ValidationError) as error:
        deeper.full_clean()
    assert error.value.message_dict["parent"] == [
        "Sessions have two levels: choose one that isn’t part of another session."
    ]


def test_topics_nest_at_most_four_levels_deep() -> None:
    edition = factories.make_edition()
    parent, chain = None, []
    for name in "ABCD":
        parent = factories.make_topic(edition, name, parent=parent)
        parent.full_clean()
        chain.append(parent)
    chain[0].parent = factories.make_topic(edition, "Top")
    for row in (factories.make_topic(edition, "E", parent=parent), chain[0]):
        with pytest.raises(ValidationError) as error:
            row.full_clean()
        assert error.value.message_dict["parent"] == ["Topics have at most 4 levels. Choose a higher parent."]


def test_row_with_children_cannot_get_a_parent() -> None:
    edition = factories.make_edition()
    workshop, item = factories.make_session(edition, kind="workshop"), factories.make_menu_item(edition)
    factories.make_session(edition, parent=workshop)
    factories.make_menu_item(edition, parent=item)
    pairs: list[tuple[Any, Any]] = [
        (workshop, factories.make_session(edition)),
        (item, factories.make_menu_item(edition)),
    ]
    messages = []
    for row, parent in pairs:
        row.parent = parent
        with pytest.raises(ValidationError) as error:
            row.full_clean()
        messages += error.value.message_dict["parent"]
    assert messages == [
        "Sessions have two levels, and this one already has parts.",
        "Menus have two levels, and this item already has items below it.",
    ]


def test_edition_lines_show_place_dates_and_time_zone() -> None:
    edition = factories.make_edition(venue="Convention Center", country="USA")
    assert edition.place_line == "Convention Center, San Jose, USA"
    assert edition.date_line == "5 to 9 April 2021"
    assert edition.zone_label == "Los Angeles time (PDT)"


def test_virtual_edition_without_a_city_shows_virtual_as_its_place() -> None:
    virtual = factories.make_edition(mode="virtual", city="")
    assert virtual.place_line == "Virtual"
    with pseudolocale():
        assert virtual.place_line == "⟦Virtual⟧"


@pytest.mark.parametrize("fields", [{}, {"day": date(2021, 4, 5), "moment": factories.MORNING}])
def test_key_date_is_either_a_day_or_a_moment(edition: Edition, fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="Give either a day, or a day and time"):
        KeyDate(edition=edition, title="Doors", **fields).full_clean()
