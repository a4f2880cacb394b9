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


def test_related_documents_share_distinctive_words() -> None:
    index_documents(DocumentRecord("paper", key, str(key), title) for key, title in enumerate(TITLES))
    index_documents([DocumentRecord("talk", 1, "t", TITLES[0])])

    assert [hit.object_id for hit in find_related("paper", 0, limit=1)] == [1]
    assert [hit.object_id for hit in find_related("paper", 3, limit=1)] == [4]
    assert 3 not in [hit.object_id for hit in find_related("paper", 3)]
    assert {hit.kind for hit in find_related("paper", 0)} == {"paper"}


def test_only_or_unknown_document_has_no_related_documents() -> None:
    index_documents([DocumentRecord("paper", 1, "1", "Alone")])

    assert find_related("paper", 1) == []
    assert find_related("paper", 99) == []


def test_description_has_the_words_and_their_document_counts() -> None:
    people = ["Siobhán O\u2019Brien", 'x"y\\z']
    body = "Attention is sparse: 50 % of it"
    document = DocumentRecord("paper", 1, "1", "Sparse attention", topic="Systems", body=body, people=people)
    index_documents([document, DocumentRecord("paper", 2, "2", "Sparse")])
    description = engine().describe_document("paper", 1)

    assert description
    assert (description.head, description.body) == (
        "sparse attention systems",
        "attention is sparse 50 of it",
    )
    names = dict.fromkeys(["attention", "obrien", "siobhan", "systems"], 1)
    assert description.documents == {"sparse": 2, **names}


def test_description_of_an_empty_document_is_empty_and_of_none_is_none() -> None:
    index_documents([DocumentRecord("paper", 1, "1", "")])

    description = engine().describe_document("paper", 1)
    assert description
    assert (description.head.split(), description.body, description.documents) == ([], "", {})
    assert engine().describe_document("paper", 2) is None
