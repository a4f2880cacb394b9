"""The admin application of Django, with this project's site as its default."""

from django.contrib.admin import apps as admin


class EditorialAdminConfig(admin.SimpleAdminConfig):
    """The URLconf imports the pages of the admin: commands that open no address start without them."""

    default = False
    default_site = "editorial.site.DeskSite"
