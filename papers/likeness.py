"""Which papers are like another, by what is stored about them (pure)."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

MOST = 5
# Shorter words of a title say little of what a paper is about.
TELLING = 6
SAME_AUTHOR, SAME_KEYWORD = 4, 3


def likest(paper: Any, authored: Iterable[int], candidates: Iterable[Any]) -> list[int]:
    """Return the keys of the papers most like this one: by authors in common, keywords, words of the title.

    `authored` has the key of another paper once for each author in common.
    """
    points = Counter({key: SAME_AUTHOR * times for key, times in Counter(authored).items()})
    keywords, words = set(map(str.casefold, paper.keywords)), telling(paper.sort_title)
    for key, others, title in candidates:
        shared = len(keywords.intersection(map(str.casefold, others)))
        points[key] += SAME_KEYWORD * shared + len(words & telling(title))
    del points[paper.pk]
    ranked = sorted((key for key in points if points[key]), key=lambda key: (-points[key], key))
    return ranked[:MOST]


def telling(title: str) -> set[str]:
    """Return the words of a folded title that say what a paper is about."""
    return {word for word in title.split() if len(word) >= TELLING}
