"""The state of an edition in words, by the local day of its venue."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from conference.edition_state import edition_state
from conference.models import Edition

EDITION: dict[str, Any] = {
    "name": "ICML 2026", "timezone": "Asia/Seoul", "city": "Seoul",
    "start_date": date(2026, 7, 6), "end_date": date(2026, 7, 11),
}  # fmt: skip
ONE_DAY = {"start_date": date(2026, 7, 7), "end_date": date(2026, 7, 7)}


@pytest.mark.parametrize(
    ("moment", "text", "fields"),
    [
        (datetime(2023, 7, 1, tzinfo=UTC), "Starts in 3 years", {}),
        (datetime(2025, 11, 1, tzinfo=UTC), "Starts in 8 months", {}),
        (datetime(2026, 5, 7, tzinfo=UTC), "Starts in 60 days", {}),
        (datetime(2026, 6, 24, tzinfo=UTC), "Starts in 12 days", {}),
        (datetime(2026, 7, 5, 3, tzinfo=UTC), "Starts tomorrow", {}),
        # 03:00 in Seoul still belongs to the day before.
        (datetime(2026, 7, 5, 18, tzinfo=UTC), "Starts tomorrow", {}),
        (datetime(2026, 7, 7, 2, 20, tzinfo=UTC), "Day 2 of 6 11:20 in Seoul", {}),
        (datetime(2026, 7, 11, 18, tzinfo=UTC), "Day 6 of 6 03:00 in Seoul", {}),
        (datetime(2026, 7, 11, 20, tzinfo=UTC), "Ended on 11 July 2026", {}),
        (datetime(2026, 7, 7, 2, 20, tzinfo=UTC), "Today 11:20 in Seoul", ONE_DAY),
        # Without a city, the time zone is named.
        (datetime(2026, 7, 7, 2, 20, tzinfo=UTC), "Day 2 of 6 11:20 KST", {"mode": "virtual"}),
        (datetime(2026, 7, 7, 2, 20, tzinfo=UTC), "Day 2 of 6 11:20 KST", {"city": ""}),
    ],
)
def test_edition_state_text(moment: datetime, text: str, fields: dict[str, Any]) -> None:
    state = edition_state(Edition(**{**EDITION, **fields}), moment)

    assert " ".join(filter(None, (state.text, state.clock, state.clock_suffix))) == text
