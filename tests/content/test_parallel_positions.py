"""Trap 49: writers of positions at the same time, each over its own connection to PostgreSQL.

No write ends in an error, each is answered once, and the order has no gaps.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, connections, transaction
from django.db.models import QuerySet
from django.test import Client

from content import revision
from content.history import ChangeSet
from content.ordering import lock_owners, move_to
from content.write_conflicts import (
    DEADLOCK,
    FIRST_PAUSE,
    MAX_ATTEMPTS,
    SERIALIZATION_FAILURE,
    retry_conflicts,
)
from schedule.models import Presentation, Session
from tests import factories as make
from tests.admin_forms import admin_url
from tests.api.writing import Writer, make_staff, make_token

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer"),
]

WRITERS, WRITES = 8, 4


def run_at_once(*functions: Callable[[], object]) -> list[BaseException]:
    """Call the functions in threads that begin together, and return their errors."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(functions))

    def run(function: Callable[[], object]) -> None:
        try:
            start.wait(20)
            function()
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[function]) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    return errors


class PositionWriter:
    """A client that moves one row again and again over the API, and reads it anew if it is outdated."""

    def __init__(self, token: str, path: str, seed: int, **fields: Any) -> None:
        self.writer, self.path, self.seed, self.fields = Writer(token), path, seed, fields
        self.statuses: Counter[int] = Counter()

    def __call__(self) -> None:
        done = 0
        while done < WRITES:
            version = self.writer.get(self.path)["ETag"]
            body = {"position": (self.seed * 5 + done * 3) % WRITERS + 1}
            body |= {name: values[done % len(values)] for name, values in self.fields.items()}
            response = self.writer.client.patch(
                f"/api/v1/{self.path}", body, "application/json", HTTP_IF_MATCH=version, **self.writer.headers
            )
            self.statuses[response.status_code] += 1
            done += response.status_code != 412
            assert sum(self.statuses.values()) < 1000


def positions(rows: Any) -> list[int]:
    return list(rows.order_by("position").values_list("position", flat=True))


@pytest.fixture
def token() -> str:
    return make_token(make_staff())


def make_talks(session: Session) -> list[Presentation]:
    return [make.make_presentation(session, title=f"Talk {number}") for number in range(WRITERS)]


def test_trap_49_eight_writers_of_one_session(token: str, caplog: pytest.LogCaptureFixture) -> None:
    session = make.make_session(make.make_edition())
    writers = [
        PositionWriter(token, f"presentations/2021/{talk.uid}/", number)
        for number, talk in enumerate(make_talks(session))
    ]
    change_sets = ChangeSet.objects.count()
    with caplog.at_level("INFO", "content.write_conflicts"):
        assert run_at_once(*writers) == []

    # They wait for each other: no transaction is repeated.
    assert caplog.records == []
    statuses = sum((writer.statuses for writer in writers), Counter[int]())
    assert {*statuses} <= {200, 412}
    assert statuses[200] == WRITERS * WRITES
    assert ChangeSet.objects.count() - change_sets <= WRITERS * WRITES
    assert positions(session.presentations) == [*range(1, WRITERS + 1)]


def test_trap_49_writers_that_move_talks_between_two_sessions(token: str) -> None:
    edition = make.make_edition()
    sessions = [make.make_session(edition, uid=uid) for uid in ("s1", "s2")]
    talks = [make_talks(session)[:4] for session in sessions]
    writers = [
        PositionWriter(
            token, f"presentations/2021/{talk.uid}/", number, session=[["s1", "s2"], ["s2", "s1"]][side]
        )
        for side in (0, 1)
        for number, talk in enumerate(talks[side])
    ]

    assert run_at_once(*writers) == []
    assert {*sum((writer.statuses for writer in writers), Counter[int]())} <= {200, 412}
    for session in sessions:
        count = session.presentations.count()
        assert positions(session.presentations) == [*range(1, count + 1)]


def test_trap_49_eight_writers_of_the_rooms_of_an_edition(token: str) -> None:
    """Rows of an edition, which is not locked itself."""
    edition = make.make_edition()
    rooms = [make.make_room(edition, slug=f"r{number}") for number in range(WRITERS)]
    writers = [PositionWriter(token, f"rooms/2021/{room.slug}/", number) for number, room in enumerate(rooms)]

    assert run_at_once(*writers) == []
    statuses = sum((writer.statuses for writer in writers), Counter[int]())
    assert {*statuses} <= {200, 412}
    assert positions(edition.rooms) == [*range(1, WRITERS + 1)]


