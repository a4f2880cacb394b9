"""Reads from the replica: for anonymous visitors, never for signed-in users or requests that write."""

from types import SimpleNamespace
from typing import Any

import pytest

from conference.models import Edition
from content.replica import ReplicaRouter, read_from_replica
from pagecache.keys import is_anonymous_read

ROUTER = ReplicaRouter()


@pytest.fixture(autouse=True)
def _replica_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("content.replica.settings", SimpleNamespace(DATABASES={"default": {}, "replica": {}}))


def test_replica_is_used_only_inside_read_from_replica() -> None:
    aliases: list[Any] = [ROUTER.db_for_read(Edition)]
    with read_from_replica():
        aliases.append(ROUTER.db_for_read(Edition))
        with read_from_replica(allowed=False):
            aliases.append(ROUTER.db_for_read(Edition))

    assert aliases == [None, "replica", None]
    assert ROUTER.db_for_write(Edition) == "default"
    assert [ROUTER.allow_migrate(name, "papers") for name in ("default", "replica")] == [True, False]


def test_related_rows_are_read_from_the_database_of_their_row() -> None:
    edition = Edition()
    edition._state.db = "default"
    with read_from_replica():
        assert ROUTER.db_for_read(Edition, instance=edition) == "default"


@pytest.mark.parametrize(
    ("environ", "is_anonymous"),
    [
        ({}, True),
        ({"REQUEST_METHOD": "POST"}, False),
        ({"HTTP_COOKIE": "sessionid=x"}, False),
        ({"HTTP_AUTHORIZATION": "Bearer x"}, False),
        ({"HTTP_COOKIE": "theme=dark"}, True),
    ],
)
def test_anonymous_read_is_recognized(environ: dict[str, str], is_anonymous: bool) -> None:
    assert is_anonymous_read({"REQUEST_METHOD": "GET", **environ}) == is_anonymous
