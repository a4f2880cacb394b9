"""Filtering, sorting and grouping of the list of papers by the parameters of its address.

Every state of the list has one address: parameters are in the order of `PaperFilter`, without defaults.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition
from content.pagination import BadParameter
from pagecache.keys import CACHED_PARAMETERS
from papers.catalog import Catalog, FacetValue, catalog
from papers.rows import PaperRow
from people.models import Institution

MAX_WORDS = 100
MAIN_TRACK = _("Main track")
NO_TOPIC = _("Other papers")
# Choices with their numbers of papers.
type Counted = list[tuple[FacetValue, int]]
# The number of choices before "more", and of all choices.
CHOICES_SHOWN, MAX_CHOICES = 10, 50

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
# Addresses omit parameters with these values.
DEFAULTS = {"sort": "title", "view": "compact"}


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


class PaperFilter(forms.Form):
    """Form of the facets, order, groups and view of a list of papers. Unknown parameters are ignored.

    `papers.paper_search` adds the search for words.
    """

    # Parameters of fields whose own names are used for other parameters.
    PARAMETERS: ClassVar[Mapping[str, str]] = {}

    q = forms.CharField(label=_("Words"), max_length=MAX_WORDS, required=False)
    sort = forms.ChoiceField(label=_("Sort"), choices=[*SORTS.items()], required=False)
    seed = forms.RegexField(
        "^[1-9][0-9]{0,5}$",
        label=SORTS["random"],
        required=False,
        error_messages={"invalid": _("Enter a number up to 999999.")},
    )
    by = forms.ChoiceField(label=_("Group"), choices=[*GROUPS.items()], required=False)
    view = forms.ChoiceField(label=pgettext_lazy("noun", "View"), choices=[*VIEWS.items()], required=False)

    def __init__(self, parameters: QueryDict, edition: Edition, at: datetime | None = None) -> None:
        super().__init__(parameters)
        self.parameters, self.edition, self.at = parameters, edition, at
        self.catalog = self.read_catalog()
        for name in FACETS:
            field = forms.MultipleChoiceField if name == "has" else forms.ChoiceField
            choices = self.catalog.facets[name].values()
            options = [(choice.value, choice.label) for choice in choices]
            self.fields[name] = field(choices=options, required=False)
        self.order_fields(["q", *FACETS, "sort", "seed", "by", "view"])
        self.defaults = {**DEFAULTS}

    def read_catalog(self) -> Catalog:
        return catalog(self.edition, self.at)

    def add_prefix(self, field_name: str) -> str:
        """Return the parameter of a field."""
        return self.PARAMETERS.get(field_name, field_name)

    # Parameters

    @property
    def chosen(self) -> dict[str, Any]:
        """The cleaned parameters; raises `BadParameter` for the first invalid one."""
        for name, errors in self.errors.items():
            parameter = self.add_prefix(name)
            values = [value for value in self.parameters.getlist(parameter) if value] or [""]
            raise BadParameter(parameter, values[-1], f"{errors[0]}")
        return self.cleaned_data

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """The chosen values of each facet, those of `has` in the order of the catalog."""
        chosen = self.chosen
        values = {name: [chosen[name]] for name in FACETS if name != "has" and chosen[name]}
        has = [kind for kind in self.catalog.facets["has"] if kind in chosen["has"]]
        return {**values, "has": has} if has else values

    def query(self, without: Iterable[str] = (), **changes: str | list[str]) -> str:
        """Return the query string of the first page, with these changes and `without` some parameters."""
        state = {**self.chosen, **self.values, **changes}
        omitted = {*without} if state["sort"] == "random" else {*without, "seed"}
        parameters = {
            self.add_prefix(name): state[name]
            for name in self.fields
            if name not in omitted and state[name] and state[name] != self.defaults.get(name)
        }
        return urlencode(parameters, doseq=True)

    # Results

    @property
    def matching(self) -> int:
        """The bitmap of the matching papers."""
        return self.catalog.matching(self.values) & self.text_matches

    @property
    def text_matches(self) -> int:
        """The bitmap of the papers that match the words."""
        raise NotImplementedError

    # Choices

    @cached_property
    def facets(self) -> list[Facet]:
        """The facets with several choices or a chosen one. Choices without papers are omitted."""
        facets = [Facet(name, str(label), self._choices(name)) for name, label in FACETS.items()]
        return [facet for facet in facets if len(facet.choices) > 1 or facet.chosen]

    def _choices(self, name: str) -> list[FacetChoice]:
        chosen = self.values.get(name, [])
        # A paper can have several materials, so chosen kinds limit the counts of the other kinds.
        papers = self.catalog.matching(self.values, ignored="" if name == "has" else name) & self.text_matches
        counted = [
            (choice, number)
            for choice in self.catalog.facets[name].values()
            if (number := (choice.bits & papers).bit_count()) or choice.value in chosen
        ]
        if name == "topic":
            # Offer top-level topics, and the subtopics of the chosen topic and of its ancestors.
            open_parents = {"", *(parent for slug in chosen for parent in self._branch(slug))}
            counted = [(choice, number) for choice, number in counted if choice.parent in open_parents]
        elif name == "institution":
            counted = self._most_frequent(counted, chosen)
        return [
            FacetChoice(
                choice.label,
                number,
                self._toggle_query(name, choice.value),
                choice.value in chosen,
                len(self._branch(choice.parent)),
                choice.value,
            )
            for choice, number in counted
        ]

    def _toggle_query(self, name: str, value: str) -> str:
        chosen = self.values.get(name, [])
        if name == "has":
            return self.query(has=sorted({*chosen} ^ {value}, key=list(self.catalog.facets["has"]).index))
        return self.query(without=[name]) if value in chosen else self.query(**{name: value})

    def _branch(self, slug: str) -> list[str]:
        """Return the slugs of a topic and of those above it. Empty if there is no such topic."""
        topics, branch = self.catalog.facets["topic"], []
        while slug in topics:
            branch.append(slug)
            slug = topics[slug].parent
        return branch

    def _most_frequent(self, counted: Counted, chosen: list[str]) -> Counted:
        """Return the institutions with the most papers, with their current names. At most one query."""
        ranked = sorted(counted, key=lambda pair: (pair[0].value not in chosen, -pair[1]))[:MAX_CHOICES]
        rows = Institution.objects.filter(slug__in=[choice.value for choice, _ in ranked])
        names = dict(rows.values_list("slug", "name"))
        return [(replace(choice, name=names.get(choice.value, "")), number) for choice, number in ranked]

    # Order and groups

    @property
    def display_links(self) -> dict[str, list[tuple[str, str, bool]]]:
        """Links to other sort orders, groups and views: label, query string, whether it is current."""
        facets = self.catalog.facets
        groups = {"": _("One list"), **{name: label for name, label in GROUPS.items() if facets[name]}}
        options: dict[str, Mapping[str, object]] = {"sort": self.sorts, "by": groups, "view": VIEWS}
        return {name: self.option_links(name, labels) for name, labels in options.items() if len(labels) > 1}

    @property
    def sorts(self) -> dict[str, object]:
        """The sort orders for which the papers have data."""
        omitted = {"relevance"}
        if not self.catalog.facets["day"]:
            omitted.add("schedule")
        if not self.catalog.has_boards:
            omitted.add("board")
        return {name: label for name, label in SORTS.items() if name not in omitted}

    def option_links(self, name: str, labels: Mapping[str, object]) -> list[tuple[str, str, bool]]:
        """Return links to the values of a parameter: label, query, whether it is current."""
        current = self.chosen[name] or self.defaults.get(name, "")
        return [
            (str(label), self.query(without=["seed"], **{name: value}), value == current)
            for value, label in labels.items()
        ]

    def groups(self, page: Iterable[PaperRow]) -> dict[str, list[PaperRow]]:
        """Return the papers of a page by their topics or tracks. Empty if they are not grouped."""
        groups: dict[str, list[PaperRow]] = {}
        topics = self.catalog.facets["topic"]
        for paper in page if self.chosen["by"] else ():
            if self.chosen["by"] == "track":
                name = paper.track or str(MAIN_TRACK)
            else:
                branch = self._branch(paper.topic.slug if paper.topic else "")
                name = " / ".join(topics[slug].label for slug in reversed(branch)) or str(NO_TOPIC)
            groups.setdefault(name, []).append(paper)
        return groups
