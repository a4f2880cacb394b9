"""Charts about an edition's papers and about all years of its conference.

Templates draw the charts, each with a table. Widths are in percent and heights in pixels, so that charts fit
phones without scaling the text.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from math import ceil, log
from operator import or_

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from conference.models import Edition
from papers.catalog import FacetValue, catalog
from papers.models import Authorship, Paper
from papers.querysets import is_cancelled
from papers.rows import kind_labels
from papers.world_map import TILES, tile_of
from people.models import Institution

MAX_BARS = 20
# Papers with at least this many authors share a column.
LARGE_TEAM = 10
ROW_HEIGHT, TEXT_Y, BAR_Y = 42, 14, 22
COLUMN_HEIGHT, HEAD_HEIGHT, FOOT_HEIGHT = 150, 22, 24
MAX_LABEL_CHARS = 38
MAP_LEVELS = 5
# The side of a country's square including the gap, in SVG units.
SQUARE_SIZE = 10


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its label, the address of its papers, and the CSS class of its color."""

    label: str
    number: int
    url: str = ""
    unit: str = ""
    hue: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """The SVG coordinates of a bar and of its label."""

    value: Value
    label: str
    y: str
    width: str
    text_y: str
    x: str = "0"
    height: str = "10"
    text_x: str = "0"


