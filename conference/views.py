"""Views other than the program: free pages, sponsors, the art of an edition."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from conference import art
from conference.edition_state import edition_state
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
    at = timezone.now()
    tiers = edition.sponsors.published(at).grouped("tier")
    context = {
        "tiers": tiers,
        "described": [tier for tier in tiers if any(sponsor.description_html for sponsor in tiers[tier])],
        "is_over": edition_state(edition, at).is_over,
    }
    return render(request, "conference/sponsors.html", context)


@edition_page
def edition_art(request: HttpRequest, edition: Edition, digest: str) -> HttpResponse:
    """Return the drawing of the edition as SVG. Its URL changes with name and color, so it is immutable."""
    if digest != art.art_hash(edition.name, edition.accent):
        raise Http404("The edition has another picture.")
    drawing = art.draw(edition.name, edition.accent)
    return HttpResponse(drawing, content_type="image/svg+xml", headers={"Cache-Control": FOR_A_YEAR})
