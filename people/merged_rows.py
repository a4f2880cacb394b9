"""Where what was merged leads to in the end, however often what it was merged into was merged again. Pure."""

from collections.abc import Mapping


def final_rows[K](links: Mapping[K, K]) -> dict[K, K]:
    """Return for each key the one at the end of its links. Links in a circle end within it."""
    found = {}
    for key, there in links.items():
        seen = {key}
        while there in links and there not in seen:
            seen.add(there)
            there = links[there]
        found[key] = there
    return found
