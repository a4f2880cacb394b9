"""Poster boards of a session: assigned from a list, looked at, and saved together."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.versions import Seen, read, signed
from editorial.stale_forms import SEEN, SHOWN
from papers.models import Topic
from schedule import clashes
from schedule.admin.edit_session import UNSHOWN, SittingAdmin, decide, difference, lock, one_sitting, told
from schedule.editing.boardlists import BoardsError
from schedule.editing.poster_boards import BoardsForm, Hanging, PosterRow, topic_paths
from schedule.editing.saving import save_boards
from schedule.models import Presentation, Session

ON_BOARDS = (clashes.ClashKind.BOARD, clashes.ClashKind.BOARDS_FULL)


class BoardsPage:
    """One request to the page of a session's boards."""

    def __init__(self, desk: Any, request: HttpRequest, session: Session) -> None:
        self.session, self.edition = session, session.edition
        self.sent = request.POST if request.method == "POST" else QueryDict()
        rows = desk.rows_of(request, Presentation).filter(session=session).taking_place().posters()
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
        self.may_change = all(desk.may(request, "change", Presentation, talk) for talk in talks_here)

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

    def differences(self) -> list[dict[str, Any]]:
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


class BoardsAdmin(SittingAdmin):
    """The sessions' admin, with a page for the boards of a poster session."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.boards_view)
        return [path("<int:key>/boards/", view, name="schedule_session_boards"), *super().get_urls()]

    def tools(self, row: Any) -> list[dict[str, Any]]:
        address = reverse("admin:schedule_session_boards", args=[row.pk])
        own = [{"words": _("Poster boards"), "address": address}] if row.kind == Session.Kind.POSTER else []
        return [*super().tools(row), *own]

    def boards_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Show the posters of a session with their boards, as they are or as planned; save the plan."""
        session = self.session_in_hand(request, key)
        if request.method == "POST" and "_save" in request.POST:
            return self.save_hanging(request, session)
        page = BoardsPage(self, request, session)
        page.act()
        return self.boards_page(request, page, saved=self.saved_sitting(request, session.edition))

    def boards_page(self, request: HttpRequest, page: BoardsPage, **more: Any) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("Poster boards: %(session)s") % {"session": page.session},
            "opts": self.opts,
            **page.context(),
            **more,
        }
        return TemplateResponse(request, "admin/schedule/boards.html", context)

    def save_hanging(self, request: HttpRequest, session: Session) -> HttpResponse:
        """Save all boards, or none and say why."""
        with one_sitting(request) as log:
            lock(Presentation._base_manager.filter(session=session))
            page = BoardsPage(self, request, session)
            if not page.may_change:
                raise PermissionDenied
            count = len(page.hanging.moved)
            if not page.settle():
                return self.two_versions(request, page.differences(), page.hanging.now(), page.address)
            is_saved = save_boards(page.hanging)
        if page.hanging.wrong:
            return self.boards_page(request, page)
        if not is_saved or log.change_set is None:
            messages.info(request, _("Nothing was changed, so there was nothing to save."))
            return redirect(page.address)
        words = ngettext("%(n)d board was saved.", "%(n)d boards were saved.", count) % {"n": count}
        messages.success(request, words)
        return redirect(f"{page.address}?saved={log.change_set.pk}")
