"""Base classes and helpers of the pages that plan the schedule: rights, locks, saving, reverting."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
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
from django.utils.translation import gettext_lazy as _lazy

from conference.models import Edition
from content import revision
from content.actor import acting_as
from content.history import ChangeSet, Origin
from content.history.recording import Log, single_change_set
from content.history.timeline import change_set_rows
from content.ordering import lock_owners_of
from content.request_keys import parse_key
from content.unreleased.plan import planned
from content.versions import CHOICE, MINE, THEIRS, Seen, read_marks, sign_marks
from content.write_conflicts import retry_conflicts
from editorial.access import access_for
from editorial.current_edition import chosen_edition, working_on
from editorial.history_views import UNDO_REDIRECTS
from editorial.model_admin import ContentAdmin
from editorial.stale_forms import SEEN_FIELD, SHOWN_FIELD, versions_page
from schedule import clashes
from schedule.admin.clashes import clash_context
from schedule.clashes import Clash
from schedule.models import Presentation, Session

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

TIMETABLE_DETAIL = "timetable"
TIMETABLE_MODELS = {"schedule.session", "schedule.presentation", "schedule.unreleasedchange"}
# Texts of papers that no page of the editor shows.
DEFERRED_FIELDS = ("paper__abstract", "paper__abstract_html", "paper__lay_summary", "paper__lay_summary_html")
MAX_LISTED_CHANGES = 40
# The maximum number of existing and new clashes, and that of solved ones, which a page of a plan lists.
MAX_PLAN_CLASHES = 100


@contextmanager
def one_change_set(request: HttpRequest) -> Iterator[Log]:
    """Write all changes of the block in one change set, one transaction and one new revision."""
    with (
        acting_as(Origin.ACTION, request.user, TIMETABLE_DETAIL),
        single_change_set() as log,
        revision.lock(),
    ):
        yield log


def visible_rows(model_admin: ContentAdmin, request: HttpRequest, model: type[Model]) -> Any:
    """Return the rows of a model that the user may see in its admin."""
    return model_admin.admin_site.get_model_admin(model).get_queryset(request)


def require_full_view(request: HttpRequest, edition: Edition | None) -> None:
    """Raise `PermissionDenied` unless the user may see all sessions: clashes and plans show them."""
    if not access_for(request).may_all_rows("view", Session, edition):
        raise PermissionDenied


def edition_or_newest(model_admin: ContentAdmin, request: HttpRequest) -> Edition | None:
    """Return the requested edition, else the one chosen on the desk, else the newest."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    requested_key = request.POST.get("edition") or request.GET.get("edition", "")
    editions = visible_rows(model_admin, request, Edition)
    edition: Edition | None = None
    if requested_key:
        edition = editions.filter(pk=parse_key(requested_key)).first()
        if edition is None:
            raise Http404("No such edition.")
    elif desk_edition := chosen_edition(request):
        edition = editions.filter(pk=desk_edition.pk).first()
    edition = edition or editions.first()
    require_full_view(request, edition)
    return edition


def get_session(model_admin: ContentAdmin, request: HttpRequest, key: int) -> Session:
    """Return a session that the user may see, with edition, room and parent."""
    rows = model_admin.get_queryset(request).select_related("edition", "room", "parent")
    session: Session = get_object_or_404(rows, pk=key)
    if not model_admin.has_view_permission(request, session):
        raise PermissionDenied
    require_full_view(request, session.edition)
    return session


def saved_changes(request: HttpRequest, edition: Edition) -> dict[str, object] | None:
    """Return the saved changes that the address names, for the template."""
    key = parse_key(request.GET.get("saved"))
    if not key:
        return None
    change_set = ChangeSet.objects.filter(pk=key).first()
    if change_set is None:
        return None
    rows = change_set.rows.order_by("pk")
    changed_models = set(rows.order_by().values_list("model", "edition_key").distinct())
    if not changed_models or not changed_models <= {(model, edition.pk) for model in TIMETABLE_MODELS}:
        return None
    return {
        "change_set": change_set,
        "rows": change_set_rows([change_set], rows[:MAX_LISTED_CHANGES], edition)[0]["rows"],
        "more": max(0, rows.count() - MAX_LISTED_CHANGES),
        "undo": reverse("admin:take_back", args=[key]),
    }


def timetable_address(edition: Edition, **query: object) -> str:
    return reverse("admin:schedule_session_timetable", query={"edition": edition.pk, **query})


def timetable_after_undo(change_set: ChangeSet) -> str:
    """Return the address of the timetable, to open after its changes were reverted."""
    row = change_set.rows.first() if change_set.detail == TIMETABLE_DETAIL else None
    edition = Edition.objects.filter(pk=row.edition_key or 0).first() if row else None
    return timetable_address(edition) if edition else ""


