"""What a database has to answer, and where it looks.

SQLite and PostgreSQL translate the same query over the same words, so they find the same documents; each
ranks in its own way.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.backends.base.base import BaseDatabaseWrapper

from search.folding import MARK
from search.models import AFTER, MIN_WORD_CHARS, Word
from search.query import Field, Query, Term

# The key of a document, its score above 0, and the thing: its kind, its key, its edition's.
type Found = tuple[int, float, str, int, int | None]

MAX_SPELLED_OUT = 64
# So many documents are collected in no time; PostgreSQL plans better where it does.
QUICK = 20_000
# Of two letters begin so many words that the commonest are a glance.
GLANCE = 12


def edition_word(edition: int | None) -> str:
    """Return the scope word of an edition's documents, or of the whole site's."""
    return f"{MARK}e{edition or 0}"


def kind_word(kind: str) -> str:
    return f"{MARK}k{kind}"


def year_word(year: int | str) -> str:
    return f"{MARK}y{year}"


# The words that begin so, under a number: one more than are spelt out.
BEGINNING = (
    f"SELECT * FROM (SELECT %s AS number, word, documents FROM {Word._meta.db_table}"
    f" WHERE word >= %s AND word < %s LIMIT {MAX_SPELLED_OUT + 1}) AS known"
)


# A document's own words, those of its title and topic apart, then each that is in the vocabulary.
VOCABULARY = f"""
    WITH document AS (
        SELECT id, title || ' ' || topic AS head, body, people || ' ' || awards AS rest
        FROM search_document WHERE kind = %s AND object_id = %s
    ), words AS (SELECT head || ' ' || body || ' ' || rest AS text FROM document)
    SELECT id, head, body FROM document
    UNION ALL SELECT documents, word, NULL FROM {Word._meta.db_table} WHERE word {{among}}
"""


@dataclass(frozen=True)
class Described:
    """A document: its key, the words of title and topic, those of the body, how many documents hold each."""

    key: int
    head: str
    body: str
    documents: Mapping[str, int]


@dataclass(frozen=True)
class SearchScope:
    """Where to look: an edition with what belongs to the whole site, some kinds."""

    edition: int | None = None
    kinds: tuple[str, ...] = ()

    def required(self) -> list[list[str]]:
        """Return groups of words; of each group a document has to hold one."""
        editions = [] if self.edition is None else [edition_word(self.edition), edition_word(None)]
        return [group for group in (editions, [kind_word(kind) for kind in self.kinds]) if group]


@dataclass(frozen=True)
class WeightedWords:
    """The words that say what a document is about with their weights, and the document itself."""

    weights: Mapping[str, float]
    document: int
    kind: str


class Engine(ABC):
    """A database's full text. What is found comes best first."""

    # Among the words of a text.
    AMONG_WORDS: ClassVar[str]

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection
        self._spelt_out: dict[str, list[str]] = {}

    def spelt_out(self, term: Term) -> list[str]:
        """Return the words that begin as a term does, if they are few and it pays.

        A database walks words as far as it has to, but collects all documents of a beginning first.
        """
        if not _is_beginning(term):
            return []
        if term.words[-1] not in self._spelt_out:
            self.learn([term])
        return self._spelt_out[term.words[-1]]

    def learn(self, terms: Iterable[Term]) -> None:
        """Read which words begin as these terms do, all at once. One query, none if there are none."""
        beginnings = sorted(
            {term.words[-1] for term in terms if _is_beginning(term)} - self._spelt_out.keys()
        )
        if not beginnings:
            return
        each = " UNION ALL ".join([BEGINNING] * len(beginnings))
        limits = [(number, one, f"{one}{AFTER}") for number, one in enumerate(beginnings)]
        known: dict[int, dict[str, int]] = {}
        for number, word, documents in self.rows(each, [limit for three in limits for limit in three]):
            known.setdefault(number, {})[word] = documents
        for number, letters in enumerate(beginnings):
            self._spelt_out[letters] = _worth_spelling(letters, known.get(number, {}))

    def glance(self, terms: Iterable[Term]) -> bool:
        """Take a beginning of two letters for the commonest words that begin so, if many texts hold these.

        Not one of a field, such as a name.

        Whether there is one: it ends the question, so that this is one query at most.
        """
        glanced = False
        for term in terms:
            if term.vague and term.where is Field.ANY and not self.spelt_out(term):
                letters = term.words[-1]
                known = Word.objects.beginning(letters).order_by("-documents")
                commonest = dict(known.values_list("word", "documents")[:GLANCE])
                if sum(commonest.values()) >= QUICK:
                    self._spelt_out[letters] = [letters, *commonest]
                    glanced = True
        return glanced

    def rows(self, statement: str, parameters: Sequence[Any]) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            found: list[Any] = cursor.fetchall()
        return found

    @abstractmethod
    def in_head(self, query: Query, scope: SearchScope, most: int) -> list[Found]:
        """Return documents that hold every wanted word outside their body."""

    @abstractmethod
    def in_whole(self, query: Query, scope: SearchScope, most: int) -> list[Found]:
        """Return documents that hold the wanted words anywhere."""

    @abstractmethod
    def holds(self, term: Term) -> bool:
        """Whether any document holds the term."""

    def described(self, kind: str, object_id: int) -> Described | None:
        """Return the words of a thing's document with how common they are; `None` without document."""
        found = self.rows(VOCABULARY.format(among=self.AMONG_WORDS), [kind, object_id])
        documents = {word: number for number, word, body in found if body is None}
        texts = ((key, head, body) for key, head, body in found if body is not None)
        return next((Described(*text, documents) for text in texts), None)

    def alike(self, likeness: WeightedWords, most: int) -> list[tuple[int, int | None]]:
        """Return things that share the weightiest words, each with its edition."""
        each = [self.sharing(word, weight, likeness) for word, weight in likeness.weights.items()]
        found = (
            "SELECT id, sum(weight) AS likeness"
            f" FROM ({' UNION ALL '.join(statement for statement, _ in each)}) AS shared"
            " GROUP BY id ORDER BY likeness DESC, id DESC LIMIT %s"
        )
        return self.rows(
            f"SELECT object_id, edition FROM search_document JOIN ({found}) AS found USING (id)"
            " ORDER BY likeness DESC, id DESC",
            [*(one for _, parameters in each for one in parameters), most],
        )

    @abstractmethod
    def sharing(self, word: str, weight: float, likeness: WeightedWords) -> tuple[str, list[object]]:
        """Return a query, with its parameters, for other documents that hold the word: `id`, `weight`."""

    @abstractmethod
    def settle(self, changed: int) -> None:
        """Tidy up after so many changed documents."""


def _is_beginning(term: Term) -> bool:
    return term.prefix and len(term.words) == 1


def _worth_spelling(letters: str, known: dict[str, int]) -> list[str]:
    """Return the words that begin so, if they are few and it pays."""
    if len(known) > MAX_SPELLED_OUT:
        return []
    if len(letters) < MIN_WORD_CHARS:
        # The vocabulary does not hold so short a word itself.
        return [letters, *known]
    return [*known] if sum(known.values()) >= QUICK else []


def free(terms: tuple[Term, ...]) -> list[Term]:
    """Return the terms that may occur anywhere, in the body too."""
    return [term for term in terms if term.where is Field.ANY]


def bound(terms: tuple[Term, ...]) -> list[Term]:
    """Return the terms of an operator for a field of the head; a year is in both indexes."""
    return [term for term in terms if term.where not in (Field.ANY, Field.YEAR)]
