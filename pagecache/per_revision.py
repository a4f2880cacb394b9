"""What is worked out once for a state of an edition, and kept while that state lasts.

A state is the revision, which parts are public, the clocks: after a change it is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, ClassVar

from content.querysets import moment, public_parts
from pagecache.lru import LRUCache

if TYPE_CHECKING:
    from conference.models import Edition

# For so many seconds a state lasts at most of what is dated ahead, such as releases: no stamp tells of that.
LIFETIME = 60
# Stands among kinds of rows for what is dated ahead.
DATES = "dates"

type State = tuple[object, ...]


def site_stamp(edition: Edition) -> State | None:
    """Return the site's stamp, if the edition was fetched with it and something has changed so far."""
    held = vars(edition)
    return (held["site_revision"], held["site_changed_at"]) if held.get("site_revision") else None


# What forgets all that is kept.
_forgetting: list[Callable[[], None]] = []


def state_of_kinds(kinds: Set[str], edition: Edition, at: datetime) -> State:
    """Return the state of an edition: its revision, its clocks and, with `DATES`, the minute."""
    age = (at - edition.changed_at).total_seconds() // LIFETIME if DATES in kinds else 0
    return edition.revision, edition.changed_at, edition.timezone, edition.day_start_hour, age


def forget() -> None:
    """Forget all that is kept, as a new process."""
    for forgetting in _forgetting:
        forgetting()


def kept[T](most: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Keep the last `most` results of a function of stamps."""

    def decorate(made: Callable[..., T]) -> Callable[..., T]:
        keeping = lru_cache(maxsize=most)(made)
        _forgetting.append(keeping.cache_clear)
        return wraps(made)(keeping)

    return decorate


@dataclass(slots=True)
class _Result[T]:
    """What was worked out in a state. On a shelf it counts as one, whatever it weighs."""

    state: State
    value: T
    size: ClassVar[int] = 1


def kept_while_it_stands[T](
    most: int, of: Set[str], mended: Callable[..., Any] | None = None, by_value: bool = True
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Keep the last results of a function of an edition, a moment and values that can be hashed.

    Of each edition, part that is public and values it is one, `most` of them in all; where it is not kept
    `by_value`, the last values alone count. Nobody may change a result, and none may hang on the language,
    nor on anything that changes but these kinds of rows.
    """

    def decorate(made: Callable[..., T]) -> Callable[..., T]:
        results = LRUCache[Hashable, _Result[T]](most)
        _forgetting.append(results.clear)

        @wraps(made)
        def wrapped(edition: Edition, at: datetime | None, *values: Hashable) -> T:
            now = moment(at)
            key = edition.pk, public_parts(edition, now), values if by_value else ()
            state = *state_of_kinds(of, edition, now), () if by_value else values
            found = results.get(key)
            if found and found.state == state:
                return found.value
            value = made(edition, now, *values)
            results.put(key, _Result(state, value))
            return value

        return wrapped

    return decorate
