"""What narrows the lists of likely duplicates: evidence, likelihood, doubtful names."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from people.duplicates import reasons

CERTAIN, PROBABLE = 95, 75


class EvidenceFilter(admin.SimpleListFilter):
    """Pairs by what speaks for them."""

    title = _("what speaks for it")
    parameter_name = "evidence"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, words) for name, (words, _codes) in reasons.KINDS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        kind = reasons.KINDS.get(self.value() or "")
        if kind is None:
            return queryset
        some = Q()
        for code in kind[1]:
            some |= Q(signs__contains=f",{code},")
        return queryset.filter(some)


class LikelihoodFilter(admin.SimpleListFilter):
    """Pairs by how likely they are one."""

    title = _("likelihood")
    parameter_name = "likelihood"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("certain", _("almost certain")), ("probable", _("probable")), ("possible", _("possible"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        bounds = {
            "certain": (CERTAIN, 100),
            "probable": (PROBABLE, CERTAIN - 1),
            "possible": (0, PROBABLE - 1),
        }
        wanted = bounds.get(self.value() or "")
        return queryset.filter(score__range=wanted) if wanted else queryset


class DoubtfulFilter(admin.SimpleListFilter):
    """Pairs of whom one has a name that looks wrong."""

    title = _("doubtful names")
    parameter_name = "doubtful"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("with a doubtful name"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() != "yes":
            return queryset
        return queryset.filter(Q(first__suspicious=True) | Q(second__suspicious=True))
