"""Signing in: throttled, without revealing which accounts exist; and sessions that can be ended."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from accounts.sessions import AccountSession

pytestmark = pytest.mark.django_db

LOGIN, ACCOUNT = "/admin/login/", "/admin/account/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture(autouse=True)
def _sign_in_limits(settings: Settings) -> None:
    settings.SIGN_IN_FAILURES_PER_ACCOUNT, settings.SIGN_IN_FAILURES_PER_ADDRESS = 3, 5
    settings.TRUSTED_PROXIES = 1


@pytest.fixture
def ada() -> User:
    return User.objects.create_superuser("ada", password="right")


def sign_in(name: str, password: str, address: str = "192.0.2.1", client: Client | None = None) -> Any:
    values = {"username": name, "password": password}
    return (client or Client()).post(LOGIN, values, HTTP_X_FORWARDED_FOR=address, HTTP_USER_AGENT=FIREFOX)


def fail_to_sign_in(count: int, name: str, address: str = "192.0.2.1") -> list[int]:
    return [sign_in(name, "wrong", address).status_code for _ in range(count)]


def test_account_is_locked_for_15_minutes_after_failures(ada: User) -> None:
    assert fail_to_sign_in(4, "ada") == [200, 200, 200, 429]
    refused = sign_in("ADA ", "right", "198.51.100.7")

    assert (refused.status_code, refused["Retry-After"]) == (429, "900")
    assert "Too many attempts to sign in. Wait 15 minutes" in refused.text


def test_responses_do_not_reveal_whether_an_account_exists(ada: User) -> None:
    responses = []
    for name in ("ada", "nobody"):
        address = f"192.0.2.{len(name)}"
        pages = [sign_in(name, "wrong", address) for _ in range(4)]
        responses.append([(page.status_code, page.context["form"].errors) for page in pages])

    assert responses[0] == responses[1]


def test_ip_address_is_locked_for_all_accounts_and_forged_headers(ada: User) -> None:
    statuses = [sign_in(f"user{n}", "wrong", f"203.0.113.{n}, 192.0.2.9").status_code for n in range(6)]

    assert statuses == [200] * 5 + [429]
    assert sign_in("ada", "right", "192.0.2.9").status_code == 429
    assert sign_in("ada", "right", "192.0.2.10").status_code == 302


def test_account_is_not_locked_for_ip_addresses_of_earlier_sign_ins(ada: User) -> None:
    sign_in("ada", "right", "192.0.2.20")
    fail_to_sign_in(4, "ada", "192.0.2.66")

    assert sign_in("ada", "right", "192.0.2.77").status_code == 429
    assert sign_in("ada", "right", "192.0.2.20").status_code == 302


def test_successful_sign_in_resets_the_failures(ada: User) -> None:
    fail_to_sign_in(2, "ada")
    sign_in("ada", "right")

    assert fail_to_sign_in(3, "ada") == [200, 200, 200]


def test_sessions_are_listed_and_ended(ada: User) -> None:
    client, other_client = Client(), Client()
    sign_in("ada", "right", "192.0.2.1", client)
    sign_in("ada", "right", "192.0.2.2", other_client)
    page = client.get(ACCOUNT)
    other_session = next(session for session in page.context["sessions"] if session.address == "192.0.2.2")
    client.post(ACCOUNT, {"session": other_session.handle})

    assert [session.browser for session in page.context["sessions"]] == ["Firefox, Linux"] * 2
    assert [key for key in AccountSession.objects.values_list("pk", flat=True) if key in page.text] == []
    assert (client.get(ACCOUNT).status_code, other_client.get(ACCOUNT).status_code) == (200, 302)


def test_button_that_ends_the_session_of_an_unknown_browser_says_so(ada: User, client: Client) -> None:
    for visitor in (Client(), client):
        visitor.force_login(ada)
    page = client.get(ACCOUNT).text

    assert 'aria-label="Sign out Unknown browser, since ' in page


def test_ending_all_other_sessions_spares_this_one_and_other_accounts(ada: User) -> None:
    own_client, other_clients = Client(), [Client(), Client()]
    for client in (own_client, *other_clients):
        client.force_login(ada)
    bob = Client()
    bob.force_login(User.objects.create_superuser("bob"))
    bobs_handle = AccountSession.objects.get(user_id=User.objects.get(username="bob").pk).handle
    page = own_client.post(ACCOUNT, {"session": "all"}, follow=True)
    own_client.post(ACCOUNT, {"session": bobs_handle})

    assert "2 sessions were ended." in page.text
    statuses = [browser.get(ACCOUNT).status_code for browser in (own_client, *other_clients, bob)]
    assert statuses == [200, 302, 302, 200]


def test_new_password_ends_only_the_other_sessions(ada: User) -> None:
    client, other_client = Client(), Client()
    client.force_login(ada)
    other_client.force_login(ada)
    passwords = {"new_password1": "seven small boats", "new_password2": "seven small boats"}
    client.post("/admin/password_change/", {"old_password": "right", **passwords})

    assert (client.get(ACCOUNT).status_code, other_client.get(ACCOUNT).status_code) == (200, 302)
