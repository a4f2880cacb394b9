import pytest

from search.engine import engine
from search.hits import find_related
from search.index import DocumentRecord, index_documents

pytestmark = pytest.mark.django_db

TITLES = [
    "Sparse attention for transformers",
    "Attention and transformers for speech",
    "Speech for the deaf",
    "Garbage collection for databases",
    "Databases with garbage, collection of",
]


def test_related_share_the_strongest_words() -> None:
    index_documents(DocumentRecord("paper", key, str(key), title) for key, title in enumerate(TITLES))
    index_documents([DocumentRecord("talk", 1, "t", TITLES[0])])

    assert [hit.object_id for hit in find_related("paper", 0, limit=1)] == [1]
    assert [hit.object_id for hit in find_related("paper", 3, limit=1)] == [4]
    assert 3 not in [hit.object_id for hit in find_related("paper", 3)]
    assert {hit.kind for hit in find_related("paper", 0)} == {"paper"}


def test_nothing_is_related_to_what_is_alone_or_unknown() -> None:
    index_documents([DocumentRecord("paper", 1, "1", "Alone")])

    assert find_related("paper", 1) == []
    assert find_related("paper", 99) == []


def test_document_is_described_by_its_words_and_how_common_they_are() -> None:
    people = ["Siobhán O\u2019Brien", 'x"y\\z']
    body = "Attention is sparse: 50 % of it"
    one = DocumentRecord("paper", 1, "1", "Sparse attention", topic="Systems", body=body, people=people)
    index_documents([one, DocumentRecord("paper", 2, "2", "Sparse")])
    found = engine().describe_document("paper", 1)

    assert found
    assert (found.head, found.body) == ("sparse attention systems", "attention is sparse 50 of it")
    names = dict.fromkeys(["attention", "obrien", "siobhan", "systems"], 1)
    assert found.documents == {"sparse": 2, **names}


def test_document_without_words_is_described_and_none_is_not() -> None:
    index_documents([DocumentRecord("paper", 1, "1", "")])

    found = engine().describe_document("paper", 1)
    assert found
    assert (found.head.split(), found.body, found.documents) == ([], "", {})
    assert engine().describe_document("paper", 2) is None
