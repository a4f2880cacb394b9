"""Trap 33: no role gains access to private fields by adding rows.

Each role refers to a person and an institution of another edition in every kind of row that it may add,
over every interface. Their private fields must stay inaccessible.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from accounts.access_scope import access_of
from accounts.roles import Role
from content.actor import acting_as
from content.history import Origin
from content.history.recording import recording
from exchange.records import PersonRecord, PersonRef
from papers.models import Authorship, Paper
from people.models import CommitteeRole, Person, PersonIdentifier, PersonName
from schedule.models import SessionRole, Speaker
from tests import factories as make
from tests.access.world import add_member
from tests.api.writing import Writer, make_token
from tests.exchange.programs import author, paper, program
from tests.exchange.uploads import press_button, program_file, upload

pytestmark = pytest.mark.django_db

WRITING = [Role.OWNER, Role.CHAIR, Role.EDITOR]
EMAIL, FORMER = "victim@example.org", "Victoria Formerly"


class Site:
    """Two editions: an account has a role in one, and the other shows a person with private fields."""

    def __init__(self, role: str) -> None:
        self.edition = make.make_edition(2021)
        self.other = make.make_edition(2022)
        self.user = add_member(str(role), self.edition, role)
        self.colleague = add_member("colleague", self.edition, Role.OWNER)
        with recording(Origin.IMPORT):
            self.person = make.make_person("Vic Tim", uid="victim", email=EMAIL, orcid="0000-0002-1825-0097")
            self.institution = make.make_institution("Far University", slug="far")
            self.shown = make.make_paper(self.other, [self.person], uid="shown")
            self.shown.authorships.get().institutions.add(self.institution)
            PersonName.objects.create(person=self.person, name=FORMER, hidden=True)
        self.orphan = make.make_person("Or Phan", uid="orphan", email="orphan@example.org")

    def reached(self) -> list[str]:
        """Return the rows and private values of the other edition that the account can access."""
        access = access_of(User.objects.get(pk=self.user.pk))
        found = [
            str(row)
            for row in (self.person, self.institution, self.orphan)
            if access.may("change", type(row), type(row).objects.get(pk=row.pk))
        ]
        found += (
            access.rows(Person.objects.all(), "change")
            .filter(pk__in=[self.person.pk, self.orphan.pk])
            .values_list("name", flat=True)
        )
        found += access.rows(PersonName.objects.filter(person=self.person)).values_list("name", flat=True)
        identifiers = PersonIdentifier.objects.filter(person=self.person)
        return [*found, *access.rows(identifiers, "change").values_list("value", flat=True)]


@pytest.fixture(params=WRITING)
def site(request: pytest.FixtureRequest) -> Site:
    return Site(request.param)


def put_author(site: Site, status: str) -> None:
    make.make_paper(site.edition, [site.person, site.orphan], status=status)


def put_institution(site: Site, status: str) -> None:
    draft = make.make_paper(site.edition, ["Own Author"], status=status)
    draft.authorships.get().institutions.add(site.institution)


def put_role(site: Site, status: str) -> None:
    for person in (site.person, site.orphan):
        make.add_role(make.make_session(site.edition, status=status), person)


def put_speaker(site: Site, status: str) -> None:
    session = make.make_session(site.edition, status=status)
    make.make_presentation(session, speakers=[site.person, site.orphan], title="Talk", status=status)


def put_award(site: Site, status: str) -> None:
    make.make_award(site.edition, [site.person, site.orphan], status=status)


def put_committee(site: Site, status: str) -> None:
    for person in (site.person, site.orphan):
        make.make_committee_role(site.edition, person, role=f"Member {CommitteeRole.objects.count()}")


ROWS: list[Callable[[Site, str], None]] = [
    put_author, put_institution, put_role, put_speaker, put_award, put_committee,
]  # fmt: skip


@pytest.mark.parametrize("status", ["draft", "published"])
@pytest.mark.parametrize("put", ROWS, ids=lambda put: put.__name__)
def test_trap_33_no_row_of_ones_own_gives_reach(
    site: Site, put: Callable[[Site, str], None], status: str
) -> None:
    with recording(Origin.FORM, site.user):
        put(site, status)

    assert site.reached() == []


@pytest.mark.parametrize("put", [put_author, put_role, put_speaker, put_award, put_committee])
def test_rows_that_somebody_else_published_give_reach(site: Site, put: Callable[[Site, str], None]) -> None:
    with recording(Origin.FORM, site.colleague):
        put(site, "published")

    assert "Vic Tim" in site.reached()


def test_drafts_of_colleagues_give_no_reach_over_people_of_others(site: Site) -> None:
    with recording(Origin.FORM, site.colleague):
        put_author(site, "draft")

    assert site.reached() == []


def test_whom_one_entered_or_imported_one_reaches(site: Site) -> None:
    with acting_as(Origin.FORM, site.user):
        own = make.make_person("Own Person")
    with acting_as(Origin.FORM, site.colleague):
        theirs = make.make_person("Colleague's Person")
        make.make_paper(site.edition, [theirs], status="draft")
    with recording(Origin.IMPORT):
        brought = make.make_person("Brought Person")
        make.make_paper(site.edition, [brought], status="draft")
    access = access_of(User.objects.get(pk=site.user.pk))

    assert [access.may("change", Person, person) for person in (own, theirs, brought)] == [True] * 3


def test_pointing_an_old_row_at_somebody_gives_no_reach(site: Site) -> None:
    with recording(Origin.IMPORT):
        published = make.make_paper(site.edition, ["Old Author"])
        session = make.make_session(site.edition)
        make.add_role(session, make.make_person("Old Chair"))
        make.make_committee_role(site.edition, make.make_person("Old Member"))
        make.make_presentation(session, speakers=[make.make_person("Old Speaker")], title="Talk")
    with acting_as(Origin.FORM, site.user):
        for model in (Authorship, SessionRole, CommitteeRole, Speaker):
            row: Any = model.objects.exclude(person=site.person).latest("pk")
            row.person = site.person
            row.save()
        published.authorships.get().institutions.add(site.institution)

    assert site.reached() == []


class Climber(RuleBasedStateMachine):
    """State machine of an account that adds, publishes and changes rows, and never gains access."""

    def __init__(self) -> None:
        super().__init__()
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.site = Site(Role.OWNER)

    @rule(put=st.sampled_from(ROWS), status=st.sampled_from(["draft", "published"]))
    def add(self, put: Callable[[Site, str], None], status: str) -> None:
        with recording(Origin.FORM, self.site.user):
            put(self.site, status)

    @rule()
    def publish(self) -> None:
        with recording(Origin.ACTION, self.site.user):
            for paper in self.site.edition.papers.all():
                paper.status = "published"
                paper.save()

    @rule()
    def bring_back(self) -> None:
        with recording(Origin.ACTION, self.site.user):
            self.site.edition.papers.all().delete()
            put_author(self.site, "published")

    @rule()
    def move_author(self) -> None:
        with acting_as(Origin.FORM, self.site.user):
            person = self.site.person
            without = Paper.objects.filter(edition=self.site.edition).exclude(authorships__person=person)
            for row in Authorship.objects.filter(paper__in=without)[:1]:
                row.person = person
                row.save()

    @invariant()
    def nothing_is_reached(self) -> None:
        assert self.site.reached() == []

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.outer.__exit__(None, None, None)


def test_trap_33_no_order_of_edits_gives_reach() -> None:
    options = hypothesis_settings(max_examples=12, stateful_step_count=6, deadline=None)
    run_state_machine_as_test(Climber, settings=options)


# All interfaces


def signed_in(site: Site) -> Client:
    client = Client()
    client.force_login(site.user)
    return client


def test_trap_33_admin_shows_and_changes_nothing_private(site: Site) -> None:
    with recording(Origin.FORM, site.user):
        put_author(site, "draft")
    client = signed_in(site)
    page = client.get(reverse("admin:people_person_change", args=[site.person.pk]))
    found = client.get(f"/admin/people/person/?q={EMAIL}")

    assert page.status_code in (200, 403)
    assert EMAIL not in page.text
    assert FORMER not in page.text
    assert "Vic Tim" not in found.text
    client.post(reverse("admin:people_person_change", args=[site.person.pk]), {"name": "Changed"})
    assert Person.objects.get(pk=site.person.pk).name == "Vic Tim"


def test_trap_33_api_shows_and_changes_nothing_private(site: Site) -> None:
    writer = Writer(make_token(site.user))
    writer.create("papers", edition="2021", id="mine", title="Mine", authors=[{"person": "victim"}])

    assert Paper.objects.get(uid="mine").authorships.get().person == site.person
    assert EMAIL not in writer.get("people/victim/").text
    assert FORMER not in writer.get("people/victim/").text
    version = writer.get("people/victim/")["ETag"]
    writer.ask("patch", "people/victim/", {"email": "mine@example.org"}, 403, HTTP_IF_MATCH=version)
    assert Person.objects.get(pk=site.person.pk).email == EMAIL


def test_trap_33_import_changes_nobody_of_others(site: Site) -> None:
    described = PersonRecord(
        ref=PersonRef(name="Vic Changed", uid="victim"), homepage="https://example.org/mine"
    )
    written = program(paper("p1", author("Vic Tim", uid="victim")), people=(described,))
    content = json.loads(program_file(written))
    sent = {name: content[name] for name in ("format", "version", "papers", "people")}
    client = signed_in(site)
    job = upload(client, site.edition, ("p.json", json.dumps(sent).encode()))
    assert [note[2] for note in job.notes if "You don’t have permission to change" in note[2]]
    done = press_button(client, job, "confirm")

    assert done.state == "done", done.problems
    person = Person.objects.get(pk=site.person.pk)
    assert (person.name, person.homepage, person.email) == ("Vic Tim", "", EMAIL)
    assert Paper.objects.get(uid="p1").authorships.get().person == site.person
    assert site.reached() == []


def test_trap_33_merging_with_ones_own_person_is_refused(site: Site) -> None:
    with acting_as(Origin.FORM, site.user):
        own = make.make_person("Vic Tim", uid="own")
        make.make_paper(site.edition, [site.person, own], status="draft")
    client = signed_in(site)
    query = f"?ids={own.pk},{site.person.pk}"
    client.post(f"/admin/people/person/compare/{query}", {"keep": own.pk, "do": "merge"})

    assert Person.objects.get(pk=site.person.pk).merged_into is None
    assert Person.objects.get(pk=own.pk).merged_into is None
    assert site.reached() == []


def test_lists_ask_as_much_for_three_rows_as_for_one(site: Site, django_assert_num_queries: Any) -> None:
    client, asked = signed_in(site), []
    for number in (1, 3):
        with recording(Origin.IMPORT):
            while site.edition.papers.count() < number:
                make.make_paper(site.edition, [make.make_person()])
        with django_assert_num_queries(14, exact=False) as queries:
            client.get("/admin/people/person/")
        asked.append(len(queries))

    assert asked[0] == asked[1]
