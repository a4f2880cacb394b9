"""Counts, checks, first steps, links and searches that the schedule adds to the desk."""

from collections import defaultdict
from typing import Any

from django.db.models import F
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from conference.models import Edition
from conference.publishing import PUBLISHED_ROWS, SCHEDULE, PublishedRows
from content.array_lookup import AnyOf
from content.unreleased.plan import planned
from editorial.desk import ADD_LINKS, CHECKS, ROW_COUNTS, AddLink, Check, ContentCounts, RowCount, Text
from editorial.desk_search import SEARCHED, SearchedRows
from editorial.first_steps import FIRST_STEPS, FirstStep, add_page_address, has_rows
from schedule import clashes
from schedule.admin.asking import declined_parts
from schedule.board_plan import board_key
from schedule.clashes.findings import ClashEvent, ClashSubject
from schedule.clashes.rules import posters_sharing_boards
from schedule.models import Presentation, ProgramInvitation, Release, Room, Session, Unavailability

PLANNED_CLASHES = ngettext_lazy("clash in the planned timetable", "clashes in the planned timetable", "count")


class ClashCount(RowCount):
    """The number of clashes, which have their own page instead of a list. It shows the planned schedule."""

    __slots__ = ()

    def count(self, edition: Edition) -> int:
        return len(clashes.cached_clashes(edition).all)

    def shown(self, edition: Edition, counts: ContentCounts) -> tuple[int, Text]:
        with planned(edition) as plan:
            if plan is None:
                return counts[self], self.label
            return len(clashes.cached_clashes(edition).all), PLANNED_CLASHES

    def address(self, edition: Edition) -> str:
        return reverse("admin:schedule_session_clashes", query={"edition": edition.pk})


def sharing_boards(rows: Any) -> Any:
    """Return the presentations that share a board of a session at the same time. Up to three queries."""
    on_boards = rows.taking_place().exclude(board="").filter(session__isnull=False)
    keys_by_board: dict[tuple[int, str], list[int]] = defaultdict(list)
    for pk, session_id, board in on_boards.order_by().values_list("pk", "session", "board"):
        keys_by_board[session_id, board_key(board)].append(pk)
    keys = [pk for board_keys in keys_by_board.values() if len(board_keys) > 1 for pk in board_keys]
    # Times are read only for the few that are not alone on their board.
    column_values = (
        on_boards.filter(AnyOf("pk", keys))
        .order_by("position", "pk")
        .values_list(
            "pk",
            "session",
            Coalesce(F("room"), F("session__room")),
            "board",
            Coalesce(F("start"), F("session__start")),
            Coalesce(F("end"), F("session__end")),
        )
    )
    by_session: dict[int, list[ClashEvent]] = defaultdict(list)
    for pk, session_id, room_id, board, start, end in column_values:
        subject = ClashSubject("presentation", pk, "", "")
        event = ClashEvent(subject, "poster", start, max(start, end), room=room_id, board=board)
        by_session[session_id].append(event)
    groups = (group for posters in by_session.values() for group in posters_sharing_boards(posters))
    return rows.filter(pk__in=[poster.subject.pk for group in groups for poster in group])


ROW_COUNTS += [
    RowCount(Session, ngettext_lazy("session", "sessions", "count"), position=20),
    RowCount(Presentation, ngettext_lazy("presentation", "presentations", "count"), position=21),
    RowCount(Room, ngettext_lazy("room", "rooms", "count"), position=22),
]

CHECKS += [
    ClashCount(
        Session,
        ngettext_lazy("clash in the timetable", "clashes in the timetable", "count"),
        position=20,
        only_shown=frozenset(("title", "name", "kind_name")),
    ),
    Check(
        Session,
        ngettext_lazy(
            "session that ends before its last talk", "sessions that end before their last talk", "count"
        ),
        lambda rows: rows.ending_early(),
        name="ending_early",
        title=_("Ending before the last talk"),
        position=21,
    ),
    Check(
        Presentation,
        ngettext_lazy(
            "presentation outside its session's time", "presentations outside their session's time", "count"
        ),
        lambda rows: rows.outside_session(),
        name="outside_session",
        title=_("Outside the session's time"),
        position=22,
    ),
    Check(
        Presentation,
        ngettext_lazy("poster on a board used twice", "posters on boards used twice", "count"),
        sharing_boards,
        name="sharing_boards",
        title=_("On a board used twice"),
        position=23,
    ),
    Check(
        Presentation,
        ngettext_lazy("poster not scheduled yet", "posters not scheduled yet", "count"),
        lambda rows: rows.unscheduled_posters(),
        name="unscheduled_posters",
        title=_("Posters not scheduled yet"),
        position=24,
    ),
    Check(
        Session,
        ngettext_lazy("session without chair", "sessions without chair", "count"),
        lambda rows: rows.without_chair(),
        name="without_chair",
        title=_("Without chair"),
        position=25,
    ),
    Check(
        ProgramInvitation,
        ngettext_lazy("person hasn’t answered an invitation", "people haven’t answered invitations", "count"),
        lambda rows: rows.unanswered(),
        name="unanswered",
        title=_("Not answered"),
        position=26,
    ),
    Check(
        ProgramInvitation,
        ngettext_lazy("invitation declined", "invitations declined", "count"),
        lambda rows: rows.to_replace(),
        name="to_replace",
        title=_("Declined, to be replaced"),
        position=27,
        details=declined_parts,
    ),
]

PUBLISHED_ROWS += [
    PublishedRows(Session, SCHEDULE, ngettext_lazy("session", "sessions", "count"), position=20),
    PublishedRows(
        Presentation, SCHEDULE, ngettext_lazy("presentation", "presentations", "count"), position=21
    ),
]

FIRST_STEPS += [
    FirstStep(
        _("Rooms"),
        _("are on the edition’s form."),
        lambda _access, edition: (
            f"{reverse('admin:conference_edition_change', args=[edition.pk])}#rooms-group"
        ),
        has_rows("room"),
        position=10,
    ),
    FirstStep(
        _("Sessions"),
        _("with their chairs, and invited talks with their speakers."),
        add_page_address("admin:schedule_session_add", Session),
        has_rows("session"),
        position=20,
    ),
]

SEARCHED += [
    SearchedRows(Session, "session", _("Sessions"), related=("edition",), position=30),
    SearchedRows(
        Presentation,
        "talk",
        _("Talks"),
        lambda rows: rows.filter(paper__isnull=True),
        related=("edition",),
        position=31,
    ),
]

ADD_LINKS += [
    AddLink(Session, _("Timetable editor"), "admin:schedule_session_timetable", position=25),
    AddLink(Session, _("Add a session"), "admin:schedule_session_add", position=20),
    AddLink(Presentation, _("Papers to sessions"), "admin:schedule_session_assign"),
    AddLink(Presentation, _("Posters after their talks"), "admin:schedule_session_posters"),
    AddLink(ProgramInvitation, _("Invite a speaker or chair"), "admin:schedule_programinvitation_add"),
    AddLink(Unavailability, _("Add a time when not available"), "admin:schedule_unavailability_add"),
    AddLink(Release, _("Announce a release"), "admin:schedule_release_add", publishes=True),
    AddLink(Release, _("Unreleased changes"), "admin:schedule_release_working_copy", publishes=True),
]
