"""The bar of the desk that says that changes of the schedule wait for a release."""

from typing import Any

from django import template

from content.unreleased.plan import current
from schedule.models import ReleasePlan
from schedule.unreleased.visible import visible_plans

# The apps and pages of the desk that show the schedule, by default as it is public.
PROGRAM_APPS = frozenset(("papers", "people", "schedule"))
PROGRAM_PAGES = frozenset(("index", "search"))

register = template.Library()


@register.inclusion_tag("admin/_unreleased_bar.html", takes_context=True)
def unreleased_bar(context: Any) -> dict[str, object]:
    """Show the editions whose changes wait, of which the user may see the unreleased ones. One query.

    It also says which state the page shows, unless `schedule_state` in the context is "both".
    """
    request = context.get("request")
    plans = visible_plans(request) if request else []
    return {"plans": [(plan, shown_state(context, plan)) for plan in plans]}


def shown_state(context: Any, plan: ReleasePlan) -> str:
    """Return "planned", "public" or "both"; an empty text where no change waits or no schedule is shown."""
    if not vars(plan)["change_count"]:
        return ""
    if (shown := current()) and shown.edition.pk == plan.edition_id:
        return "planned"
    if "schedule_state" in context:
        return str(context["schedule_state"])
    match, options = context["request"].resolver_match, context.get("opts")
    is_public = options.app_label in PROGRAM_APPS if options else match and match.url_name in PROGRAM_PAGES
    return "public" if is_public else ""
