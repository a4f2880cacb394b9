"""Uploaded files: pictures and PDFs are shown, all else is saved. A bucket has its own host."""

from pathlib import PurePosixPath

from django.core.exceptions import SuspiciousFileOperation
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest
from django.views.decorators.http import require_safe

# What a browser shows without running anything. SVG is not among them: it may hold scripts.
SHOWN = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".webp": "image/webp",
}
# Storages give each upload a name of its own.
FOR_AN_HOUR = "public, max-age=3600"
# Even if a browser took a file for a page: it could do nothing.
NOTHING_RUNS = "sandbox; default-src 'none'"


@require_safe
def media_file(request: HttpRequest, name: str) -> FileResponse:
    """Hand out an uploaded file."""
    try:
        opened = default_storage.open(name)
    except (OSError, SuspiciousFileOperation, ValueError) as error:
        raise Http404("There is no such file.") from error
    media_type = SHOWN.get(PurePosixPath(name).suffix.lower())
    return FileResponse(
        opened,
        as_attachment=media_type is None,
        filename=PurePosixPath(name).name,
        content_type=media_type or "application/octet-stream",
        headers={"Cache-Control": FOR_AN_HOUR, "Content-Security-Policy": NOTHING_RUNS},
    )
