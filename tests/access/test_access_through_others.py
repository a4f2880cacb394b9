"""Trap 33: no role gains access to private fields because someone else makes its rows public.

An editor names a person of another edition in a row. A chair, a plan or an import makes it public, copies it,
or deletes and restores it. The person's private fields must stay inaccessible to the editor.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from accounts.access_scope import access_of
from accounts.models import Membership
from accounts.roles import Role
from conference.edition_copy import new_edition, parts
from content.history import Origin, RowChange
from content.history.recording import recording
from content.history.revert import restore_plan, revert, undo, version_plan
from content.unreleased.plan import publishing
from content.unreleased.worker_report import report
from exchange.models import Conflict
from exchange.records import PersonRef, RoleRecord, SpeakerRecord
from papers.models import Authorship, AwardGrant
from people.merging.merge import merge
from people.models import CommitteeRole, Person
from schedule.invitations.models import Part, State
from schedule.models import ProgramInvitation, ReleasePlan, SessionRole, Speaker, UnreleasedChange
from schedule.unreleased import releasing
from tests import factories as make
from tests.access.strangers import (
    Site,
    add_authors,
    add_award_grants,
    add_committee_roles,
    add_session_roles,
    add_speakers,
)
from tests.access.world import signed_in_client
from tests.admin_forms import admin_url, run_action
from tests.exchange.programs import author, paper, program, session, talk
from tests.exchange.uploads import press_button, program_file, upload
from tests.schedule.unreleased.waiting import open_plan

pytestmark = pytest.mark.django_db

type AddRows = Callable[[Site, str], None]
ROW_MODELS: dict[AddRows, Any] = {
    add_speakers: Speaker,
    add_session_roles: SessionRole,
    add_authors: Authorship,
    add_award_grants: AwardGrant,
    add_committee_roles: CommitteeRole,
}


@pytest.fixture
def site() -> Site:
    return Site(Role.EDITOR)


def names_of_person(site: Site, model: Any) -> int:
    """Return in how many published rows of the editor's edition the person is named."""
    lookup = {f"{model.edition_lookup}__in": Membership.objects.filter(user=site.user).values("edition")}
    return int(model.objects.published().filter(person=site.person, **lookup).count())


def reaches(user: User, person: Person) -> bool:
    access = access_of(User.objects.get(pk=user.pk))
    return access.may("private", Person, Person.objects.get(pk=person.pk))


# How rows of the editor become public


def edit_by_editor(site: Site, edit: Callable[[], object]) -> Any:
    """Make an edit while changes wait, recorded as the editor's, and return the release plan."""
    plan = open_plan(site.edition)
    with recording(Origin.FORM, site.user):
        edit()
    # Awards and committees do not wait for releases: release something else.
    with recording(Origin.FORM, site.colleague):
        make.make_session(site.edition)
    return plan


def published_by_colleague(site: Site, add_rows: AddRows) -> None:
    with recording(Origin.FORM, site.user):
        add_rows(site, "draft")
    publish_all(site)


def publish_all(site: Site) -> None:
    with recording(Origin.ACTION, site.colleague):
        for rows in (site.edition.papers, site.edition.sessions, site.edition.presentations):
            rows.update(status="published")
        site.edition.awards.update(status="published")


def released(site: Site, add_rows: AddRows) -> None:
    copy = edit_by_editor(site, lambda: add_rows(site, "published"))
    releasing.release(copy, site.colleague, timezone.now())


def released_by_row(site: Site, add_rows: AddRows) -> None:
    copy = edit_by_editor(site, lambda: add_rows(site, "published"))
    for key in UnreleasedChange.objects.order_by("pk").values_list("pk", flat=True):
        if UnreleasedChange.objects.filter(pk=key).exists():
            releasing.release(copy, site.colleague, timezone.now(), chosen=[key])


def released_by_plan(site: Site, add_rows: AddRows) -> None:
    copy = edit_by_editor(site, lambda: add_rows(site, "published"))
    report(timezone.now())
    releasing.plan_release(copy, site.colleague, timezone.now(), timezone.now())
    assert len(releasing.release_due(timezone.now())) == 1


def released_then_reverted_twice(site: Site, add_rows: AddRows) -> None:
    copy = edit_by_editor(site, lambda: add_rows(site, "published"))
    change_set = releasing.release(copy, site.colleague, timezone.now()).change_set
    assert change_set is not None
    with publishing():
        _plan, reverted = undo(change_set, site.colleague)
        assert reverted is not None
        undo(reverted, site.colleague)


