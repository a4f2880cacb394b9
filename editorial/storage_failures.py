"""Disks and databases that are full or read-only: what is, in a sentence for the person whose save failed."""

import errno
import sys
from contextlib import suppress
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.db import DatabaseError
from django.http import HttpRequest
from django.utils.translation import gettext as _

from content.write_conflicts import is_blocked, sql_state

# The SQLSTATE codes of PostgreSQL, and the beginnings of SQLite's names of errors.
DISK_FULL, READ_ONLY = "53100", "25006"
SQLITE_FULL, SQLITE_READ_ONLY = ("SQLITE_FULL", "SQLITE_IOERR"), ("SQLITE_READONLY", "SQLITE_CANTOPEN")
FULL_DISK_ERRORS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
UNWRITABLE_DISK_ERRORS = frozenset((errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO))
# The attribute of a request whose uploaded files could not be stored, with the sentence.
UPLOAD_FAILURE = "upload_failure"


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


class TemporaryUploads(TemporaryFileUploadHandler):
    """Stores large uploads in the folder for temporary files.

    If its disk is full, the file is dropped and the request says so. The other values of the form survive.
    """

    request: HttpRequest

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        self.is_failed = False
        try:
            super().new_file(*args, **kwargs)
        except OSError as error:
            self.fail(error)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if self.is_failed:
            return
        try:
            super().receive_data_chunk(raw_data, start)
        except OSError as error:
            self.fail(error)

    def file_complete(self, file_size: int) -> UploadedFile[bytes] | None:
        if not self.is_failed:
            try:
                # Writes what is still in memory.
                self.file.flush()
            except OSError as error:
                self.fail(error)
        return None if self.is_failed else super().file_complete(file_size)

    def fail(self, error: OSError) -> None:
        self.is_failed = True
        if hasattr(self, "file"):
            # Closing writes what is still in memory.
            with suppress(OSError):
                self.file.close()
        is_full = error.errno in FULL_DISK_ERRORS
        reason = (
            _("The disk for temporary files is full.")
            if is_full
            else _("The disk for temporary files can’t be written to.")
        )
        vars(self.request)[UPLOAD_FAILURE] = with_advice(reason)


def upload_failure(request: HttpRequest) -> str | None:
    """Return why uploaded files of a request could not be received. Reads the request."""
    bool(request.POST)
    sentence: str | None = vars(request).get(UPLOAD_FAILURE)
    return sentence
