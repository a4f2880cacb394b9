"""What is worked out once for a state of an edition, and kept while that state lasts.

A state is the last change of the kinds of rows that a result hangs on, which parts are public, the clocks:
after a change it is another one. What is noted to have touched other kinds leaves it (`content.touches`),
and where it is noted which rows changed, a result may be mended instead of being worked out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from content import touches
from content.querysets import moment, public_parts
from pagecache.lru import Shelf

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


class Seen(NamedTuple):
    """The newest revision of an edition that was asked for, and that of the last change of some kinds.

    Each goes with the moment at which the edition had changed. The mark is `touches.mark`.
    """

    newest: tuple[int, datetime]
    mark: str
    last: tuple[int, datetime]


# By the edition's key and the kinds.
_seen: dict[tuple[int, Set[str]], Seen] = {}
# What forgets all that is kept.
_forgetting: list[Callable[[], None]] = [_seen.clear]


def state_of_kinds(kinds: Set[str], edition: Edition, at: datetime) -> State:
    """Return the state of an edition as far as these kinds of rows, or `DATES`, make it."""
    last = _last(kinds, edition)
    age = (at - last[1]).total_seconds() // LIFETIME if DATES in kinds else 0
    return *last, edition.timezone, edition.day_start_hour, age


def _last(kinds: Set[str], edition: Edition) -> tuple[int, datetime]:
    """Return a revision since which none of these kinds changed: of their last change, if that is known."""
    now, known = (edition.revision, edition.changed_at), _seen.get((edition.pk, kinds))
    if known and now == known.newest:
        return known.last
    # Of a page that was begun before the last change, and of a restored database, the state is a new one.
    last = now
    if known and touches.go_on(edition.touched, known.mark):
        number = touches.last(touches.read(edition.touched), known.newest[0], now[0], kinds)
        last = known.last if number == known.newest[0] else (number, now[1])
    _seen[edition.pk, kinds] = Seen(now, touches.mark(edition.touched), last)
    return last


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
    # The last revision, with its mark, at which it was right.
    seen: tuple[int, str]
    size: ClassVar[int] = 1


def kept_while_it_stands[T](
    most: int, of: Set[str], mended: Callable[..., Any] | None = None, by_value: bool = True
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Keep the last results of a function of an edition, a moment and values that can be hashed.

    Of each edition, part that is public and values it is one, `most` of them in all; where it is not kept
    `by_value`, the last values alone count. Nobody may change a result, and none may hang on the language,
    nor on anything that changes but these kinds of rows.

    `mended` is asked first where it is known which rows changed: with the result so far, their names (see
    `touches.changed`), the edition, the moment and the values it returns the result of now, or `None`. It may
    answer only where nothing else can have changed: what it leaves stays as it was found.
    """

    def decorate(made: Callable[..., T]) -> Callable[..., T]:
        results = Shelf[Hashable, _Result[T]](most)
        _forgetting.append(results.clear)

        @wraps(made)
        def wrapped(edition: Edition, at: datetime | None, *values: Hashable) -> T:
            now = moment(at)
            key = edition.pk, public_parts(edition, now), values if by_value else ()
            state = *state_of_kinds(of, edition, now), () if by_value else values
            found, seen = results.get(key), (edition.revision, touches.mark(edition.touched))
            if found and found.state == state:
                found.seen = seen
                return found.value
            value = None
            if found and mended and (names := _changed(found, state, edition, of)) is not None:
                value = mended(found.value, names, edition, now, *values) if names else found.value
            value = made(edition, now, *values) if value is None else value
            results.put(key, _Result(state, value, seen))
            return value

        return wrapped

    return decorate


def _changed(found: _Result[Any], state: State, edition: Edition, kinds: Set[str]) -> Set[str] | None:
    """Return the names of what changed since a result was right; `None` if it may be anything."""
    (number, mark), (_, _, *clocks) = found.seen, state
    if [*found.state[2:]] != clocks or number > edition.revision or not touches.go_on(edition.touched, mark):
        return None
    return touches.changed(touches.read(edition.touched), number, edition.revision, kinds)