def deleted_and_restored(site: Site, add_rows: AddRows) -> None:
    with recording(Origin.FORM, site.user):
        add_rows(site, "published")
    row = ROW_MODELS[add_rows]._default_manager.filter(person=site.person).latest("pk")
    with recording(Origin.FORM, site.colleague):
        row.delete()
    deletion = RowChange.objects.filter(kind="deleted").latest("pk")
    revert(restore_plan(deletion), Origin.RESTORE, site.colleague)


def changed_and_reverted_to_version(site: Site, add_rows: AddRows) -> None:
    with recording(Origin.FORM, site.user):
        add_rows(site, "published")
    version = RowChange.objects.latest("pk").change_set_id
    row: Any = ROW_MODELS[add_rows]._default_manager.filter(person=site.person).latest("pk")
    with recording(Origin.FORM, site.colleague):
        row.person = make.make_person("Someone Else")
        row.save()
    revert(version_plan(row, version), Origin.RESTORE, site.colleague)


def merged_into(site: Site, add_rows: AddRows) -> None:
    """The editor names a person of their own; a superuser merges it with the person."""
    stranger = site.person
    with recording(Origin.FORM, site.user):
        site.person = make.make_person("Vic Tim", uid="own")
        add_rows(site, "published")
    own, site.person = site.person, stranger
    merge(stranger, [own], user=site.colleague)


def merged_into_own(site: Site, add_rows: AddRows) -> None:
    """As before, but the editor's row stays, and gets the private fields of the other."""
    stranger = site.person
    with recording(Origin.FORM, site.user):
        site.person = make.make_person("Vic Tim", uid="own")
        add_rows(site, "published")
    merge(site.person, [stranger], user=site.colleague)


STEPS: list[Callable[[Site, AddRows], None]] = [
    published_by_colleague, released, released_by_row, released_by_plan, released_then_reverted_twice,
    deleted_and_restored, changed_and_reverted_to_version, merged_into, merged_into_own,
]  # fmt: skip


@pytest.mark.parametrize("add_rows", ROW_MODELS, ids=lambda add_rows: add_rows.__name__)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_trap_33_rows_made_public_by_others_give_no_access(
    site: Site, step: Callable[[Site, AddRows], None], add_rows: AddRows
) -> None:
    step(site, add_rows)

    assert names_of_person(site, ROW_MODELS[add_rows]) == 1
    assert not reaches(site.user, site.person)
    assert site.accessible() == []


@pytest.mark.parametrize("add_rows", ROW_MODELS, ids=lambda add_rows: add_rows.__name__)
@pytest.mark.parametrize("step", STEPS[:4], ids=lambda step: step.__name__)
def test_who_releases_rows_reaches_those_named_by_others(
    site: Site, step: Callable[[Site, AddRows], None], add_rows: AddRows
) -> None:
    step(site, add_rows)

    assert reaches(site.colleague, site.person)


# New rows that someone else makes from those of the editor


def test_trap_33_roles_in_new_editions_give_no_access(site: Site) -> None:
    with recording(Origin.FORM, site.user):
        add_committee_roles(site, "published")
    edition = make.make_edition(2023, **make.CLOSED)
    committee = [part for part in parts() if part.name == "committee"]
    new_edition(site.edition, edition, committee, site.colleague, "New edition")
    edition.public_from = make.PAST
    edition.save()
    Membership.objects.create(user=site.user, edition=edition, role=Role.EDITOR)
    Membership.objects.create(user=site.colleague, edition=edition, role=Role.EDITOR)

    assert edition.committee_roles.published().filter(person=site.person).count() == 1
    assert site.accessible() == []
    assert reaches(site.colleague, site.person)


@pytest.mark.parametrize("entered", ["typed", "changed", "prepared"])
def test_trap_33_invitations_of_the_editor_give_no_access(site: Site, entered: str) -> None:
    panel = make.make_session(site.edition)
    client = signed_in_client(site.user)
    posted = {
        "edition": site.edition.pk,
        "person": site.person.pk,
        "role": Part.PANELIST,
        "session": panel.pk,
    }
    add_url = admin_url(ProgramInvitation, "add")
    if entered == "changed":
        signed_in_client(site.colleague).post(add_url, {**posted, "person": make.make_person().pk})
        client.post(admin_url(ProgramInvitation.objects.get(), "change"), posted)
    elif entered == "typed":
        client.post(add_url, posted)
    else:
        with recording(Origin.FORM, site.user):
            role = make.add_role(panel, site.person, Part.PANELIST)
        prepare_url = f"/admin/schedule/programinvitation/prepare/?session={panel.pk}"
        signed_in_client(site.colleague).post(prepare_url)
        role.delete()
    invitation = ProgramInvitation.objects.get(person=site.person)
    invitation.answer(State.CONFIRMED, timezone.now())
    run_action(signed_in_client(site.colleague), "add_to_program", [invitation])

    assert names_of_person(site, SessionRole) == 1
    assert site.accessible() == []
    assert reaches(site.colleague, site.person)


