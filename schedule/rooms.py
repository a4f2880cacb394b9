"""Rooms of an edition."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.fields import HttpURLField, SlugKey
from content.models import Content, Ordered
from content.page_paths import path_of
from schedule.querysets import RoomQuerySet


class Room(Ordered, Content):
    """A place for sessions, or a virtual one."""

    personal_fields: ClassVar[tuple[str, ...]] = ()

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="rooms")
    slug = SlugKey(_("slug"), max_length=80)
    name = models.CharField(_("name"), max_length=150)
    capacity = models.PositiveIntegerField(
        _("capacity"), null=True, blank=True, help_text=_("Seats, or poster boards in a hall.")
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
        return path_of("schedule:room", self.edition.slug, self.slug)
