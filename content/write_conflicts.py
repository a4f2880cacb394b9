"""Repeating transactions that PostgreSQL ended because they and others waited for each other."""

import logging
import random
import time
from collections.abc import Callable
from functools import wraps

from django.db import OperationalError, connection

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
# The longest pause before the second attempt, in seconds; it doubles for each further one.
FIRST_PAUSE = 0.05
DEADLOCK, SERIALIZATION_FAILURE, LOCK_TIMEOUT = "40P01", "40001", "55P03"


def sql_state(error: BaseException) -> str:
    """Return the SQLSTATE code of an error of PostgreSQL; otherwise an empty string."""
    return str(getattr(error.__cause__, "sqlstate", None) or "")


def is_write_conflict(error: BaseException) -> bool:
    """Return whether the same transaction may succeed if it is tried again at once."""
    return sql_state(error) in (DEADLOCK, SERIALIZATION_FAILURE)


def is_blocked(error: BaseException) -> bool:
    """Return whether another transaction held the same rows for too long, or waited for this one."""
    return is_write_conflict(error) or sql_state(error) == LOCK_TIMEOUT


def retry_conflicts[**P, R](write: Callable[P, R]) -> Callable[P, R]:
    """Return a function that calls `write` again after a deadlock or serialization failure.

    `write` has to be one transaction, so that a failed call leaves nothing behind. Inside of a transaction
    the error is raised, because only the outer one can be repeated.
    """

    @wraps(write)
    def write_repeatedly(*args: P.args, **kwargs: P.kwargs) -> R:
        for attempt in range(1, MAX_ATTEMPTS):
            try:
                return write(*args, **kwargs)
            except OperationalError as error:
                if connection.in_atomic_block or not is_write_conflict(error):
                    raise
                logger.info("A transaction is repeated (attempt %d): %s", attempt + 1, error)
                time.sleep(random.uniform(0, FIRST_PAUSE * 2 ** (attempt - 1)))  # noqa: S311 # no secret
        return write(*args, **kwargs)

    return write_repeatedly
