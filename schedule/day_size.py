"""How many talks of each session the page of a large day lists; all are on the page of their session."""

from collections.abc import Sequence

from schedule.querysets import MAX_LISTED_TALKS
from schedule.rows import TALKS_SHOWN

# The maximum number of sessions and talks on the page of a day, of about 1.7 KB each. It always has all
# sessions.
MAX_DAY_ENTRIES = 200


def talks_listed(counts: Sequence[int]) -> int:
    """Return the maximum number of talks of a session that lists all, from the `counts` of a day.

    On a large day it is also how many are listed of a session with more.
    """
    if entries(counts, MAX_LISTED_TALKS) <= MAX_DAY_ENTRIES:
        return MAX_LISTED_TALKS
    return next(
        (listed for listed in range(TALKS_SHOWN, 0, -1) if entries(counts, listed) <= MAX_DAY_ENTRIES), 0
    )


def entries(counts: Sequence[int], listed: int) -> int:
    """Return the number of sessions and talks on a page that lists so many talks of a session."""
    return len(counts) + sum(count if count <= listed else min(listed, TALKS_SHOWN) for count in counts)
