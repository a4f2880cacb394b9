"""What the pages of the timetable editor share: rights, the edition, what was saved, and taking it back."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _

from conference.models import Edition
from content import revision
from content.actor import acting
from content.history import ChangeSet, Origin
from content.recording import Log, together
from content.three_way_merge import CHOICE, MINE, THEIRS
from content.timeline import change_set_rows
from editorial.access import access_for
from editorial.model_admin import ContentAdmin
from editorial.undo_views import AFTERWARDS
from schedule.admin.clashes import linked
from schedule.models import Session

TIMETABLE = "timetable"
MODELS = {"schedule.session", "schedule.presentation"}
# What no page of the editor shows of papers.
UNSHOWN = ("paper__abstract", "paper__abstract_html", "paper__lay_summary", "paper__lay_summary_html")
# So many rows of a sitting are told one by one.
MAX_LISTED_DIFFERENCES = 40


@contextmanager
def one_sitting(request: HttpRequest) -> Iterator[Log]:
    """Make what a page of the editor saves one act, one transaction and one new revision."""
    with acting(Origin.ACTION, request.user, TIMETABLE), together() as log, revision.lock():
        yield log


def rows_of(model_admin: ContentAdmin, request: HttpRequest, model: type[Model]) -> Any:
    """Return the rows of a model that its own admin lets this user see."""
    return model_admin.admin_site.get_model_admin(model).get_queryset(request)


def may(
    model_admin: ContentAdmin, request: HttpRequest, action: str, model: type[Model], row: Model | None
) -> bool:
    """Tell whether the user may change or add a whole row, as the admin of its model says."""
    # Who may change some fields of a row, as a session chair, moves nothing.
    asked: Any = model_admin.admin_site.get_model_admin(model)
    return bool(asked.may_whole(request, action, row))


def require_full_view(request: HttpRequest, edition: Edition | None) -> None:
    """Refuse who sees some sessions of an edition: clashes and plans tell of all of them."""
    if not access_for(request).may_all("view", Session, edition):
        raise PermissionDenied


def edition_or_newest(model_admin: ContentAdmin, request: HttpRequest) -> Edition | None:
    """Return the edition asked for, else the newest that the user may see."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    asked = request.POST.get("edition") or request.GET.get("edition", "")
    editions = rows_of(model_admin, request, Edition)
    found: Edition | None = None
    if asked:
        found = editions.filter(pk=asked).first() if asked.isdecimal() else None
        if found is None:
            raise Http404("No such edition.")
    found = found or editions.first()
    require_full_view(request, found)
    return found


def get_session(model_admin: ContentAdmin, request: HttpRequest, key: int) -> Session:
    """Return a session that the user may see, with its edition, room and whole."""
    rows = model_admin.get_queryset(request).select_related("edition", "room", "parent")
    session: Session = get_object_or_404(rows, pk=key)
    if not model_admin.has_view_permission(request, session):
        raise PermissionDenied
    require_full_view(request, session.edition)
    return session


# What was saved


def saved_changes(request: HttpRequest, edition: Edition) -> dict[str, object] | None:
    """Return the changes of the change set that the address names, as the page shows them."""
    key = request.GET.get("saved", "")
    change_set = ChangeSet.objects.filter(pk=key).first() if key.isdecimal() else None
    if change_set is None or not is_in_timetable(change_set, edition):
        return None
    rows = change_set.rows.order_by("pk")
    found = change_set_rows([change_set], rows[:MAX_LISTED_DIFFERENCES], edition)[0].rows
    more = max(0, rows.count() - MAX_LISTED_DIFFERENCES)
    return {"change_set": change_set, "rows": found, "more": more, "undo": undo_address(change_set)}


def is_in_timetable(change_set: ChangeSet, edition: Edition) -> bool:
    """Return whether all changed rows are in the timetable of this edition."""
    rows = set(change_set.rows.order_by().values_list("model", "edition_key").distinct())
    return bool(rows) and rows <= {(model, edition.pk) for model in MODELS}


def timetable_address(edition: Edition, **more: object) -> str:
    """Return the address of the timetable of an edition."""
    asked = "".join(f"&{name}={value}" for name, value in more.items())
    return f"{reverse('admin:schedule_session_timetable')}?edition={edition.pk}{asked}"


def undo_address(change_set: ChangeSet) -> str:
    return reverse("admin:take_back", args=[change_set.pk])


def timetable_of(change_set: ChangeSet) -> str:
    """Return the timetable that a sitting changed, which is shown after it was taken back."""
    row = change_set.rows.first() if change_set.detail == TIMETABLE else None
    edition = Edition.objects.filter(pk=row.edition_key or 0).first() if row else None
    return timetable_address(edition) if edition else ""


AFTERWARDS.append(timetable_of)


def session_tools(session: Session) -> list[dict[str, Any]]:
    """Return the pages of a session besides its form."""
    day = session.edition.day_of(session.start)
    timetable = f"{timetable_address(session.edition, day=day)}#s{session.pk}"
    talks = reverse("admin:schedule_session_talks", args=[session.pk])
    found = [
        {"words": _("Timetable"), "address": timetable},
        {"words": _("Order and times"), "address": talks},
    ]
    if session.counts_as == Session.Kind.POSTER:
        boards = reverse("admin:schedule_session_boards", args=[session.pk])
        found.append({"words": _("Poster boards"), "address": boards})
    return found


def edition_tools(edition: Edition) -> list[dict[str, object]]:
    """Return the pages for the timetable of a whole edition, for its form."""
    return [{"words": _("Timetable editor"), "address": timetable_address(edition)}]


def difference(
    sent: QueryDict, name: str, what: str, whose: object, theirs: str, mine: str
) -> dict[str, object]:
    """Return what both sides changed, as the page of two versions shows it."""
    chosen = sent.get(f"{CHOICE}{name}", "")
    told = {"field": what, "row": f"“{whose}”", THEIRS: theirs, MINE: mine}
    return {"name": f"{CHOICE}{name}", "is_conflict": True, "chosen": chosen, **told}


def decide(sent: QueryDict, prefix: str, rows: Iterable[Any]) -> None:
    """Take over what was chosen for rows that somebody else changed too; the others stay open."""
    for row in rows:
        choice = sent.get(f"{CHOICE}{prefix}{row.pk}")
        if choice == THEIRS:
            row.after = row.before
        row.is_stale = choice not in (MINE, THEIRS)


def told(found: Any, here: Iterable[Any], solved: Iterable[Any]) -> dict[str, Any]:
    """Return the clashes of a plan as its page shows them: which are new, and which it would solve."""
    new = {id(clash) for clash in found.new}
    return {
        "clashes": [{**linked(clash), "is_new": id(clash) in new} for clash in here],
        "solved": [linked(clash) for clash in solved],
    }


def lock(rows: QuerySet[Model]) -> None:
    """Keep others from changing these rows until a plan is stored."""
    list(rows.select_for_update().order_by("pk").values("pk"))
