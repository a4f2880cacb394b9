"""Tests of the permissions of imports, and of several users who work on the same upload."""

from dataclasses import replace
from typing import Any

import pytest
from django.db.models import Q
from django.test import Client

from conference.models import Edition
from exchange.jobs import tasks
from exchange.models import ImportJob, ImportRun, PlannedRow
from exchange.records import EditionRecord, InstitutionRecord
from papers.models import Authorship, Paper
from people.models import Institution, Person, PersonPair
from tests import factories as make
from tests.access.world import add_member
from tests.exchange.programs import author, paper, program
from tests.exchange.uploads import papers_file, press_button, program_file, upload, upload_papers

ROR = "https://ror.org/042nb2s44"

pytestmark = pytest.mark.django_db


def role_client(edition: Edition, role: str) -> Client:
    client = Client()
    client.force_login(add_member(role, edition, role))
    return client


def file_with_changed_venue() -> bytes:
    """Return a file that also changes the edition."""
    return program_file(replace(program(paper("p1")), edition=EditionRecord(slug="2021", venue="Elsewhere")))


# Confirmation by another user


def test_import_has_the_permissions_of_the_confirming_user(edition: Edition) -> None:
    chair, editor = role_client(edition, "chair"), role_client(edition, "editor")
    job = upload(chair, edition, ("p.json", file_with_changed_venue()))
    refused = press_button(editor, job, "confirm")
    assert (job.state, refused.state, Edition.objects.get().venue) == ("ready", "refused", edition.venue)
    written = press_button(chair, press_button(chair, refused, "again"), "confirm")

    assert (written.state, Edition.objects.get().venue) == ("done", "Elsewhere")
    assert str(ImportRun.objects.get().user) == "chair"


# Concurrent changes


