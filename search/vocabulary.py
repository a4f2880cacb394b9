"""The words of all documents: how many hold each, and the right spelling of one that none holds."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from django.db import connections
from rapidfuzz.distance import OSA

from search.databases import engine
from search.models import MIN_WORD_CHARS, Document, Word
from search.query import Field, Query, Term

# In shorter words a typing error looks like another word.
MIN_CORRECTED_CHARS = 5
# Of so many likely spellings, the commonest that occurs in the query's scope is taken.
MAX_CORRECTED_WORDS = 5


def vocabulary(document: Document) -> set[str]:
    """Return the words of a document that the vocabulary stores."""
    return {word for word in document.text().split() if len(word) >= MIN_WORD_CHARS}


def count(changes: Counter[str]) -> None:
    """Add to the number of documents that hold a word, or take from it."""
    # In one order, so that two imports never wait for each other's words.
    rows = [(word, word[::-1], number) for word, number in sorted(changes.items()) if number]
    gone = [word for word, _, number in rows if number < 0]
    with connections[Document.objects.db].cursor() as cursor:
        cursor.executemany(
            "INSERT INTO search_word (word, mirror, documents) VALUES (%s, %s, %s) ON CONFLICT (word)"
            " DO UPDATE SET documents = search_word.documents + excluded.documents",
            rows,
        )
    for start in range(0, len(gone), 500):
        Word.objects.filter(word__in=gone[start : start + 500], documents__lte=0).delete()


def corrected(query: Query) -> Query | None:
    """Forgive one typing error in each long word that no document holds; `None` where there is none."""
    terms = tuple(_corrected(term) for term in query.terms)
    return Query(terms) if terms != query.terms else None


def _corrected(term: Term) -> Term:
    if term.excluded or term.quoted or term.where is Field.YEAR or engine().holds(term):
        return term
    if len(term.words) > 1 or len(term.words[0]) < MIN_CORRECTED_CHARS:
        return term
    likely = (replace(term, words=(word,), text=word) for word in spellings(term.words[0]))
    return next(filter(engine().holds, likely), term)


def spellings(word: str) -> list[str]:
    """Return known words that differ by one letter added, left out, exchanged or swapped, commonest first."""
    lengths = range(len(word) - 1, len(word) + 2)
    found = [
        (-documents, known)
        for known, documents in _neighbors(word)
        if len(known) in lengths and OSA.distance(word, known, score_cutoff=1) == 1
    ]
    return [known for _, known in sorted(found)[:MAX_CORRECTED_WORDS]]


def _neighbors(word: str) -> Iterable[tuple[str, int]]:
    """Find words with the same first or the same last half: one error leaves one of the halves whole."""
    half = len(word) // 2
    alike = Word.objects.beginning(word[:half]) | Word.objects.ending(word[half + 1 :])
    return alike.values_list("word", "documents")
