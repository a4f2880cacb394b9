"""The admin application of Django, with this project's site as its default."""

from django.contrib.admin import apps as admin


class EditorialAdminConfig(admin.AdminConfig):
    default = False
    default_site = "editorial.site.DeskSite"
