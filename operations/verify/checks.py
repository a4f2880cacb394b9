"""What a check is, and all of them in order: what others stand on comes first."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from operations.verify import database, derived, findability, media, people, places, sources, stamps


@dataclass(frozen=True, slots=True)
class Check:
    """An invariant: `find` says where it is broken, `mend` puts it right; without it a person has to."""

    title: str
    find: Callable[[], Iterable[str]]
    mend: Callable[[], object] | None = None


CHECKS = [
    Check("the database is whole", database.broken),
    Check("rows belong to the edition of what they point at", database.strays),
    Check("texts are as long as they may be", database.too_long),
    Check("places count from 1 without gaps", places.gaps, places.mend),
    Check("links, sort keys and rendered text follow from what was written", derived.stale, derived.mend),
    Check("what imports remember is about rows that are here", sources.orphans, sources.mend),
    Check("merged people and institutions lead to one that stays, and stand nowhere", people.misled),
    Check("uploaded files are there", media.missing),
    Check("stamps are no older than the last change", stamps.late, stamps.mend),
    Check("search finds what is public, and nothing else", findability.wrong, findability.mend),
]
