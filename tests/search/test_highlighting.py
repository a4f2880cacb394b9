import pytest
from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from search.highlighting import excerpt, highlight
from search.query import Field, parse_query


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Deep Learning", "learn", "Deep <mark>Learning</mark>"),
        ("Eva Šimek", "simek", "Eva <mark>Šimek</mark>"),
        ("Eva S\u030cimek", "šimek", "Eva <mark>S\u030cimek</mark>"),
        ("Straße 5", "strasse", "<mark>Straße</mark> 5"),
        ("İstanbul", "istan", "<mark>İstanbul</mark>"),
        ("深度学习方法", "学习", "深度<mark>学习</mark>方法"),
        ("deep learning, learning deep", '"deep learning"', "<mark>deep learning</mark>, learning deep"),
        ("GPT-4, GPT 4", "gpt4", "<mark>GPT-4</mark>, GPT 4"),
        ("GPT4", "gpt-4", "<mark>GPT4</mark>"),
        ("an α-divergence", "alpha", "an <mark>α</mark>-divergence"),
        ("海のモデル", "moderu", "海の<mark>モデル</mark>"),
        ("in form", "inform", "in form"),
        ("O’Brien", "obrien", "<mark>O’Brien</mark>"),
        ("a < b & graph", "graph", "a &lt; b &amp; <mark>graph</mark>"),
        ("graph", "-graph", "graph"),
        ("graph", "", "graph"),
        ("Li lists", "author:li", "Li lists"),
        ("", "graph", ""),
    ],
)
def test_words_of_the_query_are_marked(text: str, query: str, expected: str) -> None:
    assert highlight(text, parse_query(query)) == expected


def test_words_of_a_field_operator_are_marked_in_this_field() -> None:
    assert highlight("Wei Li", parse_query("author:li"), Field.PEOPLE) == "Wei <mark>Li</mark>"


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "<mark onclick=x>", "&lt;svg onload&gt;"],
)
def test_markup_in_the_text_is_escaped(text: str) -> None:
    highlighted = highlight(text, parse_query("script alert img mark svg lt src onerror"))

    assert highlighted.replace("<mark>", "").replace("</mark>", "") == escape(text)


@given(st.text(), st.text(max_size=20))
def test_highlighting_adds_only_mark_elements(text: str, query: str) -> None:
    highlighted = highlight(text, parse_query(query or text))

    assert highlighted.count("<mark>") == highlighted.count("</mark>")
    assert highlighted.replace("<mark>", "").replace("</mark>", "") == escape(text)


def test_excerpt_is_a_passage_of_whole_words() -> None:
    text = f"{'before ' * 60}the Šimek method{' after' * 60}"
    passage = excerpt(text, parse_query("simek"), 60)

    assert passage.startswith("… before ")
    assert passage.endswith(" after …")
    assert "the <mark>Šimek</mark> method" in passage
    assert 40 < len(passage) < 90


def test_excerpt_of_a_short_text_is_the_whole_text() -> None:
    assert excerpt("A <b> graph", parse_query("graph")) == "A &lt;b&gt; <mark>graph</mark>"


def test_excerpt_is_empty_if_no_word_matches() -> None:
    assert excerpt("A graph", parse_query("tree")) == excerpt("A graph", parse_query("title:graph")) == ""


@pytest.mark.parametrize(
    "text", ["a" * 1000, f"{'a' * 500} {'b' * 500}", f"graph{' x' * 500}", f"{'x ' * 500}graph"]
)
def test_excerpt_contains_the_matching_word(text: str) -> None:
    word = "graph" if "graph" in text else text[:64]

    assert "<mark>" in excerpt(text, parse_query(word))
