"""What the desk says of people, and people by edition."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from conference.models import Edition
from conference.publishing import PUBLISHED_ROWS, SITE, PublishedRows
from editorial.current_edition import LIST_FILTER, editions_for
from editorial.desk import CHECKS, ROW_COUNTS, Check, RowCount
from people.models import CommitteeRole, InstitutionPair, Person, PersonPair
from people.querysets import LetteredQuerySet, PairQuerySet


class AppearingFilter(admin.SimpleListFilter):
    """People who do something in an edition, institutions, pairs of them; they belong to none."""

    title = _("edition")
    parameter_name = LIST_FILTER

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Model]) -> list[tuple[str, str]]:
        return [(str(edition.pk), str(edition)) for edition in editions_for(request)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        offered = {key for key, _name in self.lookup_choices}
        if self.value() not in offered or not isinstance(queryset, LetteredQuerySet | PairQuerySet):
            return queryset
        return queryset.appearing_in(self.value())


class AppearingRows(RowCount):
    """People who do something in the edition, or pairs of which one does."""

    __slots__ = ()

    def rows(self, edition: Edition) -> Any:
        rows: Any = self.model._default_manager
        return self.narrow(rows.appearing_in(edition.pk))


class AppearingCheck(AppearingRows, Check):
    """People of the edition whom a chair has to look at."""

    __slots__ = ()


ROW_COUNTS.append(AppearingRows(Person, ngettext_lazy("person", "people", "count"), place=15))
CHECKS += [
    AppearingCheck(
        Person,
        ngettext_lazy("doubtful name", "doubtful names", "count"),
        lambda rows: rows.doubtful(),
        name="doubtful",
        title=_("Doubtful names"),
        place=30,
    ),
    AppearingRows(
        PersonPair,
        ngettext_lazy("likely duplicate to look at", "likely duplicates to look at", "count"),
        lambda rows: rows.undecided(),
        place=31,
    ),
    AppearingRows(
        InstitutionPair,
        ngettext_lazy("institution listed twice, perhaps", "institutions listed twice, perhaps", "count"),
        lambda rows: rows.undecided(),
        place=32,
    ),
]
PUBLISHED_ROWS.append(
    PublishedRows(CommitteeRole, SITE, ngettext_lazy("committee role", "committee roles", "count"), place=53)
)
