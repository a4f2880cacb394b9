"""Querysets of papers, topics, materials and awards: the public rows, and queries of pages and checks."""

from collections.abc import Sequence
from datetime import datetime
from functools import reduce
from operator import add, or_
from typing import TYPE_CHECKING, Any, Self

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    OuterRef,
    Prefetch,
    Q,
    Subquery,
    Value,
    When,
)
from django.db.models.fields import IntegerField
from django.db.models.functions import Coalesce, Lower, Upper

from content.querysets import ContentQuerySet, has_status, or_draft, papers_public
from content.unreleased.rows import ReleasableQuerySet
from papers.rows import PaperRow, list_rows
from people.querysets import with_shown_names

if TYPE_CHECKING:
    from papers.models import Topic

# The maximum depth of nested topics. `Computer Vision->Other` has two levels.
TOPIC_LEVELS = 4


def paper_published(prefix: str, at: datetime | None) -> Q:
    """Match rows whose paper is public. `prefix` is the lookup of the paper, such as "paper__"."""
    return papers_public(f"{prefix}edition__", at) & has_status(("published",), prefix)


# Lookups from a paper to its topic and to each topic above it. Each of them can use an index.
TOPIC_PATHS = ["__".join(["topic", *["parent"] * level]) for level in range(TOPIC_LEVELS)]

# Lookups from a topic to each topic above it.
PARENT_PATHS = ["__".join(["parent"] * level) for level in range(1, TOPIC_LEVELS)]


def is_cancelled() -> Q:
    """Match presentations that are canceled, or whose session or parent session is canceled."""
    levels = ("status", "session__status", "session__parent__status")
    return reduce(or_, (Q(**{level: "cancelled", f"{level}__isnull": False}) for level in levels))


class TopicQuerySet(ContentQuerySet[Any]):
    def published(self, at: datetime | None = None) -> Self:
        papers = self.published_related("papers", at)
        has_papers = Exists(papers.filter(topic=OuterRef("pk")))
        # From the topics below, which are few, not from their papers.
        used = self.model._base_manager.filter(has_papers)
        below = (Q(Exists(used.filter(**{path: OuterRef("pk")}))) for path in PARENT_PATHS)
        return self.filter(papers_public("edition__", at), reduce(or_, below, Q(has_papers)))

    def with_counts(self, at: datetime | None = None) -> Self:
        """Annotate `paper_count`, the number of published papers in each topic and its subtopics."""
        papers = self.published_related("papers", at).order_by()
        counts = (
            papers.filter(**{path: OuterRef("pk")}).values(path).annotate(number=Count("pk")).values("number")
            for path in TOPIC_PATHS
        )
        return self.annotate(paper_count=reduce(add, (Coalesce(Subquery(count), 0) for count in counts)))


