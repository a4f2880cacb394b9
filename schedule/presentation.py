"""One appearance of a paper, or a talk of its own: when, where, on which board."""

from datetime import datetime
from typing import ClassVar, Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

import markup
from conference.models import Edition
from content.fields import HttpURLField, UidField
from content.models import Content, Ordered, ends_before_start
from papers.models import Paper
from papers.rows import Appearing
from schedule.cancellation import Cancellable, Status
from schedule.querysets import PresentationQuerySet
from schedule.rescheduling import set_null
from schedule.rooms import Room
from schedule.session_kinds import (
    KIND_COPIES,
    MAX_SLUG_CHARS,
    AppliesTo,
    BuiltInPresentationKind,
    HasKind,
    KindField,
)

ENDS_BEFORE_START = _("The end lies before the start.")
OTHER_EDITION = {
    "paper": _("The paper belongs to another edition."),
    "session": _("The session belongs to another edition."),
    "room": _("The room belongs to another edition."),
}


class Presentation(Appearing, HasKind, Cancellable, Ordered, Content):
    """One appearance: of a paper, or a talk with its own title and speakers."""

    personal_fields: ClassVar[tuple[str, ...]] = ()
    part_of: ClassVar[tuple[str, ...]] = ("session", "paper")
    siblings_of: ClassVar[str] = "session"
    derived_fields: ClassVar[tuple[str, ...]] = ("title_html", "abstract_html", *KIND_COPIES)
    derived_from: ClassVar[tuple[str, ...]] = ("title", "abstract", "kind")

    Kind = BuiltInPresentationKind
    applies_to: ClassVar[str] = AppliesTo.PRESENTATION

    edition = models.ForeignKey(
        Edition, models.CASCADE, verbose_name=_("edition"), related_name="presentations"
    )
    uid = UidField()
    kind = KindField(_("kind"), max_length=MAX_SLUG_CHARS, choices=Kind, default=Kind.ORAL)
    paper = models.ForeignKey(
        Paper, models.CASCADE, verbose_name=_("paper"), null=True, blank=True, related_name="presentations"
    )
    title = models.CharField(_("title"), max_length=500, blank=True, help_text=_("Empty: the paper's."))
    title_html = models.TextField(blank=True, editable=False)
    abstract = models.TextField(_("abstract"), blank=True, help_text=_("Empty: the paper's."))
    abstract_html = models.TextField(blank=True, editable=False)
    session = models.ForeignKey(
        "schedule.Session",
        set_null,
        verbose_name=_("session"),
        null=True,
        blank=True,
        related_name="presentations",
        help_text=_("Empty: not scheduled yet."),
    )
    start = models.DateTimeField(
        pgettext_lazy("moment", "start"), null=True, blank=True, help_text=_("Empty: the session's.")
    )
    end = models.DateTimeField(
        pgettext_lazy("moment", "end"), null=True, blank=True, help_text=_("Empty: the session's.")
    )
    board = models.CharField(_("poster board"), max_length=60, blank=True)
    room = models.ForeignKey(
        Room,
        set_null,
        verbose_name=_("room"),
        null=True,
        blank=True,
        related_name="presentations",
        help_text=_("Only where it differs from the session's."),
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
                violation_error_message=_("Give a paper, or a title of the talk's own."),
            ),
            models.CheckConstraint(
                condition=Q(start__isnull=True) | Q(end__isnull=True) | Q(end__gte=F("start")),
                name="presentation_ends_after_start",
                violation_error_message=ENDS_BEFORE_START,
            ),
        ]

    def get_absolute_url(self) -> str:
        shown = self.paper or self.session
        return shown.get_absolute_url() if shown else self.edition.get_absolute_url()

    def siblings(self) -> models.QuerySet[Self]:
        return super().siblings().filter(edition=self.edition_id)

    @property
    def whole(self) -> Cancellable | None:
        return self.session

    @property
    def starts(self) -> datetime | None:
        """Its own start, else its session's; `None` while unscheduled."""
        return self.start or (self.session.start if self.session else None)

    @property
    def ends(self) -> datetime | None:
        """Its own end, else its session's; `None` while unscheduled."""
        return self.end or (self.session.end if self.session else None)

    @property
    def place(self) -> Room | None:
        """Its own room, else its session's."""
        return self.room or (self.session.room if self.session else None)

    def clean(self) -> None:
        errors: dict[str, object] = {}
        if ends_before_start(self.start, self.end):
            errors["end"] = ENDS_BEFORE_START
        for name, message in OTHER_EDITION.items():
            target = getattr(self, name)
            if target and target.edition_id != self.edition_id:
                errors[name] = message
        if errors:
            raise ValidationError(errors)

    def derive(self) -> None:
        super().derive()
        self.title_html = markup.inline(self.title)
        self.abstract_html = markup.block(self.abstract)
