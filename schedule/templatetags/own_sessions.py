"""The desk's list of the sessions that a session chair leads."""

from typing import Any

from django import template
from django.db.models import Count

from accounts.access_scope import access_of
from accounts.roles import Role
from schedule.models import Session
from schedule.registration import led_sessions

register = template.Library()


@register.inclusion_tag("admin/schedule/session/_own_sessions.html", takes_context=True)
def own_sessions(context: Any) -> dict[str, object]:
    """List the sessions that the user leads as a session chair. One query, none without the role."""
    access = access_of(getattr(context.get("request"), "user", None))
    editions = access.limited_editions("view", Session).get(Role.SESSION_CHAIR)
    if not editions:
        return {"is_session_chair": False}
    sessions = Session.objects.filter(pk__in=led_sessions(access.user), edition__in=editions)
    sessions = sessions.select_related("edition", "room").annotate(talk_rows=Count("presentations"))
    return {"is_session_chair": True, "sessions": sessions.order_by("start", "pk")}
