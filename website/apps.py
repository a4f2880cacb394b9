"""The roof: what spans the apps."""

from django.apps import AppConfig


class WebsiteConfig(AppConfig):
    name = "website"
    verbose_name = "Website"
