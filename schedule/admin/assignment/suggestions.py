"""Input for the suggestions of sessions, and their reasons in words."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext, ngettext

import markup
from content.array_lookup import AnyOf
from papers.models import Authorship, Paper
from papers.related import distinctive_words, fold_keywords
from papers.rows import group_values
from schedule.admin.assignment.cards import SessionCard
from schedule.assignment import PaperFeatures, Reason, SessionProfile, Suggestion, Unit, suggest
from schedule.models import Presentation, Session

# Short words such as "NLP" are compared in names of topics and sessions, except these.
MIN_NAME_CHARS, STOP_WORDS = 3, frozenset(("and", "for", "the", "with"))


def suggest_sessions(
    papers: Sequence[Paper], cards: Sequence[SessionCard], other_sessions: Iterable[Session]
) -> list[Suggestion]:
    """Return suggestions of the sessions of `cards`, apart from authors in all sessions. Four queries."""
    profiles = session_profiles(cards, other_sessions)
    return suggest([paper_features(paper, authors) for paper, authors in with_authors(papers)], profiles)


def with_authors(papers: Sequence[Paper]) -> list[tuple[Paper, frozenset[int]]]:
    """Return papers with the keys of their authors. One query."""
    keys = [paper.pk for paper in papers]
    authors = group_values(
        Authorship.objects.filter(AnyOf("paper_id", keys)).order_by().values_list("paper_id", "person_id")
    )
    return [(paper, frozenset(authors[paper.pk])) for paper in papers]


def session_profiles(
    cards: Sequence[SessionCard], other_sessions: Iterable[Session] = ()
) -> list[SessionProfile]:
    """Return the features of the stored and planned papers of sessions; other sessions have no place left.

    Two queries, and one for planned papers.
    """
    profiles = {
        session.pk: SessionProfile(session.pk, name_words(str(session)), 0, span=(session.start, session.end))
        for session in other_sessions
    }
    profiles |= {
        card.session.pk: SessionProfile(
            card.session.pk,
            name_words(str(card.session)),
            card.load.free,
            takes_any_topic=card.load.unit is Unit.BOARDS,
            is_empty=card.load.used == 0,
            span=(card.session.start, card.session.end),
        )
        for card in cards
    }
    rows = Presentation.objects.matching(session_id__in=list(profiles), paper__isnull=False).taking_place()
    columns = ("session_id", "paper_id", "paper__topic_id", "paper__keywords", "paper__sort_title")
    stored = [*rows.order_by().rows(*columns)]
    authors = group_values(
        Authorship.objects.filter(AnyOf("paper_id", [paper for _session, paper, *_rest in stored]))
        .order_by()
        .values_list("paper_id", "person_id")
    )
    for session, paper, topic, keywords, title in stored:
        words, people = frozenset(distinctive_words(title)), frozenset(authors[paper])
        profiles[session].add(
            PaperFeatures(paper, topic, frozenset(), fold_keywords(keywords), words, people)
        )
    planned = [(card.session.pk, row.paper) for card in cards for row in card.planned]
    for (session, paper), (_paper, people) in zip(
        planned, with_authors([paper for _session, paper in planned]), strict=True
    ):
        profiles[session].add(paper_features(paper, people))
    return list(profiles.values())


def paper_features(paper: Paper, authors: frozenset[int] = frozenset()) -> PaperFeatures:
    topic = paper.topic if paper.topic_id else None
    words = name_words(topic.name) if topic else frozenset()
    title_words = frozenset(distinctive_words(paper.sort_title))
    return PaperFeatures(paper.pk, paper.topic_id, words, fold_keywords(paper.keywords), title_words, authors)


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
    if suggestion.reason is Reason.UNLIMITED:
        return gettext("takes any topic; its room has no number of boards")
    if suggestion.reason is Reason.AUTHORS:
        return gettext("has room, but an author has another paper at that time")
    if suggestion.reason is Reason.TITLE:
        return gettext("title of the session: %(words)s") % params
    return gettext("in common with papers there: %(words)s") % params
