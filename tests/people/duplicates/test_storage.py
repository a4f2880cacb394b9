"""Tests of storing likely duplicates during concurrent writes."""

import logging
from io import StringIO
from unittest import mock

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction
from django.test import Client

from people.duplicates import storage
from people.merging import merge
from people.models import Comparison, Person, PersonPair
from tests import factories as make
from tests.connections import LOCK_TIMEOUT_SECONDS, run_over_another_connection, wait_for_a_lock

on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")


def make_twins() -> tuple[Person, Person]:
    first, second = make.make_person("Paolo Costantini"), make.make_person("Costantini Paolo")
    make.make_paper(make.make_edition(), [first, second])
    return first, second


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_concurrent_searches_write_one_after_the_other() -> None:
    make_twins()
    storage.search(Person)
    with transaction.atomic():
        storage.search(Person)
        thread, failed = run_over_another_connection(lambda: storage.search(Person))
        wait_for_a_lock(thread)
    thread.join(LOCK_TIMEOUT_SECONDS)

    assert failed == []
    assert PersonPair.objects.count() == 1


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_search_does_not_wait_for_a_merge() -> None:
    first, second = make_twins()
    with transaction.atomic():
        merge._lock_rows(Person, [first, second])
        first.save()
        thread, failed = run_over_another_connection(lambda: storage.search(Person))
        thread.join(LOCK_TIMEOUT_SECONDS)
        assert not thread.is_alive()

    assert failed == []
    assert PersonPair.objects.count() == 1


@pytest.mark.django_db
def test_list_opens_while_the_database_is_busy(
    admin_client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    make_twins()
    with mock.patch.object(storage, "search", side_effect=OperationalError("database is locked")):
        page = admin_client.get("/admin/people/personpair/")

    assert page.status_code == 200
    assert "Duplicates could not be looked for" in caplog.text
    assert caplog.records[-1].levelno == logging.ERROR
    assert not Comparison.objects.exists()


@pytest.mark.django_db
def test_command_searches_people_and_institutions() -> None:
    make_twins()
    out = StringIO()
    call_command("find_duplicates", stdout=out)

    assert out.getvalue().splitlines() == ["people: 1 likely duplicates", "institutions: 0 likely duplicates"]
    assert PersonPair.objects.count() == 1
