"""Search results, which must be the same on SQLite and on PostgreSQL."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search import engine, hits
from search.hits import Hit, find_documents, matching_keys, suggest
from search.index import DocumentRecord, index_documents
from search.query import parse_query

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("program")]

ONE, TWO, TALK, DAN, PAGE = ("paper", 1), ("paper", 2), ("talk", 1), ("person", 7), ("page", 9)
Row = tuple[str, int]


def rows(hits: tuple[Hit, ...] | list[Hit]) -> list[Row]:
    return [(hit.kind, hit.object_id) for hit in hits]


CASES: list[tuple[str, set[Row]]] = [
    ("", set()),
    ("-graph", set()),
    ("nothing", set()),
    ("simek", {ONE, TWO, TALK, DAN}),
    ("ŠIMEK", {ONE, TWO, TALK, DAN}),
    ("lukasz", {ONE}),
    ("Łukasz", {ONE}),
    ("istanbul", {ONE}),
    ("strasse", {ONE}),
    ("zurich", {PAGE}),
    ("obrien", {TWO}),
    ("O'Brien", {TWO}),
    ("李", {TWO, DAN}),
    ("li wei", {TWO}),
    ("深度", {TWO}),
    ("学习", {TWO}),
    ("度深", set()),
    ("conv", {ONE, TWO}),
    ("con graphs", {ONE, TWO}),
    ("e graphs", set()),
    ("on graphs", {ONE}),
    ("graphs o", set()),
    ("graphs on", {ONE}),
    ("graphs ne", {TWO}),
    ("deep learning", {TWO, TALK}),
    ('"deep learning"', {TWO}),
    ('"learning deep"', set()),
    ("learning -deep", {ONE, PAGE}),
    ('learning -"deep learning"', {ONE, TALK, PAGE}),
    ("learn -learn", {ONE, TWO, PAGE}),
    ("state-of-the-art", {ONE}),
    ("state-of-the-ar", {ONE}),
    ("12e3a", {TALK}),
    ("author:simek", {ONE, TALK}),
    ("author:sim", {ONE, TALK}),
    ('author:"eva simek"', {ONE}),
    ('author:"simek lukasz"', set()),
    ("author:dan-simek", {TALK}),
    ("author:simek deep", {TALK}),
    ('-"deep learning" author:da', {TALK}),
    ("graphs author:ka", {TWO}),
    ("author:simek -author:dan learning", {ONE}),
    ("title:learning", {TWO, TALK}),
    ("title:simek", {DAN}),
    ("topic:vision", {ONE}),
    ("topic:best", set()),
    ("award:best", {ONE}),
    ("award:paper", {ONE}),
    ("best", {ONE, TALK}),
    ("learning year:2021", {ONE}),
    ("learning year:2021-2022", {ONE, TWO, TALK}),
    ("learning -year:2022", {ONE, PAGE}),
    ("year:2022", {TWO, TALK}),
    ("paper", {ONE, TALK, DAN}),
    ("жe21", set()),
    ("2021", set()),
    ("\" OR 1=1 -- ' ; & | ! <-> :* ( ) { } ^ NEAR(a b)", set()),
    ("'q':* \\", set()),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_search_finds_the_expected_rows(text: str, expected: set[Row]) -> None:
    assert set(rows(find_documents(parse_query(text)).page)) == expected


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_matching_keys_are_those_of_the_search(text: str, expected: set[Row]) -> None:
    papers = {key for edition in (21, 22) for key in matching_keys(parse_query(text), edition, "paper")}

    assert papers == {key for kind, key in expected if kind == "paper"}


@pytest.mark.parametrize(
    ("edition", "kinds", "expected"),
    [
        (None, (), {ONE, TWO, TALK, PAGE}),
        (22, (), {TWO, TALK, PAGE}),
        (2, (), {PAGE}),
        (None, ("paper",), {ONE, TWO}),
        (None, ("paper", "talk"), {ONE, TWO, TALK}),
        (22, ("paper",), {TWO}),
    ],
)
def test_edition_and_kinds_limit_the_results(
    edition: int | None, kinds: tuple[str, ...], expected: set[Row]
) -> None:
    page = find_documents(parse_query("learning"), edition=edition, kinds=kinds).page

    assert set(rows(page)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("conv", {ONE, TWO}),
        ("con gra", {ONE, TWO}),
        ("author:sim lea", {ONE, TALK}),
        ("lear -deep", {ONE, PAGE}),
        ("title:lea", {TWO, TALK}),
        ("xyz", set()),
    ],
)
def test_prefixes_of_common_words_find_the_same(
    text: str, expected: set[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MANY_DOCUMENTS", 0)

    assert set(rows(find_documents(parse_query(text)).page)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("graphs ne", {TWO}), ("author:sim le", {ONE, TALK}), ("da", {TALK, DAN}), ("graphs author:ka", {TWO})],
)
def test_prefixes_expanded_to_frequent_words_find_the_same(
    text: str, expected: set[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MANY_DOCUMENTS", 0)
    monkeypatch.setattr(engine, "MAX_EXPANDED_WORDS", 0)

    assert set(rows(find_documents(parse_query(text)).page)) == expected


@pytest.fixture
def only_most_frequent_word(program: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expand prefixes to their most frequent word only; that of `ga` is in no title."""
    monkeypatch.setattr(engine, "MAX_EXPANDED_WORDS", 0)
    monkeypatch.setattr(engine, "MANY_DOCUMENTS", 0)
    monkeypatch.setattr(engine, "COMMON_WORDS", 1)
    index_documents([DocumentRecord("paper", key, f"c{key}", "", body="ganache") for key in (40, 41)])
    index_documents(
        [DocumentRecord("paper", 42, "g", "Gavotte"), DocumentRecord("paper", 43, "t", "", body="gale")]
    )