class PaperQuerySet(ReleasableQuerySet):
    def published(self, at: datetime | None = None) -> Self:
        return self.filter(paper_published("", at))

    def in_topic(self, topic: "Topic") -> Self:
        return self.filter(reduce(or_, (Q(**{path: topic}) for path in TOPIC_PATHS)))

    def by_title(self) -> Self:
        return self.order_by("sort_title", "uid")

    def in_key_order(self, keys: Sequence[int]) -> Self:
        """Return the papers with these primary keys, in this order."""
        positions = [When(pk=key, then=Value(position)) for position, key in enumerate(keys)]
        rows = self.filter(pk__in=keys)
        return rows.order_by(Case(*positions, output_field=IntegerField())) if positions else rows

    def _rows_of(self, relation: str, at: datetime | None) -> Any:
        return self.published_related(relation, at).filter(paper__in=self.order_by().values("pk")).order_by()

    def award_rows(self, at: datetime | None = None) -> Any:
        """Return key, uid and name of the awards of the papers' own edition, in the chairs' order."""
        rows = self._rows_of("grants", at).filter(award__edition=F("paper__edition"))
        return rows.order_by("award__position", "award").values_list("paper_id", "award__uid", "award__name")

    def team_sizes(self, at: datetime | None = None) -> Any:
        """Return the number of authors of each paper. Papers without authors are omitted."""
        sizes = self._rows_of("authorships", at).values("paper").annotate(size=Count("pk"))
        return sizes.values_list("size", flat=True)

    def counts_by_edition(self, conference: int) -> dict[int, int]:
        """Return the numbers of papers of a conference by the key of the edition."""
        rows = self.filter(edition__conference=conference).order_by().values_list("edition")
        return dict(rows.annotate(number=Count("pk")))

    def with_authors(self, at: datetime | None = None) -> Self:
        """Prefetch the authors in order as `shown_authors`, each with person and `shown_name`."""
        authors = with_shown_names(self.published_related("authorships", at)).order_by("position")
        return self.prefetch_related(Prefetch("authorships", authors, "shown_authors"))

    def with_awards(self, at: datetime | None = None) -> Self:
        """Prefetch the awards as `shown_grants`."""
        grants = self.published_related("grants", at).select_related("award__edition")
        ordered = grants.order_by("award__position", "award__pk", "position")
        return self.prefetch_related(Prefetch("grants", ordered, "shown_grants"))

    def with_appearances(self, at: datetime | None = None) -> Self:
        """Prefetch the presentations by time as `appearances`, with rooms and `called_off`."""
        related = ("session__edition", "session__room__edition", "room__edition")
        rows = self.published_related("presentations", at).with_beginning().select_related(*related)
        return self.prefetch_related(Prefetch("presentations", rows, "appearances"))

    def with_materials(self, at: datetime | None = None) -> Self:
        """Prefetch the visible files and links as `shown_materials`."""
        rows = self.published_related("materials", at).order_by("position", "pk")
        return self.prefetch_related(Prefetch("materials", rows, "shown_materials"))

    def list_rows(
        self, at: datetime | None = None, *, detailed: bool = False, abstract: str = ""
    ) -> list[PaperRow]:
        """Return the papers as rows of a list; see `papers.rows`."""
        return list_rows(self, at, detailed=detailed, abstract=abstract)

    def with_details(self, at: datetime | None = None) -> Self:
        rows = self.select_related("edition", "topic__parent__parent", "topic__edition")
        return rows.with_authors(at).with_awards(at).with_appearances(at).with_materials(at)

    # Checks for chairs, of public papers and drafts

    def not_withdrawn(self) -> Self:
        return self.exclude(status="withdrawn")

    def without_abstract(self) -> Self:
        return self.not_withdrawn().filter(abstract="")

    def without_authors(self) -> Self:
        return self.not_withdrawn().filter(~self._has("authorships"))

    def without_pdf(self) -> Self:
        """Return papers without a visible PDF."""
        return self.not_withdrawn().filter(~self._has("materials", kind="pdf", visible=True))

    def without_session(self) -> Self:
        """Return papers without a presentation in a session."""
        return self.not_withdrawn().filter(~self._has("presentations", session__isnull=False))

    def same_title(self) -> Self:
        """Return papers with the title of another paper of the edition, ignoring case and accents."""
        papers = self.model._base_manager.filter(status__in=("draft", "published"))
        others = papers.filter(edition=OuterRef("edition"), sort_title=OuterRef("sort_title"))
        return self.not_withdrawn().exclude(sort_title="").filter(Exists(others.exclude(pk=OuterRef("pk"))))

    def worth_a_look(self) -> Self:
        """Return papers with an invalid formula, replacement characters, or a title in capitals.

        Rendered text marks invalid formulas, so the sources are not parsed again.
        """
        texts = ("title_html", "abstract_html", "lay_summary_html")
        marks = ('<code class="tex">', "\ufffd")
        has_marks = reduce(or_, (Q(**{f"{text}__contains": mark}) for text in texts for mark in marks))
        is_in_capitals = Q(title=Upper("title"), title__contains=" ") & ~Q(title=Lower("title"))
        return self.not_withdrawn().filter(has_marks | is_in_capitals)

    def _has(self, relation: str, **fields: object) -> Exists:
        model: Any = self.model._meta.get_field(relation).related_model
        return Exists(model._base_manager.filter(paper=OuterRef("pk"), **fields))


class PaperPartQuerySet(ContentQuerySet[Any]):
    """Rows that belong to a paper and are public with it."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(paper_published("paper__", at))


class AuthorshipQuerySet(PaperPartQuerySet):
    def counts_by_edition(self, conference: int) -> dict[int, tuple[int, int]]:
        """Return the numbers of authors and of papers with authors, by the key of the edition."""
        rows = self.filter(paper__edition__conference=conference).order_by().values_list("paper__edition")
        counted = rows.annotate(Count("person", distinct=True), Count("paper", distinct=True))
        return {key: (people, papers) for key, people, papers in counted}

    def returning(self, at: datetime | None = None) -> Self:
        """Return authorships of people with a paper in an earlier edition of the same conference."""
        earlier = self.model._default_manager.published(at).filter(
            person=OuterRef("person"),
            paper__edition__conference=OuterRef("paper__edition__conference"),
            paper__edition__start_date__lt=OuterRef("paper__edition__start_date"),
        )
        return self.filter(Exists(earlier))


class MaterialQuerySet(PaperPartQuerySet):
    def published(self, at: datetime | None = None) -> Self:
        return super().published(at).filter(visible=True)


class AwardQuerySet(ContentQuerySet[Any]):
    def published(self, at: datetime | None = None) -> Self:
        return self.filter(papers_public("edition__", at), or_draft(Q(status="published")))

    def newest_first(self) -> Self:
        return self.order_by("-edition__start_date", "edition__slug", "position", "pk")

    def with_winners(self, at: datetime | None = None) -> Self:
        """Fetch the edition, and prefetch the winners as `shown_grants`.

        Papers have their authors and appearances.
        """
        grants = self.published_related("grants", at)
        papers = grants.published_related("paper", at).select_related("edition")
        winners = Prefetch("paper", papers.with_authors(at).with_appearances(at))
        rows = grants.select_related("person").prefetch_related(winners).order_by("position", "pk")
        return self.select_related("edition").prefetch_related(Prefetch("grants", rows, "shown_grants"))


class AwardGrantQuerySet(ContentQuerySet[Any]):
    def published(self, at: datetime | None = None) -> Self:
        award_public = papers_public("award__edition__", at) & or_draft(
            Q(award__status="published"), "award__"
        )
        return self.filter(award_public, Q(paper__isnull=True) | paper_published("paper__", at))
