"""What can be counted about an edition's papers, and about all years of its conference, as charts.

Templates draw the charts, each with a table. Widths are per cent of the picture, heights pixels: a picture
fits a phone without its words getting smaller.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from conference.models import Edition
from papers.catalog import FacetValue, catalog
from papers.models import Authorship, Paper
from papers.querysets import called_off
from papers.rows import labels_of
from people.models import Institution

MAX_BARS = 20
# Papers with at least this many authors share a column.
LARGE_TEAM = 10
ROW, TEXT, BAR = 42, 14, 22
COLUMNS, HEAD, FOOT = 150, 22, 24
MAX_LABEL_CHARS = 38


@dataclass(frozen=True, slots=True)
class Value:
    """One number: what it counts, and where its page is, if there is one."""

    label: str
    number: int
    url: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """One bar: its place, and that of its label; lengths as SVG wants them."""

    value: Value
    label: str
    y: str
    width: str
    text_y: str
    x: str = "0"
    height: str = "10"
    text_x: str = "0"


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its title, a sentence that says what it shows, and the numbers themselves."""

    key: str
    title: str
    description: str
    heading: str
    values: Sequence[Value]
    marks: Sequence[Mark]
    height: int
    upright: bool = False
    # Of how many of the papers it speaks; empty where it counts something else.
    basis: str = ""


def statistics(edition: Edition, at: datetime | None = None) -> list[Chart]:
    """Return the charts that have something to show. Seven queries, and those of the catalog."""
    charts = [
        topics(edition, at),
        institutions(edition, at),
        team_sizes(edition, at),
        kinds(edition, at),
        *years(edition, at),
    ]
    return [chart for chart in charts if len(chart.values) > 1]


def topics(edition: Edition, at: datetime | None) -> Chart:
    """Papers by the highest topics, each with those below it."""
    highest = [choice for choice in catalog(edition, at).facets["topic"].values() if not choice.above]
    chart = bars("topics", gettext("Papers by topic"), gettext("Topic"), _most(edition, "topic", highest))
    return replace(chart, basis=_basis(edition, "topic", at))


def institutions(edition: Edition, at: datetime | None) -> Chart:
    """Papers by the institutions of their authors: a paper counts at each of them."""
    choices = sorted(catalog(edition, at).facets["institution"].values(), key=_rank)[:MAX_BARS]
    rows = Institution.objects.filter(slug__in=[choice.value for choice in choices])
    names = dict(rows.values_list("slug", "name"))
    named = [replace(choice, label=names.get(choice.value, choice.value)) for choice in choices]
    chart = bars(
        "institutions",
        gettext("Papers by institution, the first %(number)d") % {"number": MAX_BARS},
        gettext("Institution"),
        _most(edition, "institution", named),
    )
    return replace(chart, basis=_basis(edition, "institution", at))


def team_sizes(edition: Edition, at: datetime | None) -> Chart:
    sizes = Counter(min(size, LARGE_TEAM) for size in edition.papers.published(at).team_sizes(at))
    span = range(1, max(sizes, default=0) + 1)
    values = [Value(f"{size}+" if size == LARGE_TEAM else str(size), sizes[size]) for size in span]
    chart = columns("authors", gettext("Authors per paper"), gettext("Authors"), values)
    return replace(chart, basis=based_on(sizes.total(), len(catalog(edition, at).papers)))


def kinds(edition: Edition, at: datetime | None) -> Chart:
    rows = edition.presentations.published(at).filter(~called_off()).order_by()
    talks = list(rows.values_list("kind", "kind_name", "paper"))
    found = Counter((kind, name) for kind, name, _ in talks)
    papers = {paper for _, _, paper in talks if paper is not None}
    labels = {**labels_of(Paper, "presentations"), **{kind: name for kind, name in sorted(found) if name}}
    numbers = {kind: number for (kind, _), number in found.items()}
    values = [Value(label, numbers[kind]) for kind, label in labels.items() if kind in numbers]
    chart = bars("kinds", gettext("Presentations by kind"), gettext("Kind"), values)
    return replace(chart, basis=based_on(len(papers), len(catalog(edition, at).papers)))


