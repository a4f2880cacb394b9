"""Registration with lower packages: permissions of roles, menu sections, parts of a copy, and appearances."""

from itertools import islice

from django.utils.translation import gettext_lazy as _

from accounts.roles import ALL, NONE, PRIVATE, VIEW, grant
from conference import menu_sections
from conference.edition_copy import EDITION_PARTS, EditionPart
from conference.menu_sections import MenuSection
from conference.models import Edition
from content.changed.dated import follow, register
from people import access_scope
from people.committee_copy import copy_offices
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

READ = VIEW | PRIVATE
grant([Person], ALL, ALL, ALL, VIEW, VIEW, private_viewer=READ, track_chair=VIEW, awards=VIEW)
grant([CommitteeRole], ALL, ALL, ALL, NONE, VIEW)
grant([Institution], ALL, ALL, ALL, NONE, VIEW, track_chair=VIEW, awards=VIEW)
grant([PersonIdentifier], ALL, ALL, ALL, NONE, VIEW, private_viewer=READ)
# These include former names, which are private.
grant([PersonName], ALL, ALL, ALL, NONE, NONE, private_viewer=READ)
grant([PersonDistinction, InstitutionDistinction], ALL, ALL, ALL, NONE, NONE)

register_appearance(Person, Appearance(40, "committee_roles", ("edition",)))
register(Edition, follow("committee_roles"))
register(Edition, follow("committee_roles__person", "name"))
register(Edition, follow("committee_roles__person__names"))

menu_sections.register(
    MenuSection(
        70,
        "people",
        _("People"),
        "people:list",
        is_of_edition=False,
        rows=lambda _edition, at: islice(Person.objects.published_appearances(at), 1),
        rare_rows=lambda _edition, at: islice(Person.objects.published_appearances(at), 1, None),
    ),
    MenuSection(
        100,
        "committee",
        _("Committee"),
        "people:committee",
        rows=lambda edition, at: [CommitteeRole.objects.published(at).filter(edition=edition)],
    ),
)

EDITION_PARTS += [
    EditionPart(
        "offices",
        _("Roles of the committee"),
        CommitteeRole,
        lambda edition: edition.committee_roles.order_by().values("role").distinct(),
        copy_offices,
        place=25,
    ),
    EditionPart(
        "committee",
        _("People of the committee"),
        CommitteeRole,
        lambda edition: edition.committee_roles.all(),
        lambda copying: copying.copy_rows(copying.source.committee_roles.all()),
        is_usual=False,
        place=26,
    ),
]
