"""Parsing of searches: words for days, rooms, kinds and topics become filters; others stay words."""

from datetime import date

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from search.filters import Reading, Vocabulary, edition_vocabulary, read_filters
from search.query import parse_query

# Monday to Saturday.
DAYS = [date(2026, 7, day) for day in range(6, 12)]
ROOMS = {"hall-a": "Hall A", "hall-b": "Hall B", "grand-ballroom": "Grand Ballroom", "room-301": "301"}
KINDS = {
    "poster": ["Poster", "Poster session"],
    "oral": ["Oral", "Oral session"],
    "tutorial": ["Tutorial"],
    "invited_talk": ["Invited talk", "keynote"],
    "social": ["Social"],
    "talk": ["Talk"],
    "birds-of-a-feather": ["Birds of a feather"],
}
TOPICS = [
    ("robotics", "Robotics"),
    ("cv", "Computer Vision"),
    ("dl-theory", "Theory"),
    ("rl-theory", "Theory"),
    ("may", "May"),
]
TODAY = DAYS[1]


def vocabulary(today: date | None = TODAY) -> Vocabulary:
    return edition_vocabulary(DAYS, ROOMS, KINDS, TOPICS, today)


def filter_values(reading: Reading) -> dict[str, str]:
    return {item.facet: item.value for item in reading.filters}


def day(number: int) -> dict[str, str]:
    return {"day": f"2026-07-{number:02}"}


@pytest.mark.parametrize(
    ("text", "expected", "words"),
    [
        ("posters on scaling laws wednesday", {"kind": "poster", **day(8)}, "scaling laws"),
        ("scaling laws", {}, "scaling laws"),
        ("", {}, ""),
        # Days.
        ("Wednesday", day(8), ""),
        ("Wed", day(8), ""),
        ("thurs attention", day(9), "attention"),
        ("attention on Friday", day(10), "attention"),
        ("7 July", day(7), ""),
        ("July 7th", day(7), ""),
        ("7th of July 2026 graphs", day(7), "graphs"),
        ("Wed, 8 Jul", day(8), ""),
        ("2026-07-08", day(8), ""),
        ("today", day(7), ""),
        ("orals tomorrow", {"kind": "oral", **day(8)}, ""),
        ("day:thu", day(9), ""),
        ("day:9", day(9), ""),
        ('day:"9 July"', day(9), ""),
        ("day:sat", day(11), ""),
        ("sunday", {}, "sunday"),
        ("8 August", {}, "8 August"),
        ("day:sunday", {}, "day:sunday"),
        ("sat solvers", {}, "sat solvers"),
        ("saturday", day(11), ""),
        ("monday tuesday", day(6), "tuesday"),
        # Kinds, in singular and plural.
        ("poster", {"kind": "poster"}, ""),
        ("Poster sessions", {"kind": "poster"}, ""),
        ("tutorials", {"kind": "tutorial"}, ""),
        ("invited talks about energy", {"kind": "invited_talk"}, "energy"),
        ("keynote", {"kind": "invited_talk"}, ""),
        ("birds of a feather monday", {"kind": "birds-of-a-feather", **day(6)}, ""),
        ("social networks", {}, "social networks"),
        ("socials", {"kind": "social"}, ""),
        ("kind:social", {"kind": "social"}, ""),
        ("kind:invited-talk", {"kind": "invited_talk"}, ""),
        ("workshops", {}, "workshops"),
        # Rooms.
        ("room:hall-a", {"room": "hall-a"}, ""),
        ('room:"Hall A" graphs', {"room": "hall-a"}, "graphs"),
        ("room:“hall a”", {"room": "hall-a"}, ""),
        ("posters in the hall a", {"kind": "poster", "room": "hall-a"}, ""),
        ("hall", {}, "hall"),
        ("room:grand", {"room": "grand-ballroom"}, ""),
        ("room:hall", {}, "room:hall"),
        ("room:301", {"room": "room-301"}, ""),
        ("301", {}, "301"),
        # Topics, if nothing else remains.
        ("computer vision", {"topic": "cv"}, ""),
        ("posters on robotics", {"kind": "poster", "topic": "robotics"}, ""),
        ("Robotics wed", {"topic": "robotics", **day(8)}, ""),
        ("robotics surgery", {}, "robotics surgery"),
        ("robotics -surgery", {}, "robotics -surgery"),
        ("computer posters vision", {"kind": "poster"}, "computer vision"),
        ("theory", {}, "theory"),
        ("topic:rl-theory", {"topic": "rl-theory"}, ""),
        ("topic:theory", {}, "topic:theory"),
        ('topic:"computer vision" depth', {"topic": "cv"}, "depth"),
        ("topic:graphs", {}, "topic:graphs"),
        # "papers" adds no filter, because searches find papers by default.
        ("papers by Hinton", {}, "Hinton"),
        ("papers on robotics", {"topic": "robotics"}, ""),
        ("papers wednesday", day(8), ""),
        ("wednesday papers on graphs", day(8), "graphs"),
        ("papers", {}, "papers"),
        ("papers machine", {}, "papers machine"),
        ("position papers on graphs", {}, "position papers on graphs"),
        # Words that are not filters.
        ('"wednesday"', {}, '"wednesday"'),
        ('"scaling laws" wed', day(8), '"scaling laws"'),
        ("graphs -posters", {}, "graphs -posters"),
        ("graphs -day:wed", {}, "graphs -day:wed"),
        ("author:poster title:wednesday", {}, "author:poster title:wednesday"),
        ("on the fly", {}, "on the fly"),
        ("learning on graphs", {}, "learning on graphs"),
    ],
)
def test_filters_are_read_from_text(text: str, expected: dict[str, str], words: str) -> None:
    reading = read_filters(text, vocabulary())

    assert (filter_values(reading), reading.words) == (expected, words)


