"""The editions whose changes wait for a release, as far as a user may see the unreleased changes."""

from django.db.models import Count, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from accounts.access_scope import access_of
from schedule.models import ReleasePlan, UnreleasedChange


def visible_plans(request: HttpRequest) -> list[ReleasePlan]:
    """Return the open plans, annotated with `change_count`. One query per request at most."""
    cached: list[ReleasePlan] | None = vars(request).get("visible_plans")
    if cached is not None:
        return cached
    access = access_of(getattr(request, "user", None))
    plans: list[ReleasePlan] = []
    if access.may("view", UnreleasedChange):
        counts = (
            UnreleasedChange.objects.filter(edition=OuterRef("edition"))
            .order_by()
            .values("edition")
            .annotate(count=Count("pk"))
            .values("count")
        )
        rows = ReleasePlan.objects.open().select_related("edition").order_by("pk")
        rows = rows.annotate(change_count=Coalesce(Subquery(counts, output_field=IntegerField()), 0))
        plans = [plan for plan in rows if access.may_all_rows("view", UnreleasedChange, plan.edition)]
    vars(request)["visible_plans"] = plans
    return plans
