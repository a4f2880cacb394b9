"""The files of imports, in the database until the import is over: site and worker may be two machines."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext

from exchange.files import Source
from exchange.models import ImportJob, UploadPart

PART_BYTES = 1_000_000


@transaction.atomic
def store(job: ImportJob, contents: Iterable[Iterable[bytes]]) -> None:
    """Store files in parts, so that no process holds a whole one, in place of those that are there."""
    job.upload_parts.all().delete()
    for number, pieces in enumerate(contents):
        buffer = bytearray()
        for piece in pieces:
            buffer += piece
            while len(buffer) >= PART_BYTES:
                UploadPart.objects.create(job=job, file=number, content=bytes(buffer[:PART_BYTES]))
                del buffer[:PART_BYTES]
        # An empty file has a part too.
        UploadPart.objects.create(job=job, file=number, content=bytes(buffer))


class FilesLostError(Exception):
    """The files of a job are not there any more."""


def sources(job: ImportJob) -> list[Source]:
    """Return the files of a job under the names that they came with. Raises `FilesLostError`."""
    contents: dict[int, bytearray] = {}
    for part in job.upload_parts.order_by("pk").iterator(chunk_size=10):
        contents.setdefault(part.file, bytearray()).extend(part.content)
    if len(contents) < len(job.files):
        raise FilesLostError(gettext("The uploaded files have been removed. Upload them again."))
    return [Source(name, bytes(contents.pop(number))) for number, name in enumerate(job.files)]
