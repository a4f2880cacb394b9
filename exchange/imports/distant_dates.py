"""Find the entries of a timetable that lie far outside the days of the edition, such as another year's."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from django.utils.translation import ngettext

from conference.models import Edition
from exchange.imports.compare import ImportPlan
from exchange.imports.kinds import PRESENTATION, SESSION
from exchange.problems import short

# Days before and after the edition in which workshops, virtual sessions and social events take place.
MARGIN = timedelta(days=14)


def describe_distant_dates(plan: ImportPlan) -> str:
    """Return a question about the new or moved entries far outside the edition's days; empty without any."""
    distant_rows = [row for row in _moved_rows(plan) if _is_distant(row.start, plan.edition)]
    if not distant_rows:
        return ""
    first_row = min(distant_rows, key=lambda row: row.start)
    edition, count = plan.edition, len(distant_rows)
    message = ngettext(
        "%(count)d entry of the timetable lies far outside the days of the edition (%(days)s): "
        "“%(title)s” on %(day)s. Is the date right?",
        "%(count)d entries of the timetable lie far outside the days of the edition (%(days)s), such as "
        "“%(title)s” on %(day)s. Are the dates right, or is this the file of another year?",
        count,
    )
    return message % {
        "count": count,
        "days": f"{edition.start_date} – {edition.end_date}",
        "title": short(str(first_row)),
        "day": _day(first_row.start, edition),
    }


def _moved_rows(plan: ImportPlan) -> Iterator[Any]:
    for kind in (SESSION, PRESENTATION):
        for step in plan.steps[kind.name]:
            row: Any = step.row
            if row.start is not None and "start" in step.merge.updates:
                yield row


def _day(moment: datetime, edition: Edition) -> date:
    return moment.astimezone(edition.zone).date()


def _is_distant(moment: datetime, edition: Edition) -> bool:
    day = _day(moment, edition)
    return not edition.start_date - MARGIN <= day <= edition.end_date + MARGIN
