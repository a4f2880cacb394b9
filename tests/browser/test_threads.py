"""The live server: each of its threads reads the results of its own queries."""

import pytest
from pytest_django.live_server_helper import LiveServer


@pytest.mark.django_db(transaction=True)
def test_threads_of_the_server_share_no_connection(live_server: LiveServer) -> None:
    assert live_server.thread.connections_override == {}
