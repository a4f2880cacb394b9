"""Writing the index: documents in, documents out. The vocabulary follows."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import batched

from django.db import transaction
from django.db.models import QuerySet

from search.databases import engine
from search.engine import edition_word, kind_word, year_word
from search.folding import joined
from search.models import Document
from search.vocabulary import count, vocabulary

BATCH = 1000
# Far beyond any abstract; it bounds what one document can cost, and PostgreSQL counts places up to 16,383.
MOST_WORDS = 10_000
FIELDS = ["key", "edition", "year", "title", "people", "topic", "awards", "body", "scope"]


@dataclass(frozen=True)
class DocumentRecord:
    """What an app hands in about one thing: plain text without markup, names one by one."""

    kind: str
    object_id: int
    key: str
    title: str
    edition: int | None = None
    year: int | None = None
    people: Sequence[str] = ()
    topic: str = ""
    awards: Sequence[str] = ()
    body: str = ""

    def document(self) -> Document:
        """Fold the texts into a row of the index."""
        scope = [edition_word(self.edition), kind_word(self.kind)]
        return Document(
            kind=self.kind,
            object_id=self.object_id,
            key=self.key,
            edition=self.edition,
            year=self.year,
            title=joined([self.title]),
            people=joined(self.people),
            topic=joined([self.topic]),
            awards=joined(self.awards),
            body=" ".join(joined([self.body]).split()[:MOST_WORDS]),
            scope=" ".join([*scope, year_word(self.year)] if self.year else scope),
        )


def index(documents: Iterable[DocumentRecord]) -> int:
    """Put documents into the index, in place of those of the same things; return how many changed."""
    changed = 0
    words: Counter[str] = Counter()
    with transaction.atomic():
        for records in batched(documents, BATCH, strict=False):
            changed += _write([record.document() for record in records], words)
        count(words)
        if changed:
            engine().settle(changed)
    return changed


def remove(kind: str, object_ids: Collection[int]) -> int:
    """Take things out of the index; return how many were in it."""
    return sum(
        _delete(Document.objects.filter(kind=kind, object_id__in=keys))
        for keys in batched(object_ids, BATCH, strict=False)
    )


def clear(edition: int | None) -> int:
    """Take an edition out of the index, or what belongs to the whole site; return how many were in it."""
    return _delete(Document.objects.filter(edition=edition))


def _write(rows: Iterable[Document], words: Counter[str]) -> int:
    """Write the rows that differ from what is stored, and note how the vocabulary changes."""
    wanted = {(row.kind, row.object_id): row for row in rows}
    for old in _stored(wanted):
        new = wanted[old.kind, old.object_id]
        if all(getattr(old, name) == getattr(new, name) for name in FIELDS):
            del wanted[old.kind, old.object_id]
        else:
            words.subtract(vocabulary(old))
    for row in wanted.values():
        words.update(vocabulary(row))
    Document.objects.bulk_create(
        wanted.values(), update_conflicts=True, unique_fields=["kind", "object_id"], update_fields=FIELDS
    )
    return len(wanted)


def _stored(wanted: Collection[tuple[str, int]]) -> Iterable[Document]:
    for kind in {kind for kind, _ in wanted}:
        keys = [key for other, key in wanted if other == kind]
        yield from Document.objects.filter(kind=kind, object_id__in=keys)


def _delete(documents: QuerySet[Document]) -> int:
    words: Counter[str] = Counter()
    with transaction.atomic():
        for document in documents.iterator(BATCH):
            words.subtract(vocabulary(document))
        removed, _ = documents.delete()
        count(words)
    return removed
