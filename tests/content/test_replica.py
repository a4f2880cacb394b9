"""Reads from the replica: for anonymous visitors, never for signed-in users or requests that write."""

from types import SimpleNamespace
from typing import Any

import pytest

from conference.models import Edition
from content.replica import ReplicaRouter, read_from_replica
from pagecache.keys import is_anonymous_read

ROUTER = ReplicaRouter()


@pytest.fixture(autouse=True)
def _copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("content.replica.settings", SimpleNamespace(DATABASES={"default": {}, "replica": {}}))


def test_only_inside_of_reading_the_copy_is_asked() -> None:
    asked: list[Any] = [ROUTER.db_for_read(Edition)]
    with read_from_replica():
        asked.append(ROUTER.db_for_read(Edition))
        with read_from_replica(allowed=False):
            asked.append(ROUTER.db_for_read(Edition))

    assert asked == [None, "replica", None]
    assert ROUTER.db_for_write(Edition) == "default"
    assert [ROUTER.allow_migrate(name, "papers") for name in ("default", "replica")] == [True, False]


def test_what_hangs_on_a_row_comes_from_its_database() -> None:
    edition = Edition()
    edition._state.db = "default"
    with read_from_replica():
        assert ROUTER.db_for_read(Edition, instance=edition) == "default"


@pytest.mark.parametrize(
    ("differing", "is_anonymous"),
    [
        ({}, True),
        ({"REQUEST_METHOD": "POST"}, False),
        ({"HTTP_COOKIE": "sessionid=x"}, False),
        ({"HTTP_AUTHORIZATION": "Bearer x"}, False),
        ({"HTTP_COOKIE": "theme=dark"}, True),
    ],
)
def test_who_is_anonymous(differing: dict[str, str], is_anonymous: bool) -> None:
    assert is_anonymous_read({"REQUEST_METHOD": "GET", **differing}) == is_anonymous
