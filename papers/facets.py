"""The facets of a list of papers with their choices, and its sort orders, views and groups."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from pagecache.keys import CACHED_PARAMETERS

# The number of choices before "more".
CHOICES_SHOWN = 10

FACETS = {
    "topic": _("Topic"),
    "track": _("Track"),
    "kind": _("Presented as"),
    "award": _("Award"),
    "day": _("Day"),
    "room": _("Room"),
    "session": _("Session"),
    "institution": _("Institution"),
    "has": pgettext_lazy("papers with a video", "With"),
}
CACHED_PARAMETERS.update(FACETS)
SORTS = {
    "relevance": _("Best match"),
    "title": _("Title"),
    "schedule": _("Time"),
    "board": _("Board"),
    "random": _("Random"),
}
VIEWS = {"compact": _("Compact"), "cards": _("Cards"), "detailed": _("Detailed")}
GROUPS = {"topic": _("By topic"), "track": _("By track")}


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """A link that chooses a value, or removes a chosen one, with its number of papers.

    `level` is the number of topics above a topic.
    """

    label: str
    count: int
    query: str
    chosen: bool
    level: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class Facet:
    """The choices of a facet, given the chosen values of the other facets."""

    name: str
    label: str
    choices: list[FacetChoice]

    @property
    def first_choices(self) -> list[FacetChoice]:
        """The choices that are always visible: the first, the chosen ones, and subtopics."""
        first = self.choices[:CHOICES_SHOWN]
        return [choice for choice in self.choices if choice in first or choice.chosen or choice.level]

    @property
    def more_choices(self) -> list[FacetChoice]:
        first = self.first_choices
        return [choice for choice in self.choices if choice not in first]

    @property
    def chosen(self) -> list[FacetChoice]:
        return [choice for choice in self.choices if choice.chosen]
