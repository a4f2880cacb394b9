"""Pictures of people whose addresses are in a file, fetched before an import is written."""

import io
import time
from dataclasses import replace
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext, ngettext
from PIL import Image, UnidentifiedImageError

from conference.pictures import MAX_SMALL_BYTES
from content.array_lookup import AnyOf
from content.history import RowChange
from exchange.files import MEGABYTE
from exchange.jobs.fetch import FetchPolicy, fetch_file
from exchange.problems import Findings, ProgramError, Where
from exchange.reading.papers import shorten_list
from exchange.records import PhotoRecord, Program
from people.models import Person, PersonIdentifier

MAX_PHOTO_BYTES = MAX_SMALL_BYTES
# Limits for all pictures of an import together.
MAX_TOTAL_BYTES = 200_000_000
MAX_TOTAL_SECONDS = 300.0
EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif"}


def fetch_photos(
    program: Program, policy: FetchPolicy | None = None, *, dry_run: bool = False
) -> tuple[Program, dict[str, tuple[str, bytes]]]:
    """Return the program with notes on skipped pictures, and the fetched pictures by address.

    A picture is a file extension and its bytes. Nothing is fetched in a dry run, or for people who have a
    photo, or whose photo was removed.
    """
    policy = policy or FetchPolicy(frozenset(settings.IMPORT_HOSTS), timeout=10.0, page_seconds=30.0)
    findings, missing_photos = Findings(), _missing_photos(program)
    hosts = {_host(photo) for photo in missing_photos} - policy.hosts
    if hosts:
        message = gettext(
            "Pictures of people are left out, because the setting IMPORT_HOSTS does not name "
            "%(hosts)s: %(names)s."
        )
        names = [photo.person.name for photo in missing_photos if _host(photo) in hosts]
        findings.note(
            "warning", Where(), message, hosts=shorten_list(sorted(hosts)), names=shorten_list(names)
        )
    allowed_photos = [photo for photo in missing_photos if _host(photo) not in hosts]
    photos = {} if dry_run else _fetch_all(allowed_photos, policy, findings)
    return replace(program, notes=(*program.notes, *findings.notes)), photos


def _host(photo: PhotoRecord) -> str:
    return urlsplit(photo.url).hostname or ""


def _fetch_all(
    records: list[PhotoRecord], policy: FetchPolicy, findings: Findings
) -> dict[str, tuple[str, bytes]]:
    """Fetch pictures within the limits of time and size. Note the skipped ones."""
    deadline = time.monotonic() + MAX_TOTAL_SECONDS
    policy = replace(policy, deadline=deadline, max_bytes=MAX_PHOTO_BYTES)
    photos: dict[str, tuple[str, bytes]] = {}
    free_bytes = MAX_TOTAL_BYTES
    for index, record in enumerate(records):
        is_late = time.monotonic() >= deadline
        if is_late or free_bytes < MAX_PHOTO_BYTES:
            _note_unfetched(len(records) - index, findings, is_late=is_late)
            break
        try:
            content = fetch_file(record.url, policy)
            photos[record.url] = _file_extension(content), content
            free_bytes -= len(content)
        except (ProgramError, ValueError) as error:
            message = gettext("The picture of %(name)s is left out: %(reason)s")
            findings.note("warning", record.where, message, name=record.person.name, reason=str(error))
    return photos


def _note_unfetched(count: int, findings: Findings, *, is_late: bool) -> None:
    """Note how many pictures were not fetched, and why. The next import of the file fetches them."""
    if is_late:
        reason = gettext("Fetching took more than %(limit)d seconds.") % {"limit": MAX_TOTAL_SECONDS}
    else:
        megabytes = MAX_TOTAL_BYTES // MEGABYTE
        reason = gettext("An import takes at most %(limit)d MB of pictures.") % {"limit": megabytes}
    message = ngettext(
        "%(count)d picture is left out: %(reason)s Import the file again to fetch it.",
        "%(count)d pictures are left out: %(reason)s Import the file again to fetch them.",
        count,
    )
    findings.note("warning", Where(), message, count=count, reason=reason)


def _missing_photos(program: Program) -> list[PhotoRecord]:
    """Return the pictures of people without a photo here, as far as identifiers match existing people."""
    pairs = {pair for photo in program.photos for pair in photo.person.ids}
    rows = PersonIdentifier.objects.filter(AnyOf("value", {value for _, value in pairs}))
    people = {(scheme, value): key for scheme, value, key in rows.values_list("scheme", "value", "person")}
    keys = {people[pair] for pair in pairs if pair in people}
    people_with_photo = set(
        Person.objects.filter(AnyOf("pk", keys)).exclude(photo="").values_list("pk", flat=True)
    )
    changes = RowChange.objects.filter(AnyOf("object_id", keys), model=Person._meta.label_lower)
    people_with_photo.update(changes.filter(values__has_key="photo").values_list("object_id", flat=True))
    photos_by_url = {
        photo.url: photo
        for photo in program.photos
        if not people_with_photo & {people.get(pair) for pair in photo.person.ids}
    }
    return list(photos_by_url.values())


def _file_extension(content: bytes) -> str:
    """Return the file extension of a picture. Raises `ValueError` if browsers cannot display it."""
    try:
        # Pillow also reads formats that run other programs, such as EPS.
        with Image.open(io.BytesIO(content), formats=[*EXTENSIONS]) as image:
            image.verify()
            return EXTENSIONS[image.format or ""]
    except UnidentifiedImageError as error:
        message = gettext("The picture can’t be read: it is not a whole JPEG, PNG, WebP or GIF.")
        raise ValueError(message) from error
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(gettext("The picture can’t be read.")) from error
