"""The ground: editions and their free content."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConferenceConfig(AppConfig):
    name = "conference"
    verbose_name = _("Conference")
