"""Checks of what is stored about content: import provenance, revisions, the search index."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import batched

from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.models import Max
from django.utils import timezone

from conference.models import Edition
from content import revision
from content.history import ChangeSet, RowChange
from content.revision import SiteRevision
from exchange.imports.kinds import KINDS
from exchange.models import Provenance
from operations.indexing.documents import records
from operations.indexing.update import SITE, read
from search.models import Document, Word
from search.vocabulary import vocabulary

BATCH_ROWS = 500


def _orphaned() -> Iterator[Provenance]:
    """Yield provenance of rows that neither exist nor are in the history as deleted and may come back."""
    for kind in KINDS.values():
        here = kind.model._base_manager.order_by().values("pk")
        lost = Provenance.objects.filter(kind=kind.name).exclude(object_id__in=here).order_by("pk")
        gone = RowChange.objects.filter(model=kind.model._meta.label_lower, kind=RowChange.Kind.DELETED)
        yield from lost.exclude(object_id__in=gone.order_by().values("object_id"))


def orphaned_provenance() -> Iterator[str]:
    for provenance in _orphaned():
        yield f"{provenance}: no such row, nor was one deleted"


def repair_provenance() -> None:
    for keys in batched([provenance.pk for provenance in _orphaned()], BATCH_ROWS, strict=False):
        Provenance.objects.filter(pk__in=keys).delete()


# The history is written when a transaction ends, which may be long after a long import set the revision.
MAX_DELAY = timedelta(minutes=30)


def _outdated() -> list[tuple[int | None, str]]:
    """Return editions (`None`: the site) whose revision is older than their history or in the future."""
    found: list[tuple[int | None, str]] = []
    latest = timezone.now() + MAX_DELAY
    changes = ChangeSet.objects.order_by().values_list("rows__edition_key").annotate(last=Max("at"))
    last = {key: at for key, at in changes if at is not None}
    revisions: list[tuple[int | None, str, object]] = [
        (edition.pk, str(edition), edition.changed_at) for edition in Edition.objects.order_by("pk")
    ]
    site = SiteRevision.objects.filter(pk=1).first()
    revisions.append((None, "the site", site.changed_at if site else None))
    for key, name, at in revisions:
        if at is None:
            found += [(key, f"{name}: has no revision")] if last else []
        elif at > latest:  # type: ignore[operator]
            found.append((key, f"{name}: its revision is in the future"))
        elif key in last and last[key] > at + MAX_DELAY:  # type: ignore[operator]
            found.append((key, f"{name}: changed after its revision"))
    return found


def outdated_revisions() -> Iterator[str]:
    yield from (words for _, words in _outdated())


def repair_revisions() -> None:
    revision.advance(key for key, _ in _outdated())


def search_index_errors() -> Iterator[str]:
    states = read()
    for key in sorted(states.wanted.keys() - states.stale()):
        edition = Edition.objects.get(pk=key) if key else None
        yield from _documents(edition, "the site" if key == SITE else str(edition))
    yield from _words()
    yield from _full_text()


def _documents(edition: Edition | None, name: str) -> Iterator[str]:
    wanted = {(one.kind, one.object_id): one.fingerprint for one in records(edition)}
    rows = Document.objects.filter(edition=edition.pk if edition else None).order_by()
    stored = {(kind, key): mark for kind, key, mark in rows.values_list("kind", "object_id", "fingerprint")}
    for verb, keys in (
        ("is missing", wanted.keys() - stored.keys()),
        ("is not public", stored.keys() - wanted.keys()),
        ("is out of date", {key for key in wanted.keys() & stored.keys() if wanted[key] != stored[key]}),
    ):
        yield from (f"{name}: {kind} {key} {verb}" for kind, key in sorted(keys))


def _words() -> Iterator[str]:
    counted: Counter[str] = Counter()
    for document in Document.objects.order_by("pk").iterator():
        counted.update(vocabulary(document))
    stored = dict(Word.objects.filter(documents__gt=0).values_list("word", "documents"))
    apart = {word for word in counted.keys() | stored.keys() if counted[word] != stored.get(word, 0)}
    if apart:
        yield f"{len(apart)} words of the vocabulary have a wrong count, such as “{min(apart)}”"


def _full_text() -> Iterator[str]:
    if connection.vendor != "sqlite":
        return
    for table in ("search_head", "search_whole"):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
        except DatabaseError as error:
            yield f"{table}: {error}"


def repair_search_index() -> None:
    call_command("rebuild_search", verbosity=0)
