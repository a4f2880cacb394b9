"""Thumbnails of papers, from the teaser or the first page of an uploaded PDF.

A task renders them in a separate process. Pages read the address and size from the paper's row.
"""

import io
import logging
import subprocess
import sys
from hashlib import blake2b
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.tasks import task
from PIL import Image

from papers.models import Material, Paper

logger = logging.getLogger(__name__)
MAX_SOURCE_BYTES = 50_000_000
TIMEOUT_SECONDS = 30


def thumbnail_source(paper: Paper) -> str:
    """Return the name of the stored file to render, or an empty string."""
    if paper.teaser:
        return str(paper.teaser.name)
    pdfs = paper.materials.filter(kind=Material.Kind.PDF, visible=True).exclude(file="")
    return str(pdfs.order_by("position", "pk").values_list("file", flat=True).first() or "")


@task
def make_thumbnail(key: int) -> None:
    """Create, replace or remove the thumbnail of a paper. The source file is not changed."""
    paper = Paper.objects.filter(pk=key).first()
    if paper is None:
        return
    source = thumbnail_source(paper)
    try:
        name = _render(source, str(paper.thumbnail)) if source else ""
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        logger.warning("No thumbnail of %s: %s", source, type(error).__name__)
        name = ""
    if name != paper.thumbnail:
        Paper.objects.filter(pk=key).update(thumbnail=name)


def _render(source: str, current_name: str) -> str:
    """Return the name of the thumbnail of a stored file. Render it unless `current_name` is up to date."""
    if default_storage.size(source) > MAX_SOURCE_BYTES:
        raise ValueError("The file is too large.")
    if current_name.startswith(_prefix(source)):
        return current_name
    with default_storage.open(source) as file:
        content = file.read()
    command = [sys.executable, "-m", "papers.picture_process"]
    thumbnail = subprocess.run(  # noqa: S603 - our own module
        command,
        input=content,
        capture_output=True,
        check=True,
        timeout=TIMEOUT_SECONDS,
        cwd=settings.BASE_DIR,
    ).stdout
    return store_thumbnail(source, thumbnail)


def _prefix(source: str) -> str:
    """Return the common prefix of the names of the thumbnails of a stored file."""
    digest = blake2b(f"{source} {default_storage.size(source)}".encode(), digest_size=6).hexdigest()
    return f"thumbnails/{digest}-"


def store_thumbnail(source: str, content: bytes) -> str:
    """Store the thumbnail of a stored file, and return its name."""
    with Image.open(io.BytesIO(content), formats=["WEBP"]) as image:
        width, height = image.size
    digest = blake2b(content, digest_size=8).hexdigest()
    name = f"{_prefix(source)}{digest}-{width}x{height}.webp"
    return name if default_storage.exists(name) else default_storage.save(name, ContentFile(content))


def _enqueue(key: int) -> None:
    # The paper is saved by then, whatever happens.
    transaction.on_commit(lambda: make_thumbnail.enqueue(key), robust=True)


def update_for_paper(instance: Paper, **_kwargs: Any) -> None:
    if instance.teaser or instance.thumbnail:
        _enqueue(instance.pk)


def update_for_material(instance: Material, created: bool = True, **_kwargs: Any) -> None:
    is_stored_pdf = instance.kind == Material.Kind.PDF and instance.file
    # A changed material may have been the source of the thumbnail.
    if is_stored_pdf or (not created and instance.paper.thumbnail):
        _enqueue(instance.paper_id)
    if instance.stored_paper_id not in (None, instance.paper_id):
        _enqueue(instance.stored_paper_id)
    instance.stored_paper_id = instance.paper_id


def connect_signals() -> None:
    """Update thumbnails when papers and materials are saved or deleted."""
    post_save.connect(update_for_paper, Paper, dispatch_uid="thumbnail of a paper")
    for signal in (post_save, post_delete):
        signal.connect(update_for_material, Material, dispatch_uid="thumbnail of a material")
