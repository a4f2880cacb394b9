"""What can be counted about an edition's papers, and about all years of its conference, as charts."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext

from conference.models import Edition
from papers.catalog import FacetValue, catalog, presentation_kinds
from papers.charts import Chart, Value, bars, columns
from papers.models import Authorship, Paper
from papers.querysets import taking_place
from people.models import Institution

MAX_BARS = 20
# Papers with at least this many authors share a column.
LARGE_TEAM = 10


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
    return bars("topics", gettext("Papers by topic"), gettext("Topic"), _most(edition, "topic", highest))


def institutions(edition: Edition, at: datetime | None) -> Chart:
    """Papers by the institutions of their authors: a paper counts at each of them."""
    choices = catalog(edition, at).facets["institution"].values()
    values = _most(edition, "institution", choices)[:MAX_BARS]
    slugs = [choice.value for choice in sorted(choices, key=_rank)[:MAX_BARS]]
    names = dict(Institution.objects.filter(slug__in=slugs).values_list("slug", "name"))
    named = [
        Value(names.get(slug, slug), value.number, value.url)
        for slug, value in zip(slugs, values, strict=True)
    ]
    return bars(
        "institutions",
        gettext("Papers by institution, the first %(number)d") % {"number": MAX_BARS},
        gettext("Institution"),
        named,
    )


def team_sizes(edition: Edition, at: datetime | None) -> Chart:
    """How many authors papers have."""
    sizes = Counter(min(size, LARGE_TEAM) for size in edition.papers.published(at).team_sizes(at))
    span = range(1, max(sizes, default=0) + 1)
    values = [Value(f"{size}+" if size == LARGE_TEAM else str(size), sizes[size]) for size in span]
    return columns("authors", gettext("Authors per paper"), gettext("Authors"), values)


def kinds(edition: Edition, at: datetime | None) -> Chart:
    """Presentations that take place, by kind."""
    rows = taking_place(edition.presentations.published(at)).order_by().values_list("kind", "kind_name")
    found = Counter(rows)
    labels = {**presentation_kinds(), **{kind: name for kind, name in sorted(found) if name}}
    numbers = {kind: number for (kind, _), number in found.items()}
    values = [Value(label, numbers[kind]) for kind, label in labels.items() if kind in numbers]
    return bars("kinds", gettext("Presentations by kind"), gettext("Kind"), values)


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


def _rank(choice: FacetValue) -> tuple[int, str]:
    return -choice.bits.bit_count(), choice.value


def _most(edition: Edition, facet: str, choices: Iterable[FacetValue]) -> list[Value]:
    papers = reverse("papers:list", args=[edition.slug])
    return [
        Value(choice.label, choice.bits.bit_count(), f"{papers}?{facet}={choice.value}")
        for choice in sorted(choices, key=_rank)
    ]
