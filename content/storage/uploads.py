"""Uploads that are written to the folder for temporary files while they arrive."""

from contextlib import suppress
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest
from django.utils.translation import gettext as _

from content.storage.failures import FULL_DISK_ERRORS, with_advice

# The attribute of a request whose uploaded files could not be stored, with the sentence.
UPLOAD_FAILURE = "upload_failure"


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
