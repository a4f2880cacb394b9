"""What an edition has to show: which of its sections have content, and how much. One query each."""

from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, QuerySet, Subquery
from django.db.models.functions import Coalesce

from conference.models import Edition, MenuItem, Sponsor
from content.querysets import moment
from papers.models import Award, Paper
from people.models import CommitteeRole, Person
from schedule.models import Presentation, Release, Session

Section = MenuItem.Section


def contents(edition: int, at: datetime) -> dict[str, QuerySet[Any]]:
    """Return the public rows that fill the sections of an edition, which is named by its key.

    People and recordings come in several ways: see `_filled`.
    """
    sessions = Session.objects.published(at).filter(edition=edition)
    presentations = Presentation.objects.published(at).filter(edition=edition)
    return {
        Section.SCHEDULE: sessions,
        Section.PAPERS: Paper.objects.published(at).filter(edition=edition),
        Section.TALKS: sessions.invited_talks(),
        Section.POSTERS: presentations.posters(),
        Section.AWARDS: Award.objects.published(at).filter(edition=edition),
        Section.SPONSORS: Sponsor.objects.published(at).filter(edition=edition),
        Section.COMMITTEE: CommitteeRole.objects.published(at).filter(edition=edition),
        Section.CHANGES: Release.objects.published(at).filter(edition=edition),
    }


@dataclass(frozen=True, slots=True)
class FilledSections:
    """What an edition has: sections with content, pages of its own by slug and title, a menu of its own."""

    sections: set[Section]
    pages: list[tuple[str, str]]
    has_menu: bool


def filled_sections(edition: Edition, at: datetime | None = None) -> FilledSections:
    """Return what an edition has. One query."""
    rows = list(_filled(edition.pk, moment(at)))
    pages = [(row["page__slug"], row["page__title"]) for row in rows if row["page__slug"]]
    sections = {section for section in Section if rows[0].get(f"has_{section}")}
    return FilledSections(sections, pages, rows[0]["has_menu"])


def _filled(edition: int, at: datetime) -> Any:
    asked: dict[str, Any] = {section: Exists(rows) for section, rows in contents(edition, at).items()}
    # Each part is looked up by itself: PostgreSQL would collect all videos, and all who appear anywhere.
    presentations = Presentation.objects.published(at).filter(edition=edition)
    recorded = presentations.exclude(recording_url=""), presentations.with_video(at)
    sessions = Session.objects.published(at).filter(edition=edition).recorded()
    asked[Section.RECORDINGS] = any_of(*recorded, sessions)
    asked[Section.PEOPLE] = any_of(*Person.objects.published_appearances(at))
    asked["menu"] = Exists(MenuItem.objects.published(at).filter(edition=edition))
    named = {f"has_{what}": is_there for what, is_there in asked.items()}
    rows = Edition.objects.filter(pk=edition).beside_pages().annotate(**named).order_by("page__slug")
    return rows.values("page__slug", "page__title", *named)


def any_of(*several: QuerySet[Any]) -> Any:
    """Return whether one of these has rows."""
    return ExpressionWrapper(reduce(or_, map(Exists, several)), BooleanField())


def counts(edition: Edition, at: datetime | None = None) -> dict[str, int]:
    """Return how many public rows fill the sections that a home page counts."""
    (row,) = _counts(edition.pk, moment(at))
    return {Section(name.removeprefix("number_")): number for name, number in row.items()}


def _counts(edition: int, at: datetime) -> Any:
    rows = contents(edition, at)
    asked = {
        f"number_{section}": Coalesce(
            Subquery(rows[section].order_by().values("edition").annotate(n=Count("pk")).values("n")), 0
        )
        for section in (Section.SCHEDULE, Section.PAPERS, Section.TALKS, Section.POSTERS, Section.AWARDS)
    }
    return Edition.objects.filter(pk=edition).annotate(**asked).values(*asked)
