"""The ways from the admin into a preview and out: nothing changes but how this browser sees the site."""

from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path

from conference.models import Edition
from conference.previews import SESSION_KEY, page_asked_for, visible_edition


class PreviewedAdmin(admin.ModelAdmin[Any]):
    """Editions that can be previewed."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = [
            path("<int:key>/preview/", wrap(self.preview_view), name="conference_edition_preview"),
            path("<int:key>/as-public/", wrap(self.as_public_view), name="conference_edition_as_public"),
        ]
        return [*own, *super().get_urls()]

    def preview_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Begin a preview, at the page asked for."""
        edition = self.asked_edition(request, key)
        request.session[SESSION_KEY] = edition.pk
        return redirect(page_asked_for(request, edition))

    def as_public_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """End a preview: from now on this browser sees what everybody sees."""
        edition = self.asked_edition(request, key)
        request.session.pop(SESSION_KEY, None)
        return redirect(page_asked_for(request, edition))

    def asked_edition(self, request: HttpRequest, key: int) -> Edition:
        """Return the edition, which the user may see, or refuse."""
        edition = visible_edition(request, key)
        if edition is None:
            raise Http404("No such edition.")
        return edition
