"""Lists of the timetable narrowed to a program day of the edition."""

from datetime import date

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content import times
from editorial.lists import EditionPartFilter


class DayFilter(EditionPartFilter):
    """Rows by program day: what starts after midnight belongs to the evening before."""

    title = _("day")
    parameter_name = "day"
    start = "start"
    edition: Edition | None = None

    def choices_in(self, edition: int, model_admin: admin.ModelAdmin[Model]) -> list[tuple[str, str]]:
        self.edition = Edition.objects.filter(pk=edition).first()
        if self.edition is None:
            return []
        rows = model_admin.model._default_manager.filter(edition=edition, **{f"{self.start}__isnull": False})
        starts = rows.order_by().values_list(self.start, flat=True).distinct()
        days = sorted({self.edition.day_of(start) for start in starts})
        return [(day.isoformat(), times.short_day(day)) for day in days]

    def narrowed(self, rows: QuerySet[Model], value: str) -> QuerySet[Model]:
        if self.edition is None:
            return rows
        first, end = self.edition.day_bounds(date.fromisoformat(value))
        return rows.filter(**{f"{self.start}__gte": first, f"{self.start}__lt": end})


class SessionDayFilter(DayFilter):
    """Presentations by the day of their session."""

    start = "session__start"
