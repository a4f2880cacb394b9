"""A link from a form of the admin to the row's page as visitors will see it."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from editorial.current_edition import edition_of


class PreviewLinkAdmin(admin.ModelAdmin[Any]):
    """A form with a link to the preview of its row's page."""

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None and hasattr(row, "get_absolute_url") and (edition := edition_of(row)):
            context["preview_url"] = edition.get_preview_url(row.get_absolute_url())
        return super().render_change_form(request, context, *args, **kwargs)
