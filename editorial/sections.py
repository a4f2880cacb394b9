"""The sections of the admin's first page and sidebar, in the words of chairs.

A model's admin names its own (`desk_section`). What names none is a table of details: it is reached from
the rows that it belongs to, and listed only for those whose permissions hold everywhere.
"""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class DeskSection(TextChoices):
    """In the order in which they are shown."""

    EDITIONS = "editions", _("Editions")
    PAPERS = "papers", _("Papers")
    SCHEDULE = "schedule", _("Sessions and timetable")
    PEOPLE = "people", _("People")
    AWARDS = "awards", _("Awards")
    PAGES = "pages", _("Pages and news")
    SPONSORS = "sponsors", _("Sponsors")
    COMMITTEE = "committee", _("Committee")
    IMPORTS = "imports", _("Imports")
    MEMBERS = "members", _("Members")
    TECHNICAL = "technical", pgettext_lazy("section of the admin", "Technical")
