"""Personal data: every column is declared, and a person's data are exported and erased completely."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import models
from django.test import Client

from accounts.models import Membership
from conference.models import Edition
from content.history import ChangeSet, Origin
from content.history.recording import recording
from content.models import Tombstone
from exchange.models import Conflict, ImportRun, Provenance
from operations.indexing.update import refresh
from operations.privacy.inventory import PACKAGE_FIELDS, TEXT_COLUMNS, all_personal_fields, personal_fields
from operations.privacy.subjects import find_person
from papers.models import Authorship, Paper
from people.models import Institution, Invitation, Person, PersonName
from tests import factories as make
from tests.schedule.unreleased.waiting import open_plan

DOCS = Path(settings.BASE_DIR) / "docs" / "privacy.md"
# A name that no other row contains.
NAME = "Wilhelmina Quux"
# Impersonal fields of models of other packages.
FOREIGN_IMPERSONAL: dict[str, tuple[str, ...]] = {
    "admin.LogEntry": ("object_id",),
    "django_tasks_database.DBTaskResult": (
        "status", "task_path", "worker_ids", "queue_name", "backend_name", "exception_class_path",
    ),
}  # fmt: skip


def impersonal_fields(model: type[models.Model]) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(
        model, "impersonal_fields", FOREIGN_IMPERSONAL.get(model._meta.label, ())
    )
    return names


def undeclared_columns() -> Iterator[str]:
    """Yield the columns that are not declared personal or impersonal."""
    for model in apps.get_models(include_auto_created=True):
        personal = personal_fields(model)
        for field in model._meta.concrete_fields:
            # Fields with choices cannot name a person.
            may_name_a_person = isinstance(field, TEXT_COLUMNS) and not field.choices
            is_declared = personal == () or field.name in (*(personal or ()), *impersonal_fields(model))
            if may_name_a_person and not is_declared:
                yield f"{model._meta.label}.{field.name}"


def declared_but_missing() -> Iterator[str]:
    """Yield declared fields and models that do not exist."""
    for model in apps.get_models():
        columns = {field.name for field in model._meta.concrete_fields}
        for name in (*(personal_fields(model) or ()), *impersonal_fields(model)):
            if name not in columns:
                yield f"{model._meta.label}.{name}"
    yield from PACKAGE_FIELDS.keys() - {model._meta.label for model in apps.get_models()}


def test_every_column_is_declared_personal_or_impersonal() -> None:
    assert [*undeclared_columns()] == []
    assert [*declared_but_missing()] == []


def test_docs_list_the_personal_fields_of_the_code() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| ([^|]+) \|", DOCS.read_text("utf-8"), re.M)

    assert {label: tuple(re.findall(r"`(\w+)`", names)) for label, names in rows} == (all_personal_fields())


@pytest.fixture
def person(db: None, edition: Edition) -> Person:
    """Create a person in all kinds of rows, who was renamed, edited and imported."""
    person = make.make_person("W. Quux", uid="quux", email="quux@example.org", biography="Born as Quux.")
    paper = make.make_paper(edition, ["Ada", person], uid="p1", title="On machines")
    PersonName.objects.create(person=person, name="Billy Quux", hidden=True)
    person.photo.save("quux.png", ContentFile(b"x"))
    person.name = NAME
    person.save()
    paper.authorships.filter(person=person).update(name=NAME, affiliations=["Quux University"])
    award = make.make_award(edition, [person])
    make_import_traces(edition, person, paper)
    award.save()
    refresh()
    return person


def make_import_traces(edition: Any, person: Person, paper: Paper) -> None:
    """Create the rows that an import of the person and the paper leaves behind."""
    authors = [
        {"person": "quux", "name": NAME, "affiliations": ["Quux University"]},
        {"person": "x", "name": "Y"},
    ]
    run = ImportRun.objects.create(edition=edition, format="tables")
    Provenance.objects.create(kind="person", object_id=person.pk, values={"name": NAME})
    provenance = Provenance.objects.create(
        kind="paper", object_id=paper.pk, edition=edition, values={"title": "T", "authors": authors}
    )
    with recording(Origin.IMPORT) as log:
        log.record_changed(Provenance, provenance.pk, {"authors": []}, {"authors": authors}, None)
    Conflict.objects.create(
        run=run, provenance=provenance, field="authors", label="T", ours=authors, theirs=authors, base=None
    )


def dump_database() -> str:
    """Return all rows of the database as text."""
    querysets = [model._base_manager.values() for model in apps.get_models(include_auto_created=True)]
    return "\n".join(str([*queryset]) for queryset in querysets)


def erase(**options: str) -> str:
    """Erase the data of a person or an account; return the output of the command."""
    out = io.StringIO()
    call_command("erase_personal_data", yes=True, stdout=out, **options)
    return out.getvalue()


def test_export_contains_all_rows_of_a_person(person: Person, tmp_path: Path) -> None:
    call_command("export_personal_data", person="quux@example.org", output=tmp_path / "quux.json")
    exported = json.loads((tmp_path / "quux.json").read_text())

    assert exported["person"][0]["email"] == "quux@example.org"
    appearances = exported["stands in"][0]
    assert {*appearances} >= {"people.PersonName", "papers.Authorship", "papers.AwardGrant"}
    assert (appearances["papers.Authorship"][0]["name"], appearances["papers.Authorship"][0]["in"]) == (
        NAME,
        "On machines",
    )
    assert exported["last imported"] == [{"name": NAME}]
    assert any("W. Quux" in str(entry["values"]) for entry in exported["history"])
    assert (tmp_path / "quux.json").stat().st_mode & 0o777 == 0o600


def test_erasing_removes_every_trace_and_keeps_the_paper(person: Person, client: Client) -> None:
    photo, paper = person.photo.name, Paper.objects.get(uid="p1")
    assert "quux" in dump_database().lower()
    output = erase(person="quux")

    assert "quux" not in dump_database().lower()
    assert output == f"{NAME} is anonymous now.\n"
    assert [row.name.split()[0] for row in paper.authorships.order_by("position")] == ["Ada", "Anonymous"]
    assert "Anonymous" in client.get(paper.get_absolute_url()).content.decode()
    assert photo
    assert not default_storage.exists(photo)
    call_command("verify", verbosity=0)


def test_erasing_clears_titles_of_deleted_and_withdrawn_papers(
    person: Person, edition: Edition, client: Client
) -> None:
    for uid in ("gone", "back"):
        make.make_paper(edition, uid=uid, title=f"In memory of {NAME}")
    Paper.objects.get(uid="gone").delete()
    Paper.objects.filter(uid="back").update(status="withdrawn")
    assert NAME in client.get("/api/v1/papers/?deleted=true").content.decode()
    erase(person=person.uid)
    make.make_paper(edition, uid="new", title="Deleted Later").delete()

    deleted_papers = client.get("/api/v1/papers/?deleted=true").json()["results"]
    assert [(row["id"], row["title"]) for row in deleted_papers] == [
        ("gone", ""),
        ("back", ""),
        ("new", "Deleted Later"),
    ]
    for uid in ("gone", "back"):
        assert client.get(f"/api/v1/papers/2021/{uid}/").json()["title"] == ""
        page = client.get(f"/2021/papers/{uid}/")
        assert (page.status_code, NAME in page.content.decode()) == (410, False)


def test_erasing_forgets_addresses_with_the_name_and_keeps_those_of_others(
    db: None, edition: Edition
) -> None:
    ada, other, namesake = (
        make.make_person(name, uid=uid)
        for name, uid in (("Ada Reef", "reef"), ("Bo Reef", "bo-reef"), ("A. Reef", "ada-reef-2"))
    )
    for paper in (make.make_paper(edition, [person]) for person in (ada, other, namesake)):
        paper.delete()
    assert set(Tombstone.objects.filter(model="people.person").values_list("uid", flat=True)) == {
        "reef",
        "bo-reef",
        "ada-reef-2",
    }
    erase(person="reef")

    assert [*Tombstone.objects.filter(model="people.person").values_list("uid", flat=True)] == ["bo-reef"]


def test_erasing_changes_no_other_person(person: Person) -> None:
    authors = Provenance.objects.get(kind="paper").values["authors"]
    erase(person="quux")

    assert authors[1] == Provenance.objects.get(kind="paper").values["authors"][1]
    assert Authorship.objects.filter(name__startswith="Ada").count() == 1


def test_merged_people_are_erased_too(person: Person) -> None:
    twin = make.make_person("Mina Quux", uid="twin")
    Person._base_manager.filter(pk=twin.pk).update(merged_into=person)
    erase(person="twin")

    assert "quux" not in dump_database().lower()


def test_people_merged_in_a_circle_are_found(person: Person) -> None:
    twin = make.make_person("Mina Quux", uid="twin", merged_into=person)
    Person._base_manager.filter(pk=person.pk).update(merged_into=twin)
    subject = find_person("twin")

    assert subject is not None
    assert subject.uids == {"twin", "quux"}


def test_texts_that_name_the_person_are_listed(person: Person) -> None:
    page = make.make_page(Paper.objects.get().edition, body=f"Thanks to {NAME}.")

    assert f"    conference.Page {page.pk}: body\n" in erase(person="quux")


def test_erasing_without_yes_changes_nothing(person: Person) -> None:
    before = dump_database()
    call_command("erase_personal_data", person="quux", stdout=io.StringIO())

    assert dump_database() == before


@pytest.mark.django_db
def test_erased_account_is_closed_and_its_change_sets_stay() -> None:
    user = User.objects.create_superuser("quux", "quux@example.org", "correct horse")
    client = Client()
    client.login(username="quux", password="correct horse")
    ChangeSet.objects.create(user=user, user_name="quux")
    out = io.StringIO()
    call_command("export_personal_data", account="quux", stdout=out)
    erase(account="quux@example.org")

    assert json.loads(out.getvalue())["account"]["password"] == "(stored, not shown)"
    assert "quux" not in dump_database()
    assert client.get("/admin/").status_code == 302
    assert ChangeSet.objects.get().user_name == f"former-{user.pk}"
    assert not Client().login(username=f"former-{user.pk}", password="correct horse")


def invite(edition: Edition, **fields: Any) -> Invitation:
    invitation = Invitation(
        edition=edition, role="viewer", **{"name": "W", "email": "w@example.org", **fields}
    )
    invitation.renew()
    invitation.save()
    return invitation


def test_invitations_are_deleted_with_the_person(person: Person) -> None:
    edition = Edition.objects.get()
    invite(edition, email="QUUX@example.org", name="Quux")
    invite(edition, person=person, name="Billy Quux")
    other = invite(edition, name="Ada")
    erase(person="quux")

    assert [*Invitation.objects.all()] == [other]
    assert "quux" not in dump_database().lower()


def test_erasing_clears_every_personal_column(person: Person) -> None:
    Person.objects.filter(pk=person.pk).update(
        orcid="0000-0002-1825-0097", native_name="Q", homepage="https://q.example"
    )
    erase(person="quux")
    person.refresh_from_db()
    remaining = {name: getattr(person, name) for name in Person.personal_fields if getattr(person, name)}

    assert remaining.pop("uid") != "quux"
    assert remaining == {
        "name": "Anonymous", "family": "Anonymous", "sort_key": "anonymous", "folded": "anonymous"
    }  # fmt: skip


@pytest.mark.django_db
def test_account_is_exported_with_invitations_and_sessions() -> None:
    user, edition = (
        User.objects.create_superuser("quux", "quux@example.org", "correct horse"),
        make.make_edition(),
    )
    Client(headers={"user-agent": "Firefox"}).login(username="quux", password="correct horse")
    invite(edition, email="quux@example.org", name="Quux")
    invite(edition, email="ada@example.org", created_by=user)
    invite(edition, email="bob@example.org")
    out = io.StringIO()
    call_command("export_personal_data", account="quux", stdout=out)
    exported = json.loads(out.getvalue())

    assert [invitation["email"] for invitation in exported["invitations"]] == [
        "quux@example.org",
        "ada@example.org",
    ]
    (session,) = exported["signed in"]
    assert (session["user_id"], session["session_key"]) == (user.pk, "(stored, not shown)")
    assert session["session_data"] == exported["invitations"][0]["digest"] == "(stored, not shown)"


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["export_personal_data", "erase_personal_data"])
def test_unknown_person_or_account_is_an_error(command: str) -> None:
    for options in ({"person": "nobody"}, {"account": "nobody"}):
        with pytest.raises(CommandError, match="nobody called “nobody”"):
            call_command(command, **options)


def test_erasing_includes_people_who_are_added_with_the_release(person: Person) -> None:
    edition = make.make_edition(2044)
    session = make.make_session(edition, uid="s44")
    open_plan(edition)
    make.add_role(session, person, "chair", name="Dr. Ada Printed", affiliation="Home")
    erase(person=person.uid)
    role = session.roles.get()

    assert (role.name, role.affiliation, role.on_release) == ("Anonymous", "", "added")


def test_erasing_clears_the_admin_log_of_the_person_only(person: Person) -> None:
    user = User.objects.create_superuser("chair")
    institution = Institution.objects.create(pk=person.pk, slug="mit", name="MIT")
    invitation = invite(Edition.objects.get(), person=person, name="Billy Quux")
    for row in (person, institution, invitation):
        LogEntry.objects.log_actions(user.pk, [row], ADDITION, "Added.", single_object=True)
    erase(person="quux")

    entries = LogEntry.objects.order_by("pk").values_list("object_repr", "change_message")
    assert [*entries] == [("Anonymous", ""), ("MIT", "Added."), ("Anonymous", "")]


def test_erasing_clears_names_and_messages_of_other_rows_in_the_admin_log(person: Person) -> None:
    user = User.objects.create_superuser("chair")
    with recording(Origin.FORM, user):
        name = PersonName.objects.create(person=person, name="Billie Quüx")
    paper = make.make_paper(Edition.objects.get(), title="Waves")
    other_paper = make.make_paper(Edition.objects.get(), title="Tides")
    added = [{"added": {"name": "author", "object": "Billie Quüx"}}]
    for row, message in ((name, added), (paper, added), (other_paper, "Changed title.")):
        LogEntry.objects.log_actions(user.pk, [row], CHANGE, message, single_object=True)
    erase(person="quux")

    entries = LogEntry.objects.order_by("pk").values_list("object_repr", "change_message")
    assert [*entries] == [("Anonymous", ""), ("Waves", ""), ("Tides", "Changed title.")]


@pytest.mark.django_db
def test_erased_account_is_unnamed_in_the_admin_log() -> None:
    user = User.objects.create_superuser("quux", "quux@example.org")
    membership = Membership.objects.create(user=user, edition=make.make_edition(), role="viewer")
    ended_membership = Membership.objects.create(user=user, edition=membership.edition, role="editor")
    for row in (user, membership, ended_membership):
        LogEntry.objects.log_actions(user.pk, [row], CHANGE, "Changed quux.", single_object=True)
    ended_membership.delete()
    erase(account="quux")

    assert "quux" not in dump_database()
