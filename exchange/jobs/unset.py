"""What a file says about a field: a value, an empty value, or nothing at all."""

from enum import Enum
from typing import Final, TypeGuard


class Unset(Enum):
    """The one value that says: this file does not speak about this field."""

    UNSTATED = "unstated"

    def __bool__(self) -> bool:
        return False


UNSTATED: Final = Unset.UNSTATED
type Stated[T] = T | Unset


def is_stated[T](value: T | Unset) -> TypeGuard[T]:
    """Whether a file spoke about this field at all."""
    return value is not UNSTATED


def stated[T](value: T | Unset, default: T) -> T:
    """Return the value, or `default` where the file says nothing."""
    return default if isinstance(value, Unset) else value
