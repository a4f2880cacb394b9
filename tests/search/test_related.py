import pytest

from search.index import DocumentRecord, index
from search.related import related

pytestmark = pytest.mark.django_db

TITLES = [
    "Sparse attention for transformers",
    "Attention and transformers for speech",
    "Speech for the deaf",
    "Garbage collection for databases",
    "Databases with garbage, collection of",
]


def test_related_share_the_strongest_words() -> None:
    index(DocumentRecord("paper", key, str(key), title) for key, title in enumerate(TITLES))
    index([DocumentRecord("talk", 1, "t", TITLES[0])])

    assert [hit.object_id for hit in related("paper", 0, limit=1)] == [1]
    assert [hit.object_id for hit in related("paper", 3, limit=1)] == [4]
    assert 3 not in [hit.object_id for hit in related("paper", 3)]
    assert {hit.kind for hit in related("paper", 0)} == {"paper"}


def test_nothing_is_related_to_what_is_alone_or_unknown() -> None:
    index([DocumentRecord("paper", 1, "1", "Alone")])

    assert related("paper", 1) == []
    assert related("paper", 99) == []
