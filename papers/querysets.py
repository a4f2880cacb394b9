"""Which papers, topics and awards are public, and the questions that pages ask about them."""

from datetime import datetime
from typing import Any, Self

from django.db.models import Q

from conference.querysets import ContentQuerySet, papers_public


def paper_published(prefix: str, at: datetime | None) -> Q:
    """The paper that `prefix` leads to (such as "paper__") is public."""
    return papers_public(f"{prefix}edition__", at) & Q(**{f"{prefix}status": "published"})


class TopicQuerySet(ContentQuerySet[Any]):
    """Topics of an edition, a tree."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(papers_public("edition__", at))


class PaperQuerySet(ContentQuerySet[Any]):
    """Papers of an edition."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(paper_published("", at))


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


class AwardGrantQuerySet(ContentQuerySet[Any]):
    """What awards went to."""

    def published(self, at: datetime | None = None) -> Self:
        award_public = papers_public("award__edition__", at) & Q(award__status="published")
        return self.filter(award_public, Q(paper__isnull=True) | paper_published("paper__", at))
