"""What the pages of the timetable editor share: rights, the edition, what was saved, and taking it back."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from conference.models import Edition
from content import revision
from content.actor import acting
from content.history import ChangeSet, Origin
from content.recording import Log, together
from content.timeline import change_set_rows
from content.versions import CHOICE, MINE, THEIRS, Seen, read, signed
from editorial.access import access_for
from editorial.current_edition import chosen_edition, working_on
from editorial.history_views import AFTERWARDS
from editorial.model_admin import ContentAdmin
from editorial.stale_forms import SEEN, SHOWN, versions_page
from schedule import clashes
from schedule.admin.clashes import linked
from schedule.clashes import Clash
from schedule.models import Presentation, Session

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

TIMETABLE = "timetable"
MODELS = {"schedule.session", "schedule.presentation"}
# What no page of the editor shows of papers.
UNSHOWN = ("paper__abstract", "paper__abstract_html", "paper__lay_summary", "paper__lay_summary_html")
MAX_LISTED_CHANGES = 40


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
    """Refuse who sees some sessions of an edition: clashes and plans show all of them."""
    if not access_for(request).may_all("view", Session, edition):
        raise PermissionDenied


def edition_or_newest(model_admin: ContentAdmin, request: HttpRequest) -> Edition | None:
    """Return the edition asked for, else the one chosen on the desk or the newest that the user may see."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    asked = request.POST.get("edition") or request.GET.get("edition", "")
    editions = rows_of(model_admin, request, Edition)
    found: Edition | None = None
    if asked:
        found = editions.filter(pk=asked).first() if asked.isdecimal() else None
        if found is None:
            raise Http404("No such edition.")
    elif chosen := chosen_edition(request):
        found = editions.filter(pk=chosen).first()
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
    if change_set is None:
        return None
    rows = change_set.rows.order_by("pk")
    where = set(rows.order_by().values_list("model", "edition_key").distinct())
    if not where or not where <= {(model, edition.pk) for model in MODELS}:
        return None
    found = change_set_rows([change_set], rows[:MAX_LISTED_CHANGES], edition)[0]["rows"]
    more = max(0, rows.count() - MAX_LISTED_CHANGES)
    undo = reverse("admin:take_back", args=[change_set.pk])
    return {"change_set": change_set, "rows": found, "more": more, "undo": undo}


def timetable_address(edition: Edition, **more: object) -> str:
    return reverse("admin:schedule_session_timetable", query={"edition": edition.pk, **more})


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


def difference(
    sent: QueryDict, name: str, what: str, whose: object, theirs: str, mine: str
) -> dict[str, object]:
    """Return what both sides changed, as the page of two versions shows it."""
    sides = {"field": what, "row": f"“{whose}”", THEIRS: theirs, MINE: mine}
    name = f"{CHOICE}{name}"
    return {"name": name, "is_conflict": True, "chosen": sent.get(name, ""), **sides}


def decide(sent: QueryDict, prefix: str, rows: Iterable[Any]) -> None:
    """Take over what was chosen for rows that somebody else changed too; the others stay open."""
    for row in rows:
        choice = sent.get(f"{CHOICE}{prefix}{row.pk}")
        if choice == THEIRS:
            row.after = row.before
        row.is_stale = choice not in (MINE, THEIRS)


def lock(rows: QuerySet[Model]) -> None:
    """Keep others from changing these rows until a plan is stored."""
    list(rows.select_for_update().order_by("pk").values("pk"))


def clash_context(
    found: clashes.ClashDifference, here: Iterable[Clash], solved: Iterable[Clash]
) -> dict[str, Any]:
    """Return the clashes of a plan as its page shows them: which are new, and which it would solve."""
    new = {id(clash) for clash in found.new}
    return {
        "clashes": [{**linked(clash), "is_new": id(clash) in new} for clash in here],
        "solved": [linked(clash) for clash in solved],
    }


class SessionPage(ABC):
    """One request to a page on which the presentations of a session are planned, and saved together."""

    name: ClassVar[str]
    title: ClassVar["StrPromise"]
    plan: Any
    form: forms.Form

    def __init__(self, model_admin: ContentAdmin, request: HttpRequest, session: Session) -> None:
        self.model_admin, self.request = model_admin, request
        self.session, self.edition = session, session.edition
        self.sent = request.POST if request.method == "POST" else QueryDict()
        self.notes: list[str] = []
        rows = rows_of(model_admin, request, Presentation).filter(session=session)
        shown = rows.select_related("edition", "paper", "session", "room").defer(*UNSHOWN)
        self.prepare(shown.order_by("position", "pk"))
        self.seen: Seen = read(self.sent.get(SEEN, "")) or self.plan.now()
        if self.sent:
            self.plan.read(self.sent, self.seen)
        talks = [row.talk for row in self.plan.rows]
        self.may_change = all(may(model_admin, request, "change", Presentation, talk) for talk in talks)

    @abstractmethod
    def prepare(self, rows: Any) -> None:
        """Set `plan` and `form`; `rows` are the presentations that the user may see."""

    @abstractmethod
    def act(self) -> None:
        """Do what the button asks for, but for saving."""

    @abstractmethod
    def settle(self, is_current: bool) -> bool:
        """Take over what was chosen between current versions; tell whether nothing is left to choose."""

    @abstractmethod
    def differences(self) -> list[dict[str, object]]:
        """Return what both sides changed, as the page of two versions shows it."""

    @abstractmethod
    def context(self) -> dict[str, Any]:
        """Return what the page shows besides its rows."""

    @abstractmethod
    def save(self) -> str:
        """Store the plan, unless a row gets `errors` by it, and return what is said of it."""

    @classmethod
    def view(cls, model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
        """Show the presentations of a session as they are, or as they are planned; save the plan."""
        session = get_session(model_admin, request, key)
        if request.method == "POST" and "_save" in request.POST:
            return cls.save_view(model_admin, request, session)
        page = cls(model_admin, request, session)
        page.act()
        return page.render(saved_changes(request, session.edition))

    @classmethod
    def save_view(cls, model_admin: ContentAdmin, request: HttpRequest, session: Session) -> HttpResponse:
        """Save the whole plan, or nothing and say why."""
        with one_sitting(request) as log:
            lock(Presentation._base_manager.filter(session=session))
            page = cls(model_admin, request, session)
            if not page.may_change:
                raise PermissionDenied
            now, back = page.plan.now(), reverse(f"admin:schedule_session_{cls.name}", args=[session.pk])
            if not page.settle(read(page.sent.get(SHOWN, "")) == now):
                return versions_page(model_admin, request, page.differences(), now, discard=back)
            words = page.save()
        if page.plan.wrong:
            return page.render()
        if log.change_set is None:
            messages.info(request, _("Nothing was changed, so there was nothing to save."))
            return redirect(back)
        messages.success(request, words)
        return redirect(f"{back}?saved={log.change_set.pk}")

    def render(self, saved: dict[str, object] | None = None) -> HttpResponse:
        context = {
            "edition": self.edition,
            "session": self.session,
            "rows": self.plan.rows,
            "form": self.form,
            "notes": self.notes,
            "wrong_count": len(self.plan.wrong),
            "seen": signed(self.seen),
            "may_change": self.may_change,
            "saved": saved,
            **self.context(),
        }
        title = self.title % {"session": self.session}
        framed = self.model_admin.frame(self.request, title, **context)
        with working_on(self.edition):
            return TemplateResponse(self.request, f"admin/schedule/{self.name}.html", framed).render()
