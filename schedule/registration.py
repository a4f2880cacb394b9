"""What the packages below learn of the schedule: roles, menu sections, releases, who is public as speaker."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.access_scope import OWN, SCOPES
from accounts.roles import ALL, KEEP, NONE, SEE, Role, grant, restrict
from conference import menu_sections
from conference.cache_lifetimes import DATED_MODELS
from conference.menu_sections import MenuSection
from people.models import Person
from people.querysets import Appearance, register_appearance
from schedule.access_scope import OWN_ROWS, kinds
from schedule.models import Presentation, Release, Room, Session, SessionKind, SessionRole, Speaker

OWN |= OWN_ROWS
SCOPES[SessionKind] = kinds

grant([Room, SessionKind, SessionRole, Speaker], ALL, ALL, ALL, SEE, SEE)
grant([Session, Presentation], ALL, ALL, ALL, KEEP, SEE)
grant([Release], ALL, ALL, SEE, NONE, SEE)
restrict(Role.SESSION_CHAIR, Session, ["abstract", "stream_url", "chat_url", "recording_url"])
restrict(Role.SESSION_CHAIR, Presentation, ["position", "start", "end", "recording_url"])

register_appearance(Person, Appearance(20, "session_roles", ("session__edition", "session__room")))
talk = ("presentation__edition", "presentation__session__edition", "presentation__paper")
register_appearance(Person, Appearance(30, "talks", talk))

DATED_MODELS.append(Release)


def recordings(edition: int, at: datetime) -> Iterable[QuerySet[Model]]:
    """Yield what was recorded. Each part is looked up by itself: PostgreSQL would collect all videos."""
    presentations = Presentation.objects.published(at).filter(edition=edition)
    yield presentations.exclude(recording_url="")
    yield presentations.with_video(at)
    yield Session.objects.published(at).filter(edition=edition).recorded()


menu_sections.register(
    MenuSection(
        20,
        "schedule",
        _("Schedule"),
        "schedule:index",
        rows=lambda edition, at: [Session.objects.published(at).filter(edition=edition)],
        counted=ngettext_lazy("%(number)s session", "%(number)s sessions", "count"),
    ),
    MenuSection(
        40,
        "talks",
        _("Invited talks"),
        "schedule:talks",
        rows=lambda edition, at: [Session.objects.published(at).filter(edition=edition).invited_talks()],
        counted=ngettext_lazy("%(number)s invited talk", "%(number)s invited talks", "count"),
    ),
    MenuSection(
        50,
        "posters",
        _("Posters"),
        "schedule:posters",
        rows=lambda edition, at: [Presentation.objects.published(at).filter(edition=edition).posters()],
        counted=ngettext_lazy("%(number)s poster", "%(number)s posters", "count"),
    ),
    MenuSection(80, "recordings", _("Recordings"), "schedule:recordings", rows=recordings),
    MenuSection(
        110,
        "changes",
        _("Changes"),
        "schedule:changes",
        rows=lambda edition, at: [Release.objects.published(at).filter(edition=edition)],
    ),
)
