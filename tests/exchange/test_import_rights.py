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
from tests.exchange.uploads import papers_file, press_button, program_file, upload

ROR = "https://ror.org/042nb2s44"

pytestmark = pytest.mark.django_db


@pytest.fixture
def here() -> Edition:
    return make.make_edition()


def member(edition: Edition, role: str) -> Client:
    client = Client()
    client.force_login(add_member(role, edition, role))
    return client


def moved() -> bytes:
    """Return a file that also changes the edition."""
    return program_file(replace(program(paper("p1")), edition=EditionRecord(slug="2021", venue="Elsewhere")))


# Confirmation by another user


def test_file_may_do_what_the_one_who_confirms_may(here: Edition) -> None:
    chair, editor = member(here, "chair"), member(here, "editor")
    job = upload(chair, here, ("p.json", moved()))
    refused = press_button(editor, job, "confirm")
    assert (job.state, refused.state, Edition.objects.get().venue) == ("ready", "refused", here.venue)
    done = press_button(chair, press_button(chair, refused, "again"), "confirm")

    assert (done.state, Edition.objects.get().venue) == ("done", "Elsewhere")
    assert str(ImportRun.objects.get().user) == "chair"


# Concurrent changes


@pytest.fixture
def overtaken(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that changes the state of jobs while the worker reads their files."""
    read = tasks._read

    def make_state(state: str) -> None:
        def slowly(job: ImportJob, progress: Any) -> Any:
            ImportJob.objects.update(state=state)
            return read(job, progress)

        monkeypatch.setattr(tasks, "_read", slowly)

    return make_state


def test_import_begun_again_while_it_is_written_writes_nothing(
    admin_client: Client, here: Edition, overtaken: Any
) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1")))))
    overtaken("reading")
    job = press_button(admin_client, job, "confirm")

    # The test has one connection, so the concurrent change is rolled back too.
    assert (job.state, job.run, Paper.objects.count(), ImportRun.objects.count()) == ("writing", None, 0, 0)


def test_import_dropped_while_it_is_read_leaves_no_preview(
    admin_client: Client, here: Edition, overtaken: Any
) -> None:
    overtaken("dropped")
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1")))))

    assert (job.state, job.digest, PlannedRow.objects.count()) == ("dropped", "", 0)


def test_second_preview_that_fails_says_so(
    admin_client: Client, here: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload(admin_client, here, ("p.json", papers_file(program(paper("p1")))))
    make.make_paper(here, uid="p1", title="By hand")
    monkeypatch.setattr(tasks, "store_plan", lambda *args: 1 / 0)
    job = press_button(admin_client, job, "confirm")

    assert (job.state, Paper.objects.get().title) == ("failed", "By hand")


# People who only appear in drafts of other editions


@pytest.fixture
def hal(here: Edition) -> Person:
    """Create a person with an institution in a draft of an edition that is not public yet."""
    other = make.make_edition(2022, public_from=None)
    person = make.make_person("Hal Hidden", uid="hal", orcid="0000-0002-1825-0097", affiliation="Old Lab")
    authorship = make.make_paper(other, [person], status="draft").authorships.get()
    authorship.institutions.add(make.make_institution("Hidden Lab", slug="lab", ror=ROR))
    return person


@pytest.mark.parametrize(
    ("somebody", "institutions", "field"),
    [
        (author("Zed", "hal"), (), ""),
        (author("Zed", "", orcid="0000-0002-1825-0097"), (), ""),
        (author("Zed", "zed"), (InstitutionRecord(slug="lab", name="Mine", country="France"),), "slug"),
        (author("Zed", "zed"), (InstitutionRecord(slug="mine", name="Mine", ror=ROR),), "ror"),
    ],
)
def test_key_of_what_only_other_drafts_show_is_refused(
    here: Edition, hal: Person, somebody: Any, institutions: Any, field: str
) -> None:
    file = program_file(program(paper("p1", somebody), institutions=institutions))
    job = upload(member(here, "owner"), here, ("p.json", file))

    assert (job.state, [problem[1] for problem in job.problems]) == ("refused", [field])
    assert "drafts of another edition alone" in job.problems[0][2]
    assert "Hidden" not in str(job.problems) + str(job.notes)


def test_name_of_somebody_in_other_drafts_means_somebody_else(here: Edition, hal: Person) -> None:
    editor = member(here, "editor")
    file = papers_file(program(paper("p1", author("Hal Hidden", affiliations=("New Lab",)))))
    job = press_button(editor, upload(editor, here, ("p.json", file)), "confirm")

    assert (job.state, Person.objects.filter(name="Hal Hidden").count()) == ("done", 2)
    assert Authorship.objects.exclude(person=hal).get().paper.uid == "p1"


def test_remarks_do_not_tell_what_is_in_drafts_of_another_series(here: Edition) -> None:
    wei = make.make_person("Wei Wang", uid="wei")
    make.make_paper(here, [wei, make.make_person("Open One")], uid="p0")
    other = make.make_edition(2022, conference=make.make_conference(slug="other"), public_from=None)
    topic = make.make_topic(other, slug="secret")
    draft = make.make_paper(other, [wei, make.make_person("Hal Hidden")], status="draft", topic=topic)
    draft.authorships.filter(person=wei).update(affiliations=["Hidden Lab"])
    file = papers_file(
        program(paper("p1", author("Wei Wang", affiliations=("Hidden Lab",)), author("Hal Hidden")))
    )

    job = press_button(
        member(here, "editor"), upload(member(here, "chair"), here, ("p.json", file)), "confirm"
    )

    assert job.state == "done"
    assert [note for note in job.notes if "co-author" in str(note) or "Both" in str(note)] == []
    # The hidden draft does not affect matching, and a common name alone is not sufficient.
    assert wei not in [one.person for one in Paper.objects.get(uid="p1").authorships.all()]
    pair = PersonPair.objects.get(Q(first=wei) | Q(second=wei))
    assert [code for code, _ in pair.reasons if code not in ("kept_apart", "name_same")] == []


def test_who_sees_every_edition_means_whom_the_file_means(
    admin_client: Client, here: Edition, hal: Person
) -> None:
    labs = (InstitutionRecord(slug="lab", name="Hidden Lab", country="France"),)
    file = program_file(program(paper("p1", author("Hal Hidden", "hal")), institutions=labs))
    job = press_button(admin_client, upload(admin_client, here, ("p.json", file)), "confirm")

    assert (job.state, Paper.objects.get(uid="p1").authorships.get().person) == ("done", hal)
    assert Institution.objects.get().country == "France"


def test_somebody_public_elsewhere_is_found_by_name(here: Edition) -> None:
    ada = make.make_person("Ada Known")
    make.make_paper(make.make_edition(2020), [ada])
    editor = member(here, "editor")
    file = papers_file(program(paper("p1", author("Ada Known"))))
    press_button(editor, upload(editor, here, ("p.json", file)), "confirm")

    assert (Person.objects.get(), ada.authorships.count()) == (ada, 2)
