"""Descriptions of pages for search engines."""

import pytest

from conference.page_metadata import lead


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Short *text*.", "Short text."),
        ("four " * 10, "four four four four …"),
        ("研究" * 20, "研究" * 10 + " …"),
        ("MLSys " + "研究" * 20, "MLSys " + "研究" * 7 + " …"),
    ],
)
def test_lead_ends_with_a_whole_word_if_there_are_spaces(source: str, expected: str) -> None:
    assert lead(source, 20) == expected
