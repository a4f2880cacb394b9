"""Rooms, sessions (breaks and registration are sessions like any other), presentations, releases."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from django.db.models import DateTimeField, F, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from api.filters import PresentationFilter, ReleaseFilter, RoomFilter, SessionFilter
from api.resources.conference import EDITION
from api.resources.papers import paper_path
from api.shapes import (
    Field,
    Resource,
    Row,
    Rows,
    Shape,
    ToMany,
    ToOne,
    column_field,
    column_fields,
    kind_fields,
    moment_field,
    page_field,
    plain,
    slug,
    timezone_field,
    with_names,
)
from content import times
from schedule.models import Presentation, Release, Room, Session, SessionRole, Speaker

# A moment after all others, to list rows without a time last.
NEVER = Value(datetime(9000, 1, 1, tzinfo=UTC), DateTimeField())
ZONE, HOUR = "edition__timezone", "edition__day_start_hour"


def day_field(name: str) -> Field:
    """Return the field of a moment's program day: a talk at 00:30 belongs to the day before."""

    def make(row: Row) -> str | None:
        if row[name] is None:
            return None
        return times.program_day(row[name], ZoneInfo(row[ZONE]), row[HOUR]).isoformat()

    schema = {"type": ["string", "null"], "format": "date"}
    return Field((name, ZONE, HOUR), make, _("The program day it belongs to."), schema)


def cancellation_fields(*levels: str) -> dict[str, Field]:
    """Return the fields of whether and why a row is cancelled; `levels` are lookups of it and its owners."""
    states = tuple(f"{level}status" for level in levels)
    reasons = tuple(f"{level}cancellation_reason" for level in levels)

    def first_reason(row: Row) -> str:
        pairs = zip(states, reasons, strict=True)
        return next((row[reason] for state, reason in pairs if row[state] == "cancelled" and row[reason]), "")

    return {
        "cancelled": Field(
            states,
            lambda row: "cancelled" in {row[state] for state in states},
            _("Whether it is canceled but still listed."),
            {"type": "boolean"},
        ),
        "cancellation_reason": Field((*states, *reasons), first_reason, _("Why, in the chairs' words.")),
    }


def session_path(row: Row, prefix: str = "") -> str:
    title = slug(row[f"{prefix}title"])
    return f"/{row['edition__slug']}/sessions/{row[f'{prefix}uid']}/{title}/"


ROOMS = Resource(
    name="rooms",
    help=_("Rooms in which something public takes place."),
    model=Room,
    key="slug",
    edition="edition__slug",
    page=page_field(("slug", "edition__slug"), lambda row: f"/{row['edition__slug']}/rooms/{row['slug']}/"),
    filters=RoomFilter,
    fields=column_fields(Room, "name", "capacity", "poster_boards", "virtual", "stream_url", "position"),
    to_one={"edition": EDITION},
    lists={"sessions": "room", "presentations": "room"},
    orders={"name": F("name"), "position": F("position")},
    writable=("name", "capacity", "poster_boards", "virtual", "stream_url", "position"),
)

ROLES = Shape(
    title="SessionPerson",
    model=SessionRole,
    prepare=with_names,
    writable=("role", "name", "affiliation"),
    part_key=("person", "role"),
    fields={
        **column_fields(SessionRole, "role"),
        "name": column_field("shown_name", _("The name as printed.")),
        **column_fields(SessionRole, "affiliation"),
    },
    to_one={"person": ToOne("people", "person", _("The person."))},
)

SESSION_COLUMNS = (
    "kind", "title", "abstract", "start", "end", "status", "cancellation_reason", "stream_url",
    "recording_url", "chat_url", "language",
)  # fmt: skip

SESSIONS = Resource(
    name="sessions",
    help=_("The blocks of the timetable: talks, posters, breaks, registration."),
    model=Session,
    key="uid",
    edition="edition__slug",
    page=page_field(("uid", "title", "edition__slug"), session_path),
    filters=SessionFilter,
    fields={
        **kind_fields(Session, _("What it is.")),
        **column_fields(Session, "title", "abstract"),
        "start": moment_field("start", ZONE, _("When it begins.")),
        "end": moment_field("end", ZONE, _("When it ends.")),
        "timezone": timezone_field(ZONE),
        "day": day_field("start"),
        **cancellation_fields("", "parent__"),
        **column_fields(Session, "stream_url", "recording_url", "chat_url", "language", "status"),
    },
    to_one={
        "edition": EDITION,
        "room": ToOne("rooms", "room", _("Where it is.")),
        "parent": ToOne("sessions", "parent", _("The workshop or tutorial that it is part of.")),
    },
    to_many={
        "people": ToMany(ROLES, "session", _("Speakers, chairs and others, in order."), ("position", "pk")),
        "presentations": ToMany(
            "presentations", "session", _("What is presented."), ("begins", "position", "pk")
        ),
        "parts": ToMany("sessions", "parent", _("The sessions in it."), ("start", "pk")),
    },
    lists={"presentations": "session", "sessions": "parent", "papers": "session"},
    orders={"start": F("start"), "title": F("title")},
    kind="session",
    writable=SESSION_COLUMNS,
)

