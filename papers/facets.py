"""How the list of papers can be narrowed, sorted and grouped by the parameters of its address.

Every state of the list has one address: the parameters in the order of `PaperFilter`, without defaults.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition
from content.pagination import BadParameter
from pagecache.keys import CACHED_PARAMETERS
from papers.catalog import FacetValue, catalog
from papers.rows import PaperRow
from people.models import Institution

MAX_WORDS = 100
MAIN_TRACK = _("Main track")
NO_TOPIC = _("Other papers")
# Choices with the numbers of papers that they would leave.
type Counted = list[tuple[FacetValue, int]]
# What a facet offers at once, and behind "more"; of long ones the most frequent.
CHOICES_SHOWN, MAX_CHOICES = 10, 50

FACETS = {
    "topic": _("Topic"),
    "track": _("Track"),
    "kind": _("Presented as"),
    "award": _("Award"),
    "day": _("Day"),
    "session": _("Session"),
    "institution": _("Institution"),
    "has": pgettext_lazy("papers with a video", "With"),
}
CACHED_PARAMETERS.update(FACETS)
SORTS = {"title": _("Title"), "schedule": _("Time"), "board": _("Board"), "random": _("Shuffled")}
VIEWS = {"compact": _("Compact"), "detailed": _("Detailed")}
GROUPS = {"topic": _("By topic"), "track": _("By track")}
# What an address leaves out, as it is so anyway.
DEFAULTS = {"sort": "title", "view": "compact"}


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """A choice as the page offers it: how many papers it would leave, and the address that makes it.

    The address of a chosen one takes it back; `level` counts the topics above it.
    """

    label: str
    count: int
    query: str
    chosen: bool
    level: int


@dataclass(frozen=True, slots=True)
class Facet:
    """What can be chosen of one property, under all that is chosen of the others."""

    name: str
    label: str
    offers: list[FacetChoice]

    @property
    def first(self) -> list[FacetChoice]:
        """What is shown at once: the beginning, and an open branch of topics."""
        begun = self.offers[:CHOICES_SHOWN]
        return [offer for offer in self.offers if offer in begun or offer.chosen or offer.level]

    @property
    def more(self) -> list[FacetChoice]:
        first = self.first
        return [offer for offer in self.offers if offer not in first]

    @property
    def chosen(self) -> list[FacetChoice]:
        return [offer for offer in self.offers if offer.chosen]


class PaperFilter(forms.Form):
    """Words, facets, order, groups and view of a list of papers. Parameters of other names are ignored."""

    q = forms.CharField(label=_("Words"), max_length=MAX_WORDS, required=False)
    sort = forms.ChoiceField(label=_("Sorted by"), choices=[*SORTS.items()], required=False)
    seed = forms.RegexField(
        "^[1-9][0-9]{0,5}$",
        label=SORTS["random"],
        required=False,
        error_messages={"invalid": _("Give a number up to 999999.")},
    )
    by = forms.ChoiceField(label=_("Grouped"), choices=[*GROUPS.items()], required=False)
    view = forms.ChoiceField(label=_("Shown"), choices=[*VIEWS.items()], required=False)

    def __init__(self, parameters: QueryDict, edition: Edition, at: datetime | None = None) -> None:
        super().__init__(parameters)
        self.parameters, self.edition, self.at = parameters, edition, at
        self.catalog = catalog(edition, at)
        for name in FACETS:
            field = forms.MultipleChoiceField if name == "has" else forms.ChoiceField
            choices = self.catalog.facets[name].values()
            offered = [(choice.value, choice.label) for choice in choices]
            self.fields[name] = field(choices=offered, required=False)
        self.order_fields(["q", *FACETS, "sort", "seed", "by", "view"])

    # What is asked for

    @property
    def chosen(self) -> dict[str, Any]:
        """The parameters as read; raise `BadParameter` for the first that cannot be."""
        for name, errors in self.errors.items():
            wrong = [value for value in self.parameters.getlist(name) if value] or [""]
            raise BadParameter(name, wrong[-1], f"{errors[0]}")
        return self.cleaned_data

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """The chosen values of each facet, those of `has` in the order in which they are offered."""
        chosen = self.chosen
        picked = {name: [chosen[name]] for name in FACETS if name != "has" and chosen[name]}
        has = [kind for kind in self.catalog.facets["has"] if kind in chosen["has"]]
        return {**picked, "has": has} if has else picked

    @property
    def is_narrowed(self) -> bool:
        return bool(self.values or self.chosen["q"])

    def query(self, but: Iterable[str] = (), **changes: str | list[str]) -> str:
        """Return the query of the state that differs in these parameters, on its first page."""
        state = {**self.chosen, **self.values, **changes}
        left_out = {*but} if state["sort"] == "random" else {*but, "seed"}
        parameters = {
            name: state[name]
            for name in self.fields
            if name not in left_out and state[name] and state[name] != DEFAULTS.get(name)
        }
        return urlencode(parameters, doseq=True)

    @property
    def fields_but_words(self) -> list[tuple[str, str]]:
        return parse_qsl(self.query(but=["q"]))

    # What is found

    @cached_property
    def keys(self) -> list[int]:
        """The primary keys of the matching papers, in order."""
        chosen = self.chosen
        found = self.catalog.matching(self.values) & self._worded
        return self.catalog.ordered(found, chosen["sort"] or "title", chosen["seed"], chosen["by"])

    @cached_property
    def _worded(self) -> int:
        """The bitmap of the papers in which the words are found. One query, if there are words."""
        words = self.chosen["q"]
        if not words:
            return self.catalog.everything
        papers = self.edition.papers.published(self.at).matching(words, self.at)
        return self.catalog.numbers.bits(papers.order_by().values_list("pk", flat=True))

    # What is offered

    @cached_property
    def facets(self) -> list[Facet]:
        """The facets with a choice to make or to take back; choices that leave no paper are left out."""
        offered = [Facet(name, str(label), self._offers(name)) for name, label in FACETS.items()]
        return [facet for facet in offered if len(facet.offers) > 1 or facet.chosen]

    @property
    def removals(self) -> list[tuple[str, str, str]]:
        """What narrows the list: a label, the value, and the address without it."""
        words = (
            [(str(self.fields["q"].label), self.chosen["q"], self.query(but=["q"]))]
            if self.chosen["q"]
            else []
        )
        picked = [(facet.label, offer.label, offer.query) for facet in self.facets for offer in facet.chosen]
        return [*words, *picked]

    def _offers(self, name: str) -> list[FacetChoice]:
        picked = self.values.get(name, [])
        # Of materials a paper can have several: the others narrow each other.
        others = self.catalog.matching(self.values, but="" if name == "has" else name) & self._worded
        counted = [
            (choice, number)
            for choice in self.catalog.facets[name].values()
            if (number := (choice.bits & others).bit_count()) or choice.value in picked
        ]
        if name == "topic":
            # The highest topics, and below the chosen one and those above it the next.
            opened = {"", *(above for slug in picked for above in self._branch(slug))}
            counted = [(choice, number) for choice, number in counted if choice.above in opened]
        elif name == "institution":
            counted = self._most_frequent(counted, picked)
        return [
            FacetChoice(
                choice.label,
                number,
                self._toggled(name, choice.value),
                choice.value in picked,
                len(self._branch(choice.above)),
            )
            for choice, number in counted
        ]

    def _toggled(self, name: str, value: str) -> str:
        picked = self.values.get(name, [])
        if name == "has":
            return self.query(has=sorted({*picked} ^ {value}, key=list(self.catalog.facets["has"]).index))
        return self.query(but=[name]) if value in picked else self.query(**{name: value})

    def _branch(self, slug: str) -> list[str]:
        """The slugs of a topic and of those above it; empty where there is no such topic."""
        topics, found = self.catalog.facets["topic"], []
        while slug in topics:
            found.append(slug)
            slug = topics[slug].above
        return found

    def _most_frequent(self, counted: Counted, picked: list[str]) -> Counted:
        """The institutions of most papers, under their present names. One query, if there are any."""
        ranked = sorted(counted, key=lambda pair: (pair[0].value not in picked, -pair[1]))[:MAX_CHOICES]
        rows = Institution.objects.filter(slug__in=[choice.value for choice, _ in ranked])
        names = dict(rows.values_list("slug", "name"))
        return [(replace(choice, label=names.get(choice.value, "")), number) for choice, number in ranked]

    # In order and in groups

    @property
    def ways(self) -> dict[str, list[tuple[str, str, bool]]]:
        """The ways to sort, group and show the list: label, address, whether it is so now."""
        facets, sorts = self.catalog.facets, {**SORTS}
        if not facets["day"]:
            del sorts["schedule"]
        if not self.catalog.has_boards:
            del sorts["board"]
        groups = {"": _("One list"), **{name: label for name, label in GROUPS.items() if facets[name]}}
        found = {}
        for name, labels in {"sort": sorts, "by": groups, "view": VIEWS}.items():
            current = self.chosen[name] or DEFAULTS.get(name, "")
            if len(labels) > 1:
                found[name] = [
                    (str(label), self.query(but=["seed"], **{name: way}), way == current)
                    for way, label in labels.items()
                ]
        return found

    def groups(self, page: Iterable[PaperRow]) -> dict[str, list[PaperRow]]:
        """The papers of a page under their topics or tracks; empty if they are in one list."""
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
