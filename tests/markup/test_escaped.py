"""Tests that text of formats without markup is shown literally."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import markup

ALPHABET = st.sampled_from([*"ab 1*_[]<>{}()$\\~`'\"-:/.,!#+=|&^%@é—"])


def displayed_text(source: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup.inline(source)))


@given(st.text(ALPHABET, max_size=30))
def test_escaped_text_is_shown_literally(text: str) -> None:
    source = markup.escape_markup(text)

    assert markup.plain(source).split() == text.split()
    assert displayed_text(source).split() == text.split()


@pytest.mark.parametrize(
    "text",
    [
        "trans*Gesundheit / trans* activism",
        "__init__ considered harmful",
        "a*b*c and a_b_c",
        r"C:\temp\new",
        "``quoted'' -- or --- not",
        "$5 or $6",
        "[link](https://example.org)",
        "<b>bold</b> {x}",
        "https://example.org/a_b*c",
    ],
)
def test_text_that_looks_like_markup_is_shown_literally(text: str) -> None:
    assert (markup.plain(markup.escape_markup(text)), displayed_text(markup.escape_markup(text))) == (
        text,
        text,
    )


@pytest.mark.parametrize(
    "text", ["Attention Is All You Need", "A title: with, marks; (and) more!", "5 - 3 = 2"]
)
def test_text_without_special_characters_is_unchanged(text: str) -> None:
    assert markup.escape_markup(text) == text


@given(st.text(ALPHABET, max_size=15), st.text(ALPHABET, max_size=15), st.text(ALPHABET, max_size=15))
def test_escaped_parts_of_a_line_are_shown_literally(before: str, middle: str, after: str) -> None:
    parts = [markup.escape_markup(part, is_part=True) for part in (before, f"x{middle}", after)]
    source = r"{}\emph{{{}}}{}".format(*parts)

    assert displayed_text(source).split() == f"{before}x{middle}{after}".split()


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("We use $a*b_c$ and a*b*c.", r"We use $a*b_c$ and a\*b\*c."),
        (r"In \emph{this} paper, __init__", r"In \emph{this} paper, \_\_init\_\_"),
        (r"$$x_1$$ then \(y_2\) then \[z*\]", r"$$x_1$$ then \(y_2\) then \[z*\]"),
        (r"already \_escaped\_", r"already \_escaped\_"),
        ("* one\n* two", "* one\n* two"),
        ("# no heading\n> no quotation", "\\# no heading\n\\> no quotation"),
    ],
)
def test_tex_is_kept_in_abstracts(text: str, source: str) -> None:
    assert markup.escape_markup(text, has_tex=True) == source
