"""Who is at work, and by which way: said by whoever lets changes in, read by the history when rows change."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser

type User = AbstractBaseUser | AnonymousUser | None


@dataclass(frozen=True, slots=True)
class Actor:
    """The way a change comes in, by whom, and what tells more: the name of a command, a token, an action."""

    origin: str = "code"
    user: User = None
    detail: str = ""


NOBODY = Actor()

_acting: ContextVar[Actor] = ContextVar("acting", default=NOBODY)


@contextmanager
def acting(origin: str, user: User = None, detail: str = "") -> Iterator[None]:
    """Name the origin of all changes inside. Without a user the one around stays."""
    token = _acting.set(Actor(origin, user if user is not None else _acting.get().user, detail))
    try:
        yield
    finally:
        _acting.reset(token)


def actor() -> Actor:
    """Return who is at work."""
    return _acting.get()