# Imports of files that the editor uploads


def program_naming(row: str, **fields: Any) -> dict[str, Any]:
    """Return the content of a file with one row that names the person."""
    stranger = PersonRef(name="Vic Tim", uid="victim")
    content = {
        "speakers": program(presentations=(talk("t1", title="Talk", kind="talk", session="s1",
                                                speakers=(SpeakerRecord(person=stranger),)),),
                            sessions=(session("s1"),)),
        "roles": program(sessions=(session("s1", roles=(RoleRecord(person=stranger, role="chair"),)),)),
        "authors": program(paper("p1", author("Vic Tim", uid="victim"))),
    }[row]  # fmt: skip
    return json.loads(program_file(content))  # type: ignore[no-any-return]


IMPORTED_MODELS = {"speakers": Speaker, "roles": SessionRole, "authors": Authorship}


def upload_as_editor(site: Site, content: dict[str, Any]) -> Any:
    parts = ("format", "version", "papers", "sessions", "presentations")
    data = json.dumps({name: content[name] for name in parts if name in content})
    return upload(signed_in_client(site.user), site.edition, ("p.json", data.encode()))


@pytest.mark.parametrize("is_released", [False, True], ids=["at once", "released"])
@pytest.mark.parametrize("row", IMPORTED_MODELS)
def test_trap_33_imports_confirmed_by_others_give_no_access(site: Site, row: str, is_released: bool) -> None:
    if is_released:
        open_plan(site.edition)
    job = upload_as_editor(site, program_naming(row))
    # The first preview is repeated, because colleagues may publish and the editor may not.
    press_button(signed_in_client(site.colleague), job, "confirm")
    finished_job = press_button(signed_in_client(site.colleague), job, "confirm")
    assert finished_job.state == "done", finished_job.problems
    if UnreleasedChange.objects.exists():
        plan = ReleasePlan.objects.get()
        releasing.release(plan, site.colleague, timezone.now())
    publish_all(site)

    assert names_of_person(site, IMPORTED_MODELS[row]) == 1
    assert site.accessible() == []
    assert reaches(site.colleague, site.person)


def test_trap_33_conflicts_decided_for_the_editors_file_give_no_access(site: Site) -> None:
    first = program_naming("roles")
    first["sessions"][0]["roles"] = []
    press_button(signed_in_client(site.user), upload_as_editor(site, first), "confirm")
    with recording(Origin.FORM, site.colleague):
        make.add_role(site.edition.sessions.get(uid="s1"), "Hand Made")
    press_button(signed_in_client(site.user), upload_as_editor(site, program_naming("roles")), "confirm")
    conflict = Conflict.objects.get(field="roles")
    run_action(signed_in_client(site.colleague), "take_theirs", [conflict], confirmed="1")

    assert list(SessionRole.objects.values_list("person__name", flat=True)) == ["Vic Tim"]
    assert site.accessible() == []


# Several people who change one row before its release


def test_trap_33_a_part_of_a_new_row_has_its_own_maker(site: Site) -> None:
    copy = open_plan(site.edition)
    with recording(Origin.FORM, site.colleague):
        make.make_session(site.edition, uid="waits")
    with recording(Origin.FORM, site.user):
        make.add_role(site.edition.sessions.get(uid="waits"), site.person)
    releasing.release(copy, User.objects.create_superuser("chair"), timezone.now())

    assert site.accessible() == []


def test_trap_33_who_made_a_row_reaches_nobody_whom_others_choose_for_it(site: Site) -> None:
    session = make.make_session(site.edition)

    def add_own() -> None:
        make.add_role(session, "Own Person")

    copy = edit_by_editor(site, add_own)
    for user, changes in ((site.colleague, {"person": site.person}), (site.user, {"affiliation": "Far"})):
        with recording(Origin.FORM, user):
            role = SessionRole.objects.get(session=session)
            for name, value in changes.items():
                setattr(role, name, value)
            role.save()
    releasing.release(copy, User.objects.create_superuser("chair"), timezone.now())

    assert not reaches(site.user, site.person)
    assert not reaches(site.colleague, site.person)


def test_the_history_names_who_made_a_released_row(site: Site) -> None:
    site.colleague.is_superuser = True
    site.colleague.save()
    released(site, add_session_roles)
    role = SessionRole.objects.get(person=site.person)
    page = signed_in_client(site.colleague).get(admin_url(role.session, "history"))
    created, change = RowChange.objects.filter(model="schedule.session", object_id=role.session_id).order_by(
        "pk"
    )

    assert created.change_set.user == created.made_by == site.user
    assert (change.made_by, change.made_by_name) == (site.user, "editor")
    assert change.change_set.user == site.colleague
    assert ", made by editor" in page.text
