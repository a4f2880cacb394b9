from dataclasses import replace

import pytest
from django.db import connection

import markup
from search.folding import fold_texts, fold_words
from search.hits import find_documents
from search.index import (
    DocumentRecord,
    clear_edition,
    clear_index,
    index_documents,
    remove_documents,
    replace_documents,
)
from search.models import Document, Indexed, Word
from search.query import parse_query

pytestmark = pytest.mark.django_db

PAPER = DocumentRecord(
    "paper", 1, "p1", "First Draft", edition=3, people=["Ann"], body="Of words, words, words"
)


def word_counts() -> dict[str, int]:
    return dict(Word.objects.values_list("word", "documents"))


def found_ids(text: str) -> list[int]:
    return sorted(hit.object_id for hit in find_documents(parse_query(text)).page)


def test_indexing_again_replaces_the_document() -> None:
    assert index_documents([PAPER]) == 1
    assert index_documents([replace(PAPER, title="Last Version")]) == 1

    assert (found_ids("draft"), found_ids("version")) == ([], [1])
    assert word_counts() == {"ann": 1, "last": 1, "version": 1, "words": 1}


def test_indexing_an_unchanged_document_writes_nothing() -> None:
    index_documents([PAPER])

    assert index_documents([PAPER]) == 0
    assert word_counts() == {"ann": 1, "draft": 1, "first": 1, "words": 1}


def test_unchanged_text_is_not_converted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[str] = []

    def convert(source: str) -> str:
        converted.append(source)
        return source.strip("*")

    monkeypatch.setattr(markup, "plain", convert)
    marked = replace(PAPER, title="*Draft*")
    index_documents([marked])
    index_documents([marked, replace(PAPER, object_id=2, title="*New*")])

    assert converted == ["*Draft*", PAPER.body, "*New*", PAPER.body]
    assert (found_ids("draft"), found_ids("new")) == ([1], [2])


def test_replacing_an_edition_keeps_only_its_given_documents() -> None:
    other = replace(PAPER, object_id=4, edition=4)
    index_documents([PAPER, replace(PAPER, object_id=2), replace(PAPER, kind="talk"), other])

    assert replace_documents(3, [replace(PAPER, title="Last Version"), replace(PAPER, object_id=5)]) == 4
    assert (found_ids("draft"), found_ids("version")) == ([4, 5], [1])
    assert replace_documents(3, []) == 2
    assert found_ids("draft") == [4]


def test_clearing_the_index_removes_all_rows() -> None:
    index_documents([PAPER])
    Indexed.objects.create(edition=3, state="1")

    clear_index()

    assert [model.objects.count() for model in (Document, Indexed, Word)] == [0, 0, 0]
    assert found_ids("draft") == []


def test_last_record_of_a_document_is_stored() -> None:
    index_documents([PAPER, replace(PAPER, title="Second")])

    assert Document.objects.get().title == "second"


def test_same_id_of_two_kinds_is_two_documents() -> None:
    index_documents([PAPER, replace(PAPER, kind="talk")])

    assert Document.objects.count() == 2
    assert word_counts()["draft"] == 2


def test_removed_document_is_not_found() -> None:
    index_documents([PAPER, replace(PAPER, object_id=2), replace(PAPER, object_id=3, kind="talk")])

    assert remove_documents("paper", [1, 99]) == 1
    assert found_ids("draft") == [2, 3]
    assert word_counts()["draft"] == 2


def test_cleared_edition_is_not_found() -> None:
    index_documents(
        [PAPER, replace(PAPER, object_id=2, edition=4), replace(PAPER, object_id=3, edition=None)]
    )

    assert clear_edition(3) == 1
    assert found_ids("draft") == [2, 3]
    assert clear_edition(None) == 1
    assert found_ids("draft") == [2]
    assert clear_edition(4) == 1
    assert word_counts() == {}


def test_many_documents_are_indexed() -> None:
    index_documents(replace(PAPER, object_id=number, title=f"Number{number}") for number in range(1, 1502))

    assert found_ids("number1501") == [1501]
    assert word_counts()["words"] == 1501


def test_long_text_is_indexed() -> None:
    index_documents([replace(PAPER, body="x" * 100_000 + " y" * 100_000)])

    assert found_ids("x" * 100) == [1]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="asks PostgreSQL's own parser")
def test_folded_words_are_the_words_of_postgresql() -> None:
    source = "12e3a 1e5 0x1f 10e0e 3.14 v1.2.3 a@b.org http://x.org/y?z=1 x-ray 1e9e9e 007 ж жe5 -5 +1e-3 a_b"
    index_documents([replace(PAPER, title=source)])

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tsvector_to_array(to_tsvector('pg_catalog.simple', title)) FROM search_document"
        )
        (words,) = cursor.fetchone()

    assert set(words) == set(fold_texts([source]).split())
    assert set(fold_words(source)) <= set(words)
