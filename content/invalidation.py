"""The cache tags that each change of content invalidates, and the tables that it changes, in one small table.

An edition's revision is advanced under a row lock, so its rows appear in the order of their revisions:
a reader of a revision finds all rows up to it.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from textwrap import wrap
from typing import ClassVar

from django.db import models

# A process that slept for longer discards all that it has cached.
RETENTION = timedelta(days=1)
# Rows are pruned by every hundredth change of an edition.
PRUNE_EVERY = 100
# A change with more tags than this invalidates the whole edition. Each new title has two tags.
MAX_TAGS_PER_CHANGE = 1200
BATCH_ROWS = 500
# The tag of every response, and the key used for the site in place of an edition's.
SITE_TAG = "site"
# The tag in headers of responses that show too many editions to name each. Every purge includes it.
EDITIONS_TAG = "editions"
PAPER_PREFIX = "paper:"
TITLE_PREFIX = "title:"
SITE_KEY = 0
# Rows with this prefix name a changed table and its columns. No response has them as tags.
ROWS_PREFIX = "rows:"
MAX_TAG_CHARS = 150


class Invalidation(models.Model):
    """One cache tag, invalidated by one change of an edition or, with the key 0, of the site.

    Or, with `ROWS_PREFIX`, a table and columns of it that the change wrote.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ()

    edition_key = models.PositiveBigIntegerField()
    revision = models.PositiveBigIntegerField()
    tag = models.CharField(max_length=MAX_TAG_CHARS)
    # `changed_at` of the edition at this revision. It differs if a restored database counts the number again.
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [
            # Read by every process after a change: the rows of an edition since a revision.
            models.Index(fields=["edition_key", "revision"], name="invalidation_since")
        ]

    def __str__(self) -> str:
        return f"{self.edition_key}@{self.revision}: {self.tag}"


def edition_tag(slug: str) -> str:
    """Return the tag of every response that shows something of an edition."""
    return f"edition:{slug}"


def papers_tag(slug: str) -> str:
    """Return the tag of responses that depend on the texts of all papers: lists, counts, searches."""
    return f"papers:{slug}"


def paper_tag(uid: str) -> str:
    """Return the tag of responses that any text of this paper may change."""
    return f"{PAPER_PREFIX}{uid}"


def title_tag(uid: str) -> str:
    """Return the tag of responses that show only this paper's title, with a link to it."""
    return f"{TITLE_PREFIX}{uid}"


def record(
    edition_key: int, revision: int, at: datetime, tags: Iterable[str], changed: Iterable[str] = ()
) -> list[str]:
    """Store the tags that a change invalidates, and return them.

    `changed` are tables, each with columns unless rows were added or deleted (`content.changed.reads`).
    """
    sorted_tags = sorted({*tags})
    stored = [*sorted_tags, *rows_tags(changed)]
    rows = [Invalidation(edition_key=edition_key, revision=revision, tag=tag, at=at) for tag in stored]
    Invalidation.objects.bulk_create(rows, batch_size=BATCH_ROWS)
    if revision % PRUNE_EVERY == 0:
        prune(at)
    return sorted_tags


def rows_tags(changed: Iterable[str]) -> Iterable[str]:
    """Return the changed tables in the form in which they are stored, long lists of columns in several."""
    for change in sorted(changed):
        table, _, columns = change.partition(" ")
        prefix = f"{ROWS_PREFIX}{table}"
        lines = wrap(columns, MAX_TAG_CHARS - len(prefix) - 1, break_long_words=False)
        yield from (f"{prefix} {line}" for line in lines) if columns else (prefix,)


def prune(now: datetime) -> None:
    """Delete rows older than `RETENTION`, which no running process needs."""
    Invalidation.objects.filter(at__lt=now - RETENTION).delete()


def tags_between(edition_key: int, old: int, new: int, old_at: datetime | None) -> set[str] | None:
    """Return the tags that the changes after revision `old`, up to `new`, invalidated.

    Return `None` if they are unknown: rows were pruned, or `old_at` is not the time of revision `old` in this
    database, as after a restore. One query.
    """
    stored = _stored_between(edition_key, old, new, old_at)
    if stored is None:
        return None
    return {tag for tags in stored.values() for tag in tags if not tag.startswith(ROWS_PREFIX)}


def changed_between(edition_key: int, old: int, new: int, old_at: datetime | None) -> set[str] | None:
    """Return the tables that the changes after revision `old`, up to `new`, wrote, as `record()` gets them.

    Those of the whole site since then are included: institutions, for instance, belong to no edition. Return
    `None` if they are unknown, for one of the changes at least. Two queries.
    """
    stored = _stored_between(edition_key, old, new, old_at)
    if stored is None or old_at is None:
        return None
    of_site: dict[int, set[str]] = {}
    rows = Invalidation.objects.filter(edition_key=SITE_KEY, at__gt=old_at)
    for revision, tag in rows.values_list("revision", "tag"):
        of_site.setdefault(revision, set()).add(tag)
    changed: set[str] = set()
    for tags in (*stored.values(), *of_site.values()):
        names = {tag.removeprefix(ROWS_PREFIX) for tag in tags if tag.startswith(ROWS_PREFIX)}
        if not names:
            return None
        changed |= names
    return changed


def _stored_between(
    edition_key: int, old: int, new: int, old_at: datetime | None
) -> dict[int, set[str]] | None:
    """Return what is stored for each revision after `old`, up to `new`."""
    rows = Invalidation.objects.filter(edition_key=edition_key, revision__gte=old, revision__lte=new)
    tags_by_revision: dict[int, set[str]] = {}
    moments: dict[int, datetime] = {}
    for revision, tag, at in rows.values_list("revision", "tag", "at"):
        tags_by_revision.setdefault(revision, set()).add(tag)
        moments[revision] = at
    is_same_history = old_at is None or moments.get(old) == old_at
    if not is_same_history or any(number not in tags_by_revision for number in range(old + 1, new + 1)):
        return None
    return {number: tags for number, tags in tags_by_revision.items() if number > old}
