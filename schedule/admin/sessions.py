"""The timetable in the admin: rooms, sessions with roles and presentations in order.

It also puts a paper's appearances and an edition's rooms on the forms of the floors below.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from conference.admin.models import EditionAdmin
from conference.models import Edition
from content import times
from editorial.access import access_for
from editorial.actions import back_to_draft, cancel, publish
from editorial.current_edition import edition_in_hand, moment
from editorial.desk import CheckFilter
from editorial.forms import ContentForm, PartForm
from editorial.lists import EditionPartFilter, count_column, related_part, with_count
from editorial.model_admin import (
    ContentAdmin,
    OrderedAdmin,
    OrderedInline,
    Page,
    PartInline,
    page_urls,
)
from papers.admin.papers import PaperAdmin
from papers.models import Paper
from schedule.admin import desk
from schedule.admin.actions import put_in_session, set_room, set_session
from schedule.admin.boards import BoardsPage
from schedule.admin.clashes import ClashAdmin, clashes_view
from schedule.admin.editor import session_tools, timetable_address
from schedule.admin.kinds import KindChoices, KindFilter, set_kind
from schedule.admin.posters import posters_view
from schedule.admin.releases import ReleaseAdmin
from schedule.admin.talks import TalksPage
from schedule.admin.timetable import planned_view, timetable_view
from schedule.models import Presentation, Room, Session, SessionRole, Speaker

# When a new session begins, and how long it lasts, until a chair says otherwise.
MORNING, LASTING = time(9), timedelta(minutes=90)

# A form with more presentations takes longer to open than somebody likes to wait: 750 took three seconds.
MAX_INLINE_ROWS = 100
# What a form that was sent has if the presentations were in it.
SENT_FIELD = "presentations-TOTAL_FORMS"

__all__ = ["ReleaseAdmin", "desk"]


class DayFilter(EditionPartFilter):
    """Rows by program day: what starts after midnight belongs to the evening before."""

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

    def narrowed(self, rows: QuerySet[Model], value: str) -> QuerySet[Model]:
        if self.edition is None:
            return rows
        first, end = self.edition.day_bounds(date.fromisoformat(value))
        return rows.filter(**{f"{self.start}__gte": first, f"{self.start}__lt": end})


class SessionDayFilter(DayFilter):
    start = "session__start"


@admin.register(Room)
class RoomAdmin(OrderedAdmin[Room]):
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
        (_("Room"), {"fields": ["capacity", "virtual", "stream_url", "position"]}),
    ]

    def for_list(self, rows: QuerySet[Room]) -> QuerySet[Room]:
        return rows.annotate(session_rows=with_count(Room, "sessions"))

    session_count = count_column("session_rows", _("sessions"))


class RoleInline(OrderedInline):
    model = SessionRole
    verbose_name = _("person")
    verbose_name_plural = _("people: speakers, chairs, moderators")
    fields = ["position", "role", "person", "name", "affiliation"]
    autocomplete_fields = ["person"]
    show_change_link = False


class PresentationForm(PartForm):
    """A presentation among others; one moved to another session comes last."""

    def _post_clean(self) -> None:
        super()._post_clean()
        if "session" in self.changed_data and "position" not in self.fields:
            self.instance.position = 0


class PresentationInline(KindChoices, OrderedInline):
    model = Presentation
    form = PresentationForm
    verbose_name_plural = _("presentations, in order")
    fields = ["position", "kind", "paper", "title", "start", "end", "board", "status"]
    autocomplete_fields = ["paper"]
    list_select_related = ("paper", "edition")


# The pages of the timetable editor, and of all clashes.
SESSION_PAGES: list[Page] = [
    ("<int:key>/boards/", "boards", BoardsPage.view),
    ("<int:key>/talks/", "talks", TalksPage.view),
    ("clashes/", "clashes", clashes_view),
    ("posters/", "posters", posters_view),
    ("timetable/", "timetable", timetable_view),
    ("timetable/clashes/", "planned", planned_view),
]


def leaves_out_presentations(request: HttpRequest, session: Session | None) -> bool:
    """Tell whether presentations stay out of the form. A form that was sent is read as it was shown."""
    if session is None:
        return False
    if request.method == "POST":
        return SENT_FIELD not in request.POST
    return number_in(session) > MAX_INLINE_ROWS


def number_in(session: Any) -> int:
    """Return how many presentations a session has. One query for each row that was fetched."""
    if "number_in_form" not in vars(session):
        session.number_in_form = session.presentations.count()
    return int(session.number_in_form)


def left_behind(sessions: Iterable[Session]) -> list[str]:
    """Return what is said of presentations that lose their session, in kinds: "Poster (12), Demo (1)"."""
    keys = [session.pk for session in sessions]
    rows = Presentation.objects.filter(Q(session__in=keys) | Q(session__parent__in=keys))
    kinds = Counter(row.kind_words() for row in rows.only("kind", "kind_name"))
    if not kinds:
        return []
    words = ngettext(
        "%(number)d presentation stays, without a session: %(kinds)s",
        "%(number)d presentations stay, without a session: %(kinds)s",
        kinds.total(),
    )
    named = ", ".join(f"{kind} ({number:,})" for kind, number in kinds.most_common())
    return [words % {"number": kinds.total(), "kinds": named}]


@admin.register(Session)
class SessionAdmin(KindChoices[Session], ClashAdmin[Session], ContentAdmin[Session]):
    desk_order = 10
    list_display = ["shown_title", "when", "room", "shown_kind", "status", "presentation_count", "edition"]
    list_filter = ["edition", CheckFilter, DayFilter, KindFilter, "status", related_part("room", _("room"))]
    list_select_related = ["edition", "room"]
    search_fields = ["title", "uid", "roles__person__folded", "presentations__paper__sort_title"]
    search_help_text = _("Words of the title, a speaker or chair, a paper in the session.")
    autocomplete_fields = ["edition", "room", "parent"]
    inlines = [RoleInline, PresentationInline]
    actions = [publish, cancel, back_to_draft, set_kind, set_room]
    choice_related = ("edition",)
    fieldsets = [
        (None, {"fields": ["edition", ("kind", "status"), "cancellation_reason", "title"]}),
        (_("When and where"), {"fields": [("start", "end"), "room", "parent"]}),
        (_("Text"), {"fields": ["abstract", "language"]}),
        (_("Links"), {"fields": ["stream_url", "chat_url", "recording_url"], "classes": ["collapse"]}),
        (_("Identifier"), {"fields": ["uid"], "classes": ["collapse"]}),
    ]

    def get_urls(self) -> list[URLPattern]:
        return [*page_urls(self, SESSION_PAGES), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        access = access_for(request)
        may_plan = access.everywhere("view", Session) or bool(access.editions("view", Session))
        return super().changelist_view(request, {"may_plan": may_plan, **(extra_context or {})})

    def for_list(self, rows: QuerySet[Session]) -> QuerySet[Session]:
        return rows.annotate(presentation_rows=with_count(Session, "presentations"))

    def choice_label(self, row: Session) -> str:
        return f"{row}, {moment(row.start, row.edition)}"

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A new session is on the day of the one entered last; at first on the first day."""
        initial = super().get_changeform_initial_data(request)
        edition = edition_in_hand()
        if edition and not {"start", "end"} & initial.keys():
            last = edition.sessions.order_by("-pk").first()
            day = edition.day_of(last.start) if last else edition.start_date
            start = datetime.combine(day, MORNING, edition.zone)
            initial |= {"start": start, "end": start + LASTING}
        return initial

    def render_change_form(
        self, request: HttpRequest, context: dict[str, object], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj: Session | None = kwargs["obj"]
        if obj is not None and access_for(request).may_all("view", Session, obj.edition):
            context["tools"] = session_tools(obj)
        return super().render_change_form(request, context, *args, **kwargs)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Say first what stays in the program without these sessions and their parts."""
        deleted, *others = super().get_deleted_objects(objs, request)
        return [*left_behind(objs), *deleted], *others

    def get_inlines(self, request: HttpRequest, obj: Session | None) -> Any:
        inlines = super().get_inlines(request, obj)
        if not leaves_out_presentations(request, obj):
            return inlines
        return [one for one in inlines if one.model is not Presentation]

    def get_fieldsets(self, request: HttpRequest, obj: Session | None = None) -> Any:
        sets = super().get_fieldsets(request, obj)
        if not leaves_out_presentations(request, obj):
            return sets
        return [*sets, (_("Presentations"), {"fields": ["presentations_elsewhere"]})]

    def get_readonly_fields(self, request: HttpRequest, obj: Session | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "presentations_elsewhere"]

    @admin.display(description=_("too many for one form"))
    def presentations_elsewhere(self, session: Session) -> SafeString:
        """Return links to the pages that are made for many presentations."""
        number = number_in(session)
        listed = f"{reverse('admin:schedule_presentation_changelist')}?session__id__exact={session.pk}"
        return format_html(
            '<a href="{}">{}</a>, <a href="{}">{}</a>, <a href="{}">{}</a>',
            reverse("admin:schedule_session_talks", args=[session.pk]),
            gettext("Order and times"),
            reverse("admin:schedule_session_boards", args=[session.pk]),
            gettext("Boards"),
            listed,
            ngettext("List of %(number)d", "List of %(number)d", number) % {"number": number},
        )

    @admin.display(description=_("title"), ordering="title")
    def shown_title(self, session: Session) -> SafeString:
        return mark_safe(str(session.title_html))

    @admin.display(description=_("when"), ordering="start")
    def when(self, session: Session) -> str:
        return times.when(session.start, session.end, session.edition.zone)

    presentation_count = count_column("presentation_rows", _("presentations"))


class SpeakerInline(OrderedInline):
    model = Speaker
    verbose_name_plural = _("speakers of a talk that is not a paper, in order")
    fields = ["position", "person", "name", "affiliation"]
    autocomplete_fields = ["person"]
    show_change_link = False


class SinglePresentationForm(ContentForm):
    """A presentation's own form; in another session it comes last unless given a place."""

    def clean(self) -> dict[str, object] | None:
        cleaned = super().clean()
        if cleaned and "session" in self.changed_data and "position" not in self.changed_data:
            cleaned["position"] = 0
        return cleaned


@admin.register(Presentation)
class PresentationAdmin(KindChoices[Presentation], ClashAdmin[Presentation], OrderedAdmin[Presentation]):
    desk_order = 20
    form = SinglePresentationForm
    list_display = ["__str__", "shown_kind", "session", "when", "board", "status", "edition"]
    list_filter = [
        "edition",
        CheckFilter,
        SessionDayFilter,
        KindFilter,
        "status",
        related_part("session", _("session")),
    ]
    list_select_related = ["edition", "paper", "session"]
    search_fields = ["title", "uid", "board", "paper__sort_title", "paper__authorships__person__folded"]
    search_help_text = _("Words of the title, an author, a poster board.")
    autocomplete_fields = ["edition", "paper", "session", "room"]
    inlines = [SpeakerInline]
    actions = [publish, cancel, back_to_draft, set_kind, set_session, set_room]
    choice_related = ("edition", "paper")
    fieldsets = [
        (None, {"fields": ["edition", ("kind", "status"), "cancellation_reason", "paper"]}),
        (_("A talk of its own"), {"fields": ["title", "abstract"]}),
        (_("When and where"), {"fields": ["session", "position", ("start", "end"), "board", "room"]}),
        (_("Links"), {"fields": ["recording_url"], "classes": ["collapse"]}),
        (_("Identifier"), {"fields": ["uid"], "classes": ["collapse"]}),
    ]

    @admin.display(description=_("when"), ordering="session__start")
    def when(self, presentation: Presentation) -> str:
        starts, ends = presentation.starts, presentation.ends
        if starts is None:
            return gettext("not scheduled")
        return times.when(starts, max(starts, ends or starts), presentation.edition.zone)


@admin.register(SessionRole)
class SessionRoleAdmin(OrderedAdmin[SessionRole]):
    desk_order = 50
    list_display = ["name", "role", "session", "edition", "position"]
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
class SpeakerAdmin(OrderedAdmin[Speaker]):
    desk_order = 60
    list_display = ["name", "presentation", "edition", "position"]
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


# On the forms of the floors below


class AppearanceInline(KindChoices, PartInline):
    """Where and when the paper is shown. Its place in the session is changed there."""

    model = Presentation
    form = PresentationForm
    verbose_name = _("appearance")
    verbose_name_plural = _("appearances")
    fields = ["kind", "session", "start", "end", "board", "room", "status"]
    autocomplete_fields = ["session", "room"]
    list_select_related = ("session", "edition", "room")


class RoomInline(OrderedInline):
    model = Room
    verbose_name_plural = _("rooms, in order")
    fields = ["position", "name", "slug", "capacity", "virtual", "stream_url"]


admin.site.unregister([Paper, Edition])


@admin.register(Paper)
class ScheduledPaperAdmin(PaperAdmin):
    inlines = [*PaperAdmin.inlines, AppearanceInline]
    actions = [*PaperAdmin.actions, put_in_session]


@admin.register(Edition)
class ScheduledEditionAdmin(EditionAdmin):
    inlines = [*EditionAdmin.inlines, RoomInline]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, object], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj: Edition | None = kwargs["obj"]
        if obj is not None:
            context["tools"] = [{"words": _("Timetable editor"), "address": timetable_address(obj)}]
        return super().render_change_form(request, context, *args, **kwargs)
