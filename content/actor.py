"""The user and origin of the current changes: set at each entry point, read by the history on writes.

It is separate from `content.history`, since `manage.py` sets it before apps and their models are loaded.
"""

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
    """The origin of a change, its user, and a detail such as the name of a command, token or action."""

    origin: str = "code"
    user: User = None
    detail: str = ""


NOBODY = Actor()

_actor: ContextVar[Actor] = ContextVar("actor", default=NOBODY)


@contextmanager
def acting_as(origin: str, user: User = None, detail: str = "") -> Iterator[None]:
    """Set the origin of all changes in the block. Without `user`, the outer user stays."""
    token = _actor.set(Actor(origin, user if user is not None else _actor.get().user, detail))
    try:
        yield
    finally:
        _actor.reset(token)


def current_actor() -> Actor:
    return _actor.get()
