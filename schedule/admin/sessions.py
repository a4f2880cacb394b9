"""Admin of rooms, sessions, roles, presentations and speakers.

It also adds presentations to the form of papers and rooms to the form of editions.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, Q, QuerySet
from django.forms.models import BaseModelForm
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import current_access
from conference.admin.models import EditionAdmin
from conference.models import Edition
from content import times
from editorial.access import access_for
from editorial.actions import back_to_draft, cancel, publish
from editorial.current_edition import format_moment, get_working_edition
from editorial.desk import CheckFilter
from editorial.folded_parts import OPEN_IF_FILLED
from editorial.forms import ContentForm, PartForm
from editorial.lists import EditionPartFilter, count_column, related_part, with_count
from editorial.model_admin import (
    OrderedAdmin,
    OrderedInline,
    PartInline,
)
from editorial.sections import DeskSection
from papers.admin.filters import CountryFilter, DecisionFilter, PaperTopicFilter, by_paper
from papers.admin.papers import PaperAdmin
from papers.models import Paper
from schedule.admin.actions import put_in_session, set_room, set_session
from schedule.admin.asking import AskingAdmin, ask_people
from schedule.admin.assignment.page import AssignmentPage
from schedule.admin.boards import BoardsPage, labels_view
from schedule.admin.clashes import ClashAdmin, clashes_view
from schedule.admin.editor import session_tools, timetable_address
from schedule.admin.kinds import KindChoices, KindFilter, PresentedAsFilter, set_kind
from schedule.admin.live_notice import announce_view, may_announce
from schedule.admin.own_sessions import preview_view
from schedule.admin.posters import PostersPage
from schedule.admin.talks import TalksPage
from schedule.admin.timetable import TimetablePage, colors_view, planned_clashes_view
from schedule.admin.unreleased_lists import UnreleasedListAdmin
from schedule.models import Presentation, Room, Session, SessionRole, Speaker
from schedule.unreleased.models import OnRelease

# Initial values of a new session.
DEFAULT_START, DEFAULT_LENGTH = time(9), timedelta(minutes=90)


class DayFilter(EditionPartFilter):
    """Filters by program day, which includes the hours after midnight."""

    title = _("day")
    parameter_name = "day"
    start = "start"
    edition: Edition | None = None

    def choices_in(self, edition: int, model_admin: admin.ModelAdmin[Model]) -> list[tuple[str, str]]:
        self.edition = Edition.objects.filter(pk=edition).first()
        if self.edition is None:
            return []
        rows = model_admin.model._default_manager.filter(edition=edition, **{f"{self.start}__isnull": False})
        starts = rows.order_by().values_list(self.start, flat=True).distinct()
        days = sorted({self.edition.day_of(start) for start in starts})
        return [(day.isoformat(), times.short_day(day)) for day in days]

    def filter_rows(self, rows: QuerySet[Model], value: str) -> QuerySet[Model]:
        if self.edition is None:
            return rows
        first, end = self.edition.day_bounds(date.fromisoformat(value))
        return rows.filter(**{f"{self.start}__gte": first, f"{self.start}__lt": end})


class SessionDayFilter(DayFilter):
    start = "session__start"


@admin.register(Room)
class RoomAdmin(OrderedAdmin[Room]):
    desk_section = DeskSection.SCHEDULE
    desk_order = 30
    list_display = ["name", "edition", "capacity", "virtual", "session_count", "position"]
    list_editable = ["position"]
    list_filter = ["edition", "virtual"]
    list_select_related = ["edition"]
    search_fields = ["name", "slug"]
    autocomplete_fields = ["edition"]
    prepopulated_fields = {"slug": ["name"]}
    fieldsets = [
        (None, {"fields": ["edition", "name", "slug"]}),
        (_("Room"), {"fields": ["capacity", "poster_boards", "virtual", "stream_url", "position"]}),
    ]

    def for_list(self, rows: QuerySet[Room]) -> QuerySet[Room]:
        return rows.annotate(session_rows=with_count(Room, "sessions"))

    session_count = count_column("session_rows", _("sessions"))


class RoleInline(OrderedInline):
    model = SessionRole
    verbose_name = _("person")
    verbose_name_plural = _("people: speakers, chairs, moderators")
    fields = ["position", "role", "person", "name", "affiliation"]
    first_rows = 1
    autocomplete_fields = ["person"]
    show_change_link = False


class LastInNewSession(BaseModelForm[Presentation]):
    """Form that puts a presentation moved to another session at its end, unless a position is entered."""

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if "session" in self.changed_data and "position" not in self.changed_data:
            self.instance.position = 0


class PresentationForm(LastInNewSession, PartForm):
    """Form of a presentation in an inline."""


class PresentationInline(KindChoices, OrderedInline):
    model = Presentation
    form = PresentationForm
    verbose_name_plural = _("presentations, in order")
    fields = ["position", "kind", "paper", "title", "start", "end", "board", "status"]
    autocomplete_fields = ["paper"]
    list_select_related = ("paper", "edition")
    # A row with this many inputs takes four milliseconds.
    rows_per_page = 40


def describe_unscheduled(sessions: Iterable[Session]) -> str:
    """Return a sentence that counts the presentations that lose their session, by kind."""
    keys = [session.pk for session in sessions]
    rows = Presentation.objects.filter(Q(session__in=keys) | Q(session__parent__in=keys))
    counts = Counter(row.kind_words() for row in rows.only("kind", "kind_name"))
    if not counts:
        return ""
    sentence = ngettext(
        "%(number)d presentation stays, without a session: %(kinds)s.",
        "%(number)d presentations stay, without a session: %(kinds)s.",
        counts.total(),
    )
    kind_list = ", ".join(f"{kind} ({number:,})" for kind, number in counts.most_common())
    return sentence % {"number": counts.total(), "kinds": kind_list}


@admin.register(Session)
class SessionAdmin(
    KindChoices[Session],
    AskingAdmin[Session],
    ClashAdmin[Session],
    UnreleasedListAdmin[Session],
):
    desk_section = DeskSection.SCHEDULE
    desk_order = 10
    list_display = ["shown_title", "when", "room", "shown_kind", "status", "presentation_count", "edition"]
    waiting_columns = frozenset(("shown_title", "when", "room", "shown_kind", "status", "presentation_count"))
    list_filter = ["edition", CheckFilter, DayFilter, KindFilter, "status", related_part("room", _("room"))]
    list_select_related = ["edition", "room"]
    search_fields = ["title", "uid", "roles__person__folded", "presentations__paper__sort_title"]
    search_help_text = _("Words of the title, a speaker or chair, a paper in the session.")
    autocomplete_fields = ["edition", "room", "parent"]
    inlines = [RoleInline, PresentationInline]
    actions = [publish, cancel, back_to_draft, set_kind, set_room, ask_people]
    choice_related = ("edition",)
    fieldsets = [
        (None, {"fields": ["edition", ("kind", "status"), "cancellation_reason", "title"]}),
        (_("When and where"), {"fields": [("start", "end"), "room", "parent"]}),
        (_("Text"), {"fields": ["abstract", "language"]}),
        (
            _("Links"),
            {"fields": ["stream_url", "chat_url", "recording_url"], "classes": ["collapse", OPEN_IF_FILLED]},
        ),
        (_("Identifier"), {"fields": ["uid"], "classes": ["collapse"]}),
    ]
    pages = [
        ("<int:key>/announce/", "announce", announce_view),
        ("<int:key>/boards/", "boards", BoardsPage.view),
        ("<int:key>/boards/labels/", "board_labels", labels_view),
        ("<int:key>/preview/", "preview", preview_view),
        ("<int:key>/talks/", "talks", TalksPage.view),
        ("assign/", "assign", AssignmentPage.view),
        ("clashes/", "clashes", clashes_view),
        ("posters/", "posters", PostersPage.view),
        ("timetable/", "timetable", TimetablePage.view),
        ("timetable/clashes/", "planned", planned_clashes_view),
        ("timetable/colors/", "colors", colors_view),
    ]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        access = access_for(request)
        may_plan = access.may_everywhere("view", Session) or bool(access.editions("view", Session))
        return super().changelist_view(request, {"may_plan": may_plan, **(extra_context or {})})

    def for_list(self, rows: QuerySet[Session]) -> QuerySet[Session]:
        return rows.annotate(presentation_rows=with_count(Session, "presentations"))

    def count_planned(self, rows: Iterable[Session]) -> None:
        talks = Presentation.objects.matching(session_id__in=[row.pk for row in rows])
        talks = talks.exclude(on_release=OnRelease.REMOVED)
        if access := current_access():
            talks = access.rows(talks)
        counts = Counter(talk.session_id for talk in talks.order_by().rows("pk", "session_id"))
        for row in rows:
            vars(row)["presentation_rows"] = counts[row.pk]

    def choice_label(self, row: Session) -> str:
        return f"{row}, {format_moment(row.start, row.edition)}"

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Set the start of a new session to the day of the last one entered, else to the first day."""
        initial = super().get_changeform_initial_data(request)
        edition = get_working_edition()
        if edition and not {"start", "end"} & initial.keys():
            last_session = edition.sessions.order_by("-pk").first()
            day = edition.day_of(last_session.start) if last_session else edition.start_date
            start = datetime.combine(day, DEFAULT_START, edition.zone)
            initial |= {"start": start, "end": start + DEFAULT_LENGTH}
        return initial

    def render_change_form(
        self, request: HttpRequest, context: dict[str, object], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj: Session | None = kwargs["obj"]
        if obj is not None and access_for(request).may_all_rows("view", Session, obj.edition):
            context["tools"] = tools = session_tools(obj)
            if may_announce(request, obj.edition):
                announce_url = reverse("admin:schedule_session_announce", args=[obj.pk])
                tools.append({"label": _("Announce a change"), "address": announce_url})
        if obj is not None and not access_for(request).may("preview", Edition, obj.edition):
            context["preview_url"] = reverse("admin:schedule_session_preview", args=[obj.pk])
        return super().render_change_form(request, context, *args, **kwargs)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Warn of presentations that lose their session."""
        if "post" not in request.POST and (sentence := describe_unscheduled(objs)):
            self.message_user(request, sentence, messages.WARNING)
        return super().get_deleted_objects(objs, request)

    @admin.display(description=_("title"), ordering="title")
    def shown_title(self, session: Session) -> SafeString:
        return mark_safe(str(session.title_html))

    @admin.display(description=_("when"), ordering="start")
    def when(self, session: Session) -> str:
        return times.day_and_time_range(session.start, session.end, session.edition.zone)

    presentation_count = count_column("presentation_rows", _("presentations"))


class SpeakerInline(OrderedInline):
    model = Speaker
    verbose_name_plural = _("speakers of a talk that is not a paper, in order")
    fields = ["position", "person", "name", "affiliation"]
    autocomplete_fields = ["person"]
    show_change_link = False


class SinglePresentationForm(LastInNewSession, ContentForm):
    """Form of a single presentation."""


@admin.register(Presentation)
class PresentationAdmin(
    KindChoices[Presentation],
    AskingAdmin[Presentation],
    ClashAdmin[Presentation],
    UnreleasedListAdmin[Presentation],
    OrderedAdmin[Presentation],
):
    desk_section = DeskSection.SCHEDULE
    desk_order = 20
    form = SinglePresentationForm
    list_display = ["__str__", "shown_kind", "session", "when", "board", "status", "edition"]
    waiting_columns = frozenset(("__str__", "shown_kind", "session", "when", "board", "status"))
    list_filter = [
        "edition",
        CheckFilter,
        SessionDayFilter,
        KindFilter,
        "status",
        related_part("session", _("session")),
        by_paper(PaperTopicFilter, "paper"),
        by_paper(DecisionFilter, "paper"),
        by_paper(CountryFilter, "paper"),
    ]
    list_select_related = ["edition", "paper", "session"]
    search_fields = ["title", "uid", "board", "paper__sort_title", "paper__authorships__person__folded"]
    search_help_text = _("Words of the title, an author, a poster board.")
    autocomplete_fields = ["edition", "paper", "session", "room"]
    inlines = [SpeakerInline]
    actions = [publish, cancel, back_to_draft, set_kind, set_session, set_room, ask_people]
    choice_related = ("edition", "paper")
    fieldsets = [
        (None, {"fields": ["edition", ("kind", "status"), "cancellation_reason", "paper"]}),
        (_("Talk without a paper"), {"fields": ["title", "abstract"]}),
        (_("When and where"), {"fields": ["session", "position", ("start", "end"), "board", "room"]}),
        (_("Links"), {"fields": ["recording_url"], "classes": ["collapse", OPEN_IF_FILLED]}),
        (_("Identifier"), {"fields": ["uid"], "classes": ["collapse"]}),
    ]

    @admin.display(description=_("when"), ordering="session__start")
    def when(self, presentation: Presentation) -> str:
        starts, ends = presentation.starts, presentation.ends
        if starts is None:
            return gettext("not scheduled")
        return times.day_and_time_range(starts, max(starts, ends or starts), presentation.edition.zone)


@admin.register(SessionRole)
class SessionRoleAdmin(UnreleasedListAdmin[SessionRole], OrderedAdmin[SessionRole]):
    desk_order = 50
    list_display = ["name", "role", "session", "edition", "position"]
    waiting_columns = frozenset(("role", "session", "position"))
    list_filter = ["session__edition", "role"]
    list_select_related = ["session__edition", "person"]
    search_fields = ["person__folded", "person__names__folded", "session__title"]
    autocomplete_fields = ["session", "person"]
    fieldsets = [
        (None, {"fields": ["session", "role", "person"]}),
        (_("As printed"), {"fields": ["name", "affiliation", "position"]}),
    ]

    @admin.display(description=_("edition"), ordering="session__edition__start_date")
    def edition(self, role: SessionRole) -> str:
        return str(role.session.edition)


@admin.register(Speaker)
class SpeakerAdmin(UnreleasedListAdmin[Speaker], OrderedAdmin[Speaker]):
    desk_order = 60
    list_display = ["name", "presentation", "edition", "position"]
    waiting_columns = frozenset(("presentation", "position"))
    list_filter = ["presentation__edition"]
    list_select_related = ["presentation__edition", "presentation__paper", "person"]
    search_fields = ["person__folded", "person__names__folded", "presentation__title"]
    autocomplete_fields = ["presentation", "person"]
    fieldsets = [
        (None, {"fields": ["presentation", "person"]}),
        (_("As printed"), {"fields": ["name", "affiliation", "position"]}),
    ]

    @admin.display(description=_("edition"), ordering="presentation__edition__start_date")
    def edition(self, speaker: Speaker) -> str:
        return str(speaker.presentation.edition)


# Inlines on forms of lower packages


class AppearanceInline(KindChoices, PartInline):
    """The presentations of a paper, without their position, which the session's form edits."""

    model = Presentation
    form = PresentationForm
    verbose_name = _("appearance")
    verbose_name_plural = _("appearances")
    fields = ["kind", "session", "start", "end", "board", "room", "status"]
    first_rows = 1
    is_compact = True
    autocomplete_fields = ["session", "room"]
    list_select_related = ("session", "edition", "room")


class RoomInline(OrderedInline):
    model = Room
    verbose_name_plural = _("rooms, in order")
    fields = ["position", "name", "slug", "capacity", "virtual", "stream_url"]
    first_rows = 1


admin.site.unregister([Paper, Edition])


@admin.register(Paper)
class ScheduledPaperAdmin(UnreleasedListAdmin[Paper], PaperAdmin):
    waiting_columns = frozenset(("status",))
    inlines = [*PaperAdmin.inlines, AppearanceInline]
    list_filter = [*PaperAdmin.list_filter, PresentedAsFilter]
    actions = [*PaperAdmin.actions, put_in_session]


@admin.register(Edition)
class ScheduledEditionAdmin(EditionAdmin):
    inlines = [*EditionAdmin.inlines, RoomInline]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, object], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj: Edition | None = kwargs["obj"]
        if obj is not None and access_for(request).may_all_rows("view", Session, obj):
            assignment_url = reverse("admin:schedule_session_assign", query={"edition": obj.pk})
            context["tools"] = [
                {"label": _("Timetable editor"), "address": timetable_address(obj)},
                {"label": _("Papers to sessions"), "address": assignment_url},
            ]
        return super().render_change_form(request, context, *args, **kwargs)
