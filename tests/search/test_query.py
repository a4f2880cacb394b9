import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.query import MAX_TERMS, Field, Query, Term, describe_query, parse_query


def term(*words: str, **options: bool | Field) -> Term:
    return Term(words, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ()),
        ("   - \" '' : ** ", ()),
        ("Graph", (term("graph", prefix=True),)),
        ("on graphs", (term("on"), term("graphs", prefix=True))),
        ("graphs on", (term("graphs", prefix=True), term("on", prefix=True))),
        ("ŠIMEK", (term("simek", prefix=True),)),
        ("e-mail", (term("e", "mail", prefix=True),)),
        ('"deep learning"', (term("deep", "learning", quoted=True),)),
        ("“deep learning”", (term("deep", "learning", quoted=True),)),
        ('"deep learning', (term("deep", "learning", quoted=True),)),
        ('"" graph', (term("graph", prefix=True),)),
        ("graph -neural", (term("graph", prefix=True), term("neural", excluded=True))),
        ('-"deep learning"', (term("deep", "learning", quoted=True, excluded=True),)),
        ("author:Šimek", (term("simek", where=Field.PEOPLE, prefix=True),)),
        ('Author:"Eva Šimek"', (term("eva", "simek", where=Field.PEOPLE, quoted=True),)),
        ("speaker:li", (term("li", where=Field.PEOPLE, prefix=True),)),
        (
            "title:x topic:vision",
            (term("x", where=Field.TITLE), term("vision", where=Field.TOPIC, prefix=True)),
        ),
        ("-award:best", (term("best", where=Field.AWARDS, excluded=True),)),
        ("year:2021", (term("2021", where=Field.YEAR),)),
        ("year:2019-2021", (term("2019", "2020", "2021", where=Field.YEAR),)),
        ("year:1000-9999", (term("1000", "9999", where=Field.YEAR),)),
        ("BERT: deep", (term("bert", prefix=True), term("deep", prefix=True))),
        ("title: deep", (term("title", prefix=True), term("deep", prefix=True))),
        ("http://a.b", (term("http", "a", "b"),)),
        ("the the", (term("the", prefix=True),)),
        ("a*b OR (c)", (term("a", "b"), term("or"), term("c"))),
    ],
)
def test_text_is_parsed_into_terms(text: str, terms: tuple[Term, ...]) -> None:
    assert parse_query(text) == Query(terms)


@pytest.mark.parametrize(("text", "expected"), [("graph", True), ("", False), ("-graph", False), ("é", True)])
def test_query_is_true_only_with_an_included_term(text: str, expected: bool) -> None:
    assert bool(parse_query(text)) is expected


@given(st.text())
def test_query_of_any_text_round_trips_through_text(text: str) -> None:
    query = parse_query(text)

    assert parse_query(str(query)) == query
    assert str(parse_query(str(query))) == str(query)


PARTS = st.sampled_from(
    ["graph", "-", '"', "author:", "year:", "2019-2021", " ", "Šimek", "李", "“", ":", "e-mail"]
)


@given(st.lists(PARTS).map("".join))
def test_query_with_operators_round_trips_through_text(text: str) -> None:
    query = parse_query(text)

    assert parse_query(str(query)) == query


def test_number_of_terms_is_limited() -> None:
    query = parse_query(" ".join(f"w{number}" for number in range(10_000)))

    assert len(query.terms) == MAX_TERMS


def test_description_names_all_terms_of_the_query() -> None:
    query = parse_query(
        'graph "neural net" author:Šimek -survey topic:vision award:best year:2021 title:x -author:Li'
    )

    assert describe_query(query) == (
        "with “graph”, “neural net”; with “x” in the title; by “Šimek”; on the topic “vision”; "
        "with the award “best”; from “2021”; without “survey”; not by “Li”"
    )