SPEAKERS = Shape(
    title="Speaker",
    model=Speaker,
    prepare=with_names,
    writable=("name", "affiliation"),
    part_key=("person",),
    fields={
        "name": column_field("shown_name", _("The name as printed.")),
        **column_fields(Speaker, "affiliation"),
    },
    to_one={"person": ToOne("people", "person", _("The person."))},
)


def with_times_and_rooms(rows: Rows, at: datetime) -> Rows:
    """Annotate presentations with their times and room, or else those of their sessions."""
    annotated: Rows = rows.annotate(
        begins=Coalesce("start", "session__start", NEVER),
        starts=Coalesce("start", "session__start"),
        ends=Coalesce("end", "session__end"),
        place=Coalesce("room", "session__room"),
        place_slug=Coalesce("room__slug", "session__room__slug"),
    )
    return annotated


def title_of(row: Row) -> str:
    return row["title"] or row["paper__title"] or ""


def presentation_path(row: Row) -> str:
    """Return the path of the page of the paper, else of the session, else of the edition."""
    if row["paper__uid"]:
        return paper_path({**row, "paper__edition__slug": row["edition__slug"]}, "paper__")
    return session_path(row, "session__") if row["session__uid"] else f"/{row['edition__slug']}/"


PRESENTATION_COLUMNS = (
    "kind", "title", "abstract", "start", "end", "board", "position", "status", "cancellation_reason",
    "recording_url",
)  # fmt: skip

PRESENTATIONS = Resource(
    name="presentations",
    help=_("Appearances of papers, and talks of their own."),
    model=Presentation,
    key="uid",
    edition="edition__slug",
    prepare=with_times_and_rooms,
    page=page_field(
        ("edition__slug", "paper__uid", "paper__title", "session__uid", "session__title"), presentation_path
    ),
    filters=PresentationFilter,
    fields={
        **kind_fields(Presentation, _("How it is presented.")),
        "title": Field(
            ("title", "paper__title"), title_of, _("Its own title, else its paper's. Markdown with TeX.")
        ),
        "title_html": Field(
            ("title_html", "paper__title_html"),
            lambda row: row["title_html"] or row["paper__title_html"] or "",
            _("As safe HTML."),
        ),
        "title_plain": Field(
            ("title", "paper__title"), lambda row: plain(title_of(row)), _("Without markup.")
        ),
        **column_fields(
            Presentation, "abstract", abstract=_("Its own abstract; empty where its paper's holds.")
        ),
        "start": moment_field(
            "starts", ZONE, _("When it begins; null while it is not scheduled."), empty=True
        ),
        "end": moment_field("ends", ZONE, _("When it ends."), empty=True),
        "timezone": timezone_field(ZONE),
        "day": day_field("starts"),
        **column_fields(Presentation, "position", "board"),
        **cancellation_fields("", "session__", "session__parent__"),
        **column_fields(Presentation, "recording_url", "status"),
    },
    to_one={
        "edition": EDITION,
        "paper": ToOne("papers", "paper", _("The paper that is presented; null for a talk of its own.")),
        "session": ToOne("sessions", "session", _("The session it is in; null while it is not scheduled.")),
        "room": ToOne("rooms", "place", _("Where it is."), key="place_slug", edition="edition__slug"),
    },
    to_many={
        "speakers": ToMany(
            SPEAKERS, "presentation", _("The speakers of a talk, in order."), ("position", "pk")
        )
    },
    orders={"start": Coalesce("start", "session__start", NEVER)},
    kind="talk",
    writable=PRESENTATION_COLUMNS,
)

RELEASES = Resource(
    name="releases",
    help=_("Numbered announcements of the program."),
    model=Release,
    key="number",
    edition="edition__slug",
    page=page_field(
        ("number", "edition__slug"), lambda row: f"/{row['edition__slug']}/changes/#release-{row['number']}"
    ),
    filters=ReleaseFilter,
    fields={
        **column_fields(
            Release,
            *("number", "title", "text"),
            number=_("Counted from 1 in each edition."),
            title=_("Its title; may be empty."),
        ),
        "published_at": moment_field("published_at", ZONE, _("When the program was announced.")),
        "timezone": timezone_field(ZONE),
    },
    to_one={"edition": EDITION},
    orders={"published_at": F("published_at"), "number": F("number")},
)
