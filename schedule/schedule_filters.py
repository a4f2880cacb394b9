"""Options in the query string of a schedule: view, kind, room, topic."""

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
    """The chosen options of a schedule, and the available ones."""

    kind: str
    room: Room | None
    topic: Topic | None
    kinds: list[tuple[str, str]]
    rooms: list[Room]
    topics: list[Topic]

    def __bool__(self) -> bool:
        return bool(self.kind or self.room or self.topic)

    @property
    def number(self) -> int:
        """The number of chosen options."""
        return sum(map(bool, (self.kind, self.room, self.topic)))

    @property
    def possible(self) -> bool:
        return len(self.kinds) > 1 or len(self.rooms) > 1 or bool(self.topics)

    @property
    def query(self) -> str:
        """The chosen options as the start of a query string, empty or ending in `&`."""
        slugs = {"room": self.room and self.room.slug, "topic": self.topic and self.topic.slug}
        return base_query({"kind": self.kind, **slugs})


def read_choice(request: HttpRequest, edition: Edition, at: datetime) -> ScheduleFilter:
    """Return the options in the query string. Raises `BadParameter` for values that are not public."""
    kinds = used_kinds(edition, at)
    rooms = list(edition.rooms.published(at))
    topics = sort_as_tree(edition.topics.published(at))
    kind = read_option(request, "kind", [kind for kind, _ in kinds])
    room = read_slug(request, "room", rooms, gettext("Choose a room from the list of the schedule."))
    topic = read_slug(request, "topic", topics, gettext("Choose a topic from the list of the schedule."))
    return ScheduleFilter(kind, room, topic, kinds, rooms, topics)


def read_option(request: HttpRequest, name: str, choices: Sequence[str], default: str = "") -> str:
    value = request.GET.get(name, "")
    if value and value not in choices:
        raise BadParameter(
            name,
            value,
            gettext("Valid values: %(values)s.") % {"values": ", ".join(choices)} if choices else "",
        )
    return value or default


def read_slug[T: Any](request: HttpRequest, name: str, rows: Iterable[T], hint: str) -> T | None:
    value = request.GET.get(name, "")
    match = next((row for row in rows if row.slug == value), None)
    if value and match is None:
        raise BadParameter(name, value, hint)
    return match


def sort_as_tree(topics: Iterable[Topic]) -> list[Topic]:
    """Return the topics in the order of the tree, each after its parent; set `indent` for the labels."""
    by_key = {topic.pk: topic for topic in topics}

    def path(topic: Topic) -> list[tuple[int, str, int]]:
        parent = by_key.get(topic.parent_id or 0)
        return [*(path(parent) if parent else ()), (topic.position, topic.name, topic.pk)]

    for topic in by_key.values():
        vars(topic)["indent"] = "\u2003" * (len(path(topic)) - 1)
    return sorted(by_key.values(), key=path)


def used_days(edition: Edition, at: datetime) -> set[date]:
    """Return the program days on which sessions begin. Shares a query with `used_kinds()`."""
    return {edition.day_of(start) for start, *_ in starts_and_kinds(edition, at)}


def used_kinds(edition: Edition, at: datetime) -> list[tuple[str, str]]:
    """Return slug and label of the kinds of public sessions, ordered by the kind that they count as."""
    order = {slug: index for index, slug in enumerate(Session.Kind.values)}
    kinds = {(order[counts_as], name, kind) for _, kind, counts_as, name in starts_and_kinds(edition, at)}
    return [(kind, kind_label(AppliesTo.SESSION, kind, name)) for _, name, kind in sorted(kinds)]


@cached_per_revision(CACHED_EDITIONS)
def starts_and_kinds(edition: Edition, at: datetime) -> list[tuple[datetime, str, str, str]]:
    """Return the distinct starts and kinds of public sessions: start, slug, `counts_as`, own name."""
    columns = ("start", "kind", "counts_as", "kind_name")
    return list({*edition.sessions.published(at).order_by().distinct().rows(*columns)})
