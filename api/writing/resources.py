"""What may be written. Conferences, editions and releases are made in the admin."""

from api.resources import conference, papers, people, schedule
from api.writing.declared import Part, Written
from papers.models import Authorship, AwardGrant
from people.models import PersonIdentifier, PersonName
from schedule.models import SessionRole, Speaker

AUTHORS = Part(
    Authorship,
    "paper",
    ("name", "affiliations", "corresponding", "presenting"),
    key=("person",),
    references={"person": "people"},
    many={"institutions": "institutions"},
)
ROLES = Part(
    SessionRole, "session", ("role", "name", "affiliation"), ("person", "role"), {"person": "people"}
)
SPEAKERS = Part(Speaker, "presentation", ("name", "affiliation"), ("person",), {"person": "people"})
WINNERS = Part(
    AwardGrant, "award", ("citation",), ("paper", "person"), {"paper": "papers", "person": "people"}
)
NAMES = Part(PersonName, "person", ("name", "hidden"), ("name",))
IDENTIFIERS = Part(PersonIdentifier, "person", ("scheme", "value"), ("scheme", "value"))

TEXT = ("title", "abstract")
STATE = ("status", "cancellation_reason")

ALL = (
    Written(
        papers.PAPERS,
        (*TEXT, "lay_summary", "track", "keywords", "decision", "status", "doi", "pages"),
        references={"topic": "topics"},
        parts={"authors": AUTHORS},
    ),
    Written(
        schedule.SESSIONS,
        ("kind", *TEXT, "start", "end", *STATE, "stream_url", "recording_url", "chat_url"),
        references={"room": "rooms", "parent": "sessions"},
        parts={"people": ROLES},
    ),
    Written(
        schedule.PRESENTATIONS,
        ("kind", *TEXT, "start", "end", "board", "position", *STATE, "recording_url"),
        references={"paper": "papers", "session": "sessions", "room": "rooms"},
        parts={"speakers": SPEAKERS},
    ),
    Written(papers.AWARDS, ("name", "citation", "position", "status"), parts={"winners": WINNERS}),
    Written(papers.TOPICS, ("name", "position"), references={"parent": "topics"}),
    Written(
        papers.MATERIALS,
        ("kind", "label", "url", "position", "visible"),
        called={"url": "href"},
        references={"paper": "papers"},
    ),
    Written(
        people.PEOPLE,
        (
            "name", "given", "family", "native_name", "affiliation", "orcid", "homepage", "biography",
            "email",
        ),
        parts={"other_names": NAMES, "identifiers": IDENTIFIERS},
    ),
    Written(people.INSTITUTIONS, ("name", "aliases", "ror", "country")),
    Written(schedule.ROOMS, ("name", "capacity", "virtual", "stream_url", "position")),
    Written(conference.PAGES, ("title", "body", "status")),
    Written(conference.ANNOUNCEMENTS, ("title", "text", "published_at", "pinned", "status")),
    Written(
        conference.SPONSORS,
        ("name", "tier", "url", "description", "position", "status"),
        called={"url": "website"},
    ),
)  # fmt: skip

WRITTEN = {written.resource.name: written for written in ALL}
