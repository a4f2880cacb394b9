"""When and where: sessions. Their rooms, and who and what is in them: `rooms`, `parts`, `presentation`."""

from datetime import datetime
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

import markup
from conference.models import Edition
from content.fields import HttpURLField, UidField
from content.models import Content, ends_before_start
from content.page_paths import path_of
from papers.rows import TalkRow
from schedule import timetable
from schedule.cancellation import Cancellable, Status
from schedule.following import Agenda, AgendaStar, Release
from schedule.parts import SessionRole, Speaker
from schedule.presentation import ENDS_BEFORE_START, Presentation
from schedule.querysets import SessionQuerySet
from schedule.rescheduling import set_null
from schedule.rooms import Room
from schedule.session_kinds import (
    KIND_COPIES,
    MAX_SLUG_CHARS,
    AppliesTo,
    BuiltInSessionKind,
    HasKind,
    KindField,
    SessionKind,
)

__all__ = [
    "Agenda",
    "AgendaStar",
    "Presentation",
    "Release",
    "Room",
    "Session",
    "SessionKind",
    "SessionRole",
    "Speaker",
]


class Session(HasKind, Cancellable, Content):
    """A block of the timetable, from an oral session to a coffee break."""

    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("title_html", "abstract_html", *KIND_COPIES)
    derived_from: ClassVar[tuple[str, ...]] = ("title", "abstract", "kind")
    rules_look_at: ClassVar[tuple[str, ...]] = ("parts",)

    Kind = BuiltInSessionKind
    applies_to: ClassVar[str] = AppliesTo.SESSION

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="sessions")
    uid = UidField()
    kind = KindField(_("kind"), max_length=MAX_SLUG_CHARS, choices=Kind, default=Kind.ORAL)
    title = models.CharField(_("title"), max_length=300)
    title_html = models.TextField(editable=False)
    abstract = models.TextField(_("abstract"), blank=True, help_text=_("Markdown; TeX between dollar signs."))
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
        # The day page: an edition's sessions by time.
        indexes = [models.Index(fields=["edition", "start"], name="session_by_time")]

    # What `with_people()`, `with_talk_counts()`, `rows.fill()` and `timetable.nest()` found: public rows.
    shown_roles: list[SessionRole]
    shown_talks: list[TalkRow]
    shown_parts: list["Session"]
    talk_count: int
    # What `told.marked()` found.
    on_now: bool
    moved_from: datetime | None

    def __str__(self) -> str:
        return markup.plain(self.title)

    def get_absolute_url(self) -> str:
        return path_of("schedule:session", self.edition.slug, self.uid, markup.slug(self.title))

    @property
    def whole(self) -> Cancellable | None:
        return self.parent

    @property
    def talks(self) -> list[TalkRow]:
        """Its presentations by time, then board, then order, on a page that filled them in."""
        return timetable.running_order(vars(self).get("shown_talks", ()))

    @property
    def people_by_role(self) -> list[tuple[str, list[SessionRole]]]:
        """Those whom `with_people()` found, role by role: ("Moderators", [...])."""
        groups: dict[str, list[SessionRole]] = {role: [] for role in SessionRole.Role.values}
        for person in self.shown_roles:
            groups[person.role].append(person)
        labels = dict(SessionRole.Role.choices)
        return [(f"{labels[role]}{'s'[: len(group) > 1]}", group) for role, group in groups.items() if group]

    @property
    def speakers(self) -> list[SessionRole]:
        """Those of them who speak: an invited talk shows their biographies."""
        return [person for person in self.shown_roles if person.role == SessionRole.Role.SPEAKER]

    def clean(self) -> None:
        errors: dict[str, object] = {}
        if ends_before_start(self.start, self.end):
            errors["end"] = ENDS_BEFORE_START
        if self.room and self.room.edition_id != self.edition_id:
            errors["room"] = _("The room belongs to another edition.")
        if self.parent and self.parent.edition_id != self.edition_id:
            errors["parent"] = _("The session belongs to another edition.")
        elif self.parent and (self.parent.parent_id or self.parent_id == self.pk):
            errors["parent"] = _("Sessions nest once: choose one that is not itself part of another.")
        elif self.parent and self.pk and self.parts.exists():
            errors["parent"] = _("Sessions nest once: this one has parts itself.")
        if errors:
            raise ValidationError(errors)

    def derive(self) -> None:
        super().derive()
        self.title_html = markup.inline(self.title)
        self.abstract_html = markup.block(self.abstract)
