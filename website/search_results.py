"""Search results as pages show them: public rows with the words marked. `search` finds the hits."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import (
    BigIntegerField,
    BooleanField,
    DateTimeField,
    F,
    Model,
    OuterRef,
    QuerySet,
    Subquery,
    TextField,
    Value,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, NullIf
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext, pgettext_lazy

import markup
from conference.models import Edition, Page
from content.querysets import moment
from papers.models import Authorship, AwardGrant, Paper
from papers.rows import AwardRow
from people.models import Person
from people.querysets import with_shown_names
from people.rows import PersonLink
from schedule.models import Presentation, Session, SessionRole, Speaker
from search.highlighting import excerpt, highlight
from search.hits import Hit
from search.query import Field, Query

# Rows of any model as plain values, one kind beside the others in one query.
type Rows = QuerySet[Model, tuple[Any, ...]]

NOTHING = Value("", TextField())
NO_TIME = Cast(Value(None), DateTimeField())
NO = Value(False, BooleanField())
ZERO = Value(0, BigIntegerField())
OWN_NAME_OR_KIND = Coalesce(NullIf("kind_name", Value("")), "kind", output_field=TextField())


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
    """People of the hits, in order, and the awards of papers, by kind and key."""

    people: Mapping[tuple[str, int], list[PersonLink]]
    awards: Mapping[tuple[str, int], list[AwardRow]]


def rows(hits: Collection[Hit], at: datetime | None = None) -> dict[tuple[str, int], SearchRow]:
    """Return the public rows of the hits. One query."""
    kinds = ("paper", "person", "session", "talk", "page")
    keys = [[hit.object_id for hit in hits if hit.kind == what] for what in kinds]
    found = (SearchRow(*row) for row in _rows(keys, moment(at))) if any(keys) else ()
    return {(row.what, row.pk): row for row in found}


def _rows(keys: Collection[Collection[int]], at: datetime) -> Rows:
    papers, people, sessions, talks, pages = keys
    own = [_papers(papers, at), _people(people, at), _sessions(sessions, at), _talks(talks, at)]
    return own[0].union(*own[1:], _pages(pages, at), all=True).order_by()


def _papers(keys: Collection[int], at: datetime) -> Rows:
    shown = Presentation.objects.published(at).filter(paper=OuterRef("pk")).with_beginning()
    first = shown.filter(called_off=False, begins__isnull=False).values("begins")[:1]
    columns = ("pk", "uid", "title", "abstract", "edition_id", NOTHING, "topic__name")
    times = (Subquery(first, DateTimeField()), NO_TIME, NO, NOTHING, NOTHING)
    return _branch("paper", Paper.objects.published(at).filter(pk__in=keys), *columns, *times)


def _people(keys: Collection[int], at: datetime) -> Rows:
    nowhere = Cast(Value(None), BigIntegerField())
    columns = ("pk", "uid", "name", "affiliation", nowhere, NOTHING, NOTHING)
    times = (NO_TIME, NO_TIME, NO, NOTHING, NOTHING)
    return _branch("person", Person.objects.published(at).filter(pk__in=keys), *columns, *times)


def _sessions(keys: Collection[int], at: datetime) -> Rows:
    shown = Session.objects.published(at).filter(pk__in=keys).with_called_off()
    columns = ("pk", "uid", "title", "abstract", "edition_id", OWN_NAME_OR_KIND, NOTHING)
    return _branch("session", shown, *columns, "start", "end", "called_off", NOTHING, NOTHING)


def _talks(keys: Collection[int], at: datetime) -> Rows:
    shown = Presentation.objects.published(at).filter(pk__in=keys, paper=None).with_beginning()
    columns = ("pk", "uid", "title", "abstract", "edition_id", OWN_NAME_OR_KIND, NOTHING)
    times = ("begins", Coalesce("end", "session__end"), "called_off", "session__uid", "session__title")
    return _branch("talk", shown, *columns, *times)


def _pages(keys: Collection[int], at: datetime) -> Rows:
    columns = ("pk", "slug", "title", "body", "edition_id", NOTHING, NOTHING)
    times = (NO_TIME, NO_TIME, NO, NOTHING, NOTHING)
    return _branch("page", Page.objects.published(at).filter(pk__in=keys), *columns, *times)


def _branch(what: str, shown: QuerySet[Model], *columns: str | Combinable) -> Rows:
    return shown.order_by().values_list(Value(what, TextField()), *columns)


def people_and_awards(found: Collection[tuple[str, int]], at: datetime | None = None) -> PeopleAndAwards:
    """Return the people of these papers, sessions and talks, and the awards of papers. One query."""
    keys = [[key for kind, key in found if kind == what] for what in ("paper", "session", "talk")]
    people: dict[tuple[str, int], list[PersonLink]] = {one: [] for one in found}
    awards: dict[tuple[str, int], list[AwardRow]] = {one: [] for one in found}
    for what, owner, *_, first, second, third in sorted(_around(keys, moment(at)) if any(keys) else ()):
        if what == "award":
            awards["paper", owner].append(AwardRow(first, second, third))
        else:
            people[what, owner].append(PersonLink(first, second, third))
    return PeopleAndAwards(people, awards)


def _around(keys: Collection[Collection[int]], at: datetime) -> Rows:
    papers, sessions, talks = keys
    grants = AwardGrant.objects.published(at).filter(paper__in=papers)
    columns = ("award__edition__slug", "award__uid", "award__name")
    authors = Authorship.objects.published(at).filter(paper__in=papers)
    roles = SessionRole.objects.published(at).filter(session__in=sessions)
    speakers = Speaker.objects.published(at).filter(presentation__in=talks)
    awards = _branch("award", grants, "paper_id", "award__position", "award_id", "position", *columns)
    named = (
        _named("paper", authors, "paper_id"),
        _named("session", roles, "session_id"),
        _named("talk", speakers, "presentation_id"),
    )
    return awards.union(*named, all=True).order_by()


def _named(what: str, shown: QuerySet[Model], owner: str) -> Rows:
    columns = (owner, "position", "pk", ZERO, "person__uid", "person__name", F("shown_name"))
    return _branch(what, with_shown_names(shown), *columns)


# What can be found, in the words of the links that narrow a search to it.
KINDS = {
    "paper": gettext_lazy("Papers"),
    "person": gettext_lazy("People"),
    "session": gettext_lazy("Sessions"),
    "talk": gettext_lazy("Talks"),
    "page": pgettext_lazy("of the site", "Pages"),
}
# Names of papers and people; other rows name their own kind.
NAMES = {"paper": gettext_noop("Paper"), "person": gettext_noop("Person")}
TIMED = {"session": dict(Session.Kind.choices), "talk": dict(Presentation.Kind.choices)}
# Kinds of rows that name people.
CREDITED = frozenset(("paper", "session", "talk"))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One thing that was found: what it is, its marked title, its people with their addresses, a passage."""

    kind: str
    title: SafeString
    url: str
    edition: Edition | None = None
    people: Sequence[tuple[SafeString, str]] = ()
    passage: SafeString | str = ""
    start: datetime | None = None
    end: datetime | None = None
    awards: Sequence[tuple[str, str]] = ()
    note: str = ""


