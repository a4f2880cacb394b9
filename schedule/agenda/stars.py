"""Stars as text: in buttons, addresses, browsers and requests.

`p.a12@1617721200.7@1617700000000` is a star of presentation a12, scheduled for that second in room 7. The
last number is the millisecond of the star. A leading minus marks a removed star. Imports no models.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from django.utils.translation import gettext

KINDS = {"s": "session", "p": "presentation"}
# Limits of an agenda, and of the text of its stars.
MAX_STARS = 500
MAX_JSON_CHARS = 120_000
STAR_PATTERN = re.compile(
    r"(?P<removed>-?)(?P<kind>[sp])\.(?P<uid>[A-Za-z0-9][A-Za-z0-9._-]{0,63})"
    r"(?:@(?P<start>[0-9]{0,11})\.(?P<room>[0-9]{0,18})(?:@(?P<at>[0-9]{1,14}))?)?"
)
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UnreadableError(ValueError):
    """Raised if a text is not a list of stars; the message is for visitors."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The start and the key of the room of a row when it was starred."""

    start: datetime | None = None
    room: int | None = None

    def __str__(self) -> str:
        seconds = "" if self.start is None else str(int(self.start.timestamp()))
        return f"{seconds}.{self.room or ''}"


@dataclass(frozen=True, slots=True)
class Star:
    """A star, given or removed `at` a moment. `seen` is `None` if an address does not include it."""

    kind: str
    uid: str
    seen: Seen | None = None
    at: datetime | None = None
    removed: bool = False

    @property
    def key(self) -> str:
        return f"{self.kind}.{self.uid}"

    def __str__(self) -> str:
        at = f"@{(self.at - EPOCH) // timedelta(milliseconds=1)}" if self.at and self.seen else ""
        return f"{'-' * self.removed}{self.key}{f'@{self.seen}' if self.seen else ''}{at}"


def read_stars(text: str) -> list[Star]:
    """Return the stars in a text, separated by spaces: the latest of each row. Raises `UnreadableError`."""
    if len(text) > MAX_JSON_CHARS:
        raise UnreadableError(gettext("The list of starred talks is too long."))
    stars_by_key: dict[str, Star] = {}
    for word in text.split():
        star = _parse_star(word)
        if star.key not in stars_by_key or overrules(star, stars_by_key[star.key]):
            stars_by_key[star.key] = star
    if sum(not star.removed for star in stars_by_key.values()) > MAX_STARS:
        raise UnreadableError(gettext("An agenda holds %(count)d stars at most.") % {"count": MAX_STARS})
    return list(stars_by_key.values())


def write_stars(stars: Iterable[Star]) -> str:
    return " ".join(map(str, stars))


def overrules(star: Star, other: Star) -> bool:
    """Return whether `star` replaces `other`: it is later, or a removal at the same moment."""
    return (star.at or EARLIEST, star.removed) > (other.at or EARLIEST, other.removed)


def date_star(star: Star, now: datetime) -> Star:
    """Return the star with a moment that is not in the future, because fast clocks would always win."""
    return replace(star, at=min(star.at or now, now))


def _parse_star(word: str) -> Star:
    parts = STAR_PATTERN.fullmatch(word)
    if parts is None:
        raise UnreadableError(gettext("The list of starred talks isn’t valid. Check the link."))
    seen = None
    if parts["start"] is not None:
        start = EPOCH + timedelta(seconds=int(parts["start"])) if parts["start"] else None
        seen = Seen(start, int(parts["room"]) if parts["room"] else None)
    at = EPOCH + timedelta(milliseconds=int(parts["at"])) if parts["at"] else None
    return Star(parts["kind"], parts["uid"], seen, at, bool(parts["removed"]))
