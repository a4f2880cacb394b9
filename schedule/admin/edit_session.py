"""What the pages of the timetable editor share: the edition, what a sitting saved, and taking it back."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
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
from content.versions import Seen
from editorial.access import access_for
from editorial.stale_forms import versions_page
from editorial.undo_views import AFTERWARDS
from schedule.admin.clashes import linked

TIMETABLE = "timetable"
MODELS = {"schedule.session", "schedule.presentation"}
# What no page of the editor shows of papers.
UNSHOWN = ("paper__abstract", "paper__abstract_html", "paper__lay_summary", "paper__lay_summary_html")
# So many rows of a sitting are told one by one.
MAX_LISTED_DIFFERENCES = 40


@contextmanager
def one_sitting(request: HttpRequest) -> Iterator[Log]:
    """Make what a page of the editor saves one act, one transaction and one change of the stamp."""
    with acting(Origin.ACTION, request.user, TIMETABLE), together() as log, revision.lock():
        yield log


class SittingAdmin(admin.ModelAdmin[Any]):
    """Pages that change several rows of the timetable at once."""

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None and access_for(request).may_all("view", self.model, row.edition):
            context["tools"] = [*context.get("tools", []), *self.tools(row)]
        return super().render_change_form(request, context, *args, **kwargs)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        access = access_for(request)
        may_plan = access.everywhere("view", self.model) or bool(access.editions("view", self.model))
        return super().changelist_view(request, {"may_plan": may_plan, **(extra_context or {})})

    def tools(self, row: Any) -> list[dict[str, Any]]:
        """Return the pages of a row besides its form."""
        day = row.edition.day_of(row.start)
        return [{"words": _("Timetable"), "address": f"{timetable_address(row.edition, day=day)}#s{row.pk}"}]

    def rows_of(self, request: HttpRequest, model: Any) -> Any:
        """Return the rows of a model that its own admin lets this user see."""
        return self.admin_site.get_model_admin(model).get_queryset(request)

    def may(self, request: HttpRequest, what: str, model: Any, row: Any = None) -> bool:
        """Tell whether the user may view, change or add a row, as the admin of its model says."""
        # Who may change some fields of a row, as a session chair, moves nothing.
        desk: Any = self.admin_site.get_model_admin(model)
        return bool(desk.may_whole(request, what, row))

    def refuse_partial_sight(self, request: HttpRequest, edition: Edition | None) -> None:
        """Refuse who sees some rows of an edition: clashes and plans tell of all of them."""
        if not access_for(request).may_all("view", self.model, edition):
            raise PermissionDenied

    def editions(self, request: HttpRequest) -> Any:
        return self.rows_of(request, Edition)

    def edition_or_newest(self, request: HttpRequest) -> Edition | None:
        """Return the edition asked for, else the newest that the user may see."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        asked = request.POST.get("edition") or request.GET.get("edition", "")
        editions = self.editions(request)
        found: Edition | None = None
        if asked:
            found = editions.filter(pk=asked).first() if asked.isdecimal() else None
            if found is None:
                raise Http404("No such edition.")
        found = found or editions.first()
        self.refuse_partial_sight(request, found)
        return found

    def session_in_hand(self, request: HttpRequest, key: int) -> Any:
        """Return a session that the user may see, with its edition, room and whole."""
        rows = self.get_queryset(request).select_related("edition", "room", "parent")
        session = get_object_or_404(rows, pk=key)
        if not self.has_view_permission(request, session):
            raise PermissionDenied
        self.refuse_partial_sight(request, session.edition)
        return session

    # Two versions

    def two_versions(
        self, request: HttpRequest, differences: list[dict[str, Any]], shown: Seen, back: str
    ) -> HttpResponse:
        """Show what somebody else made of the same rows beside what is planned, with a choice for each."""
        return versions_page(self, request, differences, shown, discard=back)

    # What was saved

    def saved_sitting(self, request: HttpRequest, edition: Edition) -> dict[str, Any] | None:
        """Return what the sitting that the address names has changed, as the page tells it."""
        key = request.GET.get("saved", "")
        change_set = ChangeSet.objects.filter(pk=key).first() if key.isdecimal() else None
        if change_set is None or not self.is_sitting_of(change_set, edition):
            return None
        rows = change_set.rows.order_by("pk")
        found = change_set_rows([change_set], rows[:MAX_LISTED_DIFFERENCES], edition)[0].rows
        more = max(0, rows.count() - MAX_LISTED_DIFFERENCES)
        return {"change_set": change_set, "rows": found, "more": more, "undo": undo_address(change_set)}

    def is_sitting_of(self, change_set: ChangeSet, edition: Edition) -> bool:
        """Tell whether all that was changed stands in the timetable of this edition."""
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


def edition_tools(edition: Edition) -> list[dict[str, Any]]:
    """Return the pages for the timetable of a whole edition, for its form."""
    return [{"words": _("Timetable editor"), "address": timetable_address(edition)}]


def difference(
    sent: QueryDict, name: str, what: str, whose: object, theirs: str, mine: str
) -> dict[str, Any]:
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


def lock(rows: QuerySet[Any]) -> None:
    """Keep others from changing these rows until a plan is stored."""
    list(rows.select_for_update().order_by("pk").values("pk"))
