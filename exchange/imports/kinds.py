"""The kinds of things that files hold, as a table: which record stands for which model, field by field.

Declarations only: rows are read as values in `loading.rows` and written in `loading.writing`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from conference.models import Announcement, Conference, Edition, Page, Sponsor
from content.models import Content
from exchange.imports.listings import AUTHORS, COMMITTEE, GRANTS, MATERIALS, MENU, ROLES, SPEAKERS, Listing
from exchange.records import (
    AnnouncementRecord,
    AwardRecord,
    ConferenceRecord,
    EditionRecord,
    InstitutionRecord,
    PageRecord,
    PaperRecord,
    PersonRecord,
    PresentationRecord,
    Record,
    RoomRecord,
    SessionRecord,
    SponsorRecord,
    TopicRecord,
)
from papers.models import Award, Paper, Topic
from people.models import Institution, Person
from schedule.models import Presentation, Room, Session


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of record. `key`: the field that identifies it; `references`: field -> kind pointed at."""

    name: str
    many: str
    record: type[Record]
    model: type[Content]
    key: str
    plain: tuple[str, ...]
    references: Mapping[str, str] = field(default_factory=dict)
    listings: tuple[Listing, ...] = ()
    is_in_edition: bool = True
    # The relation among whose rows a new one takes the last place, for kinds that have an order.
    siblings: tuple[str, ...] = ()
    # Fields that a file gives to new rows alone: what happened to a row that is here, this site knows itself.
    once: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.plain, *self.references, *(listing.name for listing in self.listings))

    def listing(self, name: str) -> Listing | None:
        return next((listing for listing in self.listings if listing.name == name), None)


CONFERENCE = Kind(
    "conference",
    "",
    ConferenceRecord,
    Conference,
    "slug",
    ("name", "full_name", "description", "website"),
    is_in_edition=False,
)
EDITION = Kind(
    "edition",
    "",
    EditionRecord,
    Edition,
    "slug",
    (
        "year",
        "name",
        "start_date",
        "end_date",
        "timezone",
        "second_timezone",
        "venue",
        "city",
        "country",
        "mode",
        "day_start_hour",
        "description",
        "accent",
        "public_from",
        "papers_public_from",
        "schedule_public_from",
    ),
    {"conference": "conference"},
    (MENU, COMMITTEE),
)
INSTITUTION = Kind(
    "institution",
    "institutions",
    InstitutionRecord,
    Institution,
    "slug",
    ("name", "aliases", "ror", "country"),
    is_in_edition=False,
)
# A person's reference lies in `PersonRecord.ref`; identifiers and other names are lists of the person's own.
PERSON = Kind(
    "person",
    "people",
    PersonRecord,
    Person,
    "uid",
    ("name", "given", "family", "native_name", "orcid", "homepage", "biography", "affiliation"),
    is_in_edition=False,
)
PAGE = Kind("page", "pages", PageRecord, Page, "slug", ("title", "body", "status"))
SPONSOR = Kind(
    "sponsor",
    "sponsors",
    SponsorRecord,
    Sponsor,
    "slug",
    ("name", "tier", "url", "description", "position", "status"),
    siblings=("edition",),
)
ANNOUNCEMENT = Kind(
    "announcement",
    "announcements",
    AnnouncementRecord,
    Announcement,
    "uid",
    ("title", "text", "published_at", "pinned", "status"),
)
TOPIC = Kind(
    "topic",
    "topics",
    TopicRecord,
    Topic,
    "slug",
    ("name", "position"),
    {"parent": "topic"},
    siblings=("edition",),
)
ROOM = Kind(
    "room",
    "rooms",
    RoomRecord,
    Room,
    "slug",
    ("name", "capacity", "virtual", "position", "stream_url"),
    siblings=("edition",),
)
PAPER = Kind(
    "paper",
    "papers",
    PaperRecord,
    Paper,
    "uid",
    (
        "title",
        "abstract",
        "lay_summary",
        "track",
        "keywords",
        "decision",
        "status",
        "doi",
        "pages",
    ),
    {"topic": "topic"},
    (AUTHORS, MATERIALS),
)
AWARD = Kind(
    "award",
    "awards",
    AwardRecord,
    Award,
    "uid",
    ("name", "citation", "position", "status"),
    {},
    (GRANTS,),
    siblings=("edition",),
)
SESSION = Kind(
    "session",
    "sessions",
    SessionRecord,
    Session,
    "uid",
    (
        "kind",
        "title",
        "abstract",
        "start",
        "end",
        "status",
        "cancellation_reason",
        "stream_url",
        "recording_url",
        "chat_url",
        "rescheduled_at",
    ),
    {"room": "room", "parent": "session"},
    (ROLES,),
    once=("rescheduled_at",),
)
PRESENTATION = Kind(
    "presentation",
    "presentations",
    PresentationRecord,
    Presentation,
    "uid",
    (
        "kind",
        "title",
        "abstract",
        "start",
        "end",
        "position",
        "board",
        "status",
        "cancellation_reason",
        "recording_url",
        "rescheduled_at",
    ),
    {"paper": "paper", "session": "session", "room": "room"},
    (SPEAKERS,),
    siblings=("edition", "session"),
    once=("rescheduled_at",),
)

# Kinds with many rows in an edition, in the order in which they can be written: references point backwards.
PARTS = (PAGE, SPONSOR, ANNOUNCEMENT, TOPIC, ROOM, PAPER, AWARD, SESSION, PRESENTATION)
KINDS = {
    kind.name: kind for kind in (CONFERENCE, EDITION, INSTITUTION, PERSON, *PARTS)
}  # in the order of reports
