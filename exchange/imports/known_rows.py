"""Rows of an edition for readers that look rows up by name."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache, partial
from typing import Any

from conference.models import Edition
from content.array_lookup import AnyOf
from content.unreleased.plan import planned
from exchange.files import Context, KnownRow
from exchange.imports.kinds import AUTHORS, Values
from exchange.imports.rows import parts_by_owner
from exchange.records import AuthorRecord, PersonRef
from papers.models import Authorship, Award, Paper, Topic
from people.names import is_suspicious
from schedule.models import Presentation, Room, Session
from schedule.session_kinds import AppliesTo, kind_choices, own_kinds


def reading_context(edition: Edition | None, slug: str = "") -> Context:
    """Return the context of a reader. Without an edition, the zone is UTC and there are no rows.

    The rows are those of the planned state, with which the import compares.
    """
    if edition is None:
        return Context(slug, 0, "UTC", is_unusual_name=is_suspicious)

    @cache
    def rows_of_kind(kind: str) -> list[KnownRow]:
        with planned(edition):
            return list(_rows(edition, kind))

    return Context(
        edition.slug,
        edition.year,
        edition.timezone,
        day_start_hour=edition.day_start_hour,
        days=(edition.start_date, edition.end_date),
        known=rows_of_kind,
        authors=partial(known_authors, edition),
        is_unusual_name=is_suspicious,
    )


# For kinds that need only a name: the model, and its columns of key and name.
NAME_COLUMNS: dict[str, tuple[Any, str, str]] = {
    "paper": (Paper, "uid", "title"),
    "room": (Room, "slug", "name"),
    "topic": (Topic, "slug", "name"),
    "award": (Award, "uid", "name"),
}


def _rows(edition: Edition, kind: str) -> Iterator[KnownRow]:
    if kind in NAME_COLUMNS:
        model, *columns = NAME_COLUMNS[kind]
        for key, name in model._default_manager.filter(edition=edition).order_by("pk").values_list(*columns):
            yield KnownRow(key, name)
    elif kind == "session":
        sessions = Session.objects.filter(edition=edition).standing().order_by("start", "pk")
        sessions = sessions.select_related("room")
        for session in sessions.only("uid", "title", "kind", "start", "end", "room__slug"):
            room = session.room.slug if session.room else ""
            yield KnownRow(session.uid, session.title, session.kind, session.start, session.end, room)
    elif kind == "presentation":
        presentations = Presentation.objects.filter(edition=edition, paper__isnull=False).order_by("pk")
        paths = ("uid", "paper__uid", "kind", "session__uid")
        for uid, paper_uid, presentation_kind, session_uid in presentations.standing().rows(*paths):
            yield KnownRow(uid, str(paper_uid), presentation_kind, session=session_uid or "")
    else:
        applies_to = AppliesTo(kind.removesuffix(" kind"))
        for slug, label in kind_choices(applies_to, own_kinds(edition).values()):
            yield KnownRow(str(slug), str(label))


def known_authors(edition: Edition, papers: Collection[str]) -> Mapping[str, tuple[AuthorRecord, ...]]:
    """Return the stored authors of papers as records, by uid of the paper."""
    uids = dict(Paper.objects.filter(AnyOf("uid", list(papers)), edition=edition).values_list("pk", "uid"))
    lists = parts_by_owner(AUTHORS, Authorship.objects.filter(AnyOf("paper_id", list(uids))), edition)
    return {uids[owner]: tuple(map(_author, parts)) for owner, parts in lists.items()}


def _author(part: Values) -> AuthorRecord:
    return AuthorRecord(
        person=PersonRef(name=part["name"], uid=part["person"]),
        affiliations=tuple(part["affiliations"]),
        institutions=tuple(part["institutions"]),
        corresponding=part["corresponding"],
        presenting=part["presenting"],
    )
