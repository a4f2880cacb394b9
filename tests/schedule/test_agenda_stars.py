"""Tests of the notation of stars, and of the precedence of conflicting ones."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedule.agenda.stars import (
    MAX_JSON_CHARS,
    MAX_STARS,
    Seen,
    Star,
    UnreadableError,
    date_star,
    overrules,
    read_stars,
    write_stars,
)

NOON = datetime(2021, 4, 6, 12, tzinfo=UTC)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def test_star_is_written_with_the_seen_placement_and_its_time() -> None:
    star = Star("p", "a.1-b", Seen(NOON, 7), NOON + SECOND)

    assert str(star) == "p.a.1-b@1617710400.7@1617710401000"
    assert read_stars(f" {star}\n-s.s1@. ") == [star, Star("s", "s1", Seen(), removed=True)]


moments = st.none() | st.integers(946684800000, 4102444800000).map(
    lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
)
seconds = moments.map(lambda moment: moment and moment.replace(microsecond=0))
stars = st.builds(
    Star,
    kind=st.sampled_from("sp"),
    uid=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True),
    seen=st.builds(Seen, seconds, st.none() | st.integers(1, 10**12)),
    at=moments,
    removed=st.booleans(),
)


@given(st.lists(stars, max_size=5, unique_by=lambda star: star.key))
def test_stars_round_trip(original: list[Star]) -> None:
    assert read_stars(write_stars(original)) == original


@pytest.mark.parametrize(
    "text",
    ["x", "p.", "p.a@", "p.a@1", "t.a", "--p.a", "p.a@1.2@", "p.é", "p.a,p.b", "p.a@٣.1", "p." + "a" * 65],
)
def test_invalid_star_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_stars(text)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UnreadableError):
        assert len(read_stars(text)) == len(set(text.split()))


def test_too_many_or_too_long_stars_are_refused() -> None:
    assert len(read_stars(" ".join(f"p.a{number}" for number in range(MAX_STARS)))) == MAX_STARS
    with pytest.raises(UnreadableError, match="500 stars at most"):
        read_stars(" ".join(f"p.a{number}" for number in range(MAX_STARS + 1)))
    with pytest.raises(UnreadableError, match="too long"):
        read_stars("p.a " * MAX_JSON_CHARS)


def test_later_star_wins_and_a_removal_wins_ties() -> None:
    starred, unstarred = Star("p", "a", Seen(), NOON), Star("p", "a", Seen(), NOON, removed=True)

    assert overrules(unstarred, starred)
    assert not overrules(starred, unstarred)
    assert not overrules(starred, starred)
    assert overrules(Star("p", "a", Seen(), NOON + SECOND), unstarred)
    assert read_stars(f"{unstarred} {starred}") == [unstarred]


def test_star_time_in_the_future_is_replaced_by_now() -> None:
    assert date_star(Star("p", "a", at=NOON + HOUR), NOON).at == NOON
    assert date_star(Star("p", "a"), NOON).at == NOON
    assert date_star(Star("p", "a", at=NOON - HOUR), NOON).at == NOON - HOUR
