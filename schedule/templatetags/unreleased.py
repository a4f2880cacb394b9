"""The bar of the desk that says that changes of the schedule wait for a release."""

from typing import Any

from django import template
from django.db.models import Count, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce

from accounts.access_scope import access_of
from schedule.models import ReleasePlan, UnreleasedChange

register = template.Library()


@register.inclusion_tag("admin/_unreleased_bar.html", takes_context=True)
def unreleased_bar(context: Any) -> dict[str, object]:
    """Show the editions whose changes wait, of which the user may see the unreleased ones. One query."""
    access = access_of(getattr(context.get("request"), "user", None))
    if not access.may("view", UnreleasedChange):
        return {"plans": []}
    counts = (
        UnreleasedChange.objects.filter(edition=OuterRef("edition"))
        .order_by()
        .values("edition")
        .annotate(count=Count("pk"))
        .values("count")
    )
    plans = ReleasePlan.objects.open().select_related("edition").order_by("pk")
    plans = plans.annotate(change_count=Coalesce(Subquery(counts, output_field=IntegerField()), 0))
    return {"plans": [plan for plan in plans if access.may_all_rows("view", UnreleasedChange, plan.edition)]}
