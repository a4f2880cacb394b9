"""What an edition has to show: which of its sections have content, and how much. One query each."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, QuerySet, Subquery
from django.db.models.functions import Coalesce

from conference.models import Edition, MenuItem, Sponsor
from conference.prepared import prepared
from conference.querysets import moment
from papers.models import Award, Paper
from people.models import CommitteeRole, Person
from schedule.models import Presentation, Release, Session

Section = MenuItem.Section


def contents(edition: int, at: datetime) -> dict[str, QuerySet[Any]]:
    """Return the public rows that fill each section of an edition, which is named by its key."""
    sessions = Session.objects.published(at).filter(edition=edition)
    presentations = Presentation.objects.published(at).filter(edition=edition)
    return {
        Section.SCHEDULE: sessions,
        Section.PAPERS: Paper.objects.published(at).filter(edition=edition),
        Section.TALKS: sessions.invited_talks(),
        Section.POSTERS: presentations.posters(),
        Section.AWARDS: Award.objects.published(at).filter(edition=edition),
        Section.PEOPLE: Person.objects.published(at),
        Section.RECORDINGS: presentations.recorded(),
        Section.SPONSORS: Sponsor.objects.published(at).filter(edition=edition),
        Section.COMMITTEE: CommitteeRole.objects.published(at).filter(edition=edition),
        Section.CHANGES: Release.objects.published(at).filter(edition=edition),
    }


def filled(edition: Edition, at: datetime | None = None) -> set[str]:
    """Return the sections that have content."""
    (row,) = _filled(edition.pk, moment(at))
    recorded = {Section.RECORDINGS} if row.pop("has_recorded_sessions") else set()
    return {Section(name.removeprefix("has_")) for name, is_there in row.items() if is_there} | recorded


@prepared
def _filled(edition: int, at: datetime) -> Any:
    asked = {f"has_{section}": Exists(rows) for section, rows in contents(edition, at).items()}
    asked["has_recorded_sessions"] = Exists(recorded_sessions(edition, at))
    return Edition.objects.filter(pk=edition).annotate(**asked).values(*asked)


def recorded_sessions(edition: int, at: datetime) -> QuerySet[Any]:
    """Return the public sessions of an edition that have a recording."""
    return Session.objects.published(at).filter(edition=edition).recorded()


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
