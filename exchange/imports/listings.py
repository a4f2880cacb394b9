"""The lists inside records, as a table: authors, materials, grants, roles, speakers, offices, menus.

Declarations only. What is a list of plain texts, such as keywords, is an ordinary field.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from conference.models import MenuItem
from content.models import Content
from exchange.records import (
    AuthorRecord,
    CommitteeRecord,
    GrantRecord,
    MaterialRecord,
    MenuRecord,
    Record,
    RoleRecord,
    SpeakerRecord,
)
from papers.models import Authorship, AwardGrant, Material
from people.models import CommitteeRole
from schedule.models import SessionRole, Speaker

type Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Listing:
    """A field whose value is a list of parts, each a row of its own, in order; compared as a whole.

    `columns`: name in the part -> where the row has it. `identity`: what makes two parts the same one.
    """

    name: str
    model: type[Content]
    owner: str
    record: type[Record]
    columns: Mapping[str, str]
    identity: tuple[str, ...]
    # The row keeps the person's name as printed.
    is_printed: bool = False
    # A list may name one thing twice only where this says so.
    may_repeat: bool = False


PRINTED: Final = {"person": "person__uid", "name": "name"}

AUTHORS = Listing(
    "authors",
    Authorship,
    "paper",
    AuthorRecord,
    {
        **PRINTED,
        "affiliations": "affiliations",
        "corresponding": "corresponding",
        "presenting": "presenting",
    },
    ("person",),
    is_printed=True,
)
MATERIALS = Listing(
    "materials",
    Material,
    "paper",
    MaterialRecord,
    {"kind": "kind", "url": "url", "label": "label", "visible": "visible", "file": "file"},
    ("kind", "url"),
    may_repeat=True,
)
GRANTS = Listing(
    "grants",
    AwardGrant,
    "award",
    GrantRecord,
    {
        "paper": "paper__uid",
        "edition": "paper__edition__slug",
        "person": "person__uid",
        "citation": "citation",
    },
    ("paper", "edition", "person"),
)
ROLES = Listing(
    "roles",
    SessionRole,
    "session",
    RoleRecord,
    {**PRINTED, "role": "role", "affiliation": "affiliation"},
    ("person", "role"),
    is_printed=True,
)
SPEAKERS = Listing(
    "speakers",
    Speaker,
    "presentation",
    SpeakerRecord,
    {**PRINTED, "affiliation": "affiliation"},
    ("person",),
    is_printed=True,
)
COMMITTEE = Listing(
    "committee",
    CommitteeRole,
    "edition",
    CommitteeRecord,
    {"person": "person__uid", "role": "role", "affiliation": "affiliation"},
    ("person", "role"),
)
MENU = Listing(
    "menu",
    MenuItem,
    "edition",
    MenuRecord,
    {"label": "label", "section": "section", "page": "page__slug", "url": "url", "parent": "parent_id"},
    (),
    may_repeat=True,
)
