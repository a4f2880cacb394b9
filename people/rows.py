"""Rows of lists of people: named tuples, which are equal if they render equally."""

from typing import NamedTuple, Self

import markup
from content.page_paths import page_path


class PersonLink(NamedTuple):
    """A person under the name as printed, with the address of their page."""

    uid: str
    name: str
    shown_name: str
    affiliation: str = ""

    @property
    def person(self) -> Self:
        """This row. Templates read `author.person`, as from a model instance."""
        return self

    def get_absolute_url(self) -> str:
        return page_path("people:detail", self.uid, markup.slug(self.name))
