"""Tell when a record and the row of its key are different things: papers of two tracks, both numbered from 1.

Such a record changes nothing: its fields are conflicts, and what the file says of it elsewhere is left out.
"""

from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher

from django.utils.translation import gettext, ngettext

import markup
from conference.models import Edition
from content.models import Content
from exchange.imports.kinds import PAPER, PRESENTATION, SESSION, Kind, Values
from exchange.problems import Findings, Where, short
from exchange.records import AwardRecord, PresentationRecord, Record, stated
from papers.models import Authorship
from people import names

# The list of people by which rows are recognized.
PEOPLE_LISTS = {PAPER.name: "authors", PRESENTATION.name: "speakers", SESSION.name: "roles"}
# The least likeness of a title and its correction. Two papers of a conference have about 0.3, one pair in a
# thousand 0.6.
MIN_LIKENESS = 0.7


class OtherRows:
    """Records whose key is that of another row here, found kind by kind."""

    def __init__(self, edition: Edition, findings: Findings) -> None:
        self._edition, self._findings = edition, findings
        # Papers by uid: the place in the file and the title here.
        self._papers: dict[str, tuple[Where, str]] = {}
        self._papers_with_authors: set[int] | None = None
        self._left_out: dict[str, int] = {}

    def contains(
        self, kind: Kind, row: Content, record: Record, ours: Values, base: Values, theirs: Values
    ) -> bool:
        """Return whether title and people of a record all differ from those of the row, without likeness.

        `ours`, `base` and `theirs`: the values here, as last imported, in the file. Of a paper, the title is
        enough if the file doesn't state authors; of a session, the start differs too.
        """
        list_name = PEOPLE_LISTS.get(kind.name)
        if list_name is None or not (theirs.get("title") and ours.get("title")):
            return False
        if kind is SESSION and theirs.get("start", ours.get("start")) == ours.get("start"):
            return False
        key: str = getattr(record, kind.key)
        is_event = kind is SESSION and key in self._papers
        if not (
            is_event
            or have_other_people(ours.get(list_name), theirs.get(list_name))
            or (kind is PAPER and list_name not in theirs and self._has_authors(row.pk))
        ):
            return False
        if any(are_alike(title, theirs["title"]) for title in (ours["title"], base.get("title")) if title):
            return False
        if kind is PAPER:
            self._papers[key] = record.where, ours["title"]
            self._left_out[key] = 0
        else:
            self._note(record.where, key, ours["title"], 0)
        return True

    def without_their_parts(self, pairs: list[tuple[Content, Record]]) -> Iterator[tuple[Content, Record]]:
        """Yield rows and records without presentations and awards of such papers."""
        for row, record in pairs:
            if isinstance(record, PresentationRecord) and stated(record.paper, None) in self._papers:
                self._left_out[str(record.paper)] += 1
            elif isinstance(record, AwardRecord):
                yield row, self._without_grants(record)
            else:
                yield row, record

    def note(self) -> None:
        """Report the papers, with the number of presentations and awards that were left out."""
        for uid, (where, title) in self._papers.items():
            self._note(where, uid, title, self._left_out[uid])

    def _without_grants(self, record: AwardRecord) -> AwardRecord:
        grants = stated(record.grants, ())
        kept = tuple(grant for grant in grants if grant.edition or grant.paper not in self._papers)
        for grant in grants:
            if grant not in kept:
                self._left_out[grant.paper] += 1
        return record if len(kept) == len(grants) else replace(record, grants=kept)

    def _note(self, where: Where, key: str, title: str, left_out: int) -> None:
        message = gettext(
            "“%(key)s” is another one here: “%(title)s”. Title and people differ: nothing of it was taken. "
            "Give the rows of this file keys of their own, such as with a prefix, or decide the conflicts."
        )
        values: dict[str, object] = {"key": short(key), "title": short(markup.plain(title))}
        if left_out:
            parts = ngettext(
                "%(count)d presentation or award of it was left out.",
                "%(count)d presentations and awards of it were left out.",
                left_out,
            )
            message, values = f"{message} {parts}", {**values, "count": left_out}
        self._findings.note("doubt", where, message, **values)

    def _has_authors(self, paper: int) -> bool:
        if self._papers_with_authors is None:
            rows = Authorship.objects.filter(paper__edition=self._edition).order_by()
            self._papers_with_authors = set(rows.values_list("paper_id", flat=True))
        return paper in self._papers_with_authors


def have_other_people(ours: list[Values] | None, theirs: list[Values] | None) -> bool:
    """Return whether both lists have people, and none in common by row or printed name."""
    return bool(ours and theirs) and _identities(ours or []).isdisjoint(_identities(theirs or []))


def _identities(people: list[Values]) -> set[str]:
    printed_names = (part.get("name") or "" for part in people)
    return {part["person"] for part in people} | {names.fold(name) for name in printed_names if name}


def are_alike(title: str, other: str) -> bool:
    first, second = (markup.fold(markup.plain(text)) for text in (title, other))
    if first in second or second in first:
        return True
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.real_quick_ratio() >= MIN_LIKENESS and matcher.ratio() >= MIN_LIKENESS
