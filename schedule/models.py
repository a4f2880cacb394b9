"""Models of rooms, sessions, presentations and their people. Agendas and releases are in `following`."""

from datetime import datetime
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils.translation import get_language_info, ngettext, npgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

import markup
from conference.models import Edition
from content.changed.dated import CLOCK, Dated, Follow, follow, in_edition
from content.fields import HttpURLField, MarkdownField, SlugKey, UidField, validate_language
from content.models import Content, Ordered, ends_before_start
from content.page_paths import page_path
from content.publicity.rules import PAPERS, SCHEDULE, PublicWhen
from content.unreleased.diversion import PUBLIC_STATUSES
from content.unreleased.rows import Releasable
from papers.models import Paper
from papers.rows import Appearing, TalkRow, running_order
from people.models import Person
from people.printed_names import NamedAsPrinted
from schedule.board_plan import validate_boards
from schedule.entries import Status, TimetableEntry, set_null
from schedule.following import Agenda, AgendaStar, Release
from schedule.invitations.availability import Unavailability
from schedule.invitations.models import ProgramInvitation, ProgramInvitationLink
from schedule.querysets import (
    PresentationQuerySet,
    RoomQuerySet,
    SessionQuerySet,
    SessionRoleQuerySet,
    SpeakerQuerySet,
)
from schedule.session_kinds import (
    KIND_COPIES,
    MAX_SLUG_CHARS,
    AppliesTo,
    BuiltInPresentationKind,
    BuiltInSessionKind,
    HasKind,
    KindField,
    SessionKind,
)
from schedule.unreleased.models import ReleasePlan, UnreleasedChange

__all__ = [
    "Agenda",
    "AgendaStar",
    "Presentation",
    "ProgramInvitation",
    "ProgramInvitationLink",
    "Release",
    "ReleasePlan",
    "Room",
    "Session",
    "SessionKind",
    "SessionRole",
    "Speaker",
    "Unavailability",
    "UnreleasedChange",
]

# The people of a session or talk that are shown: those that the next release adds are not.
IS_RELEASED = ("", "removed")
RELEASED = {"on_release__in": IS_RELEASED}

ENDS_BEFORE_START = _("The end is before the start.")
OTHER_EDITION = {
    "paper": _("The paper belongs to another edition."),
    "parent": _("The session belongs to another edition."),
    "room": _("The room belongs to another edition."),
    "session": _("The session belongs to another edition."),
}


def kinds_of(name: str) -> Follow:
    """Return the rule that sessions or presentations follow the conference's own kind that they have."""
    rows, singular = f"conference__editions__{name}", name.removesuffix("s")
    where = {f"{rows}__kind": F("slug"), f"{rows}__kind_name__gt": "", "applies_to": singular}
    return follow("edition__conference__session_kinds", "name", "counts_as", where=where)


