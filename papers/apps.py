"""What: papers, their topics and awards."""

from django.apps import AppConfig


class PapersConfig(AppConfig):
    name = "papers"
    verbose_name = "Program"
