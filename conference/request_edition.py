"""The edition that an address names: found once per request, shared by the view and the frame of the page."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate

from django.db.models import Subquery
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from conference.models import Edition
from content.querysets import moment
from content.revision import SiteRevision

# The site's own stamp, beside each edition's.
SITE_STAMP = {
    f"site_{name}": Subquery(SiteRevision.objects.filter(pk=1).values(name))
    for name in ("revision", "changed_at")
}


def published_editions(request: HttpRequest) -> list[Edition]:
    """Return all published editions with their conferences, newest first. One query per request.

    They carry the site's stamp too, as `site_revision` and `site_changed_at`.
    """
    memory = vars(request)
    if "published_editions" not in memory:
        memory["published_editions"] = _stamped(timezone.now())
    editions: list[Edition] = memory["published_editions"]
    return editions


def _stamped(at: datetime) -> Any:
    return Edition.objects.published(at).select_related("conference").annotate(**SITE_STAMP)


def addressed_edition(request: HttpRequest) -> Edition | None:
    """Return the published edition whose pages this address belongs to, if any."""
    slug = vars(request).get("edition_slug") or request.path_info.lstrip("/").partition("/")[0]
    return next((edition for edition in published_editions(request) if edition.slug == slug), None)


def show_edition(request: HttpRequest, edition: Edition) -> None:
    """Let the frame of this page be the edition's, though its address does not name it."""
    vars(request)["edition_slug"] = edition.slug


def current_edition(editions: Sequence[Edition], at: datetime | None = None) -> Edition | None:
    """Return the edition that is running or comes next, else the latest. The editions come newest first."""
    ahead = [edition for edition in editions if edition.end_date >= edition.day_of(moment(at))]
    return ahead[-1] if ahead else next(iter(editions), None)


def edition_page[**P](
    view: Callable[Concatenate[HttpRequest, Edition, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Give a view the published edition that its address names by `edition`; without one, a 404."""

    @require_safe
    @wraps(view)
    def wrapped(request: HttpRequest, edition: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        addressed = addressed_edition(request)
        if addressed is None or addressed.slug != edition:
            raise Http404("No such edition.")
        return view(request, addressed, *args, **kwargs)

    return wrapped
