"""All checks, in the order in which they run: later ones rely on earlier ones."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from operations.verify import bookkeeping, content_rows


@dataclass(frozen=True, slots=True)
class Check:
    """An invariant: `find` lists the violations; `repair` fixes them, `None` where a person has to."""

    title: str
    find: Callable[[], Iterable[str]]
    repair: Callable[[], object] | None = None


CHECKS = [
    Check("the database is whole", content_rows.database_errors),
    Check("related rows belong to the same edition", content_rows.rows_pointing_at_other_editions),
    Check("texts fit their columns", content_rows.texts_too_long),
    Check("positions count from 1 without gaps", content_rows.position_gaps, content_rows.repair_positions),
    Check(
        "links, sort keys and rendered text are up to date",
        content_rows.stale_fields,
        content_rows.repair_stale_fields,
    ),
    Check(
        "import provenance refers to rows that exist",
        bookkeeping.orphaned_provenance,
        bookkeeping.repair_provenance,
    ),
    Check(
        "nothing refers to merged people or institutions",
        content_rows.rows_of_merged,
    ),
    Check("uploaded files exist", content_rows.missing_files),
    Check(
        "revisions are no older than the last change",
        bookkeeping.outdated_revisions,
        bookkeeping.repair_revisions,
    ),
    Check(
        "the search index holds what is public, and nothing else",
        bookkeeping.search_index_errors,
        bookkeeping.repair_search_index,
    ),
]
