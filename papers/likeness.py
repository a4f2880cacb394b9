"""Which papers are like another, by what is stored about them (pure)."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from papers.models import Paper

MAX_RELATED = 5
# Shorter words of a title say little of what a paper is about.
MAX_SHARE = 6
SAME_AUTHOR, SAME_KEYWORD = 4, 3


def most_similar(paper: "Paper", authored: Iterable[int], candidates: Iterable[Any]) -> list[int]:
    """Return the keys of the papers most like this one: by authors in common, keywords, words of the title.

    `authored` has the key of another paper once for each author in common.
    """
    points = Counter({key: SAME_AUTHOR * times for key, times in Counter(authored).items()})
    keywords, words = set(map(str.casefold, paper.keywords)), distinctive(paper.sort_title)
    for key, others, title in candidates:
        shared = len(keywords.intersection(map(str.casefold, others)))
        points[key] += SAME_KEYWORD * shared + len(words & distinctive(title))
    del points[paper.pk]
    ranked = sorted((key for key in points if points[key]), key=lambda key: (-points[key], key))
    return ranked[:MAX_RELATED]


def distinctive(title: str) -> set[str]:
    """Return the words of a folded title that say what a paper is about."""
    return {word for word in title.split() if len(word) >= MAX_SHARE}