def years(edition: Edition, at: datetime | None) -> list[Chart]:
    """Papers, authors, and how many of the authors had written for an earlier year."""
    editions = Edition.objects.published(at).filter(conference=edition.conference_id).order_by("start_date")
    papers = Paper.objects.published(at).by_edition(edition.conference_id)
    wrote = Authorship.objects.published(at)
    authors = wrote.people_by_edition(edition.conference_id)
    back = wrote.returning(at).people_by_edition(edition.conference_id)
    shown = [one for one in editions if papers.get(one.pk)]
    shares = [
        Value(str(one.year), round(100 * back.get(one.pk, 0) / authors[one.pk]), unit=" %")
        for one in shown[1:]
        if authors.get(one.pk)
    ]
    return [
        columns("years", gettext("Papers by year"), gettext("Year"), _by_year(shown, papers)),
        columns("people", gettext("Authors by year"), gettext("Year"), _by_year(shown, authors)),
        columns("returning", gettext("Authors who had written for an earlier year"), gettext("Year"), shares),
    ]


def _by_year(editions: Iterable[Edition], found: dict[int, int]) -> list[Value]:
    return [
        Value(str(one.year), found.get(one.pk, 0), reverse("papers:statistics", args=[one.slug]))
        for one in editions
    ]


def _basis(edition: Edition, facet: str, at: datetime | None) -> str:
    """Say how many papers have any value of a facet."""
    found = catalog(edition, at)
    bits = reduce(or_, (choice.bits for choice in found.facets[facet].values()), 0)
    return based_on(bits.bit_count(), len(found.papers))


def based_on(number: int, total: int) -> str:
    """Say of how many papers a chart speaks: "Based on 823 of 6,628 papers."."""
    if number == total:
        said = ngettext("Based on %(total)s paper.", "Based on all %(total)s papers.", total)
    else:
        said = ngettext(
            "Based on %(number)s of %(total)s paper.", "Based on %(number)s of %(total)s papers.", total
        )
    grouped = {"number": number, "total": total}
    return said % {name: number_format(value, force_grouping=True) for name, value in grouped.items()}


def _rank(choice: FacetValue) -> tuple[int, str]:
    return -choice.bits.bit_count(), choice.value


def _most(edition: Edition, facet: str, choices: Iterable[FacetValue]) -> list[Value]:
    papers = reverse("papers:list", args=[edition.slug])
    return [
        Value(choice.label, choice.bits.bit_count(), f"{papers}?{facet}={choice.value}")
        for choice in sorted(choices, key=_rank)
    ]


# Pictures


def bars(key: str, title: str, heading: str, values: Sequence[Value]) -> Chart:
    """Return a chart of lying bars, one below the other, for labels of any length."""
    most = max((value.number for value in values), default=0) or 1
    marks = [
        Mark(
            value=value,
            label=shortened(value.label),
            y=str(row * ROW + BAR),
            width=f"{100 * value.number / most:.2f}%",
            text_y=str(row * ROW + TEXT),
        )
        for row, value in enumerate(values)
    ]
    return Chart(key, title, described(values), heading, values, marks, len(values) * ROW)


def columns(key: str, title: str, heading: str, values: Sequence[Value]) -> Chart:
    """Return a chart of standing bars side by side, for a dozen short labels in an order of their own."""
    most = max((value.number for value in values), default=0) or 1
    step = 100 / max(len(values), 1)
    marks = []
    for place, value in enumerate(values):
        height = COLUMNS * value.number / most
        top = HEAD + COLUMNS - height
        marks.append(
            Mark(
                value=value,
                label=value.label,
                x=f"{(place + 0.14) * step:.2f}%",
                y=f"{top:.1f}",
                width=f"{0.72 * step:.2f}%",
                height=f"{height:.1f}",
                text_x=f"{(place + 0.5) * step:.2f}%",
                text_y=f"{top - 6:.1f}",
            )
        )
    return Chart(key, title, described(values), heading, values, marks, HEAD + COLUMNS + FOOT, upright=True)


def described(values: Sequence[Value]) -> str:
    """Return what a glance at the picture tells."""
    if not values:
        return gettext("There is nothing to count yet.")
    most = max(values, key=lambda value: value.number)
    least = min(values, key=lambda value: value.number)
    said = ngettext(
        "%(count)d value, from %(least)s (%(least_label)s) to %(most)s (%(most_label)s).",
        "%(count)d values, from %(least)s (%(least_label)s) to %(most)s (%(most_label)s).",
        len(values),
    )
    return said % {
        "count": len(values),
        "least": f"{number_format(least.number, force_grouping=True)}{least.unit}",
        "least_label": least.label,
        "most": f"{number_format(most.number, force_grouping=True)}{most.unit}",
        "most_label": most.label,
    }


def shortened(label: str) -> str:
    """Return a label that fits a phone, in whole words; the table has it in full."""
    if len(label) <= MAX_LABEL_CHARS:
        return label
    return f"{label[:MAX_LABEL_CHARS].rpartition(' ')[0] or label[:MAX_LABEL_CHARS]} …"
