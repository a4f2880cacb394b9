"""What was found, as pages show it: hits become public rows, their words marked. Which hits: `search`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, pgettext, pgettext_lazy

from conference.models import Edition, Page
from conference.text import plain
from papers.models import Paper
from people.models import Person
from schedule.models import Presentation, Session
from search.highlighting import excerpt, highlight
from search.hits import Hit
from search.query import Field, Query

# What can be found, in the words of the links that narrow a search to it.
KINDS = {
    "paper": gettext_lazy("Papers"),
    "person": gettext_lazy("People"),
    "session": gettext_lazy("Sessions"),
    "talk": gettext_lazy("Talks"),
    "page": pgettext_lazy("of the site", "Pages"),
}


@dataclass(frozen=True, slots=True)
class Finding:
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


def findings(hits: Iterable[Hit], query: Query) -> list[Finding]:
    """Return what the hits stand for, in their order, as far as it is public. Four queries a kind at most."""
    hits = list(hits)
    keys: dict[str, list[int]] = defaultdict(list)
    for hit in hits:
        keys[hit.kind].append(hit.object_id)
    rows = {kind: ROWS[kind](found) for kind, found in keys.items() if kind in ROWS}
    shown = [(hit.kind, rows.get(hit.kind, {}).get(hit.object_id)) for hit in hits]
    return [SHOWN[kind](row, query) for kind, row in shown if row is not None]


def paper_rows(keys: list[int]) -> Mapping[int, Any]:
    return Paper.objects.published().for_cards().in_bulk(keys)


def show_paper(paper: Any, query: Query) -> Finding:
    times = [one for one in paper.appearances if one.begins and not one.called_off]
    return Finding(
        gettext("Paper"),
        highlight(plain(paper.title), query, Field.TITLE),
        paper.get_absolute_url(),
        paper.edition,
        credits_of(paper.shown_authors, query),
        excerpt(plain(paper.abstract), query),
        start=times[0].begins if times else None,
        awards=[(grant.award.name, grant.award.get_absolute_url()) for grant in paper.shown_grants],
        note=paper.topic.name if paper.topic else "",
    )


def person_rows(keys: list[int]) -> Mapping[int, Any]:
    return Person.objects.published().in_bulk(keys)


def show_person(person: Any, query: Query) -> Finding:
    return Finding(
        gettext("Person"),
        highlight(person.name, query, Field.PEOPLE),
        person.get_absolute_url(),
        passage=highlight(person.affiliation, query),
    )


def session_rows(keys: list[int]) -> Mapping[int, Any]:
    return Session.objects.published().with_place().with_people().in_bulk(keys)


def show_session(session: Any, query: Query) -> Finding:
    return Finding(
        session.get_kind_display(),
        highlight(plain(session.title), query, Field.TITLE),
        session.get_absolute_url(),
        session.edition,
        credits_of(session.shown_roles, query),
        excerpt(plain(session.abstract), query),
        session.start,
        session.end,
        note=gettext("Cancelled") if session.cancelled else "",
    )


def talk_rows(keys: list[int]) -> Mapping[int, Any]:
    rows = Presentation.objects.published().with_session().with_credits().defer(None)
    return rows.select_related("edition").in_bulk(keys)


def show_talk(talk: Any, query: Query) -> Finding:
    anchor = f"#talk-{talk.uid}" if talk.session else ""
    return Finding(
        talk.get_kind_display(),
        highlight(plain(talk.title), query, Field.TITLE),
        f"{talk.get_absolute_url()}{anchor}",
        talk.edition,
        credits_of(talk.shown_speakers, query),
        excerpt(plain(talk.abstract), query),
        talk.starts,
        talk.ends,
        note=gettext("Cancelled") if talk.cancelled else "",
    )


def page_rows(keys: list[int]) -> Mapping[int, Any]:
    return Page.objects.published().select_related("edition").in_bulk(keys)


def show_page(page: Any, query: Query) -> Finding:
    return Finding(
        pgettext("of the site", "Page"),
        highlight(page.title, query, Field.TITLE),
        page.get_absolute_url(),
        page.edition,
        passage=excerpt(plain(page.body), query),
    )


def credits_of(rows: Iterable[Any], query: Query) -> list[tuple[SafeString, str]]:
    """Return the names as shown, marked, each with the address of its person."""
    return [(highlight(row.shown_name, query, Field.PEOPLE), row.person.get_absolute_url()) for row in rows]


ROWS = {
    "paper": paper_rows,
    "person": person_rows,
    "session": session_rows,
    "talk": talk_rows,
    "page": page_rows,
}
SHOWN = {
    "paper": show_paper,
    "person": show_person,
    "session": show_session,
    "talk": show_talk,
    "page": show_page,
}
