"""What a visitor chose in the address of a schedule: a view, a zoom, a kind, a room, a topic."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext

from conference.models import Edition
from content.pagination import BadParameter, base_query
from pagecache.per_revision import cached_per_revision
from papers.models import Topic
from schedule.models import Room, Session
from schedule.session_kinds import AppliesTo, kind_label

ZOOMS = ("1", "2", "3", "4")
NORMAL_ZOOM = "2"
CACHED_EDITIONS = 24


@dataclass(frozen=True, slots=True)
class ScheduleFilter:
    """The chosen ones, and all that one can choose from."""

    kind: str
    room: Room | None
    topic: Topic | None
    kinds: list[tuple[str, str]]
    rooms: list[Room]
    topics: list[Topic]

    def __bool__(self) -> bool:
        return bool(self.kind or self.room or self.topic)

    @property
    def possible(self) -> bool:
        return len(self.kinds) > 1 or len(self.rooms) > 1 or bool(self.topics)

    @property
    def query(self) -> str:
        """The chosen ones as the start of a query string, empty or ending in `&`."""
        slugs = {"room": self.room and self.room.slug, "topic": self.topic and self.topic.slug}
        return base_query({"kind": self.kind, **slugs})


def read_choice(request: HttpRequest, edition: Edition, at: datetime) -> ScheduleFilter:
    """Return what the address chooses among what is public; raise `BadParameter` for anything else."""
    kinds = used_kinds(edition, at)
    rooms = list(edition.rooms.published(at))
    topics = in_tree(edition.topics.published(at))
    kind = one_of(request, "kind", [kind for kind, _ in kinds])
    return ScheduleFilter(
        kind, named(request, "room", rooms), named(request, "topic", topics), kinds, rooms, topics
    )


def one_of(request: HttpRequest, name: str, known: Sequence[str], otherwise: str = "") -> str:
    value = request.GET.get(name, "")
    if value and value not in known:
        raise BadParameter(
            name, value, gettext("It knows: %(values)s.") % {"values": ", ".join(known)} if known else ""
        )
    return value or otherwise


def named[T: Any](request: HttpRequest, name: str, rows: Iterable[T]) -> T | None:
    value = request.GET.get(name, "")
    found = next((row for row in rows if row.slug == value), None)
    if value and found is None:
        hints = {
            "room": gettext("Choose a room from the list of the schedule."),
            "topic": gettext("Choose a topic from the list of the schedule."),
        }
        raise BadParameter(name, value, hints[name])
    return found


def in_tree(topics: Iterable[Topic]) -> list[Topic]:
    """Return topics with each below its parent; `depth` says how far below, `label` indents by it."""
    below: dict[int | None, list[Topic]] = {}
    rows = list(topics)
    shown = {topic.pk for topic in rows}
    for topic in rows:
        below.setdefault(topic.parent_id if topic.parent_id in shown else None, []).append(topic)

    def walk(parent: int | None, depth: int) -> list[Topic]:
        ordered: list[Topic] = []
        for topic in below.get(parent, []):
            vars(topic)["indent"] = "\u2003" * depth
            ordered += [topic, *walk(topic.pk, depth + 1)]
        return ordered

    return walk(None, 0)


def used_days(edition: Edition, at: datetime) -> set[date]:
    """Return the program days on which sessions begin. One query, with the kinds."""
    return {edition.day_of(start) for start, *_ in starts_and_kinds(edition, at)}


def used_kinds(edition: Edition, at: datetime) -> list[tuple[str, str]]:
    """Return the kinds of sessions that occur, slug and label: each by what it counts as, built-in first.

    One query, with the days.
    """
    order = {slug: place for place, slug in enumerate(Session.Kind.values)}
    kinds = {(order[counts_as], name, kind) for _, kind, counts_as, name in starts_and_kinds(edition, at)}
    return [(kind, kind_label(AppliesTo.SESSION, kind, name)) for _, name, kind in sorted(kinds)]


@cached_per_revision(CACHED_EDITIONS)
def starts_and_kinds(edition: Edition, at: datetime) -> list[tuple[datetime, str, str, str]]:
    """Return the different starts and kinds of sessions: slug, what it counts as, own name."""
    columns = ("start", "kind", "counts_as", "kind_name")
    return list(edition.sessions.published(at).order_by().values_list(*columns).distinct())
