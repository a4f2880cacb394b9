"""What is worked out once for each state of an edition, and kept while that state lasts.

A state is the stamps that every page hangs on and which parts are public: after a change it is another one.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, wraps

from conference.models import Edition
from conference.querysets import moment, public_parts

# For so many seconds a state lasts at most: what is dated ahead, such as a release, has no stamp of its own.
LIFETIME = 60


@dataclass(frozen=True, slots=True)
class _Asked:
    """An edition in one state, and when it was asked for. In one state the answer is the same."""

    state: tuple[object, ...]
    edition: Edition = field(compare=False)
    at: datetime = field(compare=False)


def state_of(edition: Edition, at: datetime) -> tuple[object, ...] | None:
    """Return the state of an edition; `None` if it was fetched without the site's stamp."""
    held = vars(edition)
    if "site_revision" not in held:
        return None
    stamp = (edition.pk, edition.revision, edition.changed_at, held["site_revision"], held["site_changed_at"])
    age = (at - edition.changed_at).total_seconds() // LIFETIME
    return (*stamp, *public_parts(edition, at), age)


def kept_while_it_stands[T](most: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Keep the last `most` results of a function of an edition, a moment and values that can be hashed.

    Nobody may change a result, and none may hang on the language. Of an edition whose state is not known
    each is made anew.
    """

    def decorate(made: Callable[..., T]) -> Callable[..., T]:
        @lru_cache(maxsize=most)
        def kept(asked: _Asked, *values: Hashable) -> T:
            return made(asked.edition, asked.at, *values)

        @wraps(made)
        def wrapped(edition: Edition, at: datetime | None, *values: Hashable) -> T:
            now = moment(at)
            state = state_of(edition, now)
            return kept(_Asked(state, edition, now), *values) if state else made(edition, now, *values)

        return wrapped

    return decorate
