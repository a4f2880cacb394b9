"""Which tables there are and which columns each has: a list of tables; their columns follow from the records.

A record that holds a person has the person's four columns. Records inside records are tables of their own.
"""

from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any, get_args, get_origin, get_type_hints

from exchange import records
from exchange.formats.tables.cells import EMPTY, ColumnType, kind_of
from exchange.records import PersonRef, Record, Stated

# Columns of keys and fixed words: blanks around them are a slip of the hand.
TRIMMED = {"uid", "slug", "kind", "role", "status", "mode", "timezone", "orcid", "url", "topic"}
TRIMMED |= {"second_timezone", "conference", "edition", "paper", "session", "room", "parent", "person_uid"}
# Columns of words that are never empty: an empty cell says nothing about them.
NEVER_EMPTY = {"kind", "status", "mode", "accent", "timezone", "conference"}
LEVEL = "level"
PERSON = ("name", "uid", "orcid", "ids")


@dataclass(frozen=True)
class Column:
    """One column: its name, the record's field it fills, and how its cells are read.

    `of_person` says that the field is one of the person's inside the record's `person` or `ref`.
    `default` is the field's own; `MISSING` makes the cell obligatory.
    """

    name: str
    field: str
    kind: ColumnType
    default: Any = MISSING
    of_person: bool = False

    @property
    def is_trimmed(self) -> bool:
        return self.name in TRIMMED


@dataclass(frozen=True)
class Table:
    """One CSV file: one row per record.

    A child table fills `field` of the records of `parent`; its column `link` holds their key.
    `key` and `words`: the column that identifies a row, and the one it is made of where it is left out.
    """

    name: str
    record: type[Record]
    parent: str = ""
    field: str = ""
    link: str = ""
    key: str = ""
    words: str = ""

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        hints = get_type_hints(self.record)
        found: list[Column] = []
        for field in fields(self.record):
            hint = hints[field.name]
            if field.name == "where" or _holds_records(hint):
                continue
            if PersonRef in (hint, *get_args(hint)):
                found += _columns_of_person(field.name)
            else:
                found.append(Column(field.name, field.name, kind_of(hint), field.default))
        return tuple(found)

    @cached_property
    def by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def headings(self) -> tuple[str, ...]:
        """Name every column, the link to the parent first."""
        first = (self.link,) if self.link else ()
        return (*first, *self.by_name)


def _holds_records(hint: object) -> bool:
    inner = get_args(hint)[0] if get_origin(hint) is Stated else hint
    parts = get_args(inner)
    return get_origin(inner) is tuple and isinstance(parts[0], type) and issubclass(parts[0], Record)


def _columns_of_person(field: str) -> list[Column]:
    """Return a person's columns: `uid` in the table of people, `person uid` in the others."""
    hints = get_type_hints(PersonRef)
    names = {"uid": "uid" if field == "ref" else "person_uid"}
    return [
        Column(names.get(name, name), name, kind_of(hints[name]), EMPTY[hints[name]], of_person=True)
        for name in PERSON
    ]


PARENTS = (
    Table("conference", records.ConferenceRecord, key="slug"),
    Table("edition", records.EditionRecord, key="slug"),
    Table("institutions", records.InstitutionRecord, key="slug", words="name"),
    Table("people", records.PersonRecord),
    Table("pages", records.PageRecord, key="slug", words="title"),
    Table("sponsors", records.SponsorRecord, key="slug", words="name"),
    Table("announcements", records.AnnouncementRecord, key="uid", words="title"),
    Table("topics", records.TopicRecord, key="slug", words="name"),
    Table("rooms", records.RoomRecord, key="slug", words="name"),
    Table("papers", records.PaperRecord, key="uid", words="title"),
    Table("awards", records.AwardRecord, key="uid", words="name"),
    Table("sessions", records.SessionRecord, key="uid", words="title"),
    Table("presentations", records.PresentationRecord, key="uid"),
)
CHILDREN = (
    Table("menu", records.MenuRecord, parent="edition", field="menu", link=LEVEL),
    Table("committee", records.CommitteeRecord, parent="edition", field="committee"),
    Table("authors", records.AuthorRecord, parent="papers", field="authors", link="paper"),
    Table("materials", records.MaterialRecord, parent="papers", field="materials", link="paper"),
    Table("grants", records.GrantRecord, parent="awards", field="grants", link="award"),
    Table("roles", records.RoleRecord, parent="sessions", field="roles", link="session"),
    Table("speakers", records.SpeakerRecord, parent="presentations", field="speakers", link="presentation"),
)
TABLES = {table.name: table for table in (*PARENTS, *CHILDREN)}
# One row each: they are one record of the program, not a list.
SINGLE = ("conference", "edition")
# A column that only hand-made files have: names in papers.csv, where there is no authors.csv.
AUTHORS = "authors"
