"""What an edition has to show: which of its sections have content, and how much. One query each."""

from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, QuerySet, Subquery
from django.db.models.functions import Coalesce

from conference.models import Edition, MenuItem, Sponsor
from conference.prepared import prepared
from conference.querysets import moment
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


def filled(edition: Edition, at: datetime | None = None) -> set[str]:
    """Return the sections that have content."""
    (row,) = _filled(edition.pk, moment(at))
    return {Section(name.removeprefix("has_")) for name, is_there in row.items() if is_there}


@prepared
def _filled(edition: int, at: datetime) -> Any:
    asked: dict[str, Any] = {section: Exists(rows) for section, rows in contents(edition, at).items()}
    # Each part is looked up by itself: PostgreSQL would collect all videos, and all who appear anywhere.
    presentations = Presentation.objects.published(at).filter(edition=edition)
    recorded = presentations.exclude(recording_url=""), presentations.with_video(at)
    sessions = Session.objects.published(at).filter(edition=edition).recorded()
    asked[Section.RECORDINGS] = any_of(*recorded, sessions)
    asked[Section.PEOPLE] = any_of(*Person.objects.published_appearances(at))
    named = {f"has_{section}": is_there for section, is_there in asked.items()}
    return Edition.objects.filter(pk=edition).annotate(**named).values(*named)


def any_of(*several: QuerySet[Any]) -> Any:
    """Return whether one of these has rows."""
    return ExpressionWrapper(reduce(or_, map(Exists, several)), BooleanField())


def counts(edition: Edition, at: datetime | None = None) -> dict[str, int]:
    """Return how many public rows fill the sections that a home page counts."""
    (row,) = _counts(edition.pk, moment(at))
    return {Section(name.removeprefix("number_")): number for name, number in row.items()}


@prepared
def _counts(edition: int, at: datetime) -> Any:
    rows = contents(edition, at)
    asked = {
        f"number_{section}": Coalesce(
            Subquery(rows[section].order_by().values("edition").annotate(n=Count("pk")).values("n")), 0
        )
        for section in (Section.SCHEDULE, Section.PAPERS, Section.TALKS, Section.POSTERS, Section.AWARDS)
    }
    return Edition.objects.filter(pk=edition).annotate(**asked).values(*asked)
