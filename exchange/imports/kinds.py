"""Mapping of records to models, and the lists inside records.

`exchange.imports.rows` reads rows as values, and `exchange.imports.writing` writes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from django.db.models import Field

from conference.models import Announcement, Conference, Edition, KeyDate, MenuItem, Page, Sponsor
from content.models import Content
from exchange import records
from exchange.records import Record
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from people.models import CommitteeRole, Institution, Person
from schedule.models import Presentation, Room, Session, SessionRole, Speaker

# Fields of a record by name, as JSON values: texts, numbers, lists, parts of lists.
type Values = dict[str, Any]


# Lookups of fields that have another name in the row of a part than in its record.
PART_PATHS = {"person": "person__uid", "paper": "paper__uid", "edition": "paper__edition__slug"}


@dataclass(frozen=True, eq=False)
class Listing:
    """A field with an ordered list of parts, each stored as a row. Lists are compared as a whole.

    `identity`: the columns that identify a part. `extra_columns`: columns that are no field of the record.
    A list of plain texts, such as keywords, is an ordinary field.
    """

    name: str
    model: type[Content]
    owner: str
    record: type[Record]
    identity: tuple[str, ...]
    extra_columns: Mapping[str, str] = field(default_factory=dict)
    # The row stores the person's name as printed.
    has_printed_name: bool = False
    # Whether a list may contain the same part twice.
    may_repeat: bool = False

    @cached_property
    def columns(self) -> dict[str, str]:
        """Lookups of the fields of a part. Institutions and nested menus are read separately."""
        names = [
            record_field.name
            for record_field in fields(self.record)
            if record_field.name not in ("where", "institutions")
        ]
        lookups = (
            {} if self.record is records.MenuRecord else {name: PART_PATHS.get(name, name) for name in names}
        )
        return {**lookups, **self.extra_columns, **({"name": "name"} if self.has_printed_name else {})}


@dataclass(frozen=True)
class Kind:
    """One kind of record. `key`: the field that identifies it; `references`: field -> kind it refers to."""

    name: str
    plural: str
    record: type[Record]
    model: type[Content]
    key: str
    references: Mapping[str, str] = field(default_factory=dict)
    listings: tuple[Listing, ...] = ()
    is_in_edition: bool = True
    # For ordered kinds: the fields that siblings share. A new row is placed after its siblings.
    siblings: tuple[str, ...] = ()
    # Fields that are imported for new rows only, since this site records the changes of existing rows.
    only_on_create: tuple[str, ...] = ()

    @cached_property
    def plain_fields(self) -> tuple[str, ...]:
        """The fields that are neither the key nor a reference nor a list of parts."""
        if self.record is records.PersonRecord:
            # `ref` identifies the person; identifiers and other names are listings.
            return PERSON_FIELDS
        excluded = {"where", self.key, *self.references, *(listing.name for listing in self.listings)}
        return tuple(
            record_field.name for record_field in fields(self.record) if record_field.name not in excluded
        )

    @cached_property
    def columns(self) -> dict[str, Field[object, object]]:
        return {column.name: column for column in self.model._meta.concrete_fields}

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.plain_fields, *self.references, *(listing.name for listing in self.listings))

    @cached_property
    def _listings_by_name(self) -> dict[str, Listing]:
        return {listing.name: listing for listing in self.listings}

    def listing(self, name: str) -> Listing | None:
        return self._listings_by_name.get(name)


PERSON_FIELDS = ("name", "given", "family", "native_name", "orcid", "homepage", "biography", "affiliation")

AUTHORS = Listing("authors", Authorship, "paper", records.AuthorRecord, ("person",), has_printed_name=True)
MATERIALS = Listing(
    "materials", Material, "paper", records.MaterialRecord, ("kind", "url"), {"file": "file"}, may_repeat=True
)
GRANTS = Listing("grants", AwardGrant, "award", records.GrantRecord, ("paper", "edition", "person"))
ROLES = Listing(
    "roles", SessionRole, "session", records.RoleRecord, ("person", "role"), has_printed_name=True
)
SPEAKERS = Listing(
    "speakers", Speaker, "presentation", records.SpeakerRecord, ("person",), has_printed_name=True
)
COMMITTEE = Listing("committee", CommitteeRole, "edition", records.CommitteeRecord, ("person", "role"))
MENU = Listing(
    "menu",
    MenuItem,
    "edition",
    records.MenuRecord,
    (),
    {"label": "label", "section": "section", "page": "page__slug", "url": "url", "parent": "parent_id"},
    may_repeat=True,
)

CONFERENCE = Kind("conference", "", records.ConferenceRecord, Conference, "slug", is_in_edition=False)
EDITION = Kind(
    "edition",
    "",
    records.EditionRecord,
    Edition,
    "slug",
    {"conference": "conference"},
    (MENU, COMMITTEE),
)
INSTITUTION = Kind(
    "institution", "institutions", records.InstitutionRecord, Institution, "slug", is_in_edition=False
)
PERSON = Kind("person", "people", records.PersonRecord, Person, "uid", is_in_edition=False)
PAGE = Kind("page", "pages", records.PageRecord, Page, "slug")
SPONSOR = Kind("sponsor", "sponsors", records.SponsorRecord, Sponsor, "slug", siblings=("edition",))
ANNOUNCEMENT = Kind("announcement", "announcements", records.AnnouncementRecord, Announcement, "uid")
KEY_DATE = Kind("key_date", "key_dates", records.KeyDateRecord, KeyDate, "uid", siblings=("edition",))
TOPIC = Kind(
    "topic", "topics", records.TopicRecord, Topic, "slug", {"parent": "topic"}, siblings=("edition",)
)
ROOM = Kind("room", "rooms", records.RoomRecord, Room, "slug", siblings=("edition",))
PAPER = Kind("paper", "papers", records.PaperRecord, Paper, "uid", {"topic": "topic"}, (AUTHORS, MATERIALS))
AWARD = Kind("award", "awards", records.AwardRecord, Award, "uid", listings=(GRANTS,), siblings=("edition",))
SESSION = Kind(
    "session",
    "sessions",
    records.SessionRecord,
    Session,
    "uid",
    {"room": "room", "parent": "session"},
    (ROLES,),
    only_on_create=("rescheduled_at",),
)
PRESENTATION = Kind(
    "presentation",
    "presentations",
    records.PresentationRecord,
    Presentation,
    "uid",
    {"paper": "paper", "session": "session", "room": "room"},
    (SPEAKERS,),
    siblings=("edition", "session"),
    only_on_create=("rescheduled_at",),
)

# Kinds with many rows in an edition, in the order of writing: references point to earlier kinds.
EDITION_KINDS = (PAGE, SPONSOR, ANNOUNCEMENT, KEY_DATE, TOPIC, ROOM, PAPER, AWARD, SESSION, PRESENTATION)
# All kinds, in the order of reports.
KINDS = {kind.name: kind for kind in (CONFERENCE, EDITION, INSTITUTION, PERSON, *EDITION_KINDS)}
