"""Times when people and rooms are not available in an edition. Used by clashes, never public."""

from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition
from content import revision, times
from content.history import changed_rows
from people.models import Person

# No page has this tag: only counts that are cached per revision are invalidated.
CACHE_TAG = "availability"


class Unavailability(models.Model):
    """A span in which a person or a room is not available."""

    personal_fields: ClassVar[tuple[str, ...]] = ("note",)
    edition_lookup: ClassVar[str] = "edition"
    notes_changes: ClassVar[bool] = True

    edition = models.ForeignKey(
        Edition, models.CASCADE, verbose_name=_("edition"), related_name="unavailabilities"
    )
    person = models.ForeignKey(
        Person,
        models.CASCADE,
        verbose_name=_("person"),
        null=True,
        blank=True,
        related_name="unavailabilities",
    )
    room = models.ForeignKey(
        "schedule.Room",
        models.CASCADE,
        verbose_name=_("room"),
        null=True,
        blank=True,
        related_name="unavailabilities",
    )
    start = models.DateTimeField(pgettext_lazy("moment", "start"))
    end = models.DateTimeField(pgettext_lazy("moment", "end"))
    note = models.CharField(_("note"), max_length=200, blank=True, help_text=_("For the chairs alone."))

    class Meta:
        ordering = ["start", "end", "pk"]
        verbose_name = _("time when not available")
        verbose_name_plural = _("times when not available")
        constraints = [
            models.CheckConstraint(
                condition=Q(end__gt=F("start")),
                name="unavailability_ends_after_start",
                violation_error_message=_("The end must be after the start."),
            ),
            models.CheckConstraint(
                condition=Q(person__isnull=False, room__isnull=True)
                | Q(person__isnull=True, room__isnull=False),
                name="unavailability_of_person_or_room",
                violation_error_message=_("Choose a person or a room."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person or self.room}: {self.when}"

    def save(self, *args: object, **kwargs: object) -> None:
        super().save(*args, **kwargs)  # type: ignore[arg-type]
        self._invalidate_clashes()

    def delete(self, *args: object, **kwargs: object) -> tuple[int, dict[str, int]]:
        # Nobody reads the old ones again between the two.
        with transaction.atomic():
            self._invalidate_clashes()
            return super().delete(*args, **kwargs)  # type: ignore[arg-type]

    @property
    def when(self) -> str:
        return times.day_and_time_range(self.start, self.end, self.edition.zone)

    def clean(self) -> None:
        if self.room and self.edition_id and self.room.edition_id != self.edition_id:
            raise ValidationError({"room": _("The room belongs to another edition.")})

    def _invalidate_clashes(self) -> None:
        """Invalidate the cached clashes of the desk."""
        with revision.lock():
            changed_rows.add_columns(self._meta.label_lower, ())
            revision.advance([self.edition_id], {CACHE_TAG})
