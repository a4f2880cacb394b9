"""The ways from the admin into a preview and out: nothing changes but how this browser sees the site."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from conference.models import Edition
from conference.previews import SESSION_KEY, page_asked_for, visible_edition
from editorial.model_admin import ContentAdmin


def preview_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Begin a preview, at the page asked for."""
    edition = get_edition(request, key)
    request.session[SESSION_KEY] = edition.pk
    return redirect(page_asked_for(request, edition))


def as_public_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """End a preview: from now on this browser sees what everybody sees."""
    edition = get_edition(request, key)
    request.session.pop(SESSION_KEY, None)
    return redirect(page_asked_for(request, edition))


def get_edition(request: HttpRequest, key: int) -> Edition:
    """Return the edition, which the user may see, or refuse."""
    edition = visible_edition(request, key)
    if edition is None:
        raise Http404("No such edition.")
    return edition