class Room(Dated, Ordered, Content):
    identity: ClassVar[str] = "slug"
    public_when = PublicWhen(SCHEDULE, shown_by=("sessions", "presentations"))
    personal_fields: ClassVar[tuple[str, ...]] = ()
    opens = in_edition("edition", *SCHEDULE)

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="rooms")
    slug = SlugKey(_("slug"), max_length=80)
    name = models.CharField(_("name"), max_length=150)
    capacity = models.PositiveIntegerField(
        _("capacity"), null=True, blank=True, help_text=_("Number of seats, or of poster boards in a hall.")
    )
    poster_boards = models.TextField(
        _("poster boards"),
        blank=True,
        max_length=20_000,
        validators=[validate_boards],
        help_text=_("One row of boards in each line, such as A1-A20. An empty line is an aisle."),
    )
    virtual = models.BooleanField(_("virtual"), default=False)
    stream_url = HttpURLField(_("stream"), blank=True)

    objects = RoomQuerySet.as_manager()

    class Meta:
        ordering = ["position", "name", "pk"]
        verbose_name = _("room")
        verbose_name_plural = _("rooms")
        constraints = [
            models.UniqueConstraint(fields=["edition", "slug"], name="room_slug_unique_in_edition")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return page_path("schedule:room", self.edition.slug, self.slug)


class Session(HasKind, Dated, TimetableEntry, Content):
    """A block of the timetable, from an oral session to a coffee break."""

    identity: ClassVar[str] = "uid"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("title_html", "abstract_html", *KIND_COPIES)
    derived_from: ClassVar[tuple[str, ...]] = ("title", "abstract", "kind")
    public_when = PublicWhen(SCHEDULE, {"status": PUBLIC_STATUSES}, within=("parent",))
    changes_with = (
        follow("roles", where=RELEASED),
        follow("roles__person", "name", where={"session_roles__on_release__in": IS_RELEASED}),
        follow("roles__person__names", where={"person__session_roles__on_release__in": IS_RELEASED}),
        follow("parent", "status", "cancellation_reason"),
        kinds_of("sessions"),
    )
    opens = in_edition("edition", *SCHEDULE, also=[CLOCK])
    rule_relations: ClassVar[tuple[str, ...]] = ("parts",)
    waiting_fields = frozenset(("kind", "title", "start", "end", "room", "parent", "cancellation_reason"))

    Kind = BuiltInSessionKind
    get_kind_display = HasKind.kind_words
    applies_to: ClassVar[str] = AppliesTo.SESSION

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="sessions")
    uid = UidField()
    kind = KindField(_("kind"), max_length=MAX_SLUG_CHARS, choices=Kind, default=Kind.ORAL)
    title = models.CharField(_("title"), max_length=300)
    title_html = models.TextField(editable=False)
    abstract = MarkdownField(_("abstract"), blank=True, help_text=_("Markdown; TeX between dollar signs."))
    abstract_html = models.TextField(blank=True, editable=False)
    start = models.DateTimeField(pgettext_lazy("moment", "start"))
    end = models.DateTimeField(pgettext_lazy("moment", "end"))
    room = models.ForeignKey(
        Room, set_null, verbose_name=_("room"), null=True, blank=True, related_name="sessions"
    )
    parent = models.ForeignKey(
        "self",
        models.CASCADE,
        verbose_name=_("parent"),
        null=True,
        blank=True,
        related_name="parts",
        help_text=_("The workshop or tutorial that this session is part of."),
    )
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)
    stream_url = HttpURLField(_("stream"), blank=True)
    recording_url = HttpURLField(_("recording"), blank=True)
    chat_url = HttpURLField(_("chat"), blank=True)
    language = models.CharField(
        _("language"),
        max_length=35,
        blank=True,
        validators=[validate_language],
        help_text=_("The language it is held in, such as en or pt-BR."),
    )

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ["start", "end", "room__position", "uid"]
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        constraints = [
            models.UniqueConstraint(fields=["edition", "uid"], name="session_uid_unique_in_edition"),
            models.CheckConstraint(
                condition=Q(end__gte=F("start")),
                name="session_ends_after_start",
                violation_error_message=ENDS_BEFORE_START,
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | ~Q(parent=F("id")), name="session_not_part_of_itself"
            ),
        ]
        # For the day page, which lists an edition's sessions by time.
        indexes = [models.Index(fields=["edition", "start"], name="session_by_time")]

    # Public rows that `with_people()`, `attach_talks()`, `timetable.nest()` and `with_talk_counts()` set.
    shown_roles: list["SessionRole"]
    shown_talks: list[TalkRow]
    shown_parts: list["Session"]
    talk_count: int
    # The titles that `notices.live.mark_notices()` found.
    notices: list[str]
    # Set by `releases.mark_moved()`.
    on_now: bool
    moved_from: datetime | None

    def __str__(self) -> str:
        return markup.plain(self.title)

    def get_absolute_url(self) -> str:
        return page_path("schedule:session", self.edition.slug, self.uid, markup.slug(self.title))

    @property
    def container(self) -> TimetableEntry | None:
        return self.parent

    @property
    def talks(self) -> list[TalkRow]:
        """Its presentations in running order, if `attach_talks()` has set them."""
        return running_order(vars(self).get("shown_talks", ()))

    @property
    def people_by_role(self) -> "list[tuple[str, list[SessionRole]]]":
        """The people that `with_people()` fetched, by role: ("Moderators", [...])."""
        groups: dict[str, list[SessionRole]] = {role: [] for role in SessionRole.Role.values}
        for person in self.shown_roles:
            groups[person.role].append(person)
        return [(SessionRole.Role(role).words(len(group)), group) for role, group in groups.items() if group]

    @property
    def language_name(self) -> str:
        """The name of the language if Django has one, else its tag."""
        try:
            name: str = get_language_info(self.language.lower())["name_translated"]
        except KeyError:
            return self.language
        return name

    @property
    def speakers(self) -> "list[SessionRole]":
        """The people with the role of speaker, whose biographies an invited talk shows."""
        return [person for person in self.shown_roles if person.role == SessionRole.Role.SPEAKER]

    def clean(self) -> None:
        errors = place_errors(self, "room", "parent")
        if self.parent and "parent" not in errors:
            if self.parent.parent_id or self.parent_id == self.pk:
                errors["parent"] = _(
                    "Sessions have two levels: choose one that isn’t part of another session."
                )
            elif self.pk and self.parts.exists():
                errors["parent"] = _("Sessions have two levels, and this one already has parts.")
        if errors:
            raise ValidationError(errors)


