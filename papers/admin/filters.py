"""Admin filters by fields of papers, for lists of papers and of rows that reference a paper."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from editorial.lists import Choice, EditionPartFilter
from papers.models import Authorship, Paper, Topic
from people.models import Institution


class PaperFieldFilter(EditionPartFilter):
    """A filter by papers of the edition. `path` is the lookup of the paper, empty for papers."""

    path: ClassVar[str] = ""

    def filter_rows(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        return rows.filter(**{f"{self.path}__in" if self.path else "pk__in": self.papers(value)})

    def papers(self, value: str) -> QuerySet[Any]:
        """Return the papers of a choice, or their keys."""
        raise LookupError(f"{type(self).__name__} finds no papers")


class DecisionFilter(PaperFieldFilter):
    title = _("decision")
    parameter_name = "decision"

    def choices_in(self, edition: int, model_admin: admin.ModelAdmin[Model]) -> list[Choice]:
        rows = Paper.objects.filter(edition=edition).order_by("decision")
        decisions = rows.values_list("decision", flat=True).distinct()
        return [(decision, decision or pgettext("decision on a paper", "None")) for decision in decisions]

    def papers(self, value: str) -> QuerySet[Any]:
        return Paper.objects.filter(decision=value).order_by().values("pk")


class CountryFilter(PaperFieldFilter):
    """A filter by the countries of the authors' institutions."""

    title = _("country")
    parameter_name = "country"

    def choices_in(self, edition: int, model_admin: admin.ModelAdmin[Model]) -> list[Choice]:
        rows = Institution.objects.filter(authorships__paper__edition=edition).exclude(country="")
        countries = rows.order_by("country").values_list("country", flat=True).distinct()
        return [(country, country) for country in countries]

    def papers(self, value: str) -> QuerySet[Any]:
        return Authorship.objects.filter(institutions__country=value).order_by().values("paper")


class PaperTopicFilter(PaperFieldFilter):
    title = _("topic")
    parameter_name = "topic"

    def choices_in(self, edition: int, model_admin: admin.ModelAdmin[Model]) -> list[Choice]:
        return [(str(topic.pk), str(topic)) for topic in Topic.objects.filter(edition=edition)]

    def papers(self, value: str) -> QuerySet[Any]:
        return Paper.objects.filter(topic=int(value)).order_by().values("pk")


def by_paper(base: type[PaperFieldFilter], path: str) -> type[PaperFieldFilter]:
    """Return a subclass of this filter for rows that reference a paper."""
    return type(base.__name__, (base,), {"path": path})
