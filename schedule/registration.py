"""Registers the schedule with lower packages: roles, menu sections, releases, speakers, search words.

A session chair may access the sessions that the account's person leads, and their contents. A track chair may
access those in which papers of the chosen topics and tracks are presented.
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

from accounts.access_scope import OWN_ROWS, SCOPES, Access
from accounts.roles import ALL, CHANGE, NONE, VIEW, Role, grant, restrict
from conference import menu_sections
from conference.cache_lifetimes import DATED_MODELS
from conference.menu_sections import MenuSection
from conference.models import Edition
from papers.models import Authorship, Material, Paper
from papers.registration import chosen_papers
from papers.search_words import PROGRAM_WORDS, ProgramWords
from people.models import Person, PersonAccount
from people.querysets import Appearance, register_appearance
from schedule import program_copy  # noqa: F401 # registers the parts of a new edition
from schedule.models import (
    Presentation,
    ProgramInvitation,
    Release,
    Room,
    Session,
    SessionKind,
    SessionRole,
    Speaker,
    Unavailability,
    UnreleasedChange,
)
from schedule.schedule_filters import used_days, used_kinds

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Roles that lead a session and its parts.
LEADING_ROLES = ("chair", "moderator", "organizer")


def led_sessions(user: "User") -> Any:
    """Return the keys of the sessions that an account's person leads, with their parts."""
    # Use the person that a merged one was merged into.
    person_key = Coalesce("person__merged_into", "person")
    person_keys = PersonAccount.objects.filter(user=user.pk).values(person_key=person_key)
    session_keys = (
        SessionRole._base_manager.filter(person__in=person_keys, role__in=LEADING_ROLES)
        .order_by()
        .values("session")
    )
    return (
        Session._base_manager.filter(Q(pk__in=session_keys) | Q(parent__in=session_keys))
        .order_by()
        .values("pk")
    )


def papers_in_led_sessions(user: "User") -> Any:
    """Return the keys of the papers that are presented in the user's sessions."""
    presentations = Presentation._base_manager.filter(session__in=led_sessions(user), paper__isnull=False)
    return presentations.order_by().values("paper")


def people_in_led_sessions(user: "User") -> Q:
    """Return the condition for people who take part in the user's sessions."""
    roles = SessionRole._base_manager.filter(session__in=led_sessions(user))
    speakers = Speaker._base_manager.filter(presentation__session__in=led_sessions(user))
    authors = Authorship._base_manager.filter(paper__in=papers_in_led_sessions(user))
    conditions = (Q(pk__in=rows.order_by().values("person")) for rows in (roles, speakers, authors))
    return reduce(or_, conditions)


def reachable_kinds(access: Access, action: str) -> Q:
    """Return the condition for kinds in scope: to view, with any edition of the conference, else with all."""
    keys = access.editions(action, SessionKind)
    condition = Q(conference__in=Edition.objects.filter(pk__in=keys).order_by().values("conference"))
    if action == "view":
        return condition
    other_editions = Edition.objects.exclude(pk__in=keys)
    return condition & ~Q(conference__in=other_editions.order_by().values("conference"))


def chosen_sessions(access: Access) -> Any:
    """Return the keys of the sessions in which papers of a track chair are presented."""
    presentations = Presentation._base_manager.filter(paper__in=chosen_papers(access))
    return presentations.order_by().values("session")


OWN_ROWS[Role.SESSION_CHAIR] |= {
    Session: lambda access: Q(pk__in=led_sessions(access.user)),
    Presentation: lambda access: Q(session__in=led_sessions(access.user)),
    SessionRole: lambda access: Q(session__in=led_sessions(access.user)),
    Speaker: lambda access: Q(presentation__session__in=led_sessions(access.user)),
    Paper: lambda access: Q(pk__in=papers_in_led_sessions(access.user)),
    Authorship: lambda access: Q(paper__in=papers_in_led_sessions(access.user)),
    Material: lambda access: Q(paper__in=papers_in_led_sessions(access.user)),
    Person: lambda access: people_in_led_sessions(access.user),
}
OWN_ROWS[Role.TRACK_CHAIR] |= {
    Session: lambda access: Q(pk__in=chosen_sessions(access)),
    Presentation: lambda access: Q(paper__in=chosen_papers(access)),
    SessionRole: lambda access: Q(session__in=chosen_sessions(access)),
}
SCOPES[SessionKind] = reachable_kinds

grant([Room, SessionKind, SessionRole], ALL, ALL, ALL, VIEW, VIEW, track_chair=VIEW)
grant([Speaker], ALL, ALL, ALL, VIEW, VIEW)
grant([Session], ALL, ALL, ALL, CHANGE, VIEW, track_chair=VIEW)
grant([Presentation], ALL, ALL, ALL, CHANGE, VIEW, track_chair=CHANGE)
grant([Release, UnreleasedChange], ALL, ALL, VIEW, NONE, VIEW)
# These contain e-mail addresses and private notes.
grant([ProgramInvitation, Unavailability], ALL, ALL, ALL, NONE, NONE, private_viewer=VIEW)
restrict(Role.SESSION_CHAIR, Session, ["abstract", "stream_url", "chat_url", "recording_url"])
for role in (Role.SESSION_CHAIR, Role.TRACK_CHAIR):
    restrict(role, Presentation, ["position", "start", "end", "recording_url"])

register_appearance(Person, Appearance(20, "session_roles", ("session__edition", "session__room")))
TALK_RELATIONS = (
    "presentation__edition",
    "presentation__paper",
    "presentation__room",
    "presentation__session__edition",
    "presentation__session__room",
)
register_appearance(Person, Appearance(30, "talks", TALK_RELATIONS))

DATED_MODELS.append(Release)


def program_words(edition: Edition, at: datetime) -> ProgramWords:
    """Return the days, rooms and kinds of the public sessions. Two queries after a change."""
    rooms = edition.rooms.published(at).values_list("slug", "name")
    return ProgramWords(sorted(used_days(edition, at)), [*rooms], used_kinds(edition, at))


PROGRAM_WORDS.append(program_words)


def recording_rows(edition: int, at: datetime) -> Iterable[QuerySet[Model]]:
    """Yield querysets of recorded rows, in which a presentation may occur several times."""
    presentations = Presentation.objects.published(at).filter(edition=edition)
    # Instead of a join, PostgreSQL would collect all videos first.
    has_video = Q(paper__materials__kind="video", paper__materials__visible=True)
    yield presentations.filter(~Q(recording_url="") | has_video)
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
    MenuSection(80, "recordings", _("Recordings"), "schedule:recordings", rows=recording_rows),
    MenuSection(
        110,
        "changes",
        _("Changes"),
        "schedule:changes",
        rows=lambda edition, at: [Release.objects.published(at).filter(edition=edition)],
    ),
)