UNDO_REDIRECTS.append(timetable_after_undo)


def session_tools(session: Session) -> list[dict[str, Any]]:
    """Return links to the other pages of a session."""
    day = session.edition.day_of(session.start)
    timetable_url = f"{timetable_address(session.edition, day=day)}#s{session.pk}"
    talks_url = reverse("admin:schedule_session_talks", args=[session.pk])
    tools = [
        {"label": _("Timetable"), "address": timetable_url},
        {"label": _("Order and times"), "address": talks_url},
    ]
    if session.counts_as == Session.Kind.POSTER:
        boards_url = reverse("admin:schedule_session_boards", args=[session.pk])
        tools.append({"label": _("Poster boards"), "address": boards_url})
    return tools


def plan_clash_context(
    difference: clashes.ClashDifference, shown_clashes: Iterable[Clash], solved_clashes: Iterable[Clash]
) -> dict[str, Any]:
    """Return the first existing, new and solved clashes of a plan for the template, and their counts."""
    new_ids = {id(clash) for clash in difference.new}
    shown, solved = [*shown_clashes], [*solved_clashes]
    listed = shown
    if len(shown) > MAX_PLAN_CLASHES:
        listed = sorted(shown, key=lambda clash: id(clash) not in new_ids)
    return {
        "clashes": [
            {**clash_context(clash), "is_new": id(clash) in new_ids} for clash in listed[:MAX_PLAN_CLASHES]
        ],
        "clash_count": len(shown),
        "solved": [clash_context(clash) for clash in solved[:MAX_PLAN_CLASHES]],
        "solved_count": len(solved),
    }


class PlanPage[S: Edition | Session](ABC):
    """One request to a page that plans rows of an edition or a session and saves them together."""

    # Part of the names of the template and the URL.
    name: ClassVar[str]
    title: ClassVar["StrPromise"]
    # The message if nothing has changed.
    unchanged: ClassVar["StrPromise"] = _lazy("There were no changes to save.")
    edition: Edition
    # Returns the edition or session of a request.
    get_subject: ClassVar[Callable[..., Any]]
    # The marks of the stored values, to detect changes by others.
    current_marks: Seen
    status = 200

    def __init__(self, model_admin: ContentAdmin, request: HttpRequest, subject: S) -> None:
        self.model_admin, self.request = model_admin, request
        self.data = request.POST if request.method == "POST" else QueryDict()
        self.notes: list[Any] = []
        self.prepare(subject)

    @abstractmethod
    def prepare(self, subject: S) -> None:
        """Read the rows and the submitted plan."""

    @classmethod
    @abstractmethod
    def rows_to_lock(cls, request: HttpRequest, subject: S) -> QuerySet[Any]:
        """Return the rows to lock while the plan is saved."""

    def handle_button(self) -> None:  # noqa: B027 # a page may have no other buttons
        """Carry out the pressed button, other than saving."""

    @abstractmethod
    def may_save(self) -> bool: ...

    def resolve(self, shown_marks: Seen) -> bool:
        """Apply the choices between the versions `shown`; return whether no conflict remains."""
        return True

    def apply_choices(self, prefix: str, rows: Iterable[Any]) -> None:
        """Apply the choices for rows that someone else also changed; others are still stale."""
        for row in rows:
            choice = self.data.get(f"{CHOICE}{prefix}{row.pk}")
            if choice == THEIRS:
                row.after = row.before
            row.is_stale = choice not in (MINE, THEIRS)

    def differences(self) -> list[dict[str, object]]:
        """Return the conflicts in the form of the page that compares two versions."""
        return []

    def difference(
        self, name: str, field_label: str, row: object, theirs: str, mine: str
    ) -> dict[str, object]:
        name = f"{CHOICE}{name}"
        values = {"field": field_label, "row": f"“{row}”", THEIRS: theirs, MINE: mine}
        return {"name": name, "is_conflict": True, "chosen": self.data.get(name, ""), **values}

    @abstractmethod
    def save(self) -> str:
        """Save the plan and return the message; return an empty string if validation fails."""

    @abstractmethod
    def address(self, **query: object) -> str: ...

    @abstractmethod
    def context(self) -> dict[str, Any]: ...

    def heading(self) -> str:
        return str(self.title)

    @classmethod
    def view(cls, model_admin: ContentAdmin, request: HttpRequest, **key: int) -> HttpResponse:
        """Show the stored or planned rows, or save the plan."""
        subject = cls.get_subject(model_admin, request, **key)
        if subject is None:
            return cls.render_page(model_admin, request, None, str(cls.title), {})
        edition = subject if isinstance(subject, Edition) else subject.edition
        with planned(edition, for_edits=request.method == "POST") as plan:
            if plan is not None:
                # As planned.
                subject = cls.get_subject(model_admin, request, **key)
            if request.method == "POST" and "_save" in request.POST:
                return cls.save_view(model_admin, request, subject)
            page = cls(model_admin, request, subject)
            page.handle_button()
            return page.render(saved_changes(request, page.edition))

    @classmethod
    @retry_conflicts
    def save_view(cls, model_admin: ContentAdmin, request: HttpRequest, subject: S) -> HttpResponse:
        """Save the whole plan, or save nothing and show the reasons."""
        with one_change_set(request) as log:
            # Lock these rows until the transaction ends.
            rows = cls.rows_to_lock(request, subject)
            lock_owners_of(rows)
            list(rows.select_for_update().order_by("pk").values("pk"))
            page = cls(model_admin, request, subject)
            if not page.may_save():
                raise PermissionDenied
            if not page.resolve(read_marks(page.data.get(SHOWN_FIELD, "")) or {}):
                conflicts, back_url = page.differences(), page.address()
                return versions_page(model_admin, request, conflicts, page.current_marks, discard=back_url)
            message = page.save()
        if not message:
            return page.render()
        if log.change_set is None:
            messages.info(request, str(cls.unchanged))
            return redirect(page.address())
        messages.success(request, message)
        return redirect(page.address(saved=log.change_set.pk))

    def render(self, saved: dict[str, object] | None = None) -> HttpResponse:
        context = {"notes": self.notes, "saved": saved, **self.context()}
        return self.render_page(
            self.model_admin, self.request, self.edition, self.heading(), context, self.status
        )

    @classmethod
    def render_page(
        cls,
        model_admin: ContentAdmin,
        request: HttpRequest,
        edition: Edition | None,
        title: str,
        context: dict[str, Any],
        status: int = 200,
    ) -> HttpResponse:
        context = {
            "edition": edition,
            "editions": visible_rows(model_admin, request, Edition),
            "may_add_session": access_for(request).may_all_rows("add", Session, edition),
            **context,
        }
        page_context = model_admin.page_context(request, title, **context)
        with working_on(edition):
            template = f"admin/schedule/{cls.name}.html"
            return TemplateResponse(request, template, page_context, status=status).render()


