"""The files of imports, in the database until the import is over: site and worker may be two machines."""

from collections.abc import Iterable, Sequence

from django.db import transaction

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


def sources(job: ImportJob, names: Sequence[str]) -> list[Source]:
    """Return the files of a job under the names that they came with. Raises `FileNotFoundError`."""
    contents: dict[int, bytearray] = {}
    for part in job.upload_parts.order_by("pk").iterator(chunk_size=10):
        contents.setdefault(part.file, bytearray()).extend(part.content)
    if len(contents) < len(names):
        raise FileNotFoundError(f"Import {job.pk} has {len(contents)} of {len(names)} files.")
    return [Source(name, bytes(contents.pop(number))) for number, name in enumerate(names)]


def forget(job: ImportJob) -> None:
    job.upload_parts.all().delete()
