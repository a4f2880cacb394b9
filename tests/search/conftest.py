"""Fixture of a small search index with unusual words."""

from collections.abc import Callable
from typing import Any

import pytest

from search.index import DocumentRecord, index_documents

PROGRAM = [
    DocumentRecord(
        kind="paper",
        object_id=1,
        key="one",
        edition=21,
        year=2021,
        title="Convolution on Graphs",
        people=["Eva Šimek", "Łukasz Kowalski"],
        topic="Computer Vision",
        awards=["Best Paper"],
        body="We show state-of-the-art learning in İstanbul, Straße 5.",
    ),
    DocumentRecord(
        kind="paper",
        object_id=2,
        key="two",
        edition=22,
        year=2022,
        title="深度学习: Deep Learning",
        people=["李伟", "Kay O’Brien"],
        topic="Systems",
        body="A survey of graphs. The convolutional networks of Šimek.",
    ),
    DocumentRecord(
        kind="talk",
        object_id=1,
        key="talk",
        edition=22,
        year=2022,
        title="Learning to Learn",
        people=["Dan Simek", "Jan Best"],
        body="Papers, deep and shallow; learning curves 12e3a.",
    ),
    DocumentRecord(
        kind="person", object_id=7, key="simek", title="Dan Simek", body="Paper money. Lives by the sea"
    ),
    DocumentRecord(kind="page", object_id=9, key="visit", title="Visit Zürich", body="Learning the tram"),
]


@pytest.fixture(scope="module")
def program(made_once: Callable[..., Any]) -> None:
    made_once(lambda: index_documents(PROGRAM))
