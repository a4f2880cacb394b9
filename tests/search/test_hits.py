"""Search results, which must be the same on SQLite and on PostgreSQL."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search import engine, hits
from search.hits import Hit, find_documents, matching_keys, suggest
from search.index import DocumentRecord, index_documents
from search.query import parse_query

pytestmark = pytest.mark.usefixtures("program")

ONE, TWO, TALK, DAN, PAGE = ("paper", 1), ("paper", 2), ("talk", 1), ("person", 7), ("page", 9)
Thing = tuple[str, int]


def things(found: tuple[Hit, ...] | list[Hit]) -> list[Thing]:
    return [(hit.kind, hit.object_id) for hit in found]


FOUND: list[tuple[str, set[Thing]]] = [
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


@pytest.mark.parametrize(("text", "found"), FOUND)
def test_words_find(text: str, found: set[Thing]) -> None:
    assert set(things(find_documents(parse_query(text)).page)) == found


@pytest.mark.parametrize(("text", "found"), FOUND)
def test_matching_finds_the_same(text: str, found: set[Thing]) -> None:
    papers = {key for edition in (21, 22) for key in matching_keys(parse_query(text), edition, "paper")}

    assert papers == {key for kind, key in found if kind == "paper"}


@pytest.mark.parametrize(
    ("edition", "kinds", "found"),
    [
        (None, (), {ONE, TWO, TALK, PAGE}),
        (22, (), {TWO, TALK, PAGE}),
        (2, (), {PAGE}),
        (None, ("paper",), {ONE, TWO}),
        (None, ("paper", "talk"), {ONE, TWO, TALK}),
        (22, ("paper",), {TWO}),
    ],
)
def test_scope_limits(edition: int | None, kinds: tuple[str, ...], found: set[Thing]) -> None:
    page = find_documents(parse_query("learning"), edition=edition, kinds=kinds).page

    assert set(things(page)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("conv", {ONE, TWO}),
        ("con gra", {ONE, TWO}),
        ("author:sim lea", {ONE, TALK}),
        ("lear -deep", {ONE, PAGE}),
        ("title:lea", {TWO, TALK}),
        ("xyz", set()),
    ],
)
def test_beginnings_of_common_words_find_the_same(
    text: str, found: set[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MANY_DOCUMENTS", 0)

    assert set(things(find_documents(parse_query(text)).page)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [("graphs ne", {TWO}), ("author:sim le", {ONE, TALK}), ("da", {TALK, DAN}), ("graphs author:ka", {TWO})],
)
def test_commonest_words_of_a_beginning_find_the_same(
    text: str, found: set[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MANY_DOCUMENTS", 0)
    monkeypatch.setattr(engine, "MAX_EXPANDED_WORDS", 0)

    assert set(things(find_documents(parse_query(text)).page)) == found


@pytest.fixture
def commonest_alone(program: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expand prefixes to their most frequent word only; that of `ga` is in no title."""
    monkeypatch.setattr(engine, "MAX_EXPANDED_WORDS", 0)
    monkeypatch.setattr(engine, "MANY_DOCUMENTS", 0)
    monkeypatch.setattr(engine, "COMMON_WORDS", 1)
    index_documents([DocumentRecord("paper", key, f"c{key}", "", body="ganache") for key in (40, 41)])
    index_documents(
        [DocumentRecord("paper", 42, "g", "Gavotte"), DocumentRecord("paper", 43, "t", "", body="gale")]
    )


@pytest.mark.usefixtures("commonest_alone")
def test_beginning_of_two_letters_means_the_commonest_words_in_texts() -> None:
    found = things(find_documents(parse_query("ga")).page)

    assert (found[0], set(found)) == (("paper", 42), {("paper", 40), ("paper", 41), ("paper", 42)})


@pytest.mark.usefixtures("commonest_alone")
def test_beginning_of_a_name_means_all_names() -> None:
    index_documents([DocumentRecord("paper", 44, "n", "", people=["Gale Ray"], body="we bake")])

    assert things(find_documents(parse_query("bake author:ga")).page) == [("paper", 44)]


@pytest.mark.usefixtures("commonest_alone")
def test_suggestions_reach_beyond_the_commonest_words() -> None:
    assert things(suggest("ga")) == [("paper", 42)]


def test_title_stands_over_people_over_body() -> None:
    found = find_documents(parse_query("simek")).page

    assert things(found) == [DAN, TALK, ONE, TWO]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_phrase_that_many_texts_hold_leads_with_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("red fox red fox red fox", "a red fox", "a long text with one red fox in it")
    index_documents([DocumentRecord("paper", 50 + n, str(n), "", body=text) for n, text in enumerate(texts)])
    ranked = things(find_documents(parse_query('"red fox"')).page)
    monkeypatch.setattr(engine, "MAX_RANKED_PHRASES", 2)

    assert {*ranked} == {("paper", 50), ("paper", 51), ("paper", 52)}
    assert things(find_documents(parse_query('"red fox"')).page) == [
        ("paper", 52),
        ("paper", 51),
        ("paper", 50),
    ]


def test_whole_word_stands_over_a_beginning() -> None:
    index_documents([DocumentRecord("paper", 30, "a", "Lim"), DocumentRecord("paper", 31, "b", "Limit")])

    assert things(find_documents(parse_query("lim")).page) == [("paper", 30), ("paper", 31)]


def test_pages_follow_each_other() -> None:
    query = parse_query("learning")
    whole = find_documents(query)

    assert (whole.count, whole.capped) == (4, False)
    assert [*find_documents(query, limit=3).page, *find_documents(query, limit=3, offset=3).page] == [
        *whole.page
    ]
    assert find_documents(query, limit=3, offset=9).page == ()
    assert find_documents(query, limit=-1, offset=-5).page == ()


def test_count_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "MAX_HITS", 2)
    found = find_documents(parse_query("learning"))

    assert (len(found.page), found.count, found.capped) == (2, 2, True)


def test_queries_do_not_grow_with_hits() -> None:
    with CaptureQueriesContext(connection) as few:
        find_documents(parse_query("zur"))
    with CaptureQueriesContext(connection) as many:
        find_documents(parse_query("lea"))

    assert (len(few), len(many)) == (4, 4)


def test_suggestions_come_from_the_head() -> None:
    assert set(things(suggest("lea"))) == {TWO, TALK}
    assert set(things(suggest("da"))) == {TALK, DAN}
    assert set(things(suggest("da", edition=21))) == {DAN}
    assert suggest(" ") == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ae *:\"'-()&|!<>{}^\\%жé李\x00"), max_size=30))
def test_no_text_breaks_a_database(text: str) -> None:
    assert find_documents(parse_query(f"{text} year:1")).page == ()
    assert len(suggest(text)) <= hits.MAX_SUGGESTIONS
