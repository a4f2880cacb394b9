"""What is a session chair's own: the sessions that the account's person leads, and what is shown in them.

And which kinds of sessions a role reaches, which belong to no edition.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.db.models import Model, Q
from django.db.models.functions import Coalesce

from accounts.access_scope import Access
from conference.models import Edition
from papers.models import Authorship, Material, Paper
from people.models import Person, PersonAccount
from schedule.models import Presentation, Session, SessionKind, SessionRole, Speaker

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Those who lead a session; its parts are theirs too.
LEADING = ("chair", "moderator", "organizer")


def sessions(user: "User") -> Any:
    """Return the keys of the sessions that an account's person leads, with their parts."""
    # Who was merged is the one that stays.
    one = Coalesce("person__merged_into", "person")
    persons = PersonAccount.objects.filter(user=user.pk).values(one=one)
    led = SessionRole._base_manager.filter(person__in=persons, role__in=LEADING).order_by().values("session")
    return Session._base_manager.filter(Q(pk__in=led) | Q(parent__in=led)).order_by().values("pk")


def papers(user: "User") -> Any:
    """Return the keys of the papers that are presented there."""
    shown = Presentation._base_manager.filter(session__in=sessions(user), paper__isnull=False)
    return shown.order_by().values("paper")


def people_there(user: "User") -> Q:
    """Those who have a part in one's sessions."""
    there: list[Any] = [
        SessionRole._base_manager.filter(session__in=sessions(user)),
        Speaker._base_manager.filter(presentation__session__in=sessions(user)),
        Authorship._base_manager.filter(paper__in=papers(user)),
    ]
    found = Q(pk__in=())
    for rows in there:
        found |= Q(pk__in=rows.order_by().values("person"))
    return found


def kinds(access: Access, action: str) -> Q:
    """Those of conferences in which one has a role; who changes one must reach all editions that use it."""
    keys = access.editions(action, SessionKind) | access.chaired(action, SessionKind)
    found = Q(conference__in=Edition.objects.filter(pk__in=keys).order_by().values("conference"))
    if action == "view":
        return found
    others = Edition.objects.exclude(pk__in=keys)
    return found & ~Q(conference__in=others.order_by().values("conference"))


def inside(lookup: str, rows: Any) -> Any:
    """Return what narrows a model to the rows that this lookup leads to."""
    return lambda user: Q(**{f"{lookup}__in": rows(user)})


OWN_ROWS: dict[type[Model], Callable[[Any], Q]] = {
    Session: inside("pk", sessions),
    Presentation: inside("session", sessions),
    SessionRole: inside("session", sessions),
    Speaker: inside("presentation__session", sessions),
    Paper: inside("pk", papers),
    Authorship: inside("paper", papers),
    Material: inside("paper", papers),
    Person: people_there,
}
