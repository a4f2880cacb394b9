"""Links of what was merged, followed to their end."""

import pytest

from people.querysets import resolve_links


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({}, {}),
        ({1: 2}, {1: 2}),
        ({1: 2, 2: 3, 4: 3}, {1: 3, 2: 3, 4: 3}),
        ({1: 2, 2: 3, 3: 2}, {1: 2, 2: 2, 3: 3}),
        ({1: 1}, {1: 1}),
    ],
)
def test_links_are_followed_to_their_end(links: dict[int, int], expected: dict[int, int]) -> None:
    assert resolve_links(links) == expected
