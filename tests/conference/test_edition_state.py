"""The state of an edition in words, by the local day of its venue."""

from datetime import UTC, date, datetime

import pytest

from conference.edition_state import edition_state
from conference.models import Edition


def made(**fields: object) -> Edition:
    days = {"start_date": date(2026, 7, 6), "end_date": date(2026, 7, 11)}
    return Edition(**{"name": "ICML 2026", "timezone": "Asia/Seoul", "city": "Seoul", **days, **fields})


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (datetime(2023, 7, 1, tzinfo=UTC), "Starts in 3 years"),
        (datetime(2025, 11, 1, tzinfo=UTC), "Starts in 8 months"),
        (datetime(2026, 5, 7, tzinfo=UTC), "Starts in 60 days"),
        (datetime(2026, 6, 24, tzinfo=UTC), "Starts in 12 days"),
        (datetime(2026, 7, 5, 3, tzinfo=UTC), "Starts tomorrow"),
        # 03:00 in Seoul still belongs to the day before.
        (datetime(2026, 7, 5, 18, tzinfo=UTC), "Starts tomorrow"),
        (datetime(2026, 7, 7, 2, 20, tzinfo=UTC), "Day 2 of 6 11:20 in Seoul"),
        (datetime(2026, 7, 11, 18, tzinfo=UTC), "Day 6 of 6 03:00 in Seoul"),
        (datetime(2026, 7, 11, 20, tzinfo=UTC), "Ended on 11 July 2026"),
    ],
)
def test_state_in_words(moment: datetime, words: str) -> None:
    state = edition_state(made(), moment)

    assert " ".join(filter(None, (state.words, state.clock, state.place))) == words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"mode": "virtual"}, "Day 2 of 6 11:20 KST"),
        ({"city": ""}, "Day 2 of 6 11:20 KST"),
        ({"start_date": date(2026, 7, 7), "end_date": date(2026, 7, 7)}, "Today 11:20 in Seoul"),
    ],
)
def test_state_without_a_city_names_the_zone(fields: dict[str, object], words: str) -> None:
    state = edition_state(made(**fields), datetime(2026, 7, 7, 2, 20, tzinfo=UTC))

    assert f"{state.words} {state.clock} {state.place}" == words
