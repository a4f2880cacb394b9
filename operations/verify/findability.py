"""The search index: its documents are what is public, and the databases' own indexes hold their words.

What changed since the last search is no fault: the next search brings it in.
"""

from collections import Counter
from collections.abc import Iterator

from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from conference.models import Edition
from operations.indexing.documents import records
from operations.indexing.state import SITE, read
from search.models import Document, Word
from search.vocabulary import vocabulary


def wrong() -> Iterator[str]:
    states = read()
    for key in sorted(states.wanted.keys() - states.stale()):
        edition = Edition.objects.get(pk=key) if key else None
        yield from _documents(edition, "the site" if key == SITE else str(edition))
    yield from _words()
    yield from _full_text()


def _documents(edition: Edition | None, name: str) -> Iterator[str]:
    wanted = {(one.kind, one.object_id): one.fingerprint for one in records(edition)}
    rows = Document.objects.filter(edition=edition.pk if edition else None).order_by()
    known = {(kind, key): mark for kind, key, mark in rows.values_list("kind", "object_id", "fingerprint")}
    for verb, keys in (
        ("is missing", wanted.keys() - known.keys()),
        ("is not public", known.keys() - wanted.keys()),
        ("is out of date", {key for key in wanted.keys() & known.keys() if wanted[key] != known[key]}),
    ):
        yield from (f"{name}: {kind} {key} {verb}" for kind, key in sorted(keys))


def _words() -> Iterator[str]:
    counted: Counter[str] = Counter()
    for document in Document.objects.order_by("pk").iterator():
        counted.update(vocabulary(document))
    stored = dict(Word.objects.filter(documents__gt=0).values_list("word", "documents"))
    apart = {word for word in counted.keys() | stored.keys() if counted[word] != stored.get(word, 0)}
    if apart:
        yield f"{len(apart)} words of the vocabulary are counted wrong, such as “{min(apart)}”"


def _full_text() -> Iterator[str]:
    if connection.vendor != "sqlite":
        return
    for table in ("search_head", "search_whole"):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
        except DatabaseError as error:
            yield f"{table}: {error}"


def mend() -> None:
    call_command("rebuild_search", verbosity=0)