def search_results(hits: Collection[Hit], query: Query, editions: Iterable[Edition]) -> list[SearchResult]:
    """Return the results for these hits in their order, where public, in these editions.

    Two queries at most.
    """
    known = {edition.pk: edition for edition in editions}
    found = rows(hits) if hits else {}
    things = [thing for thing in found if thing[0] in CREDITED]
    beside = people_and_awards(things) if things else PeopleAndAwards({}, {})
    shown = (found.get((hit.kind, hit.object_id)) for hit in hits)
    return [
        search_result(row, query, known.get(row.edition_id or 0), beside)
        for row in shown
        if row is not None and (row.edition_id is None or row.edition_id in known)
    ]


def search_result(
    row: SearchRow, query: Query, edition: Edition | None, beside: PeopleAndAwards
) -> SearchResult:
    """Return a result as it is shown."""
    thing = (row.what, row.pk)
    if row.what == "person":
        title, passage = highlight(row.title, query, Field.PEOPLE), highlight(row.body, query)
    else:
        own = row.title if row.what == "page" else markup.plain(row.title)
        title, passage = highlight(own, query, Field.TITLE), excerpt(markup.plain(row.body), query)
    return SearchResult(
        kind_of(row),
        title,
        address(row, edition),
        edition,
        credits_of(beside.people.get(thing, ()), query),
        passage,
        row.start,
        row.end,
        [(award.name, award.get_absolute_url()) for award in beside.awards.get(thing, ())],
        gettext("Cancelled") if row.called_off else row.topic or "",
    )


def kind_of(row: SearchRow) -> str:
    """Return the label of its kind."""
    if row.what in TIMED:
        return str(TIMED[row.what].get(row.kind, row.kind))
    return pgettext("of the site", "Page") if row.what == "page" else gettext(NAMES[row.what])


def address(row: SearchRow, edition: Edition | None) -> str:
    """Return the address of its page."""
    if row.what == "person":
        return PersonLink(row.uid, row.title, row.title).get_absolute_url()
    if edition is None:
        return reverse("conference:site_page", args=[row.uid])
    if row.what == "page":
        return reverse("conference:page", args=[edition.slug, row.uid])
    if row.what != "talk":
        view = "papers:detail" if row.what == "paper" else "schedule:session"
        return reverse(view, args=[edition.slug, row.uid, markup.slug(row.title)])
    if row.session is None:
        return edition.get_absolute_url()
    parts = [edition.slug, row.session, markup.slug(row.session_title or "")]
    return f"{reverse('schedule:session', args=parts)}#talk-{row.uid}"


def credits_of(people: Iterable[PersonLink], query: Query) -> list[tuple[SafeString, str]]:
    """Return the names as shown, marked, each with the address of its person."""
    return [(highlight(one.shown_name, query, Field.PEOPLE), one.get_absolute_url()) for one in people]
