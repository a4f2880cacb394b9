"""Limits per IP address and per token, which clients cannot evade, or exhaust for others, by headers."""

from typing import Any

import pytest
from django.test import Client, RequestFactory
from pytest_django import Settings

from accounts.client_address import client_address

pytestmark = pytest.mark.django_db
PATH = "/api/v1/rooms/"


def statuses(client: Client, count: int, **headers: Any) -> list[int]:
    return [client.get(PATH, **headers).status_code for _ in range(count)]


@pytest.fixture(autouse=True)
def _low_limits(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.API_REQUESTS_PER_MINUTE = 2
    settings.API_REQUESTS_PER_MINUTE_AND_TOKEN = 3
    monkeypatch.setattr("api.throttling.PerMinuteThrottle.timer", lambda self: 600.0 + 15)


def test_throttled_response_has_retry_after(client: Client) -> None:
    assert statuses(client, 3) == [200, 200, 429]
    response = client.get(PATH)
    assert response["Retry-After"] == "45"
    assert "detail" in response.json()


def test_limit_is_reset_in_the_next_minute(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert statuses(client, 3) == [200, 200, 429]
    monkeypatch.setattr("api.throttling.PerMinuteThrottle.timer", lambda self: 660.0)
    assert statuses(client, 1) == [200]


def test_addresses_behind_a_trusted_proxy_are_counted_separately(client: Client, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    assert statuses(client, 3, HTTP_X_FORWARDED_FOR="192.0.2.1") == [200, 200, 429]
    assert statuses(client, 2, HTTP_X_FORWARDED_FOR="192.0.2.2") == [200, 200]


def test_forged_forwarded_address_is_ignored(client: Client, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    forged = [f"198.51.100.{number}, 192.0.2.1" for number in range(3)]
    assert [statuses(client, 1, HTTP_X_FORWARDED_FOR=addresses)[0] for addresses in forged] == [200, 200, 429]
    assert statuses(client, 1, HTTP_X_FORWARDED_FOR="198.51.100.0") == [200]


def test_forwarded_header_is_ignored_without_a_proxy(client: Client, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 0
    addresses = [f"192.0.2.{number}" for number in range(3)]
    assert [statuses(client, 1, HTTP_X_FORWARDED_FOR=address)[0] for address in addresses] == [200, 200, 429]


def test_signed_in_user_is_counted_separately_from_the_address(admin_client: Client, client: Client) -> None:
    assert statuses(client, 3) == [200, 200, 429]
    assert statuses(admin_client, 4) == [200, 200, 200, 429]


def test_preflight_requests_are_not_throttled(client: Client) -> None:
    assert [client.options(PATH).status_code for _ in range(4)] == [204] * 4


@pytest.mark.parametrize(
    ("addresses", "proxies", "address"),
    [
        ("192.0.2.1", 1, "192.0.2.1"),
        ("1.1.1.1, 192.0.2.1, 10.0.0.1", 2, "192.0.2.1"),
        ("192.0.2.1", 3, "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", 1, "2001:0db8:0001:0002"),
        ("2001:db8:1:2:ffff::1", 1, "2001:0db8:0001:0002"),
        ("::ffff:192.0.2.1", 1, "192.0.2.1"),
        ("junk" * 50, 1, ("junk" * 50)[:45]),
        ("", 1, "127.0.0.1"),
    ],
)
def test_client_address_behind_proxies(
    settings: Settings, addresses: str, proxies: int, address: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert client_address(RequestFactory().get("/", HTTP_X_FORWARDED_FOR=addresses)) == address
