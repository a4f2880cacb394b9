"""The public site: address map, home pages, menus, search page, feeds, site maps."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WebsiteConfig(AppConfig):
    name = "website"
    verbose_name = _("Website")
