"""The live server: each of its threads has its own database connection."""

import pytest
from pytest_django.live_server_helper import LiveServer


@pytest.mark.django_db(transaction=True)
def test_threads_of_the_live_server_share_no_database_connection(live_server: LiveServer) -> None:
    assert live_server.thread.connections_override == {}
