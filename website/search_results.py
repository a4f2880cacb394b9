"""The results of the search page and the suggestions: public rows with highlighted words."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, Subquery, Value
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

import markup
from conference.models import Edition, Page
from content.page_paths import with_edition
from papers.models import Paper
from papers.rows import PaperRow
from people.models import Person
from people.querysets import with_shown_names
from people.rows import PersonLink
from schedule.models import Presentation, Session, SessionRole, Speaker
from schedule.next_appearances import NextAppearance, next_appearances
from search.highlighting import excerpt, highlight
from search.hits import MAX_SUGGESTIONS, RowKey
from search.query import Field, Query

# The kinds of results, with the labels of their tabs.
KINDS = {
    "paper": _("Papers"),
    "person": _("People"),
    "session": _("Sessions"),
    "talk": _("Talks"),
    "page": pgettext_lazy("of the site", "Pages"),
}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A result: its kind, highlighted title, people with their addresses, and a passage of its text."""

    kind: str
    title: SafeString
    url: str
    edition: Edition | None = None
    people: Sequence[tuple[SafeString, str]] = ()
    passage: SafeString | str = ""
    start: datetime | None = None
    end: datetime | None = None
    room_name: str = ""
    board: str = ""
    note: str = ""
    # The slug of its kind, which selects the color.
    hue: str = ""
    # The session or talk, for the button that adds it to the agenda.
    entry: Session | Presentation | None = None
    person: Person | None = None
    appearance: NextAppearance | None = None


def search_results(
    found: Collection[RowKey], query: Query, editions: Iterable[Edition], edition: Edition | None = None
) -> dict[RowKey, SearchResult]:
    """Return the results of the found rows, in their order, if they are public and in these editions.

    One query for each kind, and a second one for papers. One more for the people of sessions and talks, and
    one for the next appearances of people, which are limited to `edition` if it is given.
    """
    editions_by_key = {row.pk: row for row in editions}
    rows: dict[RowKey, Any] = {}
    for kind in KINDS:
        keys = [key for found_kind, key in found if found_kind == kind]
        if keys:
            rows |= {(kind, row.pk): row for row in public_rows(kind).filter(pk__in=keys)}
    people, sessions, talks = (
        [key for row_kind, key in rows if row_kind == kind] for kind in ("person", "session", "talk")
    )
    for row_key, shown_people in people_by_row(sessions, talks).items():
        rows[row_key].shown_people = shown_people
    appearances = next_appearances(people, [edition] if edition else [*editions_by_key.values()])
    results = {}
    for kind, key in found:
        row = rows.get((kind, key))
        edition_key = getattr(row, "edition_id", None)
        if row is None:
            continue
        if kind == "person":
            results[kind, key] = person_result(row, query, appearances, editions_by_key, edition)
        elif edition_key is None or edition_key in editions_by_key:
            results[kind, key] = search_result(kind, row, query, editions_by_key.get(edition_key or 0))
    return results


def suggested_results(
    found: Sequence[RowKey], query: Query, editions: Iterable[Edition], edition: Edition | None = None
) -> list[SearchResult]:
    """Return the first results of the found rows, as `search_results`.

    Others take the place of rows that an index out of date contains although they are no longer public.
    """
    results = search_results(found[:MAX_SUGGESTIONS], query, editions, edition)
    if len(results) < MAX_SUGGESTIONS < len(found):
        results = search_results(found, query, editions, edition)
    return list(results.values())[:MAX_SUGGESTIONS]


def public_rows(kind: str) -> Any:
    """Return the public rows of a kind, annotated for a result."""
    match kind:
        case "paper":
            rows = Paper.objects.published().select_related("topic").with_authors()
            return rows.annotate(**first_appearance())
        case "session":
            return Session.objects.published().with_called_off().select_related("room")
        case "talk":
            talks = Presentation.objects.published().filter(paper=None).with_beginning()
            return talks.with_room().select_related("session")
        case "person":
            return Person.objects.published()
        case _:
            return Page.objects.published()


