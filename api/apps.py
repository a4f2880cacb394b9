"""The REST API as an app of Django."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "api"
    label = "api"
