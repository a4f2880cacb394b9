"""Add documents to the index and remove them, and update the vocabulary: documents that contain a word."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import batched

from django.db import connections, transaction
from django.db.models import QuerySet

import markup
from search.engine import area_key, area_word, edition_word, engine, kind_word, year_word
from search.folding import fold_texts
from search.models import Document, Indexed, Word

BATCH_ROWS = 1000
# Far longer than any abstract, to bound the size of a document. PostgreSQL counts positions up to 16,383.
MAX_WORDS = 10_000
ROW_FIELDS = ["kind", "object_id"]
UPDATED_FIELDS = [
    field.name for field in Document._meta.concrete_fields if field.name not in ["id", *ROW_FIELDS]
]
# Part of every fingerprint. Increase it to rebuild all documents, for example after a change of the folding.
FOLDING_VERSION = 2


@dataclass(frozen=True)
class DocumentRecord:
    """The data of one row to index. Title and body may contain markup; people are a list of names."""

    kind: str
    object_id: int
    key: str
    title: str
    edition: int | None = None
    # The editions in which a row of the whole site is found; empty for all.
    shown_in: Sequence[int] = ()
    year: int | None = None
    people: Sequence[str] = ()
    topic: str = ""
    # The top-level topic, a filter of the search of all years.
    area: str = ""
    awards: Sequence[str] = ()
    body: str = ""

    @property
    def fingerprint(self) -> int:
        """A number that differs if any field of the record does."""
        digest = blake2b(f"{FOLDING_VERSION} {self!r}".encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(digest, signed=True)

    def document(self) -> Document:
        """Fold the texts, without their markup, into a row of the index."""
        editions: Sequence[int | None] = self.shown_in or [self.edition]
        scope = [*(edition_word(edition) for edition in editions), kind_word(self.kind)]
        if key := area_key(self.area):
            scope.append(area_word(key))
        return Document(
            kind=self.kind,
            object_id=self.object_id,
            key=self.key,
            edition=self.edition,
            year=self.year,
            title=fold_texts([markup.plain(self.title)]),
            people=fold_texts(self.people),
            topic=fold_texts([self.topic]),
            awards=fold_texts(self.awards),
            body=" ".join(fold_texts([markup.plain(self.body)]).split()[:MAX_WORDS]),
            scope=" ".join([*scope, year_word(self.year)] if self.year else scope),
            fingerprint=self.fingerprint,
        )


def index_documents(documents: Iterable[DocumentRecord]) -> int:
    """Add documents to the index, or replace those of the same rows; return how many changed.

    The texts of unchanged records are not parsed and folded again.
    """
    changed = 0
    words: Counter[str] = Counter()
    with transaction.atomic():
        for records in batched(documents, BATCH_ROWS, strict=False):
            rows = {key: record.document() for key, record in _unindexed(records).items()}
            for document in _stored_documents(rows):
                words.subtract(document.vocabulary())
            for row in rows.values():
                words.update(row.vocabulary())
            Document.objects.bulk_create(
                rows.values(),
                update_conflicts=True,
                unique_fields=ROW_FIELDS,
                update_fields=UPDATED_FIELDS,
            )
            changed += len(rows)
        _update_word_counts(words)
        if changed:
            engine().optimize(changed)
    return changed


def replace_documents(edition: int | None, documents: Iterable[DocumentRecord]) -> int:
    """Replace all documents of an edition, or of the whole site; return how many changed or were deleted."""
    records = list(documents)
    current_rows = {(record.kind, record.object_id) for record in records}
    with transaction.atomic():
        changed = index_documents(records)
        indexed = Document.objects.filter(edition=edition).values_list("pk", "kind", "object_id")
        removed = [key for key, *row in indexed if tuple(row) not in current_rows]
        for keys in batched(removed, BATCH_ROWS, strict=False):
            changed += _delete_documents(Document.objects.filter(pk__in=keys))
    return changed


def remove_documents(kind: str, object_ids: Collection[int]) -> int:
    """Remove the documents of these rows from the index; return their number."""
    return sum(
        _delete_documents(Document.objects.filter(kind=kind, object_id__in=keys))
        for keys in batched(object_ids, BATCH_ROWS, strict=False)
    )


def clear_edition(edition: int | None) -> int:
    """Remove the documents of an edition, or of the whole site, from the index; return their number."""
    return _delete_documents(Document.objects.filter(edition=edition))


def clear_index() -> None:
    """Delete all documents, the vocabulary and the states of editions."""
    for model in (Document, Word, Indexed):
        model._base_manager.all().delete()


def _unindexed(records: Iterable[DocumentRecord]) -> dict[tuple[str, int], DocumentRecord]:
    """Return the last record of each row, unless the index already contains it unchanged."""
    records_by_row = {(record.kind, record.object_id): record for record in records}
    for document in _stored_documents(records_by_row, "title", "people", "topic", "awards", "body"):
        row = document.kind, document.object_id
        if records_by_row[row].fingerprint == document.fingerprint:
            del records_by_row[row]
    return records_by_row


def _stored_documents(rows: Collection[tuple[str, int]], *deferred: str) -> Iterator[Document]:
    """Return the documents of these rows, kind by kind."""
    for kind in {kind for kind, _ in rows}:
        object_ids = [object_id for other, object_id in rows if other == kind]
        yield from Document.objects.filter(kind=kind, object_id__in=object_ids).defer(*deferred)


def _update_word_counts(changes: Counter[str]) -> None:
    """Add to the number of documents that contain a word, or subtract from it."""
    # Lock the words in the same order in all transactions, to avoid deadlocks.
    rows = [(word, word[::-1], number) for word, number in sorted(changes.items()) if number]
    with connections[Document.objects.db].cursor() as cursor:
        cursor.executemany(
            "INSERT INTO search_word (word, mirror, documents) VALUES (%s, %s, %s) ON CONFLICT (word)"
            " DO UPDATE SET documents = search_word.documents + excluded.documents",
            rows,
        )
    for words in batched([word for word, _, number in rows if number < 0], 500, strict=False):
        Word.objects.filter(word__in=words, documents__lte=0).delete()


def _delete_documents(documents: QuerySet[Document]) -> int:
    words: Counter[str] = Counter()
    with transaction.atomic():
        for document in documents.iterator(BATCH_ROWS):
            words.subtract(document.vocabulary())
        removed, _ = documents.delete()
        _update_word_counts(words)
    return removed
