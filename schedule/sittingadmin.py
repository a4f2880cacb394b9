"""What the pages of the timetable editor share: the edition, what a sitting saved, and taking it back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conference import revision
from conference.acting import acting
from conference.adminhistory import previewed
from conference.adminstale import SHOWN
from conference.history import ChangeSet, Origin
from conference.merging import CHOICE
from conference.models import Edition
from conference.recording import Log, recording, together
from conference.restoring import CannotRestoreError
from conference.timeline import acts
from conference.undoing import Undoing, planned, take_back

TIMETABLE = "timetable"
MODELS = {"schedule.session", "schedule.presentation"}
# So many rows of a sitting are told one by one.
TOLD = 40


@contextmanager
def one_sitting(request: HttpRequest) -> Iterator[Log]:
    """Make what a page of the editor saves one act, one transaction and one change of the stamp."""
    with acting(Origin.FORM, request.user, TIMETABLE), together() as log, revision.hold():
        yield log


class SittingAdmin(admin.ModelAdmin[Any]):
    """Pages that change several rows of the timetable at once."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.take_back_view)
        own = path("timetable/<int:key>/undo/", view, name="schedule_session_take_back")
        return [own, *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None:
            context["tools"] = [*context.get("tools", []), *self.tools(row)]
        return super().render_change_form(request, context, *args, **kwargs)

    def tools(self, row: Any) -> list[dict[str, Any]]:
        """Return the pages of a row besides its form."""
        day = row.edition.day_of(row.start)
        return [{"words": _("Timetable"), "address": f"{timetable_address(row.edition, day=day)}#s{row.pk}"}]

    def rows_of(self, request: HttpRequest, model: Any) -> Any:
        """Return the rows of a model that its own admin lets this user see."""
        return self.admin_site.get_model_admin(model).get_queryset(request)

    def may(self, request: HttpRequest, what: str, model: Any, row: Any = None) -> bool:
        """Tell whether the user may view, change or add a row, as the admin of its model says."""
        desk = self.admin_site.get_model_admin(model)
        asked = (request,) if what == "add" else (request, row)
        return bool(getattr(desk, f"has_{what}_permission")(*asked))

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
        return found or editions.first()

    def session_in_hand(self, request: HttpRequest, key: int) -> Any:
        """Return a session that the user may see, with its edition, room and whole."""
        rows = self.get_queryset(request).select_related("edition", "room", "parent")
        session = get_object_or_404(rows, pk=key)
        if not self.has_view_permission(request, session):
            raise PermissionDenied
        return session

    # What was saved

    def saved_sitting(self, request: HttpRequest, edition: Edition) -> dict[str, Any] | None:
        """Return what the sitting that the address names has changed, as the page tells it."""
        key = request.GET.get("saved", "")
        change_set = ChangeSet.objects.filter(pk=key).first() if key.isdecimal() else None
        if change_set is None or not self.is_sitting_of(change_set, edition):
            return None
        rows = change_set.rows.order_by("pk")
        found = acts([change_set], rows[:TOLD], edition)[0].rows
        more = max(0, rows.count() - TOLD)
        return {"change_set": change_set, "rows": found, "more": more, "undo": undo_address(change_set)}

    def is_sitting_of(self, change_set: ChangeSet, edition: Edition) -> bool:
        """Tell whether all that was changed stands in the timetable of this edition."""
        rows = set(change_set.rows.order_by().values_list("model", "edition_key").distinct())
        return bool(rows) and rows <= {(model, edition.pk) for model in MODELS}

    # Taking it back

    def take_back_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Show what taking a sitting back would do; with POST, do it."""
        change_set = get_object_or_404(ChangeSet, pk=key)
        edition = self.edition_of_sitting(request, change_set)
        reasons: list[str] = []
        found = planned(change_set)
        self.refuse_strangers(request, found)
        if request.method == "POST" and not found.is_empty:
            try:
                with recording(Origin.UNDO, request.user, TIMETABLE) as log, revision.hold():
                    found = planned(change_set)
                    take_back(found, Origin.UNDO, request.user, TIMETABLE)
            except CannotRestoreError as error:
                reasons = error.reasons
            else:
                return self.taken_back(request, found, edition, log)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Take back what was saved"),
            "opts": self.opts,
            "edition": edition,
            "change_set": change_set,
            "plan": previewed(found.steps, edition),
            "removed": sum(map(len, found.removed.values())),
            "kept": found.kept,
            "reasons": reasons,
            "can_go": not found.is_empty,
            "back": timetable_address(edition),
        }
        return TemplateResponse(request, "admin/schedule/take_back.html", context)

    def edition_of_sitting(self, request: HttpRequest, change_set: ChangeSet) -> Edition:
        """Return the edition whose timetable a sitting changed, or refuse."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        row = change_set.rows.first()
        edition: Edition = get_object_or_404(self.editions(request), pk=row.edition_key or 0 if row else 0)
        if not self.is_sitting_of(change_set, edition):
            raise Http404("No sitting of the timetable.")
        return edition

    def refuse_strangers(self, request: HttpRequest, found: Undoing) -> None:
        """Refuse where a row is not among those that the user may change."""
        touched: dict[Any, set[int]] = {model: set(keys) for model, keys in found.removed.items()}
        for step in found.steps:
            touched.setdefault(step.model, set()).add(step.key)
        for model, keys in touched.items():
            rows = self.rows_of(request, model).filter(pk__in=keys)
            allowed = {row.pk for row in rows if self.may(request, "change", model, row)}
            there = set(model._base_manager.filter(pk__in=keys).values_list("pk", flat=True))
            if there - allowed:
                raise PermissionDenied

    def taken_back(self, request: HttpRequest, found: Undoing, edition: Edition, log: Log) -> HttpResponse:
        """Say what was taken back, and what stays as it was changed since."""
        count = len(found.steps) + sum(map(len, found.removed.values()))
        words = ngettext("%(n)d change taken back.", "%(n)d changes taken back.", count) % {"n": count}
        messages.success(request, words)
        if found.kept:
            kept = _("Changed since, and kept: %(rows)s.") % {"rows": "; ".join(found.kept[:TOLD])}
            messages.warning(request, kept)
        saved = log.change_set.pk if log.change_set else ""
        return redirect(f"{timetable_address(edition)}&saved={saved}")


def timetable_address(edition: Edition, **more: Any) -> str:
    """Return the address of the timetable of an edition."""
    asked = "".join(f"&{name}={value}" for name, value in more.items())
    return f"{reverse('admin:schedule_session_timetable')}?edition={edition.pk}{asked}"


def undo_address(change_set: ChangeSet) -> str:
    return reverse("admin:schedule_session_take_back", args=[change_set.pk])


def edition_tools(edition: Edition) -> list[dict[str, Any]]:
    """Return the pages for the timetable of a whole edition, for its form."""
    return [{"words": _("Timetable editor"), "address": timetable_address(edition)}]


def carried(sent: QueryDict) -> list[tuple[str, Any]]:
    """Return all that was sent, for a page that asks before it goes on."""
    return [
        (name, value)
        for name, values in sent.lists()
        for value in values
        if name not in ("csrfmiddlewaretoken", SHOWN) and not name.startswith(CHOICE)
    ]
