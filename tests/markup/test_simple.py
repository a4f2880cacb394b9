"""Texts without markup but formulas read the same with the parser and without it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markup import _squeezed, _tokens, simple, tidy, writers

MARKS = ["$", "$", "\n", "\n\n", "  \n", " ", "-", "|", "#", "1.", "~", "\\", "_", "^2", "x", "No", "5"]
SIGNS = st.sampled_from([*MARKS, "https://", "http://a.example/", ".", ")", "'", "&", "é"])
TEXTS = st.lists(st.one_of(SIGNS, st.text(max_size=3)), max_size=14).map("".join)


def parsed(source: str) -> str:
    return _squeezed(writers.plain(_tokens(source)))


@settings(max_examples=400)
@given(TEXTS)
def test_what_is_read_without_the_parser_is_what_it_reads(source: str) -> None:
    source = tidy(source).strip()
    found = simple.plain(source)
    assert found is None or found == parsed(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Plain  words.", "Plain words."),
        (r"In $O(n^2)$ and $\alpha$-divergence.", "In O(n²) and α-divergence."),
        ("One\nline.\n\n Two $x_1$\nlines.", "One line.\n\nTwo x₁ lines."),
        ("At 5 $ each", "At 5 $ each"),
        ("From $5 to $10 in $x^2$", "From $5 to $10 in x²"),
        ("See https://a.example/b_c-d?e=1.", "See https://a.example/b_c-d?e=1."),
        ("See https://a.example/~b", None),
        ("See https://a.example/a--b", None),
        ("See xhttps://a.example/", None),
        ("Shown $$x$$", None),
        (r"An \emph{other} $x$", None),
        ("A *word* and $x$", None),
        ("Broken  \nhere", None),
        ("- one\n- two", None),
        ("a | $b$ | c\n-|-|-", None),
        ("Over $x +\ny$ lines", None),
    ],
)
def test_only_formulas_are_read_without_the_parser(source: str, text: str | None) -> None:
    assert simple.plain(source) == text
    assert text is None or text == parsed(source)
