"""What the packages below learn of papers: roles, menu sections, and who is public as author or winner."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.roles import ALL, NONE, SEE, grant
from conference import menu_sections
from conference.menu_sections import MenuSection
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from people.models import Institution, Person
from people.querysets import Appearance, register_appearance

grant([Paper, Authorship, Material, Topic], ALL, ALL, ALL, SEE, SEE)
grant([Award, AwardGrant], ALL, ALL, ALL, NONE, SEE)

register_appearance(Person, Appearance(10, "authorships", ("paper__edition",)))
register_appearance(Person, Appearance(50, "grants", ("award__edition", "paper__edition")))
register_appearance(Institution, Appearance(10, "authorships", ("paper__edition",)))

menu_sections.register(
    MenuSection(
        30,
        "papers",
        _("Papers"),
        "papers:list",
        rows=lambda edition, at: [Paper.objects.published(at).filter(edition=edition)],
        counted=ngettext_lazy("%(number)s paper", "%(number)s papers", "count"),
    ),
    MenuSection(
        60,
        "awards",
        _("Awards"),
        "papers:awards",
        rows=lambda edition, at: [Award.objects.published(at).filter(edition=edition)],
        counted=ngettext_lazy("%(number)s award", "%(number)s awards", "count"),
    ),
    MenuSection(120, "statistics", _("In numbers"), "papers:statistics"),
)