@dataclass(frozen=True, slots=True)
class MapSquare:
    """A country on the map with its number of papers; `level` is its shade, from 0 to `MAP_LEVELS`."""

    code: str
    label: str
    number: int
    level: int
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its title, a sentence that describes it, and its numbers."""

    key: str
    title: str
    description: str
    heading: str
    values: Sequence[Value]
    marks: Sequence[Mark]
    height: int
    upright: bool = False
    # A sentence about how many papers it covers. Empty if it does not count papers.
    basis: str = ""
    squares: Sequence[MapSquare] = ()


def statistics(edition: Edition, at: datetime | None = None) -> list[Chart]:
    """Return the charts with at least two values. Eight queries, and those of the catalog."""
    charts = [
        topic_chart(edition, at),
        country_chart(edition, at),
        institution_chart(edition, at),
        team_size_chart(edition, at),
        kind_chart(edition, at),
        *year_charts(edition, at),
    ]
    return [chart for chart in charts if len(chart.values) > 1]


def topic_chart(edition: Edition, at: datetime | None) -> Chart:
    """Return the chart of papers by top-level topic, including subtopics."""
    top_level = [choice for choice in catalog(edition, at).facets["topic"].values() if not choice.parent]
    values = _ranked_values(edition, "topic", top_level)
    basis = _basis(edition, "topic", at)
    return bar_chart("topics", gettext("Papers by topic"), gettext("Topic"), values, basis)


def country_chart(edition: Edition, at: datetime | None) -> Chart:
    """Return the chart and map of papers by the countries of their institutions.

    A paper counts in each of its countries.
    """
    bitmaps: defaultdict[str, int] = defaultdict(int)
    choices = catalog(edition, at).facets["institution"]
    rows = Institution.objects.filter(slug__in=list(choices)).exclude(country="").order_by()
    countries = dict(rows.values_list("slug", "country"))
    for slug, choice in choices.items():
        if slug in countries:
            tile = tile_of(countries[slug])
            bitmaps[tile.name if tile else countries[slug]] |= choice.bits
    numbers = {country: bits.bit_count() for country, bits in bitmaps.items()}
    values = [
        Value(country, numbers[country])
        for country in sorted(bitmaps, key=lambda name: (-numbers[name], name))
    ]
    title = gettext("Papers by country of institution")
    basis = basis_sentence(reduce(or_, bitmaps.values(), 0).bit_count(), len(catalog(edition, at).papers))
    chart = bar_chart("countries", title, gettext("Country"), values[:MAX_BARS], basis)
    return replace(chart, values=values, squares=map_squares(numbers))


def map_squares(numbers: dict[str, int]) -> list[MapSquare]:
    """Return the squares of all countries. Levels are proportional to the logarithm of the number."""
    maximum = max(numbers.values(), default=0)
    squares = []
    for tile in TILES:
        number = numbers.get(tile.name, 0)
        level = ceil(MAP_LEVELS * log(number + 1) / log(maximum + 1)) if number else 0
        x, y = tile.column * SQUARE_SIZE, tile.row * SQUARE_SIZE
        squares.append(MapSquare(tile.code, tile.name, number, level, x, y))
    return squares


def institution_chart(edition: Edition, at: datetime | None) -> Chart:
    """Return the chart of papers by institution. A paper counts for each of its institutions."""
    choices = sorted(catalog(edition, at).facets["institution"].values(), key=_rank)[:MAX_BARS]
    rows = Institution.objects.filter(slug__in=[choice.value for choice in choices])
    names = dict(rows.values_list("slug", "name"))
    named_choices = [replace(choice, name=names.get(choice.value, choice.value)) for choice in choices]
    title = gettext("Papers by institution, top %(number)d") % {"number": MAX_BARS}
    values = _ranked_values(edition, "institution", named_choices)
    basis = _basis(edition, "institution", at)
    return bar_chart("institutions", title, gettext("Institution"), values, basis)


def team_size_chart(edition: Edition, at: datetime | None) -> Chart:
    sizes = Counter(min(size, LARGE_TEAM) for size in edition.papers.published(at).team_sizes(at))
    span = range(1, max(sizes, default=0) + 1)
    values = [Value(f"{size}+" if size == LARGE_TEAM else str(size), sizes[size]) for size in span]
    basis = basis_sentence(sizes.total(), len(catalog(edition, at).papers))
    return column_chart("authors", gettext("Authors per paper"), gettext("Authors"), values, basis)


def kind_chart(edition: Edition, at: datetime | None) -> Chart:
    rows = edition.presentations.published(at).filter(~is_cancelled()).order_by()
    talks = list(rows.values_list("kind", "kind_name", "paper"))
    counts = Counter((kind, name) for kind, name, _ in talks)
    papers = {paper for _, _, paper in talks if paper is not None}
    labels = {**kind_labels(Paper, "presentations"), **{kind: name for kind, name in sorted(counts) if name}}
    numbers = {kind: number for (kind, _), number in counts.items()}
    values = [
        Value(label, numbers[kind], hue=f"kind-{kind}") for kind, label in labels.items() if kind in numbers
    ]
    basis = basis_sentence(len(papers), len(catalog(edition, at).papers))
    return bar_chart("kinds", gettext("Presentations by kind"), gettext("Kind"), values, basis)


def year_charts(edition: Edition, at: datetime | None) -> list[Chart]:
    """Return the charts of papers, authors, and the share of returning authors by year."""
    editions = Edition.objects.published(at).filter(conference=edition.conference_id).order_by("start_date")
    papers = Paper.objects.published(at).counts_by_edition(edition.conference_id)
    authorships = Authorship.objects.published(at)
    counts = authorships.counts_by_edition(edition.conference_id)
    authors = {key: people for key, (people, _) in counts.items()}
    signed_papers = {key: number for key, (_, number) in counts.items()}
    returning_counts = authorships.returning(at).counts_by_edition(edition.conference_id)
    returning_authors = {key: people for key, (people, _) in returning_counts.items()}
    years = [row for row in editions if papers.get(row.pk)]
    shares = [
        Value(str(row.year), round(100 * returning_authors.get(row.pk, 0) / authors[row.pk]), unit=" %")
        for row in years[1:]
        if authors.get(row.pk)
    ]

    def basis(editions: list[Edition], numbers: dict[int, int]) -> str:
        covered, total = (sum(totals.get(row.pk, 0) for row in editions) for totals in (numbers, papers))
        return basis_sentence(covered, total)

    charts = [
        ("years", gettext("Papers by year"), _by_year(years, papers), basis(years, papers)),
        ("people", gettext("Authors by year"), _by_year(years, authors), basis(years, signed_papers)),
        ("returning", gettext("Returning authors"), shares, basis(years[1:], signed_papers)),
    ]
    return [column_chart(key, title, gettext("Year"), values, basis) for key, title, values, basis in charts]


def _by_year(editions: Iterable[Edition], numbers: dict[int, int]) -> list[Value]:
    return [
        Value(str(row.year), numbers.get(row.pk, 0), reverse("papers:statistics", args=[row.slug]))
        for row in editions
    ]


def _basis(edition: Edition, facet: str, at: datetime | None) -> str:
    """Return a sentence about how many papers have a value of the facet."""
    edition_catalog = catalog(edition, at)
    bits = reduce(or_, (choice.bits for choice in edition_catalog.facets[facet].values()), 0)
    return basis_sentence(bits.bit_count(), len(edition_catalog.papers))


def basis_sentence(number: int, total: int) -> str:
    """Return how many papers a chart covers as a sentence, such as "Based on 823 of 6,628 papers."."""
    if number == total:
        sentence = ngettext("Based on %(total)s paper.", "Based on all %(total)s papers.", total)
    else:
        sentence = ngettext(
            "Based on %(number)s of %(total)s paper.", "Based on %(number)s of %(total)s papers.", total
        )
    numbers = {"number": number, "total": total}
    return sentence % {name: number_format(value, force_grouping=True) for name, value in numbers.items()}


def _rank(choice: FacetValue) -> tuple[int, str]:
    return -choice.bits.bit_count(), choice.value


def _ranked_values(edition: Edition, facet: str, choices: Iterable[FacetValue]) -> list[Value]:
    papers = reverse("papers:list", args=[edition.slug])
    return [
        Value(
            choice.label,
            choice.bits.bit_count(),
            f"{papers}?{facet}={choice.value}",
            hue=f"topic-{choice.value}" if facet == "topic" else "",
        )
        for choice in sorted(choices, key=_rank)
    ]


# Pictures


def bar_chart(key: str, title: str, heading: str, values: Sequence[Value], basis: str = "") -> Chart:
    """Return a chart of horizontal bars, which fit labels of any length."""
    maximum = max((value.number for value in values), default=0) or 1
    marks = [
        Mark(
            value=value,
            label=shorten_label(value.label),
            y=str(row * ROW_HEIGHT + BAR_Y),
            width=f"{100 * value.number / maximum:.2f}%",
            text_y=str(row * ROW_HEIGHT + TEXT_Y),
        )
        for row, value in enumerate(values)
    ]
    height = len(values) * ROW_HEIGHT
    return Chart(key, title, describe_values(values), heading, values, marks, height, basis=basis)


def column_chart(key: str, title: str, heading: str, values: Sequence[Value], basis: str = "") -> Chart:
    """Return a chart of vertical bars, which fit about a dozen short labels."""
    maximum = max((value.number for value in values), default=0) or 1
    step = 100 / max(len(values), 1)
    marks = []
    for index, value in enumerate(values):
        height = COLUMN_HEIGHT * value.number / maximum
        top = HEAD_HEIGHT + COLUMN_HEIGHT - height
        marks.append(
            Mark(
                value=value,
                label=value.label,
                x=f"{(index + 0.14) * step:.2f}%",
                y=f"{top:.1f}",
                width=f"{0.72 * step:.2f}%",
                height=f"{height:.1f}",
                text_x=f"{(index + 0.5) * step:.2f}%",
                text_y=f"{top - 6:.1f}",
            )
        )
    height = HEAD_HEIGHT + COLUMN_HEIGHT + FOOT_HEIGHT
    return Chart(key, title, describe_values(values), heading, values, marks, height, True, basis)


def describe_values(values: Sequence[Value]) -> str:
    """Return a sentence with the number of values, the smallest and the largest."""
    if not values:
        return gettext("No data yet.")
    largest = max(values, key=lambda value: value.number)
    smallest = min(values, key=lambda value: value.number)
    sentence = ngettext(
        "%(count)d value, from %(least)s (%(least_label)s) to %(most)s (%(most_label)s).",
        "%(count)d values, from %(least)s (%(least_label)s) to %(most)s (%(most_label)s).",
        len(values),
    )
    return sentence % {
        "count": len(values),
        "least": f"{number_format(smallest.number, force_grouping=True)}{smallest.unit}",
        "least_label": smallest.label,
        "most": f"{number_format(largest.number, force_grouping=True)}{largest.unit}",
        "most_label": largest.label,
    }


def shorten_label(label: str) -> str:
    """Truncate a label between words so that it fits a phone. The table has the full label."""
    if len(label) <= MAX_LABEL_CHARS:
        return label
    return f"{label[:MAX_LABEL_CHARS].rpartition(' ')[0] or label[:MAX_LABEL_CHARS]} …"
