"""A person and an institution of another edition, whom an account with a role names in rows of its own."""

from collections.abc import Callable

from django.contrib.auth.models import User

from accounts.access_scope import access_of
from accounts.roles import Role
from content.history import Origin
from content.history.recording import recording
from people.models import CommitteeRole, Person, PersonIdentifier, PersonName
from tests import factories as make
from tests.access.world import add_member

EDITING_ROLES = [Role.OWNER, Role.CHAIR, Role.EDITOR]
EMAIL, FORMER_NAME = "victim@example.org", "Victoria Formerly"


class Site:
    """Two editions: an account has a role in one, and the other shows a person with private fields."""

    def __init__(self, role: str) -> None:
        self.edition = make.make_edition(2021)
        self.other_edition = make.make_edition(2022)
        self.user = add_member(str(role), self.edition, role)
        self.colleague = add_member("colleague", self.edition, Role.OWNER)
        with recording(Origin.IMPORT):
            self.person = make.make_person("Vic Tim", uid="victim", email=EMAIL, orcid="0000-0002-1825-0097")
            self.institution = make.make_institution("Far University", slug="far")
            shown = make.make_paper(self.other_edition, [self.person], uid="shown")
            shown.authorships.get().institutions.add(self.institution)
            PersonName.objects.create(person=self.person, name=FORMER_NAME, hidden=True)
        self.orphan = make.make_person("Or Phan", uid="orphan", email="orphan@example.org")

    def accessible(self) -> list[str]:
        """Return the rows and private values of the other edition that the account can access."""
        access = access_of(User.objects.get(pk=self.user.pk))
        values = [
            str(row)
            for row in (self.person, self.institution, self.orphan)
            if access.may("change", type(row), type(row).objects.get(pk=row.pk))
        ]
        values += (
            access.rows(Person.objects.all(), "change")
            .filter(pk__in=[self.person.pk, self.orphan.pk])
            .values_list("name", flat=True)
        )
        values += access.rows(PersonName.objects.filter(person=self.person)).values_list("name", flat=True)
        identifiers = PersonIdentifier.objects.filter(person=self.person)
        return [*values, *access.rows(identifiers, "change").values_list("value", flat=True)]


def add_authors(site: Site, status: str) -> None:
    make.make_paper(site.edition, [site.person, site.orphan], status=status)


def add_institution(site: Site, status: str) -> None:
    own_paper = make.make_paper(site.edition, ["Own Author"], status=status)
    own_paper.authorships.get().institutions.add(site.institution)


def add_session_roles(site: Site, status: str) -> None:
    for person in (site.person, site.orphan):
        make.add_role(make.make_session(site.edition, status=status), person)


def add_speakers(site: Site, status: str) -> None:
    session = make.make_session(site.edition, status=status)
    make.make_presentation(session, speakers=[site.person, site.orphan], title="Talk", status=status)


def add_award_grants(site: Site, status: str) -> None:
    make.make_award(site.edition, [site.person, site.orphan], status=status)


def add_committee_roles(site: Site, status: str) -> None:
    for person in (site.person, site.orphan):
        make.make_committee_role(site.edition, person, role=f"Member {CommitteeRole.objects.count()}")


ROW_ADDERS: list[Callable[[Site, str], None]] = [
    add_authors, add_institution, add_session_roles, add_speakers, add_award_grants, add_committee_roles,
]  # fmt: skip