@pytest.fixture
def change_state_while_reading(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that changes the state of jobs while the worker reads their files."""
    original_read = tasks._read

    def set_state(state: str) -> None:
        def read_after_change(job: ImportJob, progress: Any) -> Any:
            ImportJob.objects.update(state=state)
            return original_read(job, progress)

        monkeypatch.setattr(tasks, "_read", read_after_change)

    return set_state


def test_import_restarted_while_writing_writes_nothing(
    admin_client: Client, edition: Edition, change_state_while_reading: Any
) -> None:
    job = upload_papers(admin_client, edition, paper("p1"))
    change_state_while_reading("reading")
    job = press_button(admin_client, job, "confirm")

    # The test has one connection, so the concurrent change is rolled back too.
    assert (job.state, job.run, Paper.objects.count(), ImportRun.objects.count()) == ("writing", None, 0, 0)


def test_import_dropped_while_reading_has_no_preview(
    admin_client: Client, edition: Edition, change_state_while_reading: Any
) -> None:
    change_state_while_reading("dropped")
    job = upload_papers(admin_client, edition, paper("p1"))

    assert (job.state, job.digest, PlannedRow.objects.count()) == ("dropped", "", 0)


def test_failed_second_preview_fails_the_import(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload_papers(admin_client, edition, paper("p1"))
    make.make_paper(edition, uid="p1", title="By hand")
    monkeypatch.setattr(tasks, "store_plan", lambda *args: 1 / 0)
    job = press_button(admin_client, job, "confirm")

    assert (job.state, Paper.objects.get().title) == ("failed", "By hand")


# People and institutions that only appear in drafts of other editions


@pytest.fixture
def hidden_person(edition: Edition) -> Person:
    """Create a person with an institution in a draft of a hidden edition."""
    hidden_edition = make.make_edition(2022, public_from=None)
    person = make.make_person("Hal Hidden", uid="hal", orcid="0000-0002-1825-0097", affiliation="Old Lab")
    authorship = make.make_paper(hidden_edition, [person], status="draft").authorships.get()
    authorship.institutions.add(make.make_institution("Hidden Lab", slug="lab", ror=ROR))
    return person


@pytest.mark.parametrize(
    ("author_record", "institutions", "field"),
    [
        (author("Zed", "hal"), (), ""),
        (author("Zed", "", orcid="0000-0002-1825-0097"), (), ""),
        (author("Zed", "zed"), (InstitutionRecord(slug="lab", name="Mine", country="France"),), "slug"),
        (author("Zed", "zed"), (InstitutionRecord(slug="mine", name="Mine", ror=ROR),), "ror"),
    ],
)
def test_key_of_a_row_in_drafts_of_another_edition_is_refused(
    edition: Edition, hidden_person: Person, author_record: Any, institutions: Any, field: str
) -> None:
    file = program_file(program(paper("p1", author_record), institutions=institutions))
    job = upload(role_client(edition, "owner"), edition, ("p.json", file))

    assert (job.state, [problem[1] for problem in job.problems]) == ("refused", [field])
    assert "drafts of another edition alone" in job.problems[0][2]
    assert "Hidden" not in str(job.problems) + str(job.notes)


def test_name_of_a_person_in_other_drafts_creates_a_new_person(
    edition: Edition, hidden_person: Person
) -> None:
    editor = role_client(edition, "editor")
    file = papers_file(program(paper("p1", author("Hal Hidden", affiliations=("New Lab",)))))
    job = press_button(editor, upload(editor, edition, ("p.json", file)), "confirm")

    assert (job.state, Person.objects.filter(name="Hal Hidden").count()) == ("done", 2)
    assert Authorship.objects.exclude(person=hidden_person).get().paper.uid == "p1"


def test_notes_do_not_reveal_drafts_of_another_conference(edition: Edition) -> None:
    wei = make.make_person("Wei Wang", uid="wei")
    make.make_paper(edition, [wei, make.make_person("Open One")], uid="p0")
    hidden_edition = make.make_edition(2022, conference=make.make_conference(slug="other"), public_from=None)
    topic = make.make_topic(hidden_edition, slug="secret")
    draft = make.make_paper(
        hidden_edition, [wei, make.make_person("Hal Hidden")], status="draft", topic=topic
    )
    draft.authorships.filter(person=wei).update(affiliations=["Hidden Lab"])
    file = papers_file(
        program(paper("p1", author("Wei Wang", affiliations=("Hidden Lab",)), author("Hal Hidden")))
    )

    editor = role_client(edition, "editor")
    job = upload(role_client(edition, "chair"), edition, ("p.json", file))
    # The editor imports drafts, which the chair's preview did not show.
    job = press_button(editor, press_button(editor, job, "confirm"), "confirm")

    assert job.state == "done"
    assert [note for note in job.notes if "co-author" in str(note) or "Both" in str(note)] == []
    # The hidden draft does not affect matching, and a common name alone is not sufficient.
    assert wei not in [authorship.person for authorship in Paper.objects.get(uid="p1").authorships.all()]
    pair = PersonPair.objects.get(Q(first=wei) | Q(second=wei))
    assert [code for code, _ in pair.reasons if code not in ("kept_apart", "name_same")] == []


def test_superuser_import_matches_a_person_in_hidden_drafts(
    admin_client: Client, edition: Edition, hidden_person: Person
) -> None:
    institutions = (InstitutionRecord(slug="lab", name="Hidden Lab", country="France"),)
    file = program_file(program(paper("p1", author("Hal Hidden", "hal")), institutions=institutions))
    job = press_button(admin_client, upload(admin_client, edition, ("p.json", file)), "confirm")

    assert (job.state, Paper.objects.get(uid="p1").authorships.get().person) == ("done", hidden_person)
    assert Institution.objects.get().country == "France"


def test_person_in_another_public_edition_is_found_by_name(edition: Edition) -> None:
    ada = make.make_person("Ada Known")
    make.make_paper(make.make_edition(2020), [ada])
    editor = role_client(edition, "editor")
    file = papers_file(program(paper("p1", author("Ada Known"))))
    press_button(editor, upload(editor, edition, ("p.json", file)), "confirm")

    assert (Person.objects.get(), ada.authorships.count()) == (ada, 2)