def test_filter_has_the_words_it_was_read_from() -> None:
    reading = read_filters("Posters on graphs in Hall A day:wed", vocabulary())

    assert [(item.facet, reading.source_text(item), item.is_explicit) for item in reading.filters] == [
        ("kind", "Posters", False),
        ("room", "Hall A", False),
        ("day", "day:wed", True),
    ]


def test_text_without_one_filter_keeps_the_others() -> None:
    reading = read_filters("posters on graphs in Hall A", vocabulary())
    kind, room = reading.filters

    assert [reading.without([kind]), reading.without([room])] == ["graphs Hall A", "posters graphs"]


def test_plain_words_are_not_read_as_filters() -> None:
    assert filter_values(read_filters("robotics hall a wed", vocabulary(), plain=["Robotics"])) == {
        "room": "hall-a",
        **day(8),
    }
    assert filter_values(read_filters("hall a", vocabulary(), plain=["Hall A"])) == {}
    assert filter_values(read_filters("topic:robotics", vocabulary(), plain=["robotics"])) == {
        "topic": "robotics"
    }


def test_facet_that_is_set_already_is_not_read() -> None:
    reading = read_filters("posters wednesday", vocabulary(), chosen=["day"])

    assert (filter_values(reading), reading.words) == ({"kind": "poster"}, "wednesday")


@pytest.mark.parametrize("today", [None, date(2026, 7, 5), date(2026, 7, 12)])
def test_today_is_not_a_filter_outside_the_edition(today: date | None) -> None:
    assert filter_values(read_filters("today", vocabulary(today))) == {}


def test_tomorrow_is_not_a_filter_on_the_last_day() -> None:
    assert filter_values(read_filters("tomorrow", vocabulary(DAYS[-1]))) == {}


def test_weekday_that_occurs_twice_is_not_a_filter() -> None:
    two_weeks = edition_vocabulary([*DAYS, date(2026, 7, 13)], {}, {}, [])

    assert filter_values(read_filters("monday", two_weeks)) == {}
    assert filter_values(read_filters("monday 13 july", two_weeks)) == day(13)


def test_days_are_read_in_the_active_language_and_in_english() -> None:
    with override("de"):
        german = vocabulary()
        assert [
            filter_values(read_filters(text, german)) for text in ("Mittwoch", "8. Juli", "wednesday")
        ] == [day(8)] * 3


@given(st.text())
def test_any_text_is_read_without_error(text: str) -> None:
    reading = read_filters(text, vocabulary())

    assert all(0 <= item.start < item.end <= len(text) for item in reading.filters)
    assert parse_query(reading.words) is not None


@given(st.lists(st.sampled_from(["posters", "on", "wed", '"', "-", "hall a", "topic:", "robotics", "x"])))
def test_remaining_words_contain_no_filters_of_the_facets_read(parts: list[str]) -> None:
    reading = read_filters(" ".join(parts), vocabulary())

    assert (
        filter_values(read_filters(reading.words, vocabulary(), chosen=filter_values(reading)))
        .keys()
        .isdisjoint(filter_values(reading))
    )