class EditionPage(PlanPage[Edition]):
    """A page about an edition, with a choice of editions."""

    get_subject = staticmethod(edition_or_newest)

    @classmethod
    def rows_to_lock(cls, request: HttpRequest, subject: Edition) -> QuerySet[Any]:
        return Session._base_manager.filter(edition=subject)

    def address(self, **query: object) -> str:
        return reverse(f"admin:schedule_session_{self.name}", query={"edition": self.edition.pk, **query})


class SessionPage(PlanPage[Session]):
    """A page on which the presentations of a session are planned."""

    get_subject = staticmethod(get_session)
    # The prefix of its fields, before the key of a presentation.
    prefix: ClassVar[str]
    plan: Any
    form: forms.Form

    def prepare(self, subject: Session) -> None:
        self.session, self.edition = subject, subject.edition
        rows = visible_rows(self.model_admin, self.request, Presentation).in_session(subject).standing()
        presentations = rows.select_related("edition", "paper", "session", "room").defer(*DEFERRED_FIELDS)
        self.read_plan(presentations.order_by(presentations.value("position"), "pk"))
        self.current_marks = self.plan.current_marks()
        self.seen: Seen = read_marks(self.data.get(SEEN_FIELD, "")) or self.current_marks
        if self.data:
            self.plan.read(self.data, self.seen)
        access = access_for(self.request)
        self.may_change = all(
            access.may_all_fields("change", Presentation, row.talk) for row in self.plan.rows
        )

    @abstractmethod
    def read_plan(self, rows: Any) -> None:
        """Set `plan` and `form`; `rows` are the presentations that the user may see."""

    @classmethod
    def rows_to_lock(cls, request: HttpRequest, subject: Session) -> QuerySet[Any]:
        return Presentation.objects.in_session(subject)

    def may_save(self) -> bool:
        return self.may_change

    def resolve(self, shown_marks: Seen) -> bool:
        self.apply_choices(self.prefix, self.plan.stale if shown_marks == self.current_marks else [])
        return not self.plan.stale

    def address(self, **query: object) -> str:
        return reverse(f"admin:schedule_session_{self.name}", args=[self.session.pk], query=query)

    def heading(self) -> str:
        return str(self.title % {"session": self.session})

    def context(self) -> dict[str, Any]:
        return {
            "session": self.session,
            "rows": self.plan.rows,
            "form": self.form,
            "wrong_count": len(self.plan.wrong),
            "signed_marks": sign_marks(self.seen),
            "may_change": self.may_change,
        }
