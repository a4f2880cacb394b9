"""Disks and databases that are full or read-only: what is, in a sentence for the person whose save failed."""

import errno
import sys
from typing import Any

from django.db import DatabaseError
from django.utils.translation import gettext as _

from content.write_conflicts import is_blocked, sql_state

# The SQLSTATE codes of PostgreSQL, and the beginnings of SQLite's names of errors.
DISK_FULL, READ_ONLY = "53100", "25006"
SQLITE_FULL, SQLITE_READ_ONLY = ("SQLITE_FULL", "SQLITE_IOERR"), ("SQLITE_READONLY", "SQLITE_CANTOPEN")
FULL_DISK_ERRORS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
UNWRITABLE_DISK_ERRORS = frozenset((errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO))


def storage_failure(error: BaseException) -> str | None:
    """Return what is full or cannot be written; `None` for other errors."""
    if isinstance(error, OSError):
        return disk_failure(error)
    if isinstance(error, DatabaseError):
        return database_failure(error)
    if is_bucket_error(error):
        return _("The storage for uploaded files doesn’t answer, or refuses them.")
    return None


def disk_failure(error: OSError) -> str | None:
    if error.errno in FULL_DISK_ERRORS:
        return _("The disk for uploaded files is full.")
    if error.errno in UNWRITABLE_DISK_ERRORS:
        return _("The disk for uploaded files can’t be written to.")
    return None


def database_failure(error: DatabaseError) -> str | None:
    state = sql_state(error)
    sqlite_name = str(getattr(error.__cause__, "sqlite_errorname", ""))
    if state == DISK_FULL or sqlite_name.startswith(SQLITE_FULL):
        return _("The disk of the database is full.")
    if state == READ_ONLY or sqlite_name.startswith(SQLITE_READ_ONLY):
        return _("The database is read-only.")
    return None


def is_bucket_error(error: BaseException) -> bool:
    """Return whether an error comes from the client of an S3 bucket, if that is used."""
    client: Any = sys.modules.get("botocore.exceptions")
    return client is not None and isinstance(error, client.BotoCoreError | client.ClientError)


def failed_save(error: BaseException) -> str | None:
    """Return why a save failed that may succeed later without changes; `None` for other errors."""
    if is_blocked(error):
        return _("Someone else is saving the same data. Nothing was saved: try again in a moment.")
    reason = storage_failure(error)
    return with_advice(reason) if reason else None


def with_advice(reason: str) -> str:
    return _("%(reason)s Nothing was saved. Tell the person who runs the site, then try again.") % {
        "reason": reason
    }
