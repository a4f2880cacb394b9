"""Tests of the warnings about a text: there are none about valid text."""

from unittest.mock import Mock

import pytest

from markup import PARSER
from markup.advice import advice

GOOD_TEXTS = [
    "Attention Is All You Need",
    "BERT",
    "BERT and GPT-4: LLMs for NLP",
    "On $x^2$ and $\\alpha$-stable laws",
    "It costs $5 and $6, or 50\\%.",
    "Schrödinger's cat, “quoted”, R&D",
    "من\u200cها",
    "",
]


@pytest.mark.parametrize("source", GOOD_TEXTS)
def test_good_text_gets_no_advice(source: str) -> None:
    assert advice(source, is_title=True) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (r"On $\foo x$", r"The formula “\foo x” cannot be rendered."),
        (r"Schr\"odinger", 'LaTeX outside of formulas: “\\"o”.'),
        (r"Poincar\'{e}", "LaTeX outside of formulas: “\\'{e}”."),
        (r"a \textit{word}", r"LaTeX outside of formulas: “\textit”."),
        ("see Figure~1", "LaTeX outside of formulas: “~”."),
        ("a ``quoted'' word", "LaTeX outside of formulas: “``quoted''”."),
        ("ATTENTION IS ALL YOU NEED", "The title is in all caps."),
        ("a\u202eb", "Contains the control character U+202E."),
        ("a\x07b", "Contains the control character U+0007."),
        ("a\u200bb", "Contains an invisible character: U+200B, zero width space."),
        ("a\u200db", "Contains an invisible character: U+200D, zero width joiner."),
        ("for $x and more", "Unpaired dollar sign: a formula may not be closed."),
        ("a\ufffdb", "Contains the replacement character “\ufffd”: letters were lost."),
        ("R&amp;D", "The HTML “&amp;” is shown as written."),
    ],
)
def test_problems_get_advice(source: str, message: str) -> None:
    warnings = advice(source, is_title=True)

    assert [warning[: len(message)] for warning in warnings] == [message]


def test_capitals_are_reported_for_titles_only() -> None:
    assert advice("WARNING: READ THIS FIRST") == []


def test_capitals_in_formulas_are_not_reported() -> None:
    assert advice("NP $=$ PSPACE$(n)$ and $ABCDEF GHIJKL$", is_title=True) == []


def test_advice_on_a_hostile_text_is_short() -> None:
    source = " ".join(rf"\macro{chr(97 + n)} $\foo{chr(97 + n)}$" for n in range(26))

    assert len(advice(source)) == 8


@pytest.mark.parametrize(
    ("source", "parse_count"), [("a plain line", 0), (r"$x$ and \textit{y}~z", 1), ("`" * 70_000, 0)]
)
def test_text_is_parsed_once_up_to_the_limit(
    source: str, parse_count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = Mock(wraps=PARSER.parse)
    monkeypatch.setattr(PARSER, "parse", parse)
    advice(source, is_title=True)

    assert parse.call_count == parse_count
