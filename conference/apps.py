"""The ground: editions and their free content."""

from django.apps import AppConfig


class ConferenceConfig(AppConfig):
    name = "conference"
    verbose_name = "Conference"
