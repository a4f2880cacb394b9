"""What is worked out once for each state of an edition, and kept while that state lasts.

A state is the stamps that every page hangs on and which parts are public: after a change it is another one.
What hangs on some kinds of rows alone outlasts the changes that are noted to have touched others.
"""

from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, wraps
from typing import NamedTuple

from conference import touches
from conference.models import Edition
from conference.querysets import moment, public_parts

# For so many seconds a state lasts at most: what is dated ahead, such as a release, has no stamp of its own.
LIFETIME = 60
# Stands among kinds of rows for what is dated ahead.
DATES = "dates"

type State = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """An edition in one state, and when it was asked for. In one state the answer is the same."""

    state: State
    edition: Edition = field(compare=False)
    at: datetime = field(compare=False)


def site_stamp(edition: Edition) -> State | None:
    """Return the site's stamp, if the edition was fetched with it and something has changed so far."""
    held = vars(edition)
    return (held["site_revision"], held["site_changed_at"]) if held.get("site_revision") else None


def state_of(edition: Edition, at: datetime) -> State | None:
    """Return the state of an edition; `None` if the site's stamp is not known."""
    site = site_stamp(edition)
    if site is None:
        return None
    age = (at - edition.changed_at).total_seconds() // LIFETIME
    return (edition.pk, edition.revision, edition.changed_at, *site, *public_parts(edition, at), age)


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
    return edition.pk, *last, *public_parts(edition, at), edition.timezone, edition.day_start_hour, age


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


def kept_while_it_stands[T](
    most: int, of: Set[str] = frozenset()
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Keep the last `most` results of a function of an edition, a moment and values that can be hashed.

    Nobody may change a result, and none may hang on the language; if it is `of` some kinds of rows
    (`touches.last`), on nothing else that changes. Of an edition whose state is not known each is made anew.
    """

    def decorate(made: Callable[..., T]) -> Callable[..., T]:
        @kept(most)
        def keeping(asked: _Asked, *values: Hashable) -> T:
            return made(asked.edition, asked.at, *values)

        @wraps(made)
        def wrapped(edition: Edition, at: datetime | None, *values: Hashable) -> T:
            now = moment(at)
            state = state_of_kinds(of, edition, now) if of else state_of(edition, now)
            return keeping(_Asked(state, edition, now), *values) if state else made(edition, now, *values)

        return wrapped

    return decorate
