"""Pages other than the program: free pages, sponsors, the accent color of an edition."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from conference.models import Edition, Page
from conference.request_edition import edition_page

FOR_A_YEAR = "public, max-age=31536000, immutable"


@edition_page
def page_detail(request: HttpRequest, edition: Edition, slug: str) -> HttpResponse:
    page = get_object_or_404(edition.pages.published(), slug=slug)
    return render(request, "conference/page.html", {"page": page})


@require_safe
def site_page_detail(request: HttpRequest, slug: str) -> HttpResponse:
    page = get_object_or_404(Page.objects.published().filter(edition=None), slug=slug)
    return render(request, "conference/page.html", {"page": page})


@edition_page
def sponsor_list(request: HttpRequest, edition: Edition) -> HttpResponse:
    tiers = edition.sponsors.published().grouped("tier")
    return render(request, "conference/sponsors.html", {"tiers": tiers})


@edition_page
def accent_stylesheet(request: HttpRequest, edition: Edition, color: str) -> HttpResponse:
    """Return the edition's accent color as a stylesheet; its address changes with the color."""
    if edition.accent != f"#{color}":
        raise Http404("The edition has another color.")
    rule = f":root{{--accent:{edition.accent}}}\n"
    return HttpResponse(rule, content_type="text/css; charset=utf-8", headers={"Cache-Control": FOR_A_YEAR})
