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
from people.models import CommitteeRole, Person
from schedule.models import SessionRole, Speaker
from tests import factories as make
from tests.access.strangers import (
    EDITING_ROLES,
    EMAIL,
    FORMER_NAME,
    ROW_ADDERS,
    Site,
    add_authors,
    add_award_grants,
    add_committee_roles,
    add_session_roles,
    add_speakers,
)
from tests.access.world import signed_in_client
from tests.api.writing import Writer, make_token
from tests.exchange.programs import author, paper, program
from tests.exchange.uploads import press_button, program_file, upload

pytestmark = pytest.mark.django_db


@pytest.fixture(params=EDITING_ROLES)
def site(request: pytest.FixtureRequest) -> Site:
    return Site(request.param)


@pytest.mark.parametrize("status", ["draft", "published"])
@pytest.mark.parametrize("add_rows", ROW_ADDERS, ids=lambda add_rows: add_rows.__name__)
def test_trap_33_rows_added_by_the_account_give_no_access(
    site: Site, add_rows: Callable[[Site, str], None], status: str
) -> None:
    with recording(Origin.FORM, site.user):
        add_rows(site, status)

    assert site.accessible() == []


@pytest.mark.parametrize(
    "add_rows", [add_authors, add_session_roles, add_speakers, add_award_grants, add_committee_roles]
)
def test_rows_published_by_a_colleague_give_access(site: Site, add_rows: Callable[[Site, str], None]) -> None:
    with recording(Origin.FORM, site.colleague):
        add_rows(site, "published")

    assert "Vic Tim" in site.accessible()


def test_drafts_by_a_colleague_give_no_access(site: Site) -> None:
    with recording(Origin.FORM, site.colleague):
        add_authors(site, "draft")

    assert site.accessible() == []


def test_entered_and_imported_people_are_accessible(site: Site) -> None:
    with acting_as(Origin.FORM, site.user):
        own = make.make_person("Own Person")
    with acting_as(Origin.FORM, site.colleague):
        colleagues_person = make.make_person("Colleague's Person")
        make.make_paper(site.edition, [colleagues_person], status="draft")
    with recording(Origin.IMPORT):
        imported = make.make_person("Imported Person")
        make.make_paper(site.edition, [imported], status="draft")
    access = access_of(User.objects.get(pk=site.user.pk))

    people = (own, colleagues_person, imported)
    assert [access.may("change", Person, person) for person in people] == [True] * 3


def test_changing_the_person_of_an_old_row_gives_no_access(site: Site) -> None:
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

    assert site.accessible() == []


class AccessMachine(RuleBasedStateMachine):
    """State machine of an account that adds, publishes and changes rows, and never gains access."""

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.site = Site(Role.OWNER)

    @rule(add_rows=st.sampled_from(ROW_ADDERS), status=st.sampled_from(["draft", "published"]))
    def add(self, add_rows: Callable[[Site, str], None], status: str) -> None:
        with recording(Origin.FORM, self.site.user):
            add_rows(self.site, status)

    @rule()
    def publish(self) -> None:
        with recording(Origin.ACTION, self.site.user):
            for paper in self.site.edition.papers.all():
                paper.status = "published"
                paper.save()

    @rule()
    def replace_papers(self) -> None:
        with recording(Origin.ACTION, self.site.user):
            self.site.edition.papers.all().delete()
            add_authors(self.site, "published")

    @rule()
    def move_author(self) -> None:
        with acting_as(Origin.FORM, self.site.user):
            person = self.site.person
            other_papers = self.site.edition.papers.exclude(authorships__person=person)
            for row in Authorship.objects.filter(paper__in=other_papers)[:1]:
                row.person = person
                row.save()

    @invariant()
    def nothing_is_accessible(self) -> None:
        assert self.site.accessible() == []

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)


def test_trap_33_no_sequence_of_edits_gives_access() -> None:
    options = hypothesis_settings(max_examples=12, stateful_step_count=6, deadline=None)
    run_state_machine_as_test(AccessMachine, settings=options)


# All interfaces


def test_trap_33_admin_shows_and_changes_nothing_private(site: Site) -> None:
    with recording(Origin.FORM, site.user):
        add_authors(site, "draft")
    client = signed_in_client(site.user)
    page = client.get(reverse("admin:people_person_change", args=[site.person.pk]))
    search_page = client.get(f"/admin/people/person/?q={EMAIL}")

    assert page.status_code in (200, 403)
    assert EMAIL not in page.text
    assert FORMER_NAME not in page.text
    assert "Vic Tim" not in search_page.text
    client.post(reverse("admin:people_person_change", args=[site.person.pk]), {"name": "Changed"})
    assert Person.objects.get(pk=site.person.pk).name == "Vic Tim"


def test_trap_33_api_shows_and_changes_nothing_private(site: Site) -> None:
    writer = Writer(make_token(site.user))
    writer.create("papers", edition="2021", id="mine", title="Mine", authors=[{"person": "victim"}])

    assert Paper.objects.get(uid="mine").authorships.get().person == site.person
    assert EMAIL not in writer.get("people/victim/").text
    assert FORMER_NAME not in writer.get("people/victim/").text
    version = writer.get("people/victim/")["ETag"]
    writer.request("patch", "people/victim/", {"email": "mine@example.org"}, 403, HTTP_IF_MATCH=version)
    assert Person.objects.get(pk=site.person.pk).email == EMAIL


def test_trap_33_import_does_not_change_people_of_another_edition(site: Site) -> None:
    changed_person = PersonRecord(
        ref=PersonRef(name="Vic Changed", uid="victim"), homepage="https://example.org/mine"
    )
    imported = program(paper("p1", author("Vic Tim", uid="victim")), people=(changed_person,))
    content = json.loads(program_file(imported))
    data = {name: content[name] for name in ("format", "version", "papers", "people")}
    client = signed_in_client(site.user)
    job = upload(client, site.edition, ("p.json", json.dumps(data).encode()))
    assert [note[2] for note in job.notes if "You don’t have permission to change" in note[2]]
    finished_job = press_button(client, job, "confirm")

    assert finished_job.state == "done", finished_job.problems
    person = Person.objects.get(pk=site.person.pk)
    assert (person.name, person.homepage, person.email) == ("Vic Tim", "", EMAIL)
    assert Paper.objects.get(uid="p1").authorships.get().person == site.person
    assert site.accessible() == []


def test_trap_33_merge_with_an_own_person_is_refused(site: Site) -> None:
    with acting_as(Origin.FORM, site.user):
        own = make.make_person("Vic Tim", uid="own")
        make.make_paper(site.edition, [site.person, own], status="draft")
    client = signed_in_client(site.user)
    query = f"?ids={own.pk},{site.person.pk}"
    client.post(f"/admin/people/person/compare/{query}", {"keep": own.pk, "do": "merge"})

    assert Person.objects.get(pk=site.person.pk).merged_into is None
    assert Person.objects.get(pk=own.pk).merged_into is None
    assert site.accessible() == []


def test_query_count_of_people_list_is_the_same_for_1_and_3_papers(
    site: Site, django_assert_num_queries: Any
) -> None:
    client, query_counts = signed_in_client(site.user), []
    for number in (1, 3):
        with recording(Origin.IMPORT):
            while site.edition.papers.count() < number:
                make.make_paper(site.edition, [make.make_person()])
        with django_assert_num_queries(14, exact=False) as queries:
            client.get("/admin/people/person/")
        query_counts.append(len(queries))

    assert query_counts[0] == query_counts[1]
