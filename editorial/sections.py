"""The sections of the admin's first page and sidebar, in the words of chairs.

A model's admin sets its section as `desk_section`. The default, `TECHNICAL`, is for details: they are linked
from the rows that they belong to, and only listed for users with permissions for all editions.
"""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class DeskSection(TextChoices):
    """The sections, in the order in which they are shown."""

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
