"""What was found, as pages show it: hits become public rows, their words marked. Which hits: `search`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import TextChoices
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext, pgettext_lazy

import markup
from conference.models import Edition
from people.rows import PersonLink
from schedule.models import Presentation, Session
from search.highlighting import excerpt, highlight
from search.hits import Hit
from search.query import Field, Query
from website.search_rows import PeopleAndAwards, SearchRow, people_and_awards, rows

# What can be found, in the words of the links that narrow a search to it.
KINDS = {
    "paper": gettext_lazy("Papers"),
    "person": gettext_lazy("People"),
    "session": gettext_lazy("Sessions"),
    "talk": gettext_lazy("Talks"),
    "page": pgettext_lazy("of the site", "Pages"),
}
# What each of papers and people is called, and whose kinds say it of the others.
NAMES = {"paper": gettext_noop("Paper"), "person": gettext_noop("Person")}
TIMED: Mapping[str, type[TextChoices]] = {"session": Session.Kind, "talk": Presentation.Kind}
# What people stand on.
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
    """Return what the hits stand for, in their order, as far as it is public, in these editions.

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
        [(honour.name, honour.get_absolute_url()) for honour in beside.awards.get(thing, ())],
        gettext("Cancelled") if row.called_off else row.topic or "",
    )


def kind_of(row: SearchRow) -> str:
    """Return what it is, in words."""
    if row.what in TIMED:
        return str(TIMED[row.what](row.kind).label)
    return pgettext("of the site", "Page") if row.what == "page" else gettext(NAMES[row.what])


def address(row: SearchRow, edition: Edition | None) -> str:
    """Return where it stands."""
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