class SessionRole(Releasable, NamedAsPrinted, Ordered, Content):
    public_when = PublicWhen(SCHEDULE, within=("session",))
    personal_fields: ClassVar[tuple[str, ...]] = ("name", "role", "affiliation")
    edition_lookup: ClassVar[str] = "session__edition"
    siblings_of: ClassVar[str] = "session"
    impersonal_fields: ClassVar[tuple[str, ...]] = ("on_release",)
    unrecorded_fields: ClassVar[tuple[str, ...]] = ("on_release",)
    waiting_fields = frozenset(("role", "position"))

    class Role(models.TextChoices):
        SPEAKER = "speaker", _("Speaker")
        MODERATOR = "moderator", _("Moderator")
        CHAIR = "chair", pgettext_lazy("role of a person", "Chair")
        PANELIST = "panelist", _("Panelist")
        ORGANIZER = "organizer", _("Organizer")

        def words(self, number: int) -> str:
            """Return the label for this number of people."""
            match self:
                case self.SPEAKER:
                    return ngettext("Speaker", "Speakers", number)
                case self.MODERATOR:
                    return ngettext("Moderator", "Moderators", number)
                case self.CHAIR:
                    return npgettext("role of a person", "Chair", "Chairs", number)
                case self.PANELIST:
                    return ngettext("Panelist", "Panelists", number)
                case self.ORGANIZER:
                    return ngettext("Organizer", "Organizers", number)

    session = models.ForeignKey(
        "schedule.Session", models.CASCADE, verbose_name=_("session"), related_name="roles"
    )
    person = models.ForeignKey(Person, models.PROTECT, verbose_name=_("person"), related_name="session_roles")
    role = models.CharField(_("role"), max_length=12, choices=Role, default=Role.SPEAKER)
    affiliation = models.CharField(_("affiliation as printed"), max_length=300, blank=True)

    objects = SessionRoleQuerySet.as_manager()

    class Meta:
        ordering = ["session", "position", "pk"]
        verbose_name = _("session role")
        verbose_name_plural = _("session roles")
        constraints = [
            models.UniqueConstraint(
                fields=["session", "person", "role"],
                name="session_role_unique",
                violation_error_message=_("This person already has that role in the session."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.get_role_display()})"


class Speaker(Releasable, NamedAsPrinted, Ordered, Content):
    """A speaker of a talk that is not a paper, in order."""

    public_when = PublicWhen(SCHEDULE, within=("presentation",))
    personal_fields: ClassVar[tuple[str, ...]] = ("name", "affiliation")
    edition_lookup: ClassVar[str] = "presentation__edition"
    siblings_of: ClassVar[str] = "presentation"
    impersonal_fields: ClassVar[tuple[str, ...]] = ("on_release",)
    unrecorded_fields: ClassVar[tuple[str, ...]] = ("on_release",)
    waiting_fields = frozenset(("position",))

    presentation = models.ForeignKey(
        "schedule.Presentation", models.CASCADE, verbose_name=_("presentation"), related_name="speakers"
    )
    person = models.ForeignKey(Person, models.PROTECT, verbose_name=_("person"), related_name="talks")
    affiliation = models.CharField(_("affiliation as printed"), max_length=300, blank=True)

    objects = SpeakerQuerySet.as_manager()

    class Meta:
        ordering = ["presentation", "position", "pk"]
        verbose_name = _("speaker")
        verbose_name_plural = _("speakers")
        constraints = [
            models.UniqueConstraint(
                fields=["presentation", "person"],
                name="speaker_unique_in_presentation",
                violation_error_message=_("This person is already a speaker there."),
            )
        ]

    def __str__(self) -> str:
        return self.name


class Presentation(Appearing, HasKind, Dated, TimetableEntry, Ordered, Content):
    """An appearance of a paper, or a talk with its own title and speakers."""

    identity: ClassVar[str] = "uid"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    part_of: ClassVar[tuple[str, ...]] = ("session", "paper")
    siblings_of: ClassVar[str] = "session"
    derived_fields: ClassVar[tuple[str, ...]] = ("title_html", "abstract_html", *KIND_COPIES)
    derived_from: ClassVar[tuple[str, ...]] = ("title", "abstract", "kind")
    public_when = PublicWhen(SCHEDULE, {"status": PUBLIC_STATUSES}, within=("session", "paper"))
    changes_with = (
        follow("speakers", where=RELEASED),
        follow("speakers__person", "name", where={"talks__on_release__in": IS_RELEASED}),
        follow("speakers__person__names", where={"person__talks__on_release__in": IS_RELEASED}),
        follow("paper", "title", "status"),
        follow("session", "status", "cancellation_reason", "title", "start", "end", "room", "parent"),
        follow("session__parent", "status", "cancellation_reason"),
        kinds_of("presentations"),
    )
    opens = (*in_edition("edition", *SCHEDULE, also=[CLOCK]), *in_edition("paper__edition", *PAPERS))
    waiting_fields = frozenset(
        (
            "kind",
            "title",
            "paper",
            "session",
            "start",
            "end",
            "board",
            "room",
            "position",
            "cancellation_reason",
        )
    )

    Kind = BuiltInPresentationKind
    get_kind_display = HasKind.kind_words
    applies_to: ClassVar[str] = AppliesTo.PRESENTATION

    edition = models.ForeignKey(
        Edition, models.CASCADE, verbose_name=_("edition"), related_name="presentations"
    )
    uid = UidField()
    kind = KindField(_("kind"), max_length=MAX_SLUG_CHARS, choices=Kind, default=Kind.ORAL)
    paper = models.ForeignKey(
        Paper, models.CASCADE, verbose_name=_("paper"), null=True, blank=True, related_name="presentations"
    )
    title = models.CharField(
        _("title"), max_length=500, blank=True, help_text=_("Leave empty to use the paper’s.")
    )
    title_html = models.TextField(blank=True, editable=False)
    abstract = MarkdownField(_("abstract"), blank=True, help_text=_("Leave empty to use the paper’s."))
    abstract_html = models.TextField(blank=True, editable=False)
    session = models.ForeignKey(
        "schedule.Session",
        set_null,
        verbose_name=_("session"),
        null=True,
        blank=True,
        related_name="presentations",
        help_text=_("Leave empty if not scheduled yet."),
    )
    start = models.DateTimeField(
        pgettext_lazy("moment", "start"),
        null=True,
        blank=True,
        help_text=_("Leave empty to use the session’s."),
    )
    end = models.DateTimeField(
        pgettext_lazy("moment", "end"),
        null=True,
        blank=True,
        help_text=_("Leave empty to use the session’s."),
    )
    board = models.CharField(_("poster board"), max_length=60, blank=True)
    room = models.ForeignKey(
        Room,
        set_null,
        verbose_name=_("room"),
        null=True,
        blank=True,
        related_name="presentations",
        help_text=_("Only if different from the session's."),
    )
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.PUBLISHED)
    recording_url = HttpURLField(_("recording"), blank=True)

    objects = PresentationQuerySet.as_manager()

    class Meta:
        ordering = ["session", "position", "pk"]
        verbose_name = _("presentation")
        verbose_name_plural = _("presentations")
        constraints = [
            models.UniqueConstraint(fields=["edition", "uid"], name="presentation_uid_unique_in_edition"),
            models.CheckConstraint(
                condition=Q(paper__isnull=False) | ~Q(title=""),
                name="presentation_has_paper_or_title",
                violation_error_message=_("Choose a paper, or enter a title."),
            ),
            models.CheckConstraint(
                condition=Q(start__isnull=True) | Q(end__isnull=True) | Q(end__gte=F("start")),
                name="presentation_ends_after_start",
                violation_error_message=ENDS_BEFORE_START,
            ),
        ]

    def get_absolute_url(self) -> str:
        target = self.paper or self.session
        return target.get_absolute_url() if target else self.edition.get_absolute_url()

    def siblings(self) -> Any:
        rows = Presentation.objects.filter(edition=self.edition_id).standing()
        return rows.matching(session_id=self.session_id) if self.session_id else rows.unscheduled()

    @property
    def container(self) -> TimetableEntry | None:
        return self.session

    @property
    def starts(self) -> datetime | None:
        """Its own start, else its session's; `None` while unscheduled."""
        return self.start or (self.session.start if self.session else None)

    @property
    def ends(self) -> datetime | None:
        """Its own end, else its session's, but not before its start; `None` while unscheduled."""
        end = self.end or (self.session.end if self.session else self.start)
        return max(self.starts, end) if self.starts and end else end

    @property
    def effective_room(self) -> Room | None:
        """Its own room, else its session's."""
        return self.room or (self.session.room if self.session else None)

    def clean(self) -> None:
        if errors := place_errors(self, "paper", "session", "room"):
            raise ValidationError(errors)


def place_errors(row: Session | Presentation, *relations: str) -> dict[str, object]:
    """Return the errors of a row's times, and of those relations that belong to another edition."""
    errors: dict[str, object] = {"end": ENDS_BEFORE_START} if ends_before_start(row.start, row.end) else {}
    for name in relations:
        target = getattr(row, name)
        if target and target.edition_id != row.edition_id:
            errors[name] = OTHER_EDITION[name]
    return errors
