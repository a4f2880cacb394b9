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

from accounts.access_scope import access_of

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


def add_page_address(name: str, model: type[Model]) -> Callable[[Access, Edition], str]:
    """Return a function for the address of a page that adds rows; empty without the permission."""

    def address(access: Access, edition: Edition) -> str:
        may_add = access.may_all_rows("add", model, edition)
        return reverse(name, query={"edition": edition.pk}) if may_add else ""

    return address


def has_rows(*names: str) -> Callable[[Edition, dict[str, int]], bool]:
    return lambda _edition, row_numbers: any(row_numbers.get(name) for name in names)


def open_steps(
    request: HttpRequest, edition: Edition, row_numbers: dict[str, int]
) -> list[dict[str, object]]:
    """Return the steps for the template, or none if all are done or this browser has hidden them."""
    is_done = {step: step.is_done(edition, row_numbers) for step in FIRST_STEPS}
    is_complete = all(done or step.is_optional for step, done in is_done.items())
    if is_complete or str(edition.pk) in hidden_editions(request):
        return []
    access = access_of(request.user)
    return [
        {
            "name": step.name,
            "text": step.text,
            "address": step.address(access, edition),
            "is_done": is_done[step],
        }
        for step in sorted(FIRST_STEPS, key=attrgetter("position"))
    ]


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
