"""What the packages below learn of the schedule: roles, menu sections, releases, who is public as speaker.

A session chair's own are the sessions that the account's person leads, and what is shown in them.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.access_scope import OWN, SCOPES, Access
from accounts.roles import ALL, KEEP, NONE, SEE, Role, grant, restrict
from conference import menu_sections
from conference.cache_lifetimes import DATED_MODELS
from conference.menu_sections import MenuSection
from conference.models import Edition
from papers.models import Authorship, Material, Paper
from people.models import Person, PersonAccount
from people.querysets import Appearance, register_appearance
from schedule.models import Presentation, Release, Room, Session, SessionKind, SessionRole, Speaker

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Those who lead a session; its parts are theirs too.
LEADING = ("chair", "moderator", "organizer")


def led_sessions(user: "User") -> Any:
    """Return the keys of the sessions that an account's person leads, with their parts."""
    # Who was merged is the one that stays.
    one = Coalesce("person__merged_into", "person")
    persons = PersonAccount.objects.filter(user=user.pk).values(one=one)
    led = SessionRole._base_manager.filter(person__in=persons, role__in=LEADING).order_by().values("session")
    return Session._base_manager.filter(Q(pk__in=led) | Q(parent__in=led)).order_by().values("pk")


def their_papers(user: "User") -> Any:
    """Return the keys of the papers that are presented there."""
    shown = Presentation._base_manager.filter(session__in=led_sessions(user), paper__isnull=False)
    return shown.order_by().values("paper")


def people_there(user: "User") -> Q:
    """Those who have a part in one's sessions."""
    roles = SessionRole._base_manager.filter(session__in=led_sessions(user))
    speakers = Speaker._base_manager.filter(presentation__session__in=led_sessions(user))
    authors = Authorship._base_manager.filter(paper__in=their_papers(user))
    some = (Q(pk__in=rows.order_by().values("person")) for rows in (roles, speakers, authors))
    return reduce(or_, some)


def kinds(access: Access, action: str) -> Q:
    """Those of conferences in which one has a role; who changes one must reach all editions that use it."""
    keys = access.editions(action, SessionKind) | access.chaired(action, SessionKind)
    found = Q(conference__in=Edition.objects.filter(pk__in=keys).order_by().values("conference"))
    if action == "view":
        return found
    others = Edition.objects.exclude(pk__in=keys)
    return found & ~Q(conference__in=others.order_by().values("conference"))


OWN |= {
    Session: lambda user: Q(pk__in=led_sessions(user)),
    Presentation: lambda user: Q(session__in=led_sessions(user)),
    SessionRole: lambda user: Q(session__in=led_sessions(user)),
    Speaker: lambda user: Q(presentation__session__in=led_sessions(user)),
    Paper: lambda user: Q(pk__in=their_papers(user)),
    Authorship: lambda user: Q(paper__in=their_papers(user)),
    Material: lambda user: Q(paper__in=their_papers(user)),
    Person: people_there,
}
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
    yield presentations.filter(presentations.has_video(at))
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