def people_by_row(
    sessions: Collection[int], talks: Collection[int]
) -> dict[tuple[str, int], list[PersonLink]]:
    """Return the people of each session and the speakers of each talk, in order. At most one query."""
    if not sessions and not talks:
        return {}
    columns = ("kind", "owner", "position", "pk", "person__uid", "person__name", "shown_name")
    roles = SessionRole.objects.published().filter(session__in=sessions)
    speakers = Speaker.objects.published().filter(presentation__in=talks)
    parts = [
        with_shown_names(rows).annotate(kind=Value(kind), owner=F(owner)).order_by().values_list(*columns)
        for rows, kind, owner in ((roles, "session", "session_id"), (speakers, "talk", "presentation_id"))
    ]
    people: dict[tuple[str, int], list[PersonLink]] = {}
    for kind, owner, _position, _key, *person in sorted(parts[0].union(parts[1], all=True).order_by()):
        people.setdefault((kind, owner), []).append(PersonLink(*person))
    return people


def first_appearance() -> Mapping[str, Subquery]:
    """Return annotations of when and where a paper is first presented."""
    talks = Presentation.objects.published().filter(paper=OuterRef("pk")).with_beginning()
    talks = talks.with_room().filter(called_off=False, begins__isnull=False)
    columns = {"begins": "begins", "room_name": "room_name", "first_board": "board"}
    return {name: Subquery(talks.values(column)[:1]) for name, column in columns.items()}


def person_result(
    row: Person,
    query: Query,
    appearances: Mapping[int, NextAppearance],
    editions: Mapping[int, Edition],
    edition: Edition | None,
) -> SearchResult:
    appearance = appearances.get(row.pk)
    return SearchResult(
        gettext("Person"),
        highlight(row.name, query, Field.PEOPLE),
        with_edition(row.get_absolute_url(), edition.slug if edition else ""),
        editions.get(appearance.edition) if appearance else None,
        passage=highlight(row.affiliation, query),
        person=row,
        appearance=appearance,
    )


def search_result(kind: str, row: Any, query: Query, edition: Edition | None) -> SearchResult:
    if edition:
        row.edition = edition
    if kind == "page":
        label, title = pgettext("of the site", "Page"), highlight(row.title, query, Field.TITLE)
        passage = excerpt(markup.plain(row.body), query)
        return SearchResult(label, title, row.get_absolute_url(), edition, passage=passage)
    title = highlight(markup.plain(row.title), query, Field.TITLE)
    passage = excerpt(markup.plain(row.abstract), query)
    if kind == "paper":
        return SearchResult(
            gettext("Paper"),
            title,
            row.get_absolute_url(),
            edition,
            people_credits(row.shown_authors, query, edition),
            passage,
            row.begins,
            room_name=row.room_name or "",
            board=row.first_board or "",
            note=row.topic.name if row.topic else "",
        )
    if kind == "session":
        start, end, url = row.start, row.end, row.get_absolute_url()
        room_name = row.room.name if row.room else ""
    else:
        start, end, room_name = row.starts, row.ends, row.room_name or ""
        if row.session:
            row.session.edition = edition
        url = row.get_absolute_url() + (f"#talk-{row.uid}" if row.session else "")
    return SearchResult(
        row.get_kind_display(),
        title,
        url,
        edition,
        people_credits(getattr(row, "shown_people", ()), query, edition),
        passage,
        start,
        end,
        room_name=room_name,
        note=gettext("Canceled") if row.called_off else "",
        hue=row.kind,
        entry=row,
    )


def people_credits(
    people: Iterable[Any], query: Query, edition: Edition | None
) -> list[tuple[SafeString, str]]:
    """Return the highlighted names as printed, each with the address of its person."""
    slug = edition.slug if edition else ""
    return [
        (highlight(row.shown_name, query, Field.PEOPLE), with_edition(row.person.get_absolute_url(), slug))
        for row in people
    ]


def marked_papers(keys: Sequence[int], query: Query) -> list[PaperRow]:
    """Return the rows of these papers with highlighted words, and a passage as the abstract.

    Four queries. Formulas in a title are rendered only if no word of it is highlighted.
    """
    papers = Paper.objects.published().in_key_order(keys)
    if not query:
        return papers.list_rows()

    def mark_row(row: PaperRow) -> PaperRow:
        title = highlight(str(row), query, Field.TITLE)
        authors = tuple(
            author._replace(shown_name=highlight(author.shown_name, query, Field.PEOPLE))
            for author in row.shown_authors
        )
        return row._replace(
            title_html=title if "<mark>" in title else row.title_html,
            shown_authors=authors,
            abstract_html=excerpt(markup.plain(row.abstract_html), query),
        )

    return [mark_row(row) for row in papers.list_rows(abstract="abstract")]
