"""What the packages below learn of people: roles, menu sections, and who is public as committee."""

from django.utils.translation import gettext_lazy as _

from accounts.roles import ALL, NONE, SEE, grant
from conference import menu_sections
from conference.menu_sections import MenuSection
from people import access_scope
from people.models import (
    CommitteeRole,
    Institution,
    InstitutionDistinction,
    Person,
    PersonDistinction,
    PersonIdentifier,
    PersonName,
)
from people.querysets import Appearance, register_appearance

access_scope.register()

grant([Person], ALL, ALL, ALL, SEE, SEE)
grant([CommitteeRole, Institution, PersonIdentifier], ALL, ALL, ALL, NONE, SEE)
# Former names included.
grant([PersonName], ALL, ALL, ALL, NONE, NONE)
grant([PersonDistinction, InstitutionDistinction], ALL, ALL, ALL, NONE, NONE)

register_appearance(Person, Appearance(40, "committee_roles", ("edition",)))

menu_sections.register(
    MenuSection(
        70,
        "people",
        _("People"),
        "people:list",
        is_of_edition=False,
        rows=lambda _edition, at: Person.objects.published_appearances(at),
    ),
    MenuSection(
        100,
        "committee",
        _("Committee"),
        "people:committee",
        rows=lambda edition, at: [CommitteeRole.objects.published(at).filter(edition=edition)],
    ),
)
