"""Writing the index: documents in, documents out. The vocabulary follows."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import batched, chain

from django.db import transaction
from django.db.models import QuerySet

from search.databases import engine
from search.engine import edition_word, kind_word, year_word
from search.folding import joined
from search.models import Document, Indexed, Word
from search.vocabulary import count, vocabulary

BATCH_ROWS = 1000
# Far beyond any abstract; it bounds what one document can cost, and PostgreSQL counts places up to 16,383.
MAX_WORDS = 10_000
FIELDS = ["key", "edition", "year", "title", "people", "topic", "awards", "body", "scope", "fingerprint"]
# Part of every fingerprint: a new number rebuilds all documents, as after a change of the folding.
FOLDING = 1


@dataclass(frozen=True)
class DocumentRecord:
    """What an app indexes of one row; names are a list, title and body may have markup."""

    kind: str
    object_id: int
    key: str
    title: str
    edition: int | None = None
    # Where something of the whole site is found; empty: in every edition.
    shown_in: Sequence[int] = ()
    year: int | None = None
    people: Sequence[str] = ()
    topic: str = ""
    awards: Sequence[str] = ()
    body: str = ""

    @property
    def fingerprint(self) -> int:
        """A number that differs when anything in the record does."""
        digest = blake2b(f"{FOLDING} {self!r}".encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(digest, signed=True)

    def document(self, plain: Callable[[str], str] = str) -> Document:
        """Fold the texts into a row of the index; `plain` takes the markup off."""
        editions: Sequence[int | None] = self.shown_in or [self.edition]
        scope = [*(edition_word(edition) for edition in editions), kind_word(self.kind)]
        return Document(
            kind=self.kind,
            object_id=self.object_id,
            key=self.key,
            edition=self.edition,
            year=self.year,
            title=joined([plain(self.title)]),
            people=joined(self.people),
            topic=joined([self.topic]),
            awards=joined(self.awards),
            body=" ".join(joined([plain(self.body)]).split()[:MAX_WORDS]),
            scope=" ".join([*scope, year_word(self.year)] if self.year else scope),
            fingerprint=self.fingerprint,
        )


def index(documents: Iterable[DocumentRecord], plain: Callable[[str], str] = str) -> int:
    """Put documents into the index, in place of those of the same things; return how many changed.

    What is as it was costs no folding, and no call of `plain`.
    """
    changed = 0
    words: Counter[str] = Counter()
    with transaction.atomic():
        for records in batched(documents, BATCH_ROWS, strict=False):
            changed += _write([record.document(plain) for record in _new(records)], words)
        count(words)
        if changed:
            engine().settle(changed)
    return changed


def replace(
    edition: int | None, documents: Iterable[DocumentRecord], plain: Callable[[str], str] = str
) -> int:
    """Make these all documents of an edition, or of the whole site; return how many changed or went."""
    records = list(documents)
    named = {(record.kind, record.object_id) for record in records}
    with transaction.atomic():
        changed = index(records, plain)
        there = Document.objects.filter(edition=edition).values_list("pk", "kind", "object_id")
        gone = [key for key, *thing in there if tuple(thing) not in named]
        for keys in batched(gone, BATCH_ROWS, strict=False):
            changed += _delete(Document.objects.filter(pk__in=keys))
    return changed


def remove(kind: str, object_ids: Collection[int]) -> int:
    """Take things out of the index; return how many were in it."""
    return sum(
        _delete(Document.objects.filter(kind=kind, object_id__in=keys))
        for keys in batched(object_ids, BATCH_ROWS, strict=False)
    )


def clear(edition: int | None) -> int:
    """Take an edition out of the index, or what belongs to the whole site; return how many were in it."""
    return _delete(Document.objects.filter(edition=edition))


def forget() -> None:
    """Take everything out, the vocabulary and what is known of states too."""
    for model in (Document, Word, Indexed):
        model._base_manager.all().delete()


def _new(records: Iterable[DocumentRecord]) -> list[DocumentRecord]:
    """Return the records, the last of each thing, that the index does not hold as they are."""
    wanted = {(record.kind, record.object_id): record for record in records}
    known: dict[tuple[str, int], int | None] = {}
    for documents in _stored(wanted):
        for kind, key, fingerprint in documents.values_list("kind", "object_id", "fingerprint"):
            known[kind, key] = fingerprint
    return [record for thing, record in wanted.items() if known.get(thing) != record.fingerprint]


def _write(rows: Iterable[Document], words: Counter[str]) -> int:
    """Write the rows, and note how the vocabulary changes."""
    wanted = {(row.kind, row.object_id): row for row in rows}
    for old in chain.from_iterable(_stored(wanted)):
        words.subtract(vocabulary(old))
    for row in wanted.values():
        words.update(vocabulary(row))
    Document.objects.bulk_create(
        wanted.values(), update_conflicts=True, unique_fields=["kind", "object_id"], update_fields=FIELDS
    )
    return len(wanted)


def _stored(wanted: Collection[tuple[str, int]]) -> Iterable[QuerySet[Document]]:
    """Return the documents of these things, kind by kind."""
    for kind in {kind for kind, _ in wanted}:
        keys = [key for other, key in wanted if other == kind]
        yield Document.objects.filter(kind=kind, object_id__in=keys)


def _delete(documents: QuerySet[Document]) -> int:
    words: Counter[str] = Counter()
    with transaction.atomic():
        for document in documents.iterator(BATCH_ROWS):
            words.subtract(vocabulary(document))
        removed, _ = documents.delete()
        count(words)
    return removed
