"""Which format files are of, told by names and first kilobytes; reading them is the readers' business."""

from collections.abc import Sequence

from exchange.files import Format, Source
from exchange.formats import readable

# These take what others know better: they are asked last, in this order.
LAST = ("miniconf", "spreadsheet")


def detected(sources: Sequence[Source]) -> Format | None:
    """Return the format that recognises these files; nothing where none does, or several do."""
    found = [fmt for fmt in readable().values() if fmt.recognises and fmt.recognises(sources)]
    first = [fmt for fmt in found if fmt.name not in LAST]
    if len(first) > 1:
        return None
    rest = sorted((fmt for fmt in found if fmt.name in LAST), key=lambda fmt: LAST.index(fmt.name))
    return next(iter([*first, *rest]), None)
