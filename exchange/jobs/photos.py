"""The pictures of people that a file names by address, fetched before an import is written."""

import io
from dataclasses import replace
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext
from PIL import Image, UnidentifiedImageError

from content.history import RowChange
from exchange.imports.rows import in_batches
from exchange.jobs.fetch import Policy, fetch_file
from exchange.problems import Findings, ProgramError, Where
from exchange.reading.papers import listed
from exchange.records import PhotoRecord, Program
from people.models import Person, PersonIdentifier

MAX_PHOTO_BYTES = 5_000_000
# Of all pictures of an import.
MAX_BYTES = 200_000_000
ENDINGS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif"}


def with_photos(
    program: Program, policy: Policy | None = None, *, dry_run: bool = False
) -> tuple[Program, dict[str, tuple[str, bytes]]]:
    """Return the program with notes on pictures that are left out, and those that are taken, by address.

    A picture is a file ending and its bytes. Nothing is fetched in a dry run, nor for people who have a
    photo, or had one that somebody removed.
    """
    policy = policy or Policy(frozenset(settings.IMPORT_HOSTS), timeout=10.0, page_seconds=30.0)
    findings, wanted = Findings(), _wanted(program)
    hosts = {urlsplit(one.url).hostname or "" for one in wanted} - policy.hosts
    if hosts:
        message = gettext(
            "Pictures of people are left out, because the setting IMPORT_HOSTS does not name "
            "%(hosts)s: %(names)s."
        )
        names = [one.person.name for one in wanted if urlsplit(one.url).hostname in hosts]
        findings.note("warning", Where(), message, hosts=listed(sorted(hosts)), names=listed(names))
    photos: dict[str, tuple[str, bytes]] = {}
    left = MAX_BYTES
    for one in [] if dry_run else wanted:
        if (urlsplit(one.url).hostname or "") in hosts:
            continue
        try:
            content = fetch_file(one.url, policy, min(MAX_PHOTO_BYTES, left))
            photos[one.url] = _ending(content), content
            left -= len(content)
        except (ProgramError, ValueError) as error:
            message = gettext("The picture of %(name)s is left out: %(reason)s")
            findings.note("warning", one.where, message, name=one.person.name, reason=str(error))
    return replace(program, notes=(*program.notes, *findings.notes)), photos


def _wanted(program: Program) -> list[PhotoRecord]:
    """Return the pictures of those who have none here, as far as identifiers tell who they are."""
    pairs = {pair for one in program.photos for pair in one.person.ids}
    people: dict[tuple[str, str], int] = {}
    for values in in_batches({value for _, value in pairs}):
        rows = PersonIdentifier.objects.filter(value__in=values)
        people |= {
            (scheme, value): key for scheme, value, key in rows.values_list("scheme", "value", "person")
        }
    keys = {people[pair] for pair in pairs if pair in people}
    served: set[int] = set()
    for batch in in_batches(keys):
        served.update(Person.objects.filter(pk__in=batch).exclude(photo="").values_list("pk", flat=True))
        changes = RowChange.objects.filter(model=Person._meta.label_lower, object_id__in=batch)
        served.update(changes.filter(values__has_key="photo").values_list("object_id", flat=True))
    found = {
        one.url: one for one in program.photos if not served & {people.get(pair) for pair in one.person.ids}
    }
    return list(found.values())


def _ending(content: bytes) -> str:
    """Return the file ending of a picture. Raises `ValueError` for what is none that browsers show."""
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.verify()
            found = ENDINGS.get(image.format or "")
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(gettext("It is no picture that can be read.")) from error
    if not found:
        raise ValueError(gettext("It is no JPEG, PNG, WebP or GIF."))
    return found
