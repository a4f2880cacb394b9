"""Neutral records between files and models, which formats read and write.

They are frozen dataclasses, independent of apps and the database. A reader returns a `Program`, and a writer
takes one. A field that a file does not mention is `UNSTATED`; an empty value means that the file states it is
empty. All datetimes are aware.
"""

from dataclasses import dataclass, field, fields
from datetime import date, datetime
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, TypeGuard, get_args, get_origin, get_type_hints

from exchange.problems import Note, Where


class Unset(Enum):
    """The type of `UNSTATED`, the value of a field that a file does not mention."""

    UNSTATED = "unstated"

    def __bool__(self) -> bool:
        return False


UNSTATED: Final = Unset.UNSTATED
type Stated[T] = T | Unset


def is_stated[T](value: T | Unset) -> TypeGuard[T]:
    """Return whether the file mentions this field."""
    return value is not UNSTATED


def stated[T](value: T | Unset, default: T) -> T:
    """Return the value, or `default` for a field that the file does not mention."""
    return default if isinstance(value, Unset) else value


# The metadata of fields that readers fill, and that no file of this site has.
ONLY_READ = MappingProxyType({"is_only_read": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Base of all records. `where` is the record's position in its file; comparisons ignore it."""

    where: Where = field(default=Where(), compare=False, repr=False, metadata=ONLY_READ)


def field_types(record: type[Record]) -> dict[str, Any]:
    """Return the type of each field that files have; of `Stated[T]` it is T."""
    hints = get_type_hints(record)
    hints = {item.name: hints[item.name] for item in fields(record) if "is_only_read" not in item.metadata}
    return {name: get_args(hint)[0] if get_origin(hint) is Stated else hint for name, hint in hints.items()}


def first_stated(name: str, *records: Record | None) -> Any:
    """Return the first stated value that is not empty, such as of a presentation, else of its session."""
    values = (stated(getattr(record, name), None) for record in records if record)
    return next(filter(None, values), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConferenceRecord(Record):
    slug: str
    name: Stated[str] = UNSTATED
    full_name: Stated[str] = UNSTATED
    description: Stated[str] = UNSTATED
    website: Stated[str] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRef(Record):
    """A reference to a person: by `uid`, `ids` or `orcid` if the file has them, else by name only.

    `ids` contains (scheme, value) pairs such as ("neurips.cc", "457880"). `name` is the printed name. `key`
    identifies the person within the files of one import. `email` is for the chairs alone. `given` and
    `family` are the parts of the name as the file states them, for a person who is new.
    """

    name: str
    uid: str = ""
    orcid: str = ""
    ids: tuple[tuple[str, str], ...] = ()
    key: str = field(default="", compare=False, repr=False, metadata=ONLY_READ)
    email: str = field(default="", compare=False, repr=False, metadata=ONLY_READ)
    given: str = field(default="", compare=False, repr=False, metadata=ONLY_READ)
    family: str = field(default="", compare=False, repr=False, metadata=ONLY_READ)


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuRecord(Record):
    """One line of a menu. `kind`: "section", "page" or "url"; `target` is its name, slug or address."""

    label: str
    kind: str
    target: str
    children: tuple["MenuRecord", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitteeRecord(Record):
    person: PersonRef
    role: str
    affiliation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionRecord(Record):
    slug: str
    conference: Stated[str] = UNSTATED
    year: Stated[int] = UNSTATED
    name: Stated[str] = UNSTATED
    start_date: Stated[date] = UNSTATED
    end_date: Stated[date] = UNSTATED
    timezone: Stated[str] = UNSTATED
    second_timezone: Stated[str] = UNSTATED
    venue: Stated[str] = UNSTATED
    city: Stated[str] = UNSTATED
    country: Stated[str] = UNSTATED
    mode: Stated[str] = UNSTATED
    day_start_hour: Stated[int] = UNSTATED
    registration_url: Stated[str] = UNSTATED
    venue_address: Stated[str] = UNSTATED
    map_url: Stated[str] = UNSTATED
    description: Stated[str] = UNSTATED
    accent: Stated[str] = UNSTATED
    hero_focus: Stated[str] = UNSTATED
    home_sections: Stated[tuple[str, ...]] = UNSTATED
    sponsor_tiers: Stated[tuple[str, ...]] = UNSTATED
    committee_offices: Stated[tuple[str, ...]] = UNSTATED
    proceedings_title: Stated[str] = UNSTATED
    proceedings_series: Stated[str] = UNSTATED
    proceedings_volume: Stated[str] = UNSTATED
    proceedings_editors: Stated[tuple[str, ...]] = UNSTATED
    publisher: Stated[str] = UNSTATED
    publisher_place: Stated[str] = UNSTATED
    isbn: Stated[str] = UNSTATED
    issn: Stated[str] = UNSTATED
    license: Stated[str] = UNSTATED
    data_license: Stated[str] = UNSTATED
    public_from: Stated[datetime | None] = UNSTATED
    papers_public_from: Stated[datetime | None] = UNSTATED
    schedule_public_from: Stated[datetime | None] = UNSTATED
    menu: Stated[tuple[MenuRecord, ...]] = UNSTATED
    committee: Stated[tuple[CommitteeRecord, ...]] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord(Record):
    slug: str
    title: Stated[str] = UNSTATED
    body: Stated[str] = UNSTATED
    status: Stated[str] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class SponsorRecord(Record):
    slug: str
    name: Stated[str] = UNSTATED
    tier: Stated[str] = UNSTATED
    url: Stated[str] = UNSTATED
    description: Stated[str] = UNSTATED
    position: Stated[int] = UNSTATED
    status: Stated[str] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncementRecord(Record):
    uid: str
    title: Stated[str] = UNSTATED
    text: Stated[str] = UNSTATED
    published_at: Stated[datetime] = UNSTATED
    pinned: Stated[bool] = UNSTATED
    status: Stated[str] = UNSTATED
    banner_until: Stated[datetime | None] = UNSTATED
    session_uid: Stated[str] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyDateRecord(Record):
    """A key date; exactly one of `day` and `moment` is set."""

    uid: str
    title: Stated[str] = UNSTATED
    day: Stated[date | None] = UNSTATED
    moment: Stated[datetime | None] = UNSTATED
    url: Stated[str] = UNSTATED
    position: Stated[int] = UNSTATED
    status: Stated[str] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class InstitutionRecord(Record):
    slug: str
    name: Stated[str] = UNSTATED
    aliases: Stated[tuple[str, ...]] = UNSTATED
    ror: Stated[str] = UNSTATED
    country: Stated[str] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRecord(Record):
    """A person with all public fields. Files of this site have no e-mail addresses or hidden names."""

    ref: PersonRef
    given: Stated[str] = UNSTATED
    family: Stated[str] = UNSTATED
    native_name: Stated[str] = UNSTATED
    homepage: Stated[str] = UNSTATED
    biography: Stated[str] = UNSTATED
    affiliation: Stated[str] = UNSTATED
    other_names: Stated[tuple[str, ...]] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoRecord(Record):
    """The address of a picture, for a person who has no photo on this site. Only read."""

    person: PersonRef
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRecord(Record):
    slug: str
    name: Stated[str] = UNSTATED
    parent: Stated[str | None] = UNSTATED
    position: Stated[int] = UNSTATED
    color: Stated[str] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRecord(Record):
    """A kind of sessions or presentations that the conference added. `counts_as`: a built-in kind."""

    slug: str
    name: Stated[str] = UNSTATED
    counts_as: Stated[str] = UNSTATED
    color: Stated[str] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomRecord(Record):
    slug: str
    name: Stated[str] = UNSTATED
    capacity: Stated[int | None] = UNSTATED
    poster_boards: Stated[str] = UNSTATED
    virtual: Stated[bool] = UNSTATED
    position: Stated[int] = UNSTATED
    stream_url: Stated[str] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorRecord(Record):
    """One author of one paper, in order. `institutions` are slugs of `InstitutionRecord`s."""

    person: PersonRef
    affiliations: tuple[str, ...] = ()
    institutions: tuple[str, ...] = ()
    corresponding: bool = False
    presenting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterialRecord(Record):
    kind: str
    url: str
    label: str = ""
    visible: bool = True
    license: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRecord(Record):
    uid: str
    title: Stated[str] = UNSTATED
    abstract: Stated[str] = UNSTATED
    lay_summary: Stated[str] = UNSTATED
    track: Stated[str] = UNSTATED
    topic: Stated[str | None] = UNSTATED
    keywords: Stated[tuple[str, ...]] = UNSTATED
    decision: Stated[str] = UNSTATED
    status: Stated[str] = UNSTATED
    doi: Stated[str] = UNSTATED
    pages: Stated[str] = UNSTATED
    license: Stated[str] = UNSTATED
    authors: Stated[tuple[AuthorRecord, ...]] = UNSTATED
    materials: Stated[tuple[MaterialRecord, ...]] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRecord(Record):
    """The winner of an award: either a paper (of `edition`; empty = this one) or a person."""

    paper: str = ""
    edition: str = ""
    person: PersonRef | None = None
    citation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardRecord(Record):
    uid: str
    name: Stated[str] = UNSTATED
    citation: Stated[str] = UNSTATED
    position: Stated[int] = UNSTATED
    status: Stated[str] = UNSTATED
    grants: Stated[tuple[GrantRecord, ...]] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRecord(Record):
    """A person's part in a session: "speaker", "moderator", "chair", "panelist" or "organizer"."""

    person: PersonRef
    role: str
    affiliation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord(Record):
    uid: str
    kind: Stated[str] = UNSTATED
    title: Stated[str] = UNSTATED
    abstract: Stated[str] = UNSTATED
    start: Stated[datetime] = UNSTATED
    end: Stated[datetime] = UNSTATED
    room: Stated[str | None] = UNSTATED
    parent: Stated[str | None] = UNSTATED
    status: Stated[str] = UNSTATED
    cancellation_reason: Stated[str] = UNSTATED
    stream_url: Stated[str] = UNSTATED
    recording_url: Stated[str] = UNSTATED
    chat_url: Stated[str] = UNSTATED
    language: Stated[str] = UNSTATED
    rescheduled_at: Stated[datetime | None] = UNSTATED
    roles: Stated[tuple[RoleRecord, ...]] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerRecord(Record):
    person: PersonRef
    affiliation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentationRecord(Record):
    """One appearance: of a paper, or a talk with its own title and speakers.

    `session` empty = not scheduled; `start` and `end` empty = the session's.
    """

    uid: str
    kind: Stated[str] = UNSTATED
    paper: Stated[str | None] = UNSTATED
    title: Stated[str] = UNSTATED
    abstract: Stated[str] = UNSTATED
    session: Stated[str | None] = UNSTATED
    start: Stated[datetime | None] = UNSTATED
    end: Stated[datetime | None] = UNSTATED
    position: Stated[int] = UNSTATED
    board: Stated[str] = UNSTATED
    room: Stated[str | None] = UNSTATED
    status: Stated[str] = UNSTATED
    cancellation_reason: Stated[str] = UNSTATED
    recording_url: Stated[str] = UNSTATED
    rescheduled_at: Stated[datetime | None] = UNSTATED
    speakers: Stated[tuple[SpeakerRecord, ...]] = UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """All records of one edition in a file or set of files. Order within a kind is preserved."""

    conference: ConferenceRecord | None = None
    edition: EditionRecord | None = None
    institutions: tuple[InstitutionRecord, ...] = ()
    people: tuple[PersonRecord, ...] = ()
    pages: tuple[PageRecord, ...] = ()
    sponsors: tuple[SponsorRecord, ...] = ()
    announcements: tuple[AnnouncementRecord, ...] = ()
    key_dates: tuple[KeyDateRecord, ...] = ()
    topics: tuple[TopicRecord, ...] = ()
    session_kinds: tuple[KindRecord, ...] = ()
    presentation_kinds: tuple[KindRecord, ...] = ()
    rooms: tuple[RoomRecord, ...] = ()
    papers: tuple[PaperRecord, ...] = ()
    awards: tuple[AwardRecord, ...] = ()
    sessions: tuple[SessionRecord, ...] = ()
    presentations: tuple[PresentationRecord, ...] = ()
    photos: tuple[PhotoRecord, ...] = ()
    notes: tuple[Note, ...] = field(default=(), compare=False)
