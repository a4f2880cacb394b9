"""The built-in sections of an edition's site. Each app registers its own when the site starts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING

from django.db.models import Model, QuerySet
from django.urls import reverse

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from conference.models import Edition

# Returns querysets of public rows, given the primary key of an edition, and a time.
type Rows = Callable[[int, datetime], Iterable[QuerySet[Model]]]


@dataclass(frozen=True, slots=True)
class MenuSection:
    """A section that menus can link to, listed by `place`."""

    place: int
    name: str
    label: "StrPromise"
    # The URL name, with the edition's slug as argument if `is_of_edition`.
    view: str
    is_of_edition: bool = True
    # Without public rows the section is empty. The rare ones are queried if there are no others.
    rows: Rows | None = None
    rare_rows: Rows | None = None
    # The message for their number on the home page, such as "%(number)s papers".
    counted: "StrPromise | None" = None

    def url(self, edition: "Edition") -> str:
        return reverse(self.view, args=[edition.slug] if self.is_of_edition else [])


SECTIONS: dict[str, MenuSection] = {}


def register(*sections: MenuSection) -> None:
    """Add sections, and sort all by `place`."""
    ordered_sections = sorted([*SECTIONS.values(), *sections], key=attrgetter("place"))
    SECTIONS.clear()
    SECTIONS.update({section.name: section for section in ordered_sections})


def choices() -> list[tuple[str, "StrPromise"]]:
    return [(section.name, section.label) for section in SECTIONS.values()]
