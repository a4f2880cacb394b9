"""Posters like a paper's own on the same program day: for who stands in the hall and wants to see more."""

from datetime import datetime
from typing import Any

from django.db.models import Q
from django.db.models.functions import Coalesce

from papers.models import Paper
from schedule.models import Presentation

MOST = 4
# The same topic says as much as two keywords.
TOPIC = 2
COLUMNS = ("pk", "paper", "paper__topic", "paper__keywords")


def posters_like(paper: Paper, at: datetime | None = None, most: int = MOST) -> list[Presentation]:
    """Return posters that share topic or keywords with the paper, likest first, in walking order if equal.

    Two queries, and six for what is found; the paper comes with its `appearances`.
    """
    edition = paper.edition
    shown = [one for one in vars(paper)["appearances"] if one.kind == "poster" and not one.called_off]
    spans = [edition.day_bounds(edition.day_of(one.begins)) for one in shown if one.begins]
    if not spans or not (paper.topic_id or paper.keywords):
        return []
    same_day = Q()
    for start, end in spans:
        same_day |= Q(begins__gte=start, begins__lt=end)
    posters = edition.presentations.published(at).posters().exclude(paper=paper)
    rows = posters.annotate(begins=Coalesce("start", "session__start")).filter(same_day).by_time()
    found: dict[int, tuple[int, int]] = {}
    for pk, own, topic, keywords in rows.values_list(*COLUMNS):
        likeness = _likeness(paper, topic, keywords)
        if own and likeness and own not in found:
            found[own] = (likeness, pk)
    best = sorted(found.values(), key=lambda pair: -pair[0])[:most]
    if not best:
        return []
    by_pk: dict[int, Any] = posters.with_session().with_credits(at).in_bulk([pk for _, pk in best])
    return [by_pk[pk] for _, pk in best]


def _likeness(paper: Paper, topic: int | None, keywords: list[str] | None) -> int:
    shared = _folded(paper.keywords) & _folded(keywords)
    return len(shared) + TOPIC * (topic is not None and topic == paper.topic_id)


def _folded(keywords: list[str] | None) -> set[str]:
    return {keyword.casefold() for keyword in keywords or ()}
