"""The application of the schedule: rooms, sessions, presentations."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ScheduleConfig(AppConfig):
    name = "schedule"
    verbose_name = _("Schedule")

    def ready(self) -> None:
        import_module("schedule.registration")
