"""Two editions with one row of each model, one edition hidden, and an account for each role."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from django.contrib.auth.models import User
from django.db.models import Model
from django.template.backends.django import Template
from django.test import Client

from accounts.models import Membership
from accounts.roles import Role
from api.models import Token
from conference.models import Edition
from content.history import ChangeSet, Origin, RowChange
from content.history.recording import recording
from content.revision import lock
from exchange.models import ColumnMapping, Conflict, ImportJob, ImportRun, Provenance
from papers.models import AwardGrant
from people.models import PersonAccount, PersonIdentifier, PersonName
from schedule.models import ProgramInvitation, Release, Speaker, Unavailability
from tests import factories as make

# Usernames of all who may request a URL: a signed-out visitor, a member of `edition` for each role,
# the owner of the other edition, and a superuser.
USERNAMES = ["anonymous", *reversed(Role.values), "other", "superuser"]
MARKER = "Zyxwv"


@lock()
def make_rows(edition: Edition, name: str, status: str = "draft") -> dict[str, Model]:
    """Create a row of every model in an edition, each named by a word; return them by model label."""
    # A common change set records that they were created for this edition, as by an import.
    with recording(Origin.IMPORT):
        person = make.make_person(f"{name} Author", email=f"{name}@example.org", affiliation=f"{name} Lab")
        institution = make.make_institution(f"{name} University")
        topic = make.make_topic(edition, f"{name} topic")
    paper = make.make_paper(edition, [person], title=f"{name} paper", topic=topic, status=status)
    authorship = paper.authorships.get()
    authorship.institutions.add(institution)
    room = make.make_room(edition, f"{name} hall")
    session = make.make_session(edition, title=f"{name} session", room=room, status=status)
    talk = make.make_presentation(session, speakers=[person], title=f"{name} talk", status=status)
    award = make.make_award(edition, [paper], name=f"{name} award", status=status)
    run = ImportRun.objects.create(edition=edition, files=[f"{name}.json"])
    provenance = Provenance.objects.create(kind="paper", object_id=paper.pk, edition=edition, run=run)
    job = ImportJob.objects.create(edition=edition, state="dropped")
    mapping = ColumnMapping.objects.create(
        conference=edition.conference, layout=name, name=f"{name}.csv", fields={"title": "title"}
    )
    rows: list[Any] = [
        edition, edition.conference, person, institution, topic, paper, authorship, room, session, talk,
        award, run, provenance, job, mapping,
        make.make_presentation(session, paper, status=status),
        Speaker.objects.get(presentation=talk),
        AwardGrant.objects.get(award=award),
        make.add_role(session, person),
        make.make_material(paper, label=f"{name} slides"),
        make.make_announcement(edition, title=f"{name} news", status=status),
        make.make_key_date(edition, f"{name} date", status=status),
        make.make_page(edition, title=f"{name} page", status=status),
        make.make_menu_item(edition, f"{name} line"),
        make.make_session_kind(edition.conference, f"{name} kind"),
        make.make_sponsor(edition, f"{name} sponsor", status=status),
        make.make_committee_role(edition, person),
        PersonName.objects.create(person=person, name=f"{name} Formerly", hidden=True),
        PersonIdentifier.objects.create(person=person, scheme="dblp", value=name),
        Release.objects.create(edition=edition, number=edition.releases.count() + 1, title=f"{name} release"),
        ProgramInvitation.objects.create(
            edition=edition, person=person, session=session, email=f"{name}@example.org", message=name
        ),
        Unavailability.objects.create(
            edition=edition, person=person, start=make.PAST, end=make.MORNING, note=name
        ),
        Conflict.objects.create(provenance=provenance, run=run, field="title", label=f"{name} paper"),
    ]  # fmt: skip
    return {row._meta.label_lower: row for row in rows}


@dataclass
class World:
    """Both editions, their rows and accounts. The session chair chairs the only session of `edition`."""

    edition: Edition
    other_edition: Edition
    rows: dict[str, Any]
    other_rows: dict[str, Any]
    users: dict[str, User] = field(default_factory=dict)

    def client(self, username: str) -> Client:
        return Client() if username == "anonymous" else signed_in_client(self.users[username])


def signed_in_client(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@contextmanager
def unrendered_pages() -> Iterator[None]:
    """Leave pages empty where only their status matters: views decide on it before they render a template."""
    with patch.object(Template, "render", return_value=""):
        yield


def add_member(username: str, edition: Edition, role: str) -> User:
    user = User.objects.create_user(username, f"{username}@example.org", is_staff=True)
    Membership.objects.create(user=user, edition=edition, role=role)
    return user


@lock()
def make_world() -> World:
    edition = make.make_edition(2021)
    other_conference = make.make_conference(slug="other", name=f"{MARKER}Conf")
    other_edition = make.make_edition(2022, conference=other_conference, name=f"{MARKER} 2022", **make.CLOSED)
    world = World(edition, other_edition, make_rows(edition, "Ours"), make_rows(other_edition, MARKER))
    for role in Role:
        world.users[str(role)] = add_member(str(role), edition, role)
    # Assign the topic of the paper to the track chair.
    parts = [f"topic:{world.rows['papers.topic'].pk}"]
    Membership.objects.filter(role=Role.TRACK_CHAIR).update(parts=parts)
    world.users["other"] = add_member("other", other_edition, Role.OWNER)
    world.users["superuser"] = User.objects.create_superuser("superuser")
    leader = make.make_person("Lea Leader")
    make.add_role(world.rows["schedule.session"], leader, "chair")
    PersonAccount.objects.create(user=world.users["session_chair"], person=leader)
    for rows, name in ((world.rows, "owner"), (world.other_rows, "other")):
        user = world.users[name]
        token, _text = Token.objects.create(user, expiry=timedelta(days=1), prefix="plenary_", name="app")
        rows["api.token"] = token
        rows["accounts.membership"] = user.memberships.get()
    return world


def last_change_set(row: Any) -> int:
    """Return the primary key of the last change set of a row, to which it can be restored."""
    change = RowChange.objects.about(type(row), row.pk).first()
    return change.change_set_id if change else ChangeSet.objects.latest("pk").pk
