"""Which papers, topics and awards are public, and the questions that pages ask about them."""

from datetime import datetime
from functools import reduce
from operator import add, or_
from typing import Any, Self

from django.db.models import Count, Exists, ExpressionWrapper, F, OuterRef, Prefetch, Q, Subquery
from django.db.models.fields import BooleanField
from django.db.models.functions import Coalesce

from conference.querysets import ContentQuerySet, papers_public
from conference.text import fold
from people.querysets import with_shown_names

# How deep topics nest: `Computer Vision->Other` has two levels.
TOPIC_LEVELS = 4


def paper_published(prefix: str, at: datetime | None) -> Q:
    """The paper that `prefix` leads to (such as "paper__") is public."""
    return papers_public(f"{prefix}edition__", at) & Q(**{f"{prefix}status": "published"})


# Ways from a paper to its topic and to those above. One lookup each, so that each finds its index.
TOPIC_PATHS = ["__".join(["topic", *["parent"] * level]) for level in range(TOPIC_LEVELS)]


class TopicQuerySet(ContentQuerySet[Any]):
    """Topics of an edition, a tree."""

    def published(self, at: datetime | None = None) -> Self:
        """Topics under which a published paper stands."""
        papers = self.published_related("papers", at)
        used = (Q(Exists(papers.filter(**{path: OuterRef("pk")}))) for path in TOPIC_PATHS)
        return self.filter(papers_public("edition__", at), reduce(or_, used))

    def with_counts(self, at: datetime | None = None) -> Self:
        """With the number of published papers in and below each topic, as `paper_count`."""
        papers = self.published_related("papers", at).order_by()
        counts = (
            papers.filter(**{path: OuterRef("pk")}).values(path).annotate(number=Count("pk")).values("number")
            for path in TOPIC_PATHS
        )
        return self.annotate(paper_count=reduce(add, (Coalesce(Subquery(count), 0) for count in counts)))


class PaperQuerySet(ContentQuerySet[Any]):
    """Papers of an edition."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(paper_published("", at))

    def below(self, topic: Any) -> Self:
        """Papers in the topic or in one below it."""
        return self.filter(reduce(or_, (Q(**{path: topic}) for path in TOPIC_PATHS)))

    def matching(self, words: str, at: datetime | None = None) -> Self:
        """Papers each of these words is found in: in the title or in a name of an author."""
        rows = self
        for word in dict.fromkeys(fold(words).split()):
            rows = rows.filter(Q(sort_title__contains=word) | Q(self._author_named(word, at)))
        return rows

    def _author_named(self, word: str, at: datetime | None) -> Exists:
        spelling = Q(person__names__folded__contains=word, person__names__hidden=False)
        authors = self.published_related("authorships", at).filter(paper=OuterRef("pk"))
        return Exists(authors.filter(Q(person__folded__contains=word) | spelling))

    def by_title(self) -> Self:
        return self.order_by("sort_title", "uid")

    def by_schedule(self, at: datetime | None = None) -> Self:
        """By the first appearance that takes place; the unscheduled come last."""
        shown = self.published_related("presentations", at).filter(paper=OuterRef("pk"), status="published")
        begins = shown.annotate(begins=Coalesce("start", "session__start")).order_by("begins")
        rows = self.annotate(first_start=Subquery(begins.values("begins")[:1]))
        return rows.order_by(F("first_start").asc(nulls_last=True), "sort_title", "uid")

    def grouped_by(self, field: str) -> Self:
        """In groups by topic, in the chairs' order, or by track; in a group as sorted before."""
        order = self.query.order_by
        if field == "topic":
            ends = F("topic__position").asc(nulls_last=True)
            return self.order_by(ends, "topic__name", "topic__pk", *order)
        return self.order_by(field, *order)

    def tracks(self) -> list[str]:
        """Return the names of the tracks that have papers, apart from the main one."""
        return list(self.order_by("track").exclude(track="").values_list("track", flat=True).distinct())

    def with_authors(self, at: datetime | None = None) -> Self:
        """With the authors in order as `shown_authors`, each with person and `shown_name`."""
        authors = with_shown_names(self.published_related("authorships", at)).order_by("position")
        return self.prefetch_related(Prefetch("authorships", authors, "shown_authors"))

    def with_awards(self, at: datetime | None = None) -> Self:
        """With the awards as `shown_grants`."""
        grants = self.published_related("grants", at).select_related("award__edition")
        ordered = grants.order_by("award__position", "award__pk", "position")
        return self.prefetch_related(Prefetch("grants", ordered, "shown_grants"))

    def with_appearances(self, at: datetime | None = None, places: bool = True) -> Self:
        """With the appearances by time as `appearances`, `called_off` or not; `places` adds their rooms."""
        needed = ("session__edition", "session__room__edition", "room__edition") if places else ("session",)
        cancelled = Q(status="cancelled") | Q(session__status="cancelled")
        rows = self.published_related("presentations", at).annotate(
            begins=Coalesce("start", "session__start"),
            called_off=ExpressionWrapper(cancelled, BooleanField()),
        )
        ordered = rows.select_related(*needed).order_by(F("begins").asc(nulls_last=True), "position", "pk")
        return self.prefetch_related(Prefetch("presentations", ordered, "appearances"))

    def with_materials(self, at: datetime | None = None) -> Self:
        """With the visible files and links as `shown_materials`."""
        rows = self.published_related("materials", at).order_by("position", "pk")
        return self.prefetch_related(Prefetch("materials", rows, "shown_materials"))

    def for_cards(self, at: datetime | None = None) -> Self:
        """With what one line of a list shows. Three queries more."""
        rows = self.select_related("edition", "topic")
        return rows.with_authors(at).with_awards(at).with_appearances(at, places=False)

    def in_full(self, at: datetime | None = None) -> Self:
        """With what a paper's page shows."""
        rows = self.select_related("edition", "topic__parent__parent", "topic__edition")
        return rows.with_authors(at).with_awards(at).with_appearances(at).with_materials(at)


class PaperPartQuerySet(ContentQuerySet[Any]):
    """Rows that belong to a paper and are public with it."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(paper_published("paper__", at))


class MaterialQuerySet(PaperPartQuerySet):
    """Files and links of papers."""

    def published(self, at: datetime | None = None) -> Self:
        return super().published(at).filter(visible=True)


class AwardQuerySet(ContentQuerySet[Any]):
    """Awards of an edition, in the chairs' order."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(papers_public("edition__", at), status="published")

    def newest_first(self) -> Self:
        """Awards of all years."""
        return self.order_by("-edition__start_date", "edition__slug", "position", "pk")

    def with_winners(self, at: datetime | None = None) -> Self:
        """With edition and winners as `shown_grants`: people, or papers with authors and appearances."""
        grants = self.published_related("grants", at)
        papers = grants.published_related("paper", at).select_related("edition")
        winners = Prefetch("paper", papers.with_authors(at).with_appearances(at))
        rows = grants.select_related("person").prefetch_related(winners).order_by("position", "pk")
        return self.select_related("edition").prefetch_related(Prefetch("grants", rows, "shown_grants"))


class AwardGrantQuerySet(ContentQuerySet[Any]):
    """What awards went to."""

    def published(self, at: datetime | None = None) -> Self:
        award_public = papers_public("award__edition__", at) & Q(award__status="published")
        return self.filter(award_public, Q(paper__isnull=True) | paper_published("paper__", at))
