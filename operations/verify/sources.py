"""What imports remember of rows. A row that was deleted may come back, and then its memory is good again."""

from collections.abc import Iterator
from itertools import batched

from content.history import RowChange
from exchange.imports.kinds import KINDS
from exchange.models import Provenance

BATCH_ROWS = 500


def orphaned() -> Iterator[Provenance]:
    """Walk the memories of rows that are not here, and that the history does not know as deleted."""
    for kind in KINDS.values():
        here = kind.model._base_manager.order_by().values("pk")
        lost = Provenance.objects.filter(kind=kind.name).exclude(object_id__in=here).order_by("pk")
        gone = RowChange.objects.filter(model=kind.model._meta.label_lower, kind=RowChange.Kind.DELETED)
        yield from lost.exclude(object_id__in=gone.order_by().values("object_id"))


def orphans() -> Iterator[str]:
    for memory in orphaned():
        yield f"{memory}: no such row, nor was one deleted"


def mend() -> None:
    for keys in batched([memory.pk for memory in orphaned()], BATCH_ROWS, strict=False):
        Provenance.objects.filter(pk__in=keys).delete()
