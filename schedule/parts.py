"""Who does what in the timetable: people's roles in sessions, and the speakers of talks."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from content.models import Content, Ordered
from people.models import Person
from people.printed_names import NamedAsPrinted
from schedule.querysets import SessionRoleQuerySet, SpeakerQuerySet


class SessionRole(NamedAsPrinted, Ordered, Content):
    """A person's part in a session, with name and affiliation as printed."""

    personal_fields: ClassVar[tuple[str, ...]] = ("name", "role", "affiliation")
    edition_lookup: ClassVar[str] = "session__edition"
    siblings_of: ClassVar[str] = "session"

    class Role(models.TextChoices):
        SPEAKER = "speaker", _("Speaker")
        MODERATOR = "moderator", _("Moderator")
        CHAIR = "chair", pgettext_lazy("role of a person", "Chair")
        PANELIST = "panelist", _("Panelist")
        ORGANIZER = "organizer", _("Organizer")

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
                violation_error_message=_("This person has that role in the session already."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.get_role_display()})"


class Speaker(NamedAsPrinted, Ordered, Content):
    """A speaker of a talk that is not a paper, in order."""

    personal_fields: ClassVar[tuple[str, ...]] = ("name", "affiliation")
    edition_lookup: ClassVar[str] = "presentation__edition"
    siblings_of: ClassVar[str] = "presentation"

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
                violation_error_message=_("This person speaks there already."),
            )
        ]

    def __str__(self) -> str:
        return self.name
