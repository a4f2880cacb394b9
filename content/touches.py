"""The keys of changed rows, for what is updated incrementally."""

from collections.abc import Iterable


def keys(names: Iterable[str], kind: str) -> set[str]:
    """Return what follows the kind in names such as "*papers.paper/31"."""
    return {name.removeprefix(f"{kind}/") for name in names if name.partition("/")[0] == kind}
