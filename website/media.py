"""The view of uploaded files. Readers need access to a row that refers to the file.

Browsers display pictures and PDFs, and download all other files.
"""

from hashlib import sha256
from pathlib import PurePosixPath

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.storage import default_storage
from django.db.models import ImageField
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from conference.pictures import COPY
from content.fields import file_fields
from editorial.access import access_for

# The types that browsers may display. SVG is not among them because it may contain scripts.
INLINE_MEDIA_TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".webp": "image/webp",
}
# Browsers revalidate each file, because it may be withdrawn. Shared caches store pictures for as long as
# readers may get a stale page, since a page may have many.
PICTURE, REVALIDATED = "public, max-age=0, s-maxage={}, must-revalidate", "public, max-age=0, must-revalidate"
PRIVATE = "private, no-store"
# Prevent scripts from running if a browser displays a file as a page.
SANDBOX_POLICY = "sandbox; default-src 'none'"


def cache_control(request: HttpRequest, name: str) -> str:
    """Return the `Cache-Control` of a file, or an empty string if this reader has no access to it.

    No reader has access to files that no row refers to.
    """
    if "\0" in name:
        # PostgreSQL rejects such a text.
        return ""
    fields = [(model, field) for model, field in file_fields() if name.startswith(str(field.upload_to))]
    # A smaller copy has the access of its original.
    copy = COPY.fullmatch(name)
    lookup, value = ("__startswith", copy["stem"]) if copy else ("", name)
    for model, field in fields:
        if model.objects.published().filter(**{f"{field.name}{lookup}": value}).exists():
            is_picture = copy or isinstance(field, ImageField)
            return PICTURE.format(int(settings.PAGE_CACHE_STALE_SECONDS)) if is_picture else REVALIDATED
    access = access_for(request)
    row_sets = (
        access.rows(model._base_manager.filter(**{f"{field.name}{lookup}": value})) for model, field in fields
    )
    return PRIVATE if access.is_active and any(rows.exists() for rows in row_sets) else ""


def file_response(name: str) -> FileResponse:
    try:
        file = default_storage.open(name)
    except (OSError, SuspiciousFileOperation, ValueError) as error:
        raise Http404("There is no such file.") from error
    media_type = INLINE_MEDIA_TYPES.get(PurePosixPath(name).suffix.lower())
    return FileResponse(
        file,
        as_attachment=media_type is None,
        filename=PurePosixPath(name).name,
        content_type=media_type or "application/octet-stream",
    )


@require_safe
def media_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """Send an uploaded file. Storages give each upload a unique name, so its content never changes."""
    cache_header, tag = cache_control(request, name), quote_etag(sha256(name.encode()).hexdigest())
    if not cache_header:
        raise Http404("There is no such file.")
    response: HttpResponseBase = get_conditional_response(request, tag) or file_response(name)
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = cache_header
    response.headers["Content-Security-Policy"] = SANDBOX_POLICY
    return response
