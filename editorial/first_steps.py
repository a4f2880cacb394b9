"""The first steps of an edition on the desk, registered by the apps.

The list disappears when all required steps are done, or when the user hides it for an edition. A cookie of
the browser has the hidden editions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from accounts.access_scope import Access
    from conference.models import Edition

COOKIE = "desk_steps"
COOKIE_SECONDS = 2 * 365 * 24 * 3600
MAX_EDITIONS = 50


@dataclass(frozen=True, slots=True, eq=False)
class FirstStep:
    """A link with the text after it. Steps with `is_optional` are not required to complete the list.

    `is_done` gets the edition and the numbers of its rows by model name. `address` returns an empty string
    for users who may not open it.
    """

    name: StrPromise | str
    text: StrPromise | str
    address: Callable[[Access, Edition], str]
    is_done: Callable[[Edition, dict[str, int]], bool]
    is_optional: bool = False
    position: int = 50


FIRST_STEPS: list[FirstStep] = []


@dataclass(frozen=True, slots=True)
class ShownStep:
    name: StrPromise | str
    text: StrPromise | str
    address: str
    is_done: bool
    is_optional: bool


def first_steps(edition: Edition, row_numbers: dict[str, int], access: Access) -> list[ShownStep]:
    return [
        ShownStep(
            step.name,
            step.text,
            step.address(access, edition),
            step.is_done(edition, row_numbers),
            step.is_optional,
        )
        for step in sorted(FIRST_STEPS, key=attrgetter("position"))
    ]


def add_page_address(name: str, model: type[Model]) -> Callable[[Access, Edition], str]:
    """Return a function for the address of a page that adds rows; empty without the permission."""

    def address(access: Access, edition: Edition) -> str:
        may_add = access.may_all_rows("add", model, edition)
        return reverse(name, query={"edition": edition.pk}) if may_add else ""

    return address


def has_rows(*names: str) -> Callable[[Edition, dict[str, int]], bool]:
    return lambda _edition, row_numbers: any(row_numbers.get(name) for name in names)


def open_steps(request: HttpRequest, edition: Edition, steps: list[ShownStep]) -> list[ShownStep]:
    """Return the steps, or none if all are done or this browser has hidden them."""
    is_incomplete = any(not step.is_done and not step.is_optional for step in steps)
    return steps if is_incomplete and str(edition.pk) not in hidden_editions(request) else []


def hidden_editions(request: HttpRequest) -> list[str]:
    """Return the keys in the cookie as strings, because a forged cookie may have numbers of any length."""
    return [key for key in request.COOKIES.get(COOKIE, "").split(".") if key.isdecimal()][-MAX_EDITIONS:]


def hide_steps(request: HttpRequest, response: HttpResponse, edition: Edition) -> None:
    """Set the cookie that hides the steps of an edition."""
    hidden = str(edition.pk)
    keys = [*(key for key in hidden_editions(request) if key != hidden), hidden]
    response.set_cookie(
        COOKIE,
        ".".join(keys[-MAX_EDITIONS:]),
        max_age=COOKIE_SECONDS,
        path=reverse("admin:index"),
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
