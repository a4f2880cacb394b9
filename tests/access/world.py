"""Two editions with one row of each model, one edition hidden, and an account for each role."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model
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

# All kinds of users who may request a URL. "other" is the owner of the other edition.
EVERYBODY = ["anonymous", *reversed(Role.values), "other", "superuser"]
MARKER = "Zyxwv"


@lock()
def rows_of(edition: Edition, word: str, status: str = "draft") -> dict[str, Model]:
    """Create a row of every model in an edition, each named by a word; return them by model label."""
    # A common change set records that they were created for this edition, as by an import.
    with recording(Origin.IMPORT):
        person = make.make_person(f"{word} Author", email=f"{word}@example.org", affiliation=f"{word} Lab")
        institution = make.make_institution(f"{word} University")
        topic = make.make_topic(edition, f"{word} topic")
    paper = make.make_paper(edition, [person], title=f"{word} paper", topic=topic, status=status)
    authorship = paper.authorships.get()
    authorship.institutions.add(institution)
    room = make.make_room(edition, f"{word} hall")
    session = make.make_session(edition, title=f"{word} session", room=room, status=status)
    talk = make.make_presentation(session, speakers=[person], title=f"{word} talk", status=status)
    award = make.make_award(edition, [paper], name=f"{word} award", status=status)
    run = ImportRun.objects.create(edition=edition, files=[f"{word}.json"])
    memory = Provenance.objects.create(kind="paper", object_id=paper.pk, edition=edition, run=run)
    job = ImportJob.objects.create(edition=edition, state="dropped")
    columns = ColumnMapping.objects.create(
        conference=edition.conference, layout=word, name=f"{word}.csv", fields={"title": "title"}
    )
    found: list[Any] = [
        edition, edition.conference, person, institution, topic, paper, authorship, room, session, talk,
        award, run, memory, job, columns,
        make.make_presentation(session, paper, status=status),
        Speaker.objects.get(presentation=talk),
        AwardGrant.objects.get(award=award),
        make.add_role(session, person),
        make.make_material(paper, label=f"{word} slides"),
        make.make_announcement(edition, title=f"{word} news", status=status),
        make.make_key_date(edition, f"{word} date", status=status),
        make.make_page(edition, title=f"{word} page", status=status),
        make.make_menu_item(edition, f"{word} line"),
        make.make_session_kind(edition.conference, f"{word} kind"),
        make.make_sponsor(edition, f"{word} sponsor", status=status),
        make.make_committee_role(edition, person),
        PersonName.objects.create(person=person, name=f"{word} Formerly", hidden=True),
        PersonIdentifier.objects.create(person=person, scheme="dblp", value=word),
        Release.objects.create(edition=edition, number=edition.releases.count() + 1, title=f"{word} release"),
        ProgramInvitation.objects.create(
            edition=edition, person=person, session=session, email=f"{word}@example.org", message=word
        ),
        Unavailability.objects.create(
            edition=edition, person=person, start=make.PAST, end=make.MORNING, note=word
        ),
        Conflict.objects.create(provenance=memory, run=run, field="title", label=f"{word} paper"),
    ]  # fmt: skip
    return {row._meta.label_lower: row for row in found}


@dataclass
class World:
    """Both editions, their rows and accounts. The session chair chairs the only session of `edition`."""

    edition: Edition
    other: Edition
    rows: dict[str, Any]
    others: dict[str, Any]
    users: dict[str, User] = field(default_factory=dict)

    def client(self, who: str) -> Client:
        client = Client()
        if who != "anonymous":
            client.force_login(self.users[who])
        return client


def add_member(name: str, edition: Edition, role: str) -> User:
    user = User.objects.create_user(name, f"{name}@example.org", is_staff=True)
    Membership.objects.create(user=user, edition=edition, role=role)
    return user


@lock()
def make_world() -> World:
    edition = make.make_edition(2021)
    hidden = {"public_from": None, "papers_public_from": None, "schedule_public_from": None}
    series = make.make_conference(slug="other", name=f"{MARKER}Conf")
    other = make.make_edition(2022, conference=series, name=f"{MARKER} 2022", **hidden)
    world = World(edition, other, rows_of(edition, "Ours"), rows_of(other, MARKER))
    for role in Role:
        world.users[str(role)] = add_member(str(role), edition, role)
    # Assign the topic of the paper to the track chair.
    chosen = [f"topic:{world.rows['papers.topic'].pk}"]
    Membership.objects.filter(role=Role.TRACK_CHAIR).update(parts=chosen)
    world.users["other"] = add_member("other", other, Role.OWNER)
    world.users["superuser"] = User.objects.create_superuser("superuser")
    leader = make.make_person("Lea Leader")
    make.add_role(world.rows["schedule.session"], leader, "chair")
    PersonAccount.objects.create(user=world.users["session_chair"], person=leader)
    for rows, name in ((world.rows, "owner"), (world.others, "other")):
        user = world.users[name]
        token, _text = Token.objects.create(user, expiry=timedelta(days=1), prefix="plenary_", name="app")
        rows["api.token"] = token
        rows["accounts.membership"] = user.memberships.get()
    return world


def last_version(row: Any) -> int:
    """Return the primary key of the last change set of a row, to which it can be restored."""
    found = RowChange.objects.about(type(row), row.pk).first()
    return found.change_set_id if found else ChangeSet.objects.latest("pk").pk
