"""Rows of lists of people: named tuples, light and equal if they look alike."""

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
        """Itself: templates read `author.person`, as of a model instance."""
        return self

    def get_absolute_url(self) -> str:
        return page_path("people:detail", self.uid, markup.slug(self.name))
