"""The events of a Mini-Conf site, such as plenaries, tutorials, workshops and talks, and their people."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from exchange.formats.miniconf.rows import PLACEHOLDER, SiteRow, clean_title
from exchange.problems import Where
from exchange.reading.papers import guess_session_kind, parse_authors, person_ref
from exchange.reading.person_names import is_placeholder
from exchange.reading.textfiles import scalar
from exchange.reading.values import slug, tidy
from exchange.records import PersonRef, RoleRecord

ROLE_BY_KIND = {"panel": "panelist", "tutorial": "organizer", "workshop": "organizer"}
# Fields that name the people of an event.
SPEAKER_FIELDS = (
    *("presenter", "speaker", "speakers", "organizers", "organisers", "organizer", "organiser", "authors"),
)
CHAIR_FIELDS = ("chair", "chairs", "session_chair", "session_chairs")
# Titles before the names of speakers.
HONORIFICS = re.compile(r"\A((Dr|Prof|Professor)\b\.? )+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Event:
    """A plenary, tutorial, workshop or talk."""

    row: SiteRow
    uid: str
    title: str
    kind: str
    people: list[PersonRef]
    abstract: str
    affiliation: str

    @property
    def roles(self) -> tuple[RoleRecord, ...]:
        role, where = ROLE_BY_KIND.get(self.kind, "speaker"), self.row.where
        speakers = (
            RoleRecord(where=where, person=person, role=role, affiliation=self.affiliation)
            for person in self.people
        )
        return (*speakers, *chair_roles(self.row))


def is_event(columns: Collection[str]) -> bool:
    """Return whether an object is an event: with a title, or like socials with a name and organizers."""
    return "UID" in columns and ("title" in columns or {"name", "organizers"} <= set(columns))


def build_event(row: SiteRow, uid: str) -> Event:
    people = read_people(row)
    title = clean_title(row.text("title", "name"))
    if PLACEHOLDER.match(title) and people:
        title = clean_title(" ".join(person.name for person in people))
    file = PurePath(row.where.file).name
    words = f"{title} {row.text('category')} {file}"
    return Event(
        row,
        uid=uid or slug(title),
        title=title,
        kind=guess_session_kind(words, "invited_talk" if people else "other"),
        people=people,
        abstract=row.text("abstract", "description"),
        affiliation=tidy(row.text("institution", "affiliation")),
    )


def read_people(row: SiteRow) -> list[PersonRef]:
    """Return the people of an event, from a list or a text such as `A, B and C`."""
    fields = [*SPEAKER_FIELDS, *(["name"] if row.text("title") else [])]
    value = next((row.content[name] for name in fields if row.content.get(name)), "")
    if isinstance(value, dict):
        # The organizers of a social event are a committee with members.
        value = value.get("members", [])
    if isinstance(value, list):
        names = [scalar(item.get("name")) if isinstance(item, dict) else scalar(item) for item in value]
    else:
        names = [author.name for author in parse_authors(scalar(value).replace("|", ";"))]
    return _references((HONORIFICS.sub("", tidy(name)) for name in names), row.where)


def chair_roles(row: SiteRow) -> tuple[RoleRecord, ...]:
    names = [
        author.name
        for field in CHAIR_FIELDS
        for text in row.texts(field)
        for author in parse_authors(text.replace("|", ";"))
    ]
    people = _references(names, row.where)
    return tuple(RoleRecord(where=row.where, person=person, role="chair") for person in people)


def added_chairs(roles: Iterable[RoleRecord], row: SiteRow) -> tuple[RoleRecord, ...]:
    """Return the chairs of a row that these roles of its session do not have yet."""
    names = {role.person.name for role in roles if role.role == "chair"}
    return tuple(role for role in chair_roles(row) if role.person.name not in names)


def _references(names: Iterable[str], where: Where) -> list[PersonRef]:
    unique_names = dict.fromkeys(name for name in names if name and not is_placeholder(name))
    return [person_ref(name, where) for name in unique_names]
