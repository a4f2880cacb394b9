"""What an edition has to show: which of its sections have content, and how much. One query each."""

from typing import Any

from django.db.models import Count, Exists, QuerySet, Subquery
from django.db.models.functions import Coalesce

from conference.models import Edition, MenuItem
from people.models import Person
from schedule.models import Presentation, Session

Section = MenuItem.Section


def contents(edition: Edition) -> dict[str, QuerySet[Any]]:
    """Return the public rows that fill each section."""
    sessions = Session.objects.published().filter(edition=edition)
    presentations = Presentation.objects.published().filter(edition=edition)
    return {
        Section.SCHEDULE: sessions,
        Section.PAPERS: edition.papers.published(),
        Section.TALKS: sessions.invited_talks(),
        Section.POSTERS: presentations.posters(),
        Section.AWARDS: edition.awards.published(),
        Section.PEOPLE: Person.objects.published(),
        Section.RECORDINGS: presentations.recorded(),
        Section.SPONSORS: edition.sponsors.published(),
        Section.COMMITTEE: edition.committee_roles.published(),
        Section.CHANGES: edition.releases.published(),
    }


def filled(edition: Edition) -> set[str]:
    """Return the sections that have content."""
    asked = {section: Exists(rows) for section, rows in contents(edition).items()}
    found = Edition.objects.filter(pk=edition.pk).annotate(
        **{f"has_{section}": is_there for section, is_there in asked.items()},
        has_recorded_sessions=Exists(recorded_sessions(edition)),
    )
    row = found.values(*(f"has_{section}" for section in asked), "has_recorded_sessions").get()
    recorded = {Section.RECORDINGS} if row["has_recorded_sessions"] else set()
    return {section for section in asked if row[f"has_{section}"]} | recorded


def recorded_sessions(edition: Edition) -> QuerySet[Any]:
    """Return the public sessions that have a recording."""
    return Session.objects.published().filter(edition=edition).recorded()


def counts(edition: Edition) -> dict[str, int]:
    """Return how many public rows fill the sections that a home page counts."""
    rows = contents(edition)
    asked = {
        section: Coalesce(
            Subquery(rows[section].order_by().values("edition").annotate(n=Count("pk")).values("n")), 0
        )
        for section in (Section.SCHEDULE, Section.PAPERS, Section.TALKS, Section.POSTERS, Section.AWARDS)
    }
    found = Edition.objects.filter(pk=edition.pk).annotate(
        **{f"number_{section}": number for section, number in asked.items()}
    )
    row = found.values(*(f"number_{section}" for section in asked)).get()
    return {section: row[f"number_{section}"] for section in asked}
