"""Poster boards of a session: assigned from a list, looked at, and saved together."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.versions import Seen, read, signed
from editorial.model_admin import ContentAdmin
from editorial.stale_forms import SEEN, SHOWN, versions_page
from papers.models import Topic
from schedule import clashes
from schedule.admin.edit_session import (
    UNSHOWN,
    decide,
    difference,
    get_session,
    lock,
    may,
    one_sitting,
    rows_of,
    saved_changes,
    told,
)
from schedule.editing.boardlists import BoardsError
from schedule.editing.poster_boards import BoardsForm, Hanging, PosterRow, topic_paths
from schedule.editing.saving import save_boards
from schedule.models import Presentation, Session

ON_BOARDS = (clashes.ClashKind.BOARD, clashes.ClashKind.BOARDS_FULL)


class BoardsPage:
    """One request to the page of a session's boards."""

    def __init__(self, model_admin: ContentAdmin, request: HttpRequest, session: Session) -> None:
        self.session, self.edition = session, session.edition
        self.sent = request.POST if request.method == "POST" else QueryDict()
        rows = rows_of(model_admin, request, Presentation).filter(session=session).taking_place().posters()
        talks = rows.select_related("edition", "paper__topic", "session", "room").defer(*UNSHOWN)
        self.hanging = Hanging([PosterRow(talk) for talk in talks.order_by("position", "pk")])
        self.seen: Seen = read(self.sent.get(SEEN, "")) or self.hanging.now()
        self.notes: list[str] = []
        capacity = session.room.capacity if session.room else None
        number = capacity or len(self.hanging.rows)
        asked = self.sent if "boards" in self.sent else None
        self.form = BoardsForm(asked, initial={"boards": f"1-{number}"})
        if self.sent:
            self.hanging.read(self.sent, self.seen)
        talks_here = [row.talk for row in self.hanging.rows]
        self.may_change = all(may(model_admin, request, "change", Presentation, talk) for talk in talks_here)

    def act(self) -> None:
        """Assign boards if the button asks for it."""
        if "_assign" in self.sent and self.form.is_valid():
            topics = topic_paths(
                Topic.objects.filter(edition=self.edition).select_related("parent__parent__parent")
            )
            asked = self.form.cleaned_data
            try:
                self.hanging.assign(asked["boards"], asked["order"], topics)
            except BoardsError as error:
                self.notes.append(str(error))

    def settle(self) -> bool:
        """Take over what was chosen where somebody else changed the same; tell whether all is settled."""
        is_current = read(self.sent.get(SHOWN, "")) == self.hanging.now()
        decide(self.sent, "b", self.hanging.stale if is_current else [])
        return not self.hanging.stale

    @property
    def address(self) -> str:
        return reverse("admin:schedule_session_boards", args=[self.session.pk])

    def differences(self) -> list[dict[str, object]]:
        """Return the boards that both sides changed, as the page of two versions shows them."""
        return [
            difference(
                self.sent, f"b{row.pk}", _("Poster board"), row.talk, row.before or "–", row.after or "–"
            )
            for row in self.hanging.stale
        ]

    def context(self) -> dict[str, Any]:
        """Return what the page shows."""
        plans = {row.pk: {"board": row.after} for row in self.hanging.moved}
        found = clashes.difference(self.edition, clashes.PlannedEdit(talks=plans))
        here = [
            clash
            for clash in found.all
            if clash.kind in ON_BOARDS and self.session.pk in found.sessions(clash)
        ]
        solved = [clash for clash in found.solved if clash.kind in ON_BOARDS]
        return {
            "session": self.session,
            "edition": self.edition,
            "rows": self.hanging.rows,
            "form": self.form,
            "notes": self.notes,
            "moved_count": len(self.hanging.moved),
            "wrong_count": len(self.hanging.wrong),
            "seen": signed(self.seen),
            "may_change": self.may_change,
            **told(found, here, solved),
        }


def boards_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Show the posters of a session with their boards, as they are or as planned; save the plan."""
    session = get_session(model_admin, request, key)
    if request.method == "POST" and "_save" in request.POST:
        return save(model_admin, request, session)
    page = BoardsPage(model_admin, request, session)
    page.act()
    return render(model_admin, request, page, saved_changes(request, session.edition))


def render(
    model_admin: ContentAdmin, request: HttpRequest, page: BoardsPage, saved: dict[str, object] | None = None
) -> HttpResponse:
    title = _("Poster boards: %(session)s") % {"session": page.session}
    context = model_admin.frame(request, title, **page.context(), saved=saved)
    return TemplateResponse(request, "admin/schedule/boards.html", context)


def save(model_admin: ContentAdmin, request: HttpRequest, session: Session) -> HttpResponse:
    """Save all boards, or none and say why."""
    with one_sitting(request) as log:
        lock(Presentation._base_manager.filter(session=session))
        page = BoardsPage(model_admin, request, session)
        if not page.may_change:
            raise PermissionDenied
        count = len(page.hanging.moved)
        if not page.settle():
            now, back = page.hanging.now(), page.address
            return versions_page(model_admin, request, page.differences(), now, discard=back)
        is_saved = save_boards(page.hanging)
    if page.hanging.wrong:
        return render(model_admin, request, page)
    if not is_saved or log.change_set is None:
        messages.info(request, _("Nothing was changed, so there was nothing to save."))
        return redirect(page.address)
    words = ngettext("%(n)d board was saved.", "%(n)d boards were saved.", count) % {"n": count}
    messages.success(request, words)
    return redirect(f"{page.address}?saved={log.change_set.pk}")
