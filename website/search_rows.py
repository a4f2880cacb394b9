"""What was found, of every kind, as plain values: read for all of them at once.

Why plain values: see `papers.rows`.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import (
    BigIntegerField,
    BooleanField,
    DateTimeField,
    F,
    OuterRef,
    Subquery,
    TextField,
    Value,
)
from django.db.models.functions import Cast, Coalesce

from conference.models import Page
from content.querysets import moment
from papers.models import Authorship, AwardGrant, Paper
from papers.rows import AwardRow
from people.models import Person
from people.querysets import with_shown_names
from people.rows import PersonLink
from schedule.models import Presentation, Session, SessionRole, Speaker
from search.hits import Hit

NOTHING = Value("", TextField())
NO_TIME = Cast(Value(None), DateTimeField())
NO = Value(False, BooleanField())
ZERO = Value(0, BigIntegerField())


class SearchRow(NamedTuple):
    """A thing as a result shows it. A talk has the uid and title of its session, if it has one."""

    what: str
    pk: int
    uid: str
    title: str
    body: str
    edition_id: int | None
    kind: str
    topic: str | None
    start: datetime | None
    end: datetime | None
    called_off: bool
    session: str | None
    session_title: str | None


class PeopleAndAwards(NamedTuple):
    """Who stands on what was found, in order, and the awards of papers, by its kind and key."""

    people: Mapping[tuple[str, int], list[PersonLink]]
    awards: Mapping[tuple[str, int], list[AwardRow]]


def rows(hits: Collection[Hit], at: datetime | None = None) -> dict[tuple[str, int], SearchRow]:
    """Return what the hits stand for, as far as it is public. One query."""
    kinds = ("paper", "person", "session", "talk", "page")
    keys = [[hit.object_id for hit in hits if hit.kind == what] for what in kinds]
    found = (SearchRow(*row) for row in _rows(keys, moment(at))) if any(keys) else ()
    return {(row.what, row.pk): row for row in found}


def _rows(keys: Collection[Collection[int]], at: datetime) -> Any:
    papers, people, sessions, talks, pages = keys
    own = [_papers(papers, at), _people(people, at), _sessions(sessions, at), _talks(talks, at)]
    return own[0].union(*own[1:], _pages(pages, at), all=True).order_by()


def _papers(keys: Collection[int], at: datetime) -> Any:
    shown = Presentation.objects.published(at).filter(paper=OuterRef("pk")).with_beginning()
    first = shown.filter(called_off=False, begins__isnull=False).values("begins")[:1]
    columns = ("pk", "uid", "title", "abstract", "edition_id", NOTHING, "topic__name")
    times = (Subquery(first, DateTimeField()), NO_TIME, NO, NOTHING, NOTHING)
    return _branch("paper", Paper.objects.published(at).filter(pk__in=keys), *columns, *times)


def _people(keys: Collection[int], at: datetime) -> Any:
    nowhere = Cast(Value(None), BigIntegerField())
    columns = ("pk", "uid", "name", "affiliation", nowhere, NOTHING, NOTHING)
    times = (NO_TIME, NO_TIME, NO, NOTHING, NOTHING)
    return _branch("person", Person.objects.published(at).filter(pk__in=keys), *columns, *times)


def _sessions(keys: Collection[int], at: datetime) -> Any:
    shown = Session.objects.published(at).filter(pk__in=keys).with_called_off()
    columns = ("pk", "uid", "title", "abstract", "edition_id", "kind", NOTHING)
    return _branch("session", shown, *columns, "start", "end", "called_off", NOTHING, NOTHING)


def _talks(keys: Collection[int], at: datetime) -> Any:
    shown = Presentation.objects.published(at).filter(pk__in=keys, paper=None).with_beginning()
    columns = ("pk", "uid", "title", "abstract", "edition_id", "kind", NOTHING)
    times = ("begins", Coalesce("end", "session__end"), "called_off", "session__uid", "session__title")
    return _branch("talk", shown, *columns, *times)


def _pages(keys: Collection[int], at: datetime) -> Any:
    columns = ("pk", "slug", "title", "body", "edition_id", NOTHING, NOTHING)
    times = (NO_TIME, NO_TIME, NO, NOTHING, NOTHING)
    return _branch("page", Page.objects.published(at).filter(pk__in=keys), *columns, *times)


def _branch(what: str, shown: Any, *columns: object) -> Any:
    return shown.order_by().values_list(Value(what, TextField()), *columns)


def people_and_awards(found: Collection[tuple[str, int]], at: datetime | None = None) -> PeopleAndAwards:
    """Return who stands on these papers, sessions and talks, and what papers were awarded. One query."""
    keys = [[key for kind, key in found if kind == what] for what in ("paper", "session", "talk")]
    people: dict[tuple[str, int], list[PersonLink]] = {one: [] for one in found}
    awards: dict[tuple[str, int], list[AwardRow]] = {one: [] for one in found}
    for what, owner, *_, first, second, third in sorted(_around(keys, moment(at)) if any(keys) else ()):
        if what == "award":
            awards["paper", owner].append(AwardRow(first, second, third))
        else:
            people[what, owner].append(PersonLink(first, second, third))
    return PeopleAndAwards(people, awards)


def _around(keys: Collection[Collection[int]], at: datetime) -> Any:
    papers, sessions, talks = keys
    grants = AwardGrant.objects.published(at).filter(paper__in=papers)
    honour = ("award__edition__slug", "award__uid", "award__name")
    authors = Authorship.objects.published(at).filter(paper__in=papers)
    roles = SessionRole.objects.published(at).filter(session__in=sessions)
    speakers = Speaker.objects.published(at).filter(presentation__in=talks)
    awards = _branch("award", grants, "paper_id", "award__position", "award_id", "position", *honour)
    named = (
        _named("paper", authors, "paper_id"),
        _named("session", roles, "session_id"),
        _named("talk", speakers, "presentation_id"),
    )
    return awards.union(*named, all=True).order_by()


def _named(what: str, shown: Any, owner: str) -> Any:
    columns = (owner, "position", "pk", ZERO, "person__uid", "person__name", F("shown_name"))
    return _branch(what, with_shown_names(shown), *columns)
