"""A small public program, and hidden rows of every kind that contain a marker."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from conference.models import Edition
from content.revision import lock
from people.merging import merge
from people.models import Person, PersonName
from schedule.models import Release, Session
from schedule.releases import announce
from tests import factories as make

# A word in all hidden rows and in no public one.
MARKER = "Xyzzyqwert"
MARKER_LOWER = MARKER.lower()
# Pages of the public program, one of each type.
PAGES = (
    "/2021/", "/2021/papers/", "/2021/papers/p1/notes/", "/2021/topics/engines/", "/2021/awards/",
    "/2021/statistics/", "/2021/schedule/", "/2021/schedule/2021-04-06/", "/2021/schedule/?view=now",
    "/2021/sessions/s1/engines/", "/2021/talks/", "/2021/posters/", "/2021/recordings/", "/2021/changes/",
    "/2021/rooms/hall/", "/2021/pages/guide/", "/2021/sponsors/", "/2021/committee/", "/2021/downloads/",
    "/people/", "/people/ada/ada-lovelace/", "/institutions/", "/institutions/kings/", "/awards/",
    "/pages/conduct/", "/",
)  # fmt: skip
# Pages that show drafts of the program with hidden rows in a preview.
DRAFT_PATHS = [
    f"/2021/papers/{MARKER_LOWER}-p/{MARKER_LOWER}/",
    "/2021/papers/",
    f"/2021/sessions/{MARKER_LOWER}-s/{MARKER_LOWER}/",
    "/2021/schedule/",
    "/2021/schedule/2021-04-06/",
    "/2021/awards/",
    f"/2021/pages/{MARKER_LOWER}-page/",
    "/2021/sponsors/",
    "/2021/changes/",
    f"/2021/rooms/{MARKER_LOWER}-room/",
    f"/2021/topics/{MARKER_LOWER}-topic/",
    "/people/",
    "/2021/",
]


@lock()
def make_public_program() -> dict[str, Any]:
    """Create one public row of every model; return sample arguments for every URL that shows them."""
    edition = make.make_edition(accent="#0b6b62")
    ada = make.make_person("Ada Lovelace", uid="ada", email="ada@example.org", biography="She wrote notes.")
    topic = make.make_topic(edition, slug="engines")
    paper = make.make_paper(edition, [ada], uid="p1", title="Notes", topic=topic, track="Research")
    make.make_material(paper)
    paper.authorships.get().institutions.add(make.make_institution("King's College", slug="kings"))
    room = make.make_room(edition, slug="hall")
    talk = make.make_session(edition, uid="t1", kind="invited_talk", title="Keynote", room=room)
    make.add_role(talk, ada, "speaker")
    session = make.make_session(
        edition, uid="s1", title="Engines", room=room, recording_url="https://e.org/v"
    )
    make.make_presentation(session, paper, uid="a1")
    make.make_presentation(paper=paper, uid="a2", kind="poster", board="12")
    make.make_award(edition, [paper, ada])
    make.make_page(edition, slug="guide")
    make.make_page(None, slug="conduct")
    make.make_sponsor(edition)
    make.make_announcement(edition)
    make.make_key_date(edition)
    make.make_committee_role(edition, ada)
    announce(edition, make.PAST)
    make.make_session(edition, uid="s2", title="Addendum")
    announce(edition, make.PAST)
    return {"edition": edition, "paper": paper, "person": ada, "session": session, "room": room}


@lock()
def add_hidden_rows(edition: Edition, paper: Any, person: Person, session: Any) -> None:
    """Create drafts with the marker, and put the marker into private fields of public rows."""
    person.email = f"{MARKER_LOWER}@example.org"
    person.save()
    add_hidden_former_name(edition, person)
    add_draft_content(edition)
    add_session_back_to_draft(edition)
    add_draft_schedule(edition, paper, person, session)
    add_draft_papers(edition, paper, person)
    other = make.make_edition(2030, public_from=None, name=f"MLSys {MARKER}", city=MARKER)
    fill_hidden_edition(other)


def add_hidden_former_name(edition: Edition, person: Person) -> None:
    """Create a hidden former name of a person, under which papers, roles and talks were printed."""
    former = f"Ada {MARKER}"
    PersonName.objects.create(person=person, name=former, hidden=True)
    paper = make.make_paper(edition, title="Old notes")
    make.add_author(paper, person, name=former)
    session = make.make_session(edition, title="Old session")
    make.add_role(session, person, name=former)
    talk = make.make_presentation(session, title="Old talk")
    talk.speakers.create(person=person, name=former)
    make.make_presentation(session, paper)
    merge_people_with_hidden_names(edition, person, former)


def merge_people_with_hidden_names(edition: Edition, person: Person, former: str) -> None:
    """Merge two people into a person: one with the hidden name, one whose name is hidden by the merge."""
    for number, name in enumerate((former, f"{MARKER} Lovelace")):
        uid = f"{MARKER_LOWER}-m{number or ''}"
        other = make.make_person(name, uid=uid, native_name=MARKER, affiliation=MARKER, email=f"{uid}@e.org")
        make.add_author(make.make_paper(edition, title=f"Merged notes {number}"), other)
        make.make_committee_role(edition, other, f"Chair {number}")
        make.make_presentation(make.make_session(edition), title="Merged talk", speakers=[other])
        chosen = dict.fromkeys(("native_name", "affiliation", "email"), person.pk)
        merge.merge(person, [other], chosen, hide=[name])
        person.refresh_from_db()


def add_draft_content(edition: Edition) -> None:
    """Create drafts of pages, sponsors, announcements, key dates and releases."""
    make.make_page(edition, slug=f"{MARKER_LOWER}-page", title=MARKER, body=MARKER, status="draft")
    make.make_page(None, slug=f"{MARKER_LOWER}-page", title=MARKER, status="draft")
    make.make_sponsor(edition, f"{MARKER} Inc", tier=MARKER, status="draft")
    make.make_announcement(edition, title=MARKER, text=MARKER, status="draft")
    make.make_key_date(edition, MARKER, status="draft")
    later = timezone.now() + timedelta(days=1)
    make.make_announcement(edition, title=MARKER, text=MARKER, published_at=later)
    Release.objects.create(edition=edition, number=90, title=MARKER, text=MARKER, published_at=later)


def add_session_back_to_draft(edition: Edition) -> None:
    """Create an announced session that became a draft again without an announcement."""
    session = make.make_session(edition, uid="back-to-draft", title=MARKER)
    announce(edition, make.PAST)
    Session.objects.filter(pk=session.pk).update(status="draft")


def add_draft_schedule(edition: Edition, paper: Any, person: Person, session: Any) -> None:
    """Create drafts in the timetable, and people and rooms that only drafts show."""
    room = make.make_room(edition, MARKER, slug=f"{MARKER_LOWER}-room")
    draft = make.make_session(edition, uid=f"{MARKER_LOWER}-s", title=MARKER, status="draft", room=room)
    make.add_role(draft, f"Only {MARKER}")
    subsession = make.make_session(edition, uid=f"{MARKER_LOWER}-part", title=MARKER, parent=draft)
    make.make_presentation(subsession, title=MARKER, speakers=[f"Second {MARKER}"], uid=f"{MARKER_LOWER}-a")
    make.make_presentation(draft, paper, uid=f"{MARKER_LOWER}-b", board=MARKER)
    make.make_presentation(session, title=MARKER, speakers=[f"Third {MARKER}"], status="draft")
    make.make_presentation(
        session, make.make_paper(edition, title=MARKER, status="draft"), uid=f"{MARKER_LOWER}-c"
    )


def add_draft_papers(edition: Edition, paper: Any, person: Person) -> None:
    """Create draft and withdrawn papers with authors, topics, tracks and awards, and hidden material."""
    topic = make.make_topic(edition, MARKER, slug=f"{MARKER_LOWER}-topic")
    institution = make.make_institution(f"University of {MARKER}", slug=f"{MARKER_LOWER}-university")
    draft = make.make_paper(
        edition,
        uid=f"{MARKER_LOWER}-p",
        title=MARKER,
        topic=topic,
        track=MARKER,
        keywords=[MARKER],
        status="draft",
    )
    author = make.add_author(draft, f"Drafted {MARKER}", affiliations=[MARKER])
    author.institutions.add(institution)
    make.make_paper(
        edition, [person], uid=f"{MARKER_LOWER}-w", title=MARKER, track=MARKER, status="withdrawn"
    )
    make.make_material(paper, label=MARKER, url=f"https://example.org/{MARKER}", visible=False)
    make.make_award(edition, [paper, person], name=MARKER, citation=MARKER, status="draft")
    make.make_award(edition, [draft], name="Open award")


def fill_hidden_edition(edition: Edition) -> None:
    """Create a complete program in an edition that is not public."""
    ghost = make.make_person(f"Ghost {MARKER}", uid=f"{MARKER_LOWER}-ghost")
    paper = make.make_paper(edition, [ghost], uid=f"{MARKER_LOWER}-ghost", title=MARKER)
    session = make.make_session(edition, uid=f"{MARKER_LOWER}-ghost", title=MARKER)
    make.add_role(session, ghost)
    make.make_presentation(session, paper)
    make.make_award(edition, [paper, ghost], name=MARKER)
    make.make_page(edition, slug=f"{MARKER_LOWER}-ghost", title=MARKER)
    make.make_sponsor(edition, MARKER)
    make.make_announcement(edition, title=MARKER, text=MARKER)
    make.make_key_date(edition, MARKER)
    make.make_committee_role(edition, ghost, MARKER)
    Release.objects.create(edition=edition, number=1, title=MARKER, text=MARKER)


@lock()
def make_program_with_hidden_rows() -> dict[str, Any]:
    """Create a public program and hidden rows of every kind."""
    program = make_public_program()
    add_hidden_rows(program["edition"], program["paper"], program["person"], program["session"])
    return program
