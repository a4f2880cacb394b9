"""What the desk says of people, and people by edition."""

from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from conference.models import Edition
from conference.publishing import PUBLISHED_ROWS, SITE, PublishedRows
from editorial.current_edition import LIST_FILTER, editions_for
from editorial.desk import CHECKS, ROW_COUNTS, Check, RowCount
from people.models import CommitteeRole, InstitutionPair, Person, PersonPair


class AppearingFilter(admin.SimpleListFilter):
    """People who do something in an edition, institutions, pairs of them; they belong to none."""

    title = _("edition")
    parameter_name = LIST_FILTER

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(edition.pk), str(edition)) for edition in editions_for(request)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        rows: Any = queryset
        offered = {key for key, _name in self.lookup_choices}
        chosen: QuerySet[Any] = rows.appearing_in(self.value()) if self.value() in offered else rows
        return chosen


@dataclass(frozen=True, slots=True, eq=False)
class PeopleTally(RowCount):
    """People who do something in the edition."""

    def rows(self, edition: Edition) -> Any:
        return self.narrow(Person.objects.appearing_in(edition.pk))


@dataclass(frozen=True, slots=True, eq=False)
class PeopleDuty(Check):
    """People of the edition whom a chair has to look at."""

    def rows(self, edition: Edition) -> Any:
        return self.narrow(Person.objects.appearing_in(edition.pk))


ROW_COUNTS.append(PeopleTally(Person, ngettext_lazy("person", "people", "count"), place=15))


@dataclass(frozen=True, slots=True, eq=False)
class PairDuty(Check):
    """Pairs of which one does something in the edition, as they were found when somebody last looked."""

    def rows(self, edition: Edition) -> Any:
        pairs: Any = self.model._default_manager
        return self.narrow(pairs.undecided().appearing_in(edition.pk))

    def address(self, edition: Edition) -> str:
        return RowCount.address(self, edition)


CHECKS.append(
    PairDuty(
        PersonPair,
        ngettext_lazy("likely duplicate to look at", "likely duplicates to look at", "count"),
        place=31,
    )
)
CHECKS.append(
    PairDuty(
        InstitutionPair,
        ngettext_lazy("institution listed twice, perhaps", "institutions listed twice, perhaps", "count"),
        place=32,
    )
)
CHECKS.append(
    PeopleDuty(
        Person,
        ngettext_lazy("doubtful name", "doubtful names", "count"),
        lambda rows: rows.doubtful(),
        name="doubtful",
        title=_("Doubtful names"),
        place=30,
    )
)

PUBLISHED_ROWS.append(
    PublishedRows(CommitteeRole, SITE, ngettext_lazy("committee role", "committee roles", "count"), place=53)
)
