"""Input for the suggestions of sessions, and their reasons in words."""

from collections.abc import Iterable

from django.utils.translation import gettext, ngettext

import markup
from papers.models import Paper
from papers.related import distinctive_words, fold_keywords
from schedule.admin.assignment.cards import SessionCard
from schedule.assignment import PaperFeatures, Reason, SessionProfile, Suggestion, Unit
from schedule.models import Presentation

# Short words such as "NLP" are compared in names of topics and sessions, except these.
MIN_NAME_CHARS, STOP_WORDS = 3, frozenset(("and", "for", "the", "with"))


def session_profiles(cards: Iterable[SessionCard]) -> list[SessionProfile]:
    """Return the features of the stored and planned papers of sessions. One query."""
    profiles = {
        card.session.pk: SessionProfile(
            card.session.pk,
            name_words(str(card.session)),
            card.load.free,
            takes_any_topic=card.load.unit is Unit.BOARDS,
        )
        for card in cards
    }
    rows = Presentation.objects.matching(session_id__in=list(profiles), paper__isnull=False).taking_place()
    columns = ("session_id", "paper_id", "paper__topic_id", "paper__keywords", "paper__sort_title")
    for session, paper, topic, keywords, title in rows.order_by().rows(*columns):
        words = frozenset(distinctive_words(title))
        profiles[session].add(PaperFeatures(paper, topic, frozenset(), fold_keywords(keywords), words))
    for card in cards:
        for row in card.planned:
            profiles[card.session.pk].add(paper_features(row.paper))
    return list(profiles.values())


def paper_features(paper: Paper) -> PaperFeatures:
    topic = paper.topic if paper.topic_id else None
    words = name_words(topic.name) if topic else frozenset()
    title_words = frozenset(distinctive_words(paper.sort_title))
    return PaperFeatures(paper.pk, paper.topic_id, words, fold_keywords(paper.keywords), title_words)


def name_words(name: str) -> frozenset[str]:
    """Return the words of the name of a topic or session, folded."""
    words = markup.fold(name).split()
    return frozenset(word for word in words if len(word) >= MIN_NAME_CHARS) - STOP_WORDS


def reason_words(suggestion: Suggestion, paper: Paper) -> str:
    params = {"topic": paper.topic or "", "n": suggestion.count, "words": ", ".join(suggestion.words)}
    if suggestion.reason is Reason.TOPIC:
        message = ngettext(
            "%(n)d paper on %(topic)s there", "%(n)d papers on %(topic)s there", suggestion.count
        )
        return message % params
    if suggestion.reason is Reason.EMPTY:
        return gettext("empty session for papers on %(topic)s") % params
    if suggestion.reason is Reason.ROOM:
        return gettext("has room for it")
    if suggestion.reason is Reason.TITLE:
        return gettext("title of the session: %(words)s") % params
    return gettext("in common with papers there: %(words)s") % params
