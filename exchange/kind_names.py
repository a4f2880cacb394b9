"""What the kinds of things that files hold are called."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class RecordKind(models.TextChoices):
    """The kinds of things that files hold."""

    CONFERENCE = "conference", _("Conference")
    EDITION = "edition", _("Edition")
    INSTITUTION = "institution", _("Institution")
    PERSON = "person", _("Person")
    PAGE = "page", _("Page")
    SPONSOR = "sponsor", _("Sponsor")
    ANNOUNCEMENT = "announcement", _("Announcement")
    TOPIC = "topic", _("Topic")
    ROOM = "room", _("Room")
    PAPER = "paper", _("Paper")
    AWARD = "award", _("Award")
    SESSION = "session", _("Session")
    PRESENTATION = "presentation", _("Presentation")
