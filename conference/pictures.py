"""Large pictures: validation of uploads, and the smaller copies that pages show.

Uploads are named by a hash of their content, so that a URL always has the same content. Copies in AVIF and
WebP of three widths are stored in the same folder, and pages use them without a check that they exist.
"""

import re
from hashlib import blake2b
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.db import models
from django.db.models.fields.files import ImageFieldFile
from django.utils.translation import gettext_lazy as _
from PIL import Image, ImageOps, UnidentifiedImageError

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# The maximum number of bytes of a copy, by its width in pixels.
MAX_COPY_BYTES = {640: 60_000, 1280: 180_000, 1920: 360_000}
# Qualities to try, until a copy is small enough.
QUALITIES = {"avif": (60, 42, 26, 10), "webp": (76, 52, 28, 8)}
# Fast settings, because copies are made while the form is saved.
ENCODING = {"avif": {"speed": 9}, "webp": {"method": 3}}
MAX_UPLOAD_BYTES = 20_000_000
MAX_PIXELS = 50_000_000
FORMATS = ("JPEG", "PNG", "WEBP", "AVIF")
# Photos and logos are shown as they are uploaded. Imports fetch photos up to the same size.
MAX_SMALL_BYTES = 5_000_000
SMALL_FORMATS = (*FORMATS, "GIF")
DIGEST_BYTES = 12
# The names of originals with copies, and of copies.
ORIGINAL = re.compile(r"(?P<stem>.*/[0-9a-f]{24})(?:_\w+)?\.\w+")
COPY = re.compile(r"(?P<stem>.*/[0-9a-f]{24})-(?:640|1280|1920)\.(?:avif|webp)")


class Focus(models.TextChoices):
    """The part of a picture that remains visible when it is cropped."""

    TOP_LEFT = "top-left", _("Top left")
    TOP = "top", _("Top")
    TOP_RIGHT = "top-right", _("Top right")
    LEFT = "left", _("Left")
    CENTER = "center", _("Center")
    RIGHT = "right", _("Right")
    BOTTOM_LEFT = "bottom-left", _("Bottom left")
    BOTTOM = "bottom", _("Bottom")
    BOTTOM_RIGHT = "bottom-right", _("Bottom right")


class Sources(NamedTuple):
    """URLs for `<picture>`: `avif` and `webp` are `srcset` lists, empty for a picture without copies."""

    src: str
    avif: str = ""
    webp: str = ""


def is_new(file: ImageFieldFile) -> bool:
    """Return whether the file is an upload that is not stored yet."""
    return bool(file) and not vars(file)["_committed"]


def validate_picture(file: ImageFieldFile) -> None:
    """Raise `ValidationError` for a new upload that is too large, or not in one of `FORMATS`."""
    if is_new(file) and file.size > MAX_UPLOAD_BYTES:
        raise ValidationError(_("This picture is larger than 20 MB. Upload a smaller one."))
    message = _("This is not a picture. Upload a JPEG, PNG, WebP or AVIF file.")
    _validate_content(file, FORMATS, message)


def validate_small_picture(file: ImageFieldFile) -> None:
    """Raise `ValidationError` for a new photo or logo that is too large, or not in one of `SMALL_FORMATS`."""
    if is_new(file) and file.size > MAX_SMALL_BYTES:
        raise ValidationError(_("This picture is larger than 5 MB. Upload a smaller one."))
    message = _("This is not a picture. Upload a JPEG, PNG, WebP, AVIF or GIF file.")
    _validate_content(file, SMALL_FORMATS, message)


def _validate_content(file: ImageFieldFile, formats: tuple[str, ...], message: "StrPromise") -> None:
    """Decode a new upload. Raises `ValidationError`, with the message if it is not in one of the formats."""
    if not is_new(file):
        return
    file.seek(0)
    try:
        with Image.open(file, formats=formats) as image:
            pixels = image.width * image.height
            if pixels <= MAX_PIXELS:
                # Truncated files raise an error only when they are decoded.
                image.load()
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValidationError(message) from error
    finally:
        file.seek(0)
    if pixels > MAX_PIXELS:
        raise ValidationError(_("This picture has more than 50 million pixels. Upload a smaller one."))


def store_copies(file: ImageFieldFile) -> None:
    """Name a new upload by a hash of its content, and store missing copies."""
    if not is_new(file):
        return
    file.seek(0)
    content = file.read()
    file.seek(0)
    digest = blake2b(content, digest_size=DIGEST_BYTES).hexdigest()
    file.name = f"{digest}{PurePosixPath(str(file.name)).suffix.lower()}"
    folder = str(file.field.upload_to)
    missing = [name for name in copy_names(f"{folder}{digest}") if not file.storage.exists(name)]
    if not missing:
        return
    with Image.open(BytesIO(content), formats=FORMATS) as original:
        # Let JPEG files be decoded at a lower resolution, if that is large enough.
        original.draft("RGB", (max(MAX_COPY_BYTES), max(MAX_COPY_BYTES)))
        image = ImageOps.exif_transpose(original).convert("RGB")
    # Make each copy from the next larger one.
    for width in sorted(MAX_COPY_BYTES, reverse=True):
        image.thumbnail((width, width * 2), Image.Resampling.LANCZOS)
        for extension in QUALITIES:
            if (name := f"{folder}{digest}-{width}.{extension}") in missing:
                file.storage.save(name, ContentFile(_encode(image, extension, MAX_COPY_BYTES[width])))


class PictureField(models.ImageField):
    """Field of a large picture, which is validated when it is uploaded, and stored with copies."""

    default_validators = [validate_picture]

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        store_copies(getattr(model_instance, self.attname))
        return super().pre_save(model_instance, add)


class SmallPictureField(models.ImageField):
    """Field of a photo or logo, which is validated when it is uploaded, and stored as it is."""

    default_validators = [validate_small_picture]


def copy_names(stem: str) -> list[str]:
    return [f"{stem}-{width}.{extension}" for width in MAX_COPY_BYTES for extension in QUALITIES]


def _encode(image: Image.Image, image_format: str, max_bytes: int) -> bytes:
    """Return the picture in the best quality that fits, or in the lowest one if none does."""
    content = b""
    for quality in QUALITIES[image_format]:
        buffer = BytesIO()
        image.save(buffer, image_format.upper(), quality=quality, **ENCODING[image_format])
        content = buffer.getvalue()
        if len(content) <= max_bytes:
            break
    return content


def sources(file: ImageFieldFile) -> Sources | None:
    """Return the URLs of a picture and its copies; `None` without a picture. The storage is not accessed."""
    if not file:
        return None
    match = ORIGINAL.fullmatch(str(file.name))
    if match is None:
        return Sources(file.url)
    stem = match["stem"]

    def srcset(extension: str) -> str:
        urls = {width: file.storage.url(f"{stem}-{width}.{extension}") for width in MAX_COPY_BYTES}
        return ", ".join(f"{url} {width}w" for width, url in urls.items())

    return Sources(file.storage.url(f"{stem}-1280.webp"), srcset("avif"), srcset("webp"))