# Repeated transactions


def test_a_deadlock_is_repeated_and_answered_once() -> None:
    """Two writers lock two rows in opposite order."""
    session = make.make_session(make.make_edition())
    first, second = make.make_presentation(session, uid="t1"), make.make_presentation(session, uid="t2")
    met = threading.Barrier(2)
    attempts: Counter[str] = Counter()

    def write_in_order(*talks: Presentation) -> Callable[[], None]:
        @retry_conflicts
        @transaction.atomic
        def write() -> None:
            attempts[talks[0].uid] += 1
            # Unlike the manager's, these updates do not wait for the edition.
            rows: QuerySet[Presentation] = QuerySet(Presentation)
            rows.filter(pk=talks[0].pk).update(title=f"First of {talks[0].uid}")
            if attempts[talks[0].uid] == 1:
                met.wait(20)
            rows.filter(pk=talks[1].pk).update(abstract=f"Second of {talks[0].uid}")

        return write

    assert run_at_once(write_in_order(first, second), write_in_order(second, first)) == []
    # On a busy machine, the one that was ended may meet the other again.
    assert max(attempts.values()) > 1
    rows = Presentation.objects.order_by("uid").values_list("title", "abstract")
    assert list(rows) == [("First of t1", "Second of t2"), ("First of t2", "Second of t1")]


def test_errors_other_than_conflicts_are_not_repeated() -> None:
    calls = []

    @retry_conflicts
    @transaction.atomic
    def write() -> None:
        calls.append(1)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 10")
            cursor.execute("SELECT pg_sleep(1)")

    with pytest.raises(OperationalError, match="statement timeout"):
        write()
    assert len(calls) == 1


@pytest.mark.parametrize("code", [DEADLOCK, SERIALIZATION_FAILURE])
def test_conflicts_are_repeated_a_few_times(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)

    @retry_conflicts
    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '{code}'; END $$")

    with pytest.raises(OperationalError, match="again"):
        write()
    assert len(pauses) == MAX_ATTEMPTS - 1
    assert sum(pauses) < FIRST_PAUSE * 2**MAX_ATTEMPTS

    pauses.clear()
    with pytest.raises(OperationalError, match="again"), transaction.atomic():
        write()
    assert pauses == []


# Waiting


def test_writers_of_other_sessions_do_not_wait(token: str) -> None:
    edition = make.make_edition()
    talks = [make_talks(make.make_session(edition)) for _ in range(2)]
    client = Writer(token)
    with transaction.atomic(), revision.lock():
        move_to(talks[0][0], 8)
        errors = run_at_once(lambda: client.patch(f"presentations/2021/{talks[1][0].uid}/", position=8))

        assert errors == []
    assert [Presentation.objects.get(pk=rows[0].pk).position for rows in talks] == [8, 8]


def test_nobody_waits_longer_than_the_lock_timeout(token: str) -> None:
    session = make.make_session(make.make_edition())
    talk, other = make_talks(session)[:2]
    writer, client = Writer(token), Client()
    client.force_login(User.objects.get())
    path = f"presentations/2021/{talk.uid}/"
    version = writer.get(path)["ETag"]
    answers: list[tuple[int, str, str]] = []

    def write(send: Callable[[], Any]) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == ("10s",)
            cursor.execute("SET lock_timeout = 100")
        response = send()
        answers.append((response.status_code, response.headers.get("Retry-After", ""), response.text))

    client.raise_request_exception = writer.client.raise_request_exception = False
    body, headers = {"position": 3}, {**writer.headers, "HTTP_IF_MATCH": version}
    with transaction.atomic():
        lock_owners(Presentation, [session.pk])
        errors = run_at_once(
            lambda: write(
                lambda: writer.client.patch(f"/api/v1/{path}", body, "application/json", **headers)
            ),
            lambda: write(lambda: client.post(admin_url(other, "delete"), {"post": "yes"})),
        )

    assert errors == []
    assert [(status, wait) for status, wait, _text in answers] == [(503, "5"), (503, "5")]
    assert all("Someone else is saving the same" in text for _status, _wait, text in answers)
    assert session.presentations.count() == WRITERS
