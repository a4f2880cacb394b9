"""The stylesheet with the colors of an edition: its accent, and those of kinds and topics.

`static/css/plenary/hues.css` defines the default palette. Colors that the chairs chose override it. A custom
kind without a color has that of the built-in kind that it counts as. A topic without a color has that of its
parent. A top-level topic without one has a color of the palette, by its position.
"""

from collections.abc import Hashable, Iterable
from datetime import datetime
from hashlib import sha256

from django.db.models import CharField, F, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from conference.models import Edition
from conference.request_edition import edition_page
from conference.views import FOR_A_YEAR
from pagecache.per_revision import cached_per_revision
from schedule.kind_colors import kind_rule
from schedule.session_kinds import SessionKind
from website.menu import site_revision

CACHED_EDITIONS = 24

PALETTE_TOPICS = 12
DIGEST_CHARS = 10

# "topic" or the type that a kind applies to, slug, color, built-in kind or parent topic, position, name.
type ColorRow = tuple[str, str, str, str, int, str]


@edition_page
def stylesheet(request: HttpRequest, edition: Edition, digest: str) -> HttpResponse:
    """Return the colors of an edition. Redirect addresses of outdated colors to the current ones."""
    css = build_stylesheet(edition, timezone.now())
    if digest != stylesheet_digest(css):
        return redirect("website:colors", edition.slug, stylesheet_digest(css))
    return HttpResponse(css, content_type="text/css; charset=utf-8", headers={"Cache-Control": FOR_A_YEAR})


def colors_url(edition: Edition, at: datetime) -> str:
    """Return the address of the stylesheet, which contains a digest. One query after a change, else none."""
    revision = site_revision(edition)
    css = _cached_stylesheet(edition, at, revision) if revision else build_stylesheet(edition, at)
    return reverse("website:colors", args=[edition.slug, stylesheet_digest(css)])


@cached_per_revision(CACHED_EDITIONS, is_dated=True)
def _cached_stylesheet(edition: Edition, at: datetime, _site: Hashable) -> str:
    return build_stylesheet(edition, at)


def stylesheet_digest(css: str) -> str:
    return sha256(css.encode()).hexdigest()[:DIGEST_CHARS]


def build_stylesheet(edition: Edition, at: datetime) -> str:
    """Return the stylesheet. One query."""
    lines = [f":root{{--accent:{edition.accent}}}"]
    topics: list[ColorRow] = []
    for row in sorted(color_rows(edition, at), key=lambda row: row[4:]):
        source, slug, color, counts_as, *_ = row
        if source == "topic":
            topics.append(row)
        elif rule := kind_rule(slug, counts_as, color):
            lines.append(rule)
    classes_by_hue: dict[str, list[str]] = {}
    for slug, hue in topic_hues(topics).items():
        classes_by_hue.setdefault(hue, []).append(f".topic-{slug}")
    lines += [f"{','.join(classes)}{{--hue:{hue}}}" for hue, classes in classes_by_hue.items()]
    return "\n".join([*lines, ""])


def color_rows(edition: Edition, at: datetime) -> Iterable[ColorRow]:
    kinds = SessionKind.objects.published(at).filter(conference=edition.conference_id).order_by()
    topics = edition.topics.published(at).order_by()
    columns = ("source", "slug", "color", "above", "position", "name")
    kind_rows = kinds.annotate(source=F("applies_to"), above=F("counts_as"))
    topic_rows = topics.annotate(
        source=Value("topic", output_field=CharField()), above=Coalesce("parent__slug", Value(""))
    )
    rows: Iterable[ColorRow] = (
        kind_rows.values_list(*columns).union(topic_rows.values_list(*columns), all=True).order_by()
    )
    return rows


def topic_hues(topics: Iterable[ColorRow]) -> dict[str, str]:
    """Return the hue of each topic by its slug. The topics must come sorted by position."""
    topics_by_slug = {slug: (color, parent) for _, slug, color, parent, *_ in topics}
    top_level = [slug for slug, (_, parent) in topics_by_slug.items() if parent not in topics_by_slug]
    palette = {slug: f"var(--topic-{index % PALETTE_TOPICS + 1})" for index, slug in enumerate(top_level)}

    def hue(slug: str) -> str:
        color, parent = topics_by_slug[slug]
        return color or palette.get(slug) or hue(parent)

    return {slug: hue(slug) for slug in topics_by_slug}
