"""People in lists, as plain values: as light as a line of many can be, and equal where they say the same."""

from typing import NamedTuple, Self

import markup
from content.page_paths import path_of


class PersonLink(NamedTuple):
    """Somebody under the name as printed, with the address of the page."""

    uid: str
    name: str
    shown_name: str
    affiliation: str = ""

    @property
    def person(self) -> Self:
        """Themselves: rows of models have their person apart."""
        return self

    def get_absolute_url(self) -> str:
        return path_of("people:detail", self.uid, markup.slug(self.name))
