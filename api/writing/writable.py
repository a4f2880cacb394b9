"""Which fields and parts of each resource can be written. Conferences, editions and releases cannot."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.resources import conference, papers, people, schedule
from api.shapes import Resource
from content.models import Content
from papers.models import Authorship, AwardGrant
from people.models import PersonIdentifier, PersonName
from schedule.models import SessionRole, Speaker


@dataclass(frozen=True, slots=True, eq=False)
class WritablePart:
    """Rows that are written with their owner as an ordered list.

    `key`: the columns that identify a row within its owner. `references` and `many`: the name of the
    resource that a column refers to.
    """

    model: type[Content]
    owner: str
    fields: tuple[str, ...]
    key: tuple[str, ...]
    references: Mapping[str, str] = field(default_factory=dict)
    many: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ordered(self) -> bool:
        return hasattr(self.model, "siblings_of")


@dataclass(frozen=True, slots=True, eq=False)
class WritableResource:
    """The writable columns of a resource, their names in the API, and its parts."""

    resource: Resource
    fields: tuple[str, ...]
    # Names in the API that differ from the column.
    called: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, WritablePart] = field(default_factory=dict)

    @property
    def model(self) -> type[Content]:
        return self.resource.model

    @property
    def key(self) -> str:
        """The column of its id; empty where the id is the primary key."""
        return "" if self.resource.key == "pk" else self.resource.key

    @property
    def has_edition(self) -> bool:
        """Whether it has a field for its edition."""
        return self.resource.edition == "edition__slug"

    @property
    def names(self) -> dict[str, str]:
        """The names in the API by column."""
        own = {column: self.called.get(column, column) for column in (*self.fields, *self.references)}
        return {**own, **({self.key: "id"} if self.key else {}), "edition": "edition"}


AUTHORS = WritablePart(
    Authorship,
    "paper",
    ("name", "affiliations", "corresponding", "presenting"),
    key=("person",),
    references={"person": "people"},
    many={"institutions": "institutions"},
)
ROLES = WritablePart(
    SessionRole, "session", ("role", "name", "affiliation"), ("person", "role"), {"person": "people"}
)
SPEAKERS = WritablePart(Speaker, "presentation", ("name", "affiliation"), ("person",), {"person": "people"})
WINNERS = WritablePart(
    AwardGrant, "award", ("citation",), ("paper", "person"), {"paper": "papers", "person": "people"}
)
NAMES = WritablePart(PersonName, "person", ("name", "hidden"), ("name",))
IDENTIFIERS = WritablePart(PersonIdentifier, "person", ("scheme", "value"), ("scheme", "value"))

TEXT = ("title", "abstract")
STATE = ("status", "cancellation_reason")

ALL = (
    WritableResource(
        papers.PAPERS,
        (*TEXT, "lay_summary", "track", "keywords", "decision", "status", "doi", "pages"),
        references={"topic": "topics"},
        parts={"authors": AUTHORS},
    ),
    WritableResource(
        schedule.SESSIONS,
        ("kind", *TEXT, "start", "end", *STATE, "stream_url", "recording_url", "chat_url"),
        references={"room": "rooms", "parent": "sessions"},
        parts={"people": ROLES},
    ),
    WritableResource(
        schedule.PRESENTATIONS,
        ("kind", *TEXT, "start", "end", "board", "position", *STATE, "recording_url"),
        references={"paper": "papers", "session": "sessions", "room": "rooms"},
        parts={"speakers": SPEAKERS},
    ),
    WritableResource(papers.AWARDS, ("name", "citation", "position", "status"), parts={"winners": WINNERS}),
    WritableResource(papers.TOPICS, ("name", "position"), references={"parent": "topics"}),
    WritableResource(
        papers.MATERIALS,
        ("kind", "label", "url", "position", "visible"),
        called={"url": "href"},
        references={"paper": "papers"},
    ),
    WritableResource(
        people.PEOPLE,
        (
            "name", "given", "family", "native_name", "affiliation", "orcid", "homepage", "biography",
            "email",
        ),
        parts={"other_names": NAMES, "identifiers": IDENTIFIERS},
    ),
    WritableResource(people.INSTITUTIONS, ("name", "aliases", "ror", "country")),
    WritableResource(schedule.ROOMS, ("name", "capacity", "virtual", "stream_url", "position")),
    WritableResource(conference.PAGES, ("title", "body", "status")),
    WritableResource(conference.ANNOUNCEMENTS, ("title", "text", "published_at", "pinned", "status")),
    WritableResource(
        conference.SPONSORS,
        ("name", "tier", "url", "description", "position", "status"),
        called={"url": "website"},
    ),
)  # fmt: skip

WRITABLE = {written.resource.name: written for written in ALL}
