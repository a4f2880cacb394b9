"""Files of imports, stored in the database since workers may run on another machine than the web server."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext

from exchange.files import Source
from exchange.models import ImportJob, UploadPart

PART_BYTES = 1_000_000


@transaction.atomic
def store(job: ImportJob, contents: Iterable[Iterable[bytes]]) -> None:
    """Replace the files of a job. They are stored in parts, so that no process has a whole file in memory."""
    job.upload_parts.all().delete()
    for number, pieces in enumerate(contents):
        buffer = bytearray()
        for piece in pieces:
            buffer += piece
            while len(buffer) >= PART_BYTES:
                UploadPart.objects.create(job=job, file=number, content=bytes(buffer[:PART_BYTES]))
                del buffer[:PART_BYTES]
        # An empty file also has one part.
        UploadPart.objects.create(job=job, file=number, content=bytes(buffer))


class FilesLostError(Exception):
    """The files of a job were deleted."""


def sources(job: ImportJob) -> list[Source]:
    """Return the files of a job with their original names. Raises `FilesLostError`."""
    contents: dict[int, bytearray] = {}
    for part in job.upload_parts.order_by("pk").iterator(chunk_size=10):
        contents.setdefault(part.file, bytearray()).extend(part.content)
    if len(contents) < len(job.files):
        raise FilesLostError(gettext("The uploaded files have been removed. Upload them again."))
    return [Source(name, bytes(contents.pop(number))) for number, name in enumerate(job.files)]