@pytest.mark.usefixtures("only_most_frequent_word")
def test_prefix_of_two_letters_matches_only_frequent_words_in_bodies() -> None:
    results = rows(find_documents(parse_query("ga")).page)

    assert (results[0], set(results)) == (("paper", 42), {("paper", 40), ("paper", 41), ("paper", 42)})


@pytest.mark.usefixtures("only_most_frequent_word")
def test_prefix_of_a_name_matches_all_names() -> None:
    index_documents([DocumentRecord("paper", 44, "n", "", people=["Gale Ray"], body="we bake")])

    assert rows(find_documents(parse_query("bake author:ga")).page) == [("paper", 44)]


@pytest.mark.usefixtures("only_most_frequent_word")
def test_suggestions_include_less_frequent_words() -> None:
    assert rows(suggest("ga")) == [("paper", 42)]


def test_title_ranks_above_people_above_body() -> None:
    results = find_documents(parse_query("simek")).page

    assert rows(results) == [DAN, TALK, ONE, TWO]
    assert [hit.score for hit in results] == sorted((hit.score for hit in results), reverse=True)


def test_frequent_phrase_is_sorted_by_newest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("red fox red fox red fox", "a red fox", "a long text with one red fox in it")
    index_documents([DocumentRecord("paper", 50 + n, str(n), "", body=text) for n, text in enumerate(texts)])
    ranked = rows(find_documents(parse_query('"red fox"')).page)
    monkeypatch.setattr(engine, "MAX_RANKED_PHRASES", 2)

    assert {*ranked} == {("paper", 50), ("paper", 51), ("paper", 52)}
    assert rows(find_documents(parse_query('"red fox"')).page) == [
        ("paper", 52),
        ("paper", 51),
        ("paper", 50),
    ]


def test_whole_word_ranks_above_a_prefix() -> None:
    index_documents([DocumentRecord("paper", 30, "a", "Lim"), DocumentRecord("paper", 31, "b", "Limit")])

    assert rows(find_documents(parse_query("lim")).page) == [("paper", 30), ("paper", 31)]


def test_limit_keeps_the_best_hits_and_counts_all() -> None:
    query = parse_query("learning")
    results = find_documents(query)

    assert (results.count, results.capped) == (4, False)
    assert find_documents(query, limit=3) == replace(results, page=results.page[:3])


def test_count_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "MAX_HITS", 2)
    results = find_documents(parse_query("learning"))

    assert (len(results.page), results.count, results.capped) == (2, 2, True)


def test_query_count_is_the_same_for_1_and_4_hits() -> None:
    with CaptureQueriesContext(connection) as few:
        find_documents(parse_query("zur"))
    with CaptureQueriesContext(connection) as many:
        find_documents(parse_query("lea"))

    assert (len(few), len(many)) == (4, 4)


def test_matching_keys_need_two_queries_for_any_number_of_prefixes() -> None:
    with CaptureQueriesContext(connection) as queries:
        assert matching_keys(parse_query("lea grap conv"), 22, "paper") == [2]

    assert len(queries) == 2


def test_suggestions_match_titles_and_people_only() -> None:
    assert set(rows(suggest("lea"))) == {TWO, TALK}
    assert set(rows(suggest("da"))) == {TALK, DAN}
    assert set(rows(suggest("da", edition=21))) == {DAN}
    assert suggest(" ") == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ae *:\"'-()&|!<>{}^\\%жé李\x00"), max_size=30))
def test_any_text_is_searched_without_error(text: str) -> None:
    assert find_documents(parse_query(f"{text} year:1")).page == ()
    assert len(suggest(text)) <= hits.SUGGESTION_CANDIDATES
