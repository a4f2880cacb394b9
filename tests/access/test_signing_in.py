"""Signing in: throttled, without revealing which accounts exist; and sessions that can be ended."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from accounts.sessions import AccountSession

pytestmark = pytest.mark.django_db

LOGIN, ACCOUNT = "/admin/login/", "/admin/account/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture(autouse=True)
def _fresh(settings: Settings) -> Iterator[None]:
    settings.SIGN_IN_FAILURES_PER_ACCOUNT, settings.SIGN_IN_FAILURES_PER_ADDRESS = 3, 5
    settings.TRUSTED_PROXIES = 1
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def ada() -> User:
    return User.objects.create_superuser("ada", password="right")


def attempt(name: str, password: str, address: str = "192.0.2.1", client: Client | None = None) -> Any:
    values = {"username": name, "password": password}
    return (client or Client()).post(LOGIN, values, HTTP_X_FORWARDED_FOR=address, HTTP_USER_AGENT=FIREFOX)


def fail(count: int, name: str, address: str = "192.0.2.1") -> list[int]:
    return [attempt(name, "wrong", address).status_code for _ in range(count)]


def test_account_is_closed_for_a_while_after_failures(ada: User) -> None:
    assert fail(4, "ada") == [200, 200, 200, 429]
    refused = attempt("ADA ", "right", "198.51.100.7")

    assert (refused.status_code, refused["Retry-After"]) == (429, "900")
    assert "Too many attempts to sign in. Wait 15 minutes" in refused.text


def test_answers_do_not_tell_whether_an_account_exists(ada: User) -> None:
    responses = []
    for name in ("ada", "nobody"):
        address = f"192.0.2.{len(name)}"
        pages = [attempt(name, "wrong", address) for _ in range(4)]
        responses.append([(page.status_code, page.context["form"].errors) for page in pages])

    assert responses[0] == responses[1]


def test_address_is_closed_whatever_the_account_and_whatever_it_claims(ada: User) -> None:
    closed = [attempt(f"user{n}", "wrong", f"203.0.113.{n}, 192.0.2.9").status_code for n in range(6)]

    assert closed == [200] * 5 + [429]
    assert attempt("ada", "right", "192.0.2.9").status_code == 429
    assert attempt("ada", "right", "192.0.2.10").status_code == 302


def test_nobody_is_locked_out_where_they_signed_in_before(ada: User) -> None:
    attempt("ada", "right", "192.0.2.20")
    fail(4, "ada", "192.0.2.66")

    assert attempt("ada", "right", "192.0.2.77").status_code == 429
    assert attempt("ada", "right", "192.0.2.20").status_code == 302


def test_success_forgets_what_was_mistyped(ada: User) -> None:
    fail(2, "ada")
    attempt("ada", "right")

    assert fail(3, "ada") == [200, 200, 200]


def test_sessions_are_listed_and_ended(ada: User) -> None:
    here, there = Client(), Client()
    attempt("ada", "right", "192.0.2.1", here)
    attempt("ada", "right", "192.0.2.2", there)
    page = here.get(ACCOUNT)
    other = next(one for one in page.context["sessions"] if one.address == "192.0.2.2")
    here.post(ACCOUNT, {"session": other.handle})

    assert [one.browser for one in page.context["sessions"]] == ["Firefox, Linux"] * 2
    assert [key for key in AccountSession.objects.values_list("pk", flat=True) if key in page.text] == []
    assert (here.get(ACCOUNT).status_code, there.get(ACCOUNT).status_code) == (200, 302)


def test_everywhere_else_is_ended_at_once_and_nobody_elses(ada: User) -> None:
    here, others = Client(), [Client(), Client()]
    for client in (here, *others):
        client.force_login(ada)
    bob = Client()
    bob.force_login(User.objects.create_superuser("bob"))
    theirs = AccountSession.objects.get(user_id=User.objects.get(username="bob").pk).handle
    page = here.post(ACCOUNT, {"session": "all"}, follow=True)
    here.post(ACCOUNT, {"session": theirs})

    assert "2 sessions were ended." in page.text
    assert [one.get(ACCOUNT).status_code for one in (here, *others, bob)] == [200, 302, 302, 200]


def test_session_of_this_browser_is_kept_and_a_new_password_ends_the_others(ada: User) -> None:
    here, there = Client(), Client()
    here.force_login(ada)
    there.force_login(ada)
    passwords = {"new_password1": "seven small boats", "new_password2": "seven small boats"}
    here.post("/admin/password_change/", {"old_password": "right", **passwords})

    assert (here.get(ACCOUNT).status_code, there.get(ACCOUNT).status_code) == (200, 302)
