"""How the list of papers can be narrowed, sorted and grouped by the parameters of its address.

Every state of the list has one address: the parameters in the order of `PaperFilter`, without defaults.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.core.validators import RegexValidator
from django.db.models import Model, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django_filters import CharFilter, ChoiceFilter, FilterSet, MultipleChoiceFilter

from conference.models import Edition
from content.pagination import BadParameter
from pagecache.keys import CACHED_PARAMETERS
from papers.catalog import FacetValue, catalog
from papers.models import Paper
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
        """What is shown on request."""
        first = self.first
        return [offer for offer in self.offers if offer not in first]

    @property
    def chosen(self) -> list[FacetChoice]:
        return [offer for offer in self.offers if offer.chosen]


class PaperFilter(FilterSet):  # type: ignore[misc]  # the package has no types
    """Words, facets, order, groups and view of a list of papers. Parameters of other names are ignored."""

    q = CharFilter(max_length=MAX_WORDS)
    topic = ChoiceFilter(choices=())
    track = ChoiceFilter(choices=())
    kind = ChoiceFilter(choices=())
    award = ChoiceFilter(choices=())
    day = ChoiceFilter(choices=())
    session = ChoiceFilter(choices=())
    institution = ChoiceFilter(choices=())
    has = MultipleChoiceFilter(choices=())
    sort = ChoiceFilter(choices=list(SORTS.items()))
    seed = CharFilter(validators=[RegexValidator(r"^[1-9][0-9]{0,5}$", _("Give a number up to 999999."))])
    by = ChoiceFilter(choices=list(GROUPS.items()))
    view = ChoiceFilter(choices=list(VIEWS.items()))

    class Meta:
        model = Paper
        fields: list[str] = []

    def __init__(self, parameters: QueryDict, edition: Edition, at: datetime | None = None) -> None:
        super().__init__(parameters, edition.papers.published(at))
        self.at = at
        self.catalog = catalog(edition, at)
        for name in FACETS:
            choices = self.catalog.facets[name].values()
            self.filters[name].extra["choices"] = [(choice.value, choice.label) for choice in choices]

    # What is asked for

    @property
    def chosen(self) -> dict[str, Any]:
        """The parameters as read; raise `BadParameter` for the first that cannot be."""
        for name in self.form.errors:
            wrong = [value for value in self.data.getlist(name) if value] or [""]
            raise BadParameter(name, wrong[-1], f"{self.form.errors[name][0]}")
        chosen: dict[str, object] = self.form.cleaned_data
        return chosen

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """The chosen values of each facet, those of `has` in the order in which they are offered."""
        chosen = self.chosen
        picked = {name: [chosen[name]] for name in FACETS if name != "has" and chosen[name]}
        has = [kind for kind in self.catalog.facets["has"] if kind in chosen["has"]]
        return {**picked, "has": has} if has else picked

    @property
    def is_narrowed(self) -> bool:
        """Whether some papers may be left out."""
        return bool(self.values or self.chosen["q"])

    @property
    def needs_seed(self) -> bool:
        """Whether papers are to be shuffled, but not in which way."""
        return self.chosen["sort"] == "random" and not self.chosen["seed"]

    @cached_property
    def parameters(self) -> dict[str, str | list[str]]:
        """The parameters of the one address that this state has."""
        known = {**self.chosen, **self.values}
        if known["sort"] != "random":
            known["seed"] = ""
        return {
            name: known[name] for name in self.filters if known[name] and known[name] != DEFAULTS.get(name)
        }

    def query(self, but: Iterable[str] = (), **changes: str | list[str]) -> str:
        """Return the query of the state that differs in these parameters, on its first page."""
        state: Mapping[str, object] = {**self.parameters, **changes}
        kept = {name: state[name] for name in self.filters if name not in but and state.get(name)}
        return urlencode({n: v for n, v in kept.items() if v != DEFAULTS.get(n)}, doseq=True)

    @property
    def fields_but_words(self) -> list[tuple[str, str]]:
        """What the form for words sends along."""
        return parse_qsl(self.query(but=["q"]))

    def address(self, path: str, page: int = 1) -> str:
        """Return the one address of a page of this state."""
        query = "&".join(part for part in (self.query(), f"page={page}" if page > 1 else "") if part)
        return f"{path}?{query}" if query else path

    # What is found

    def filter_queryset(self, queryset: QuerySet[Model]) -> object:
        """The matching papers, as unordered rows."""
        return queryset.filter(pk__in=self.keys) if self.is_narrowed else queryset

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
        return self.catalog.numbers.bits(
            self.queryset.matching(words, self.at).order_by().values_list("pk", flat=True)
        )

    # What is offered

    @cached_property
    def facets(self) -> list[Facet]:
        """The facets with a choice to make or to take back; choices that leave no paper are left out."""
        offered = [Facet(name, str(label), self._offers(name)) for name, label in FACETS.items()]
        return [facet for facet in offered if len(facet.offers) > 1 or facet.chosen]

    @property
    def removals(self) -> list[tuple[str, str, str]]:
        """What narrows the list: a label, the value, and the address without it."""
        words = [(str(_("Words")), self.chosen["q"], self.query(but=["q"]))] if self.chosen["q"] else []
        picked = [(facet.label, offer.label, offer.query) for facet in self.facets for offer in facet.chosen]
        return [*words, *picked]

    def _offers(self, name: str) -> list[FacetChoice]:
        values = self.values
        picked = values.get(name, [])
        # Of materials a paper can have several: the others narrow each other.
        others = self.catalog.matching(values, but="" if name == "has" else name) & self._worded
        counted = [
            (choice, number)
            for choice in self.catalog.facets[name].values()
            if (number := (choice.bits & others).bit_count()) or choice.value in picked
        ]
        if name == "topic":
            counted = self._open_branch(counted, picked)
        elif name == "institution":
            counted = self._most_frequent(counted, picked)
        return [
            FacetChoice(
                choice.label, number, self._toggled(name, choice.value), choice.value in picked, level
            )
            for choice, number, level in ((*pair, self._level(name, pair[0])) for pair in counted)
        ]

    def _toggled(self, name: str, value: str) -> str:
        picked = self.values.get(name, [])
        if name == "has":
            return self.query(has=sorted({*picked} ^ {value}, key=list(self.catalog.facets["has"]).index))
        return self.query(but=[name]) if value in picked else self.query(**{name: value})

    def _level(self, name: str, choice: FacetValue) -> int:
        above, level = choice.above, 0
        while name == "topic" and above:
            above, level = self.catalog.facets["topic"][above].above, level + 1
        return level

    def _open_branch(self, counted: Counted, picked: list[str]) -> Counted:
        """The highest topics, and below the chosen one and those above it the next."""
        topics, opened = self.catalog.facets["topic"], {""}
        for slug in picked:
            while slug:
                opened.add(slug)
                slug = topics[slug].above
        return [pair for pair in counted if pair[0].above in opened]

    def _most_frequent(self, counted: Counted, picked: list[str]) -> Counted:
        """The institutions of most papers, under their present names. One query, if there are any."""
        ranked = sorted(counted, key=lambda pair: (pair[0].value not in picked, -pair[1]))[:MAX_CHOICES]
        if not ranked:
            return []
        rows = Institution.objects.filter(slug__in=[choice.value for choice, _ in ranked])
        names = dict(rows.values_list("slug", "name"))
        return [(replace(choice, label=names.get(choice.value, "")), number) for choice, number in ranked]

    # In order and in groups

    @property
    def ways(self) -> dict[str, list[tuple[str, str, bool]]]:
        """The ways to sort, group and show the list: label, address, whether it is so now."""
        facets, chosen = self.catalog.facets, self.chosen
        useless = {"schedule"} if not facets["day"] else set()
        useless |= {"board"} if not self.catalog.has_boards else set()
        grouped = {"": _("One list"), **{name: label for name, label in GROUPS.items() if facets[name]}}
        sorts = {name: label for name, label in SORTS.items() if name not in useless}
        return {
            name: [
                (
                    str(label),
                    self.query(but=["seed"], **{name: way}),
                    way == (chosen[name] or DEFAULTS.get(name, "")),
                )
                for way, label in labels.items()
            ]
            for name, labels in {"sort": sorts, "by": grouped, "view": VIEWS}.items()
            if len(labels) > 1
        }

    def groups(self, page: Iterable[PaperRow]) -> dict[str, list[PaperRow]]:
        """The papers of a page under their topics or tracks; empty if they are in one list."""
        groups: dict[str, list[PaperRow]] = {}
        for paper in page if self.chosen["by"] else ():
            groups.setdefault(self._group(paper), []).append(paper)
        return groups

    def _group(self, paper: PaperRow) -> str:
        if self.chosen["by"] == "track":
            return paper.track or str(MAIN_TRACK)
        topics, slug, names = self.catalog.facets["topic"], paper.topic.slug if paper.topic else "", []
        while slug in topics:
            names.append(topics[slug].label)
            slug = topics[slug].above
        return " / ".join(reversed(names)) or str(NO_TOPIC)
