"""Views of a visitor's agenda: stars in the browser, or stored on the server under a secret link. No account.

No cache may store these responses: they depend on a cookie, or their address is a secret.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    JsonResponse,
)
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt

from conference.models import Edition
from conference.request_edition import addressed_edition
from content.languages import language_of_path, path_in_language
from content.pagination import BadParameter
from schedule.agenda import agendas, upkeep
from schedule.agenda.agendas import SavedAgenda, plan_agenda
from schedule.agenda.stars import Star, UnreadableError, read_stars, write_stars
from schedule.following import Agenda
from schedule.notices.live import notices_about

# Set when a visitor saves the agenda, and only sent to its pages. There is one cookie for each language.
COOKIE = settings.AGENDA_COOKIE_NAME
COOKIE_SECONDS = 400 * 24 * 3600
# Clients and servers may cut or refuse longer addresses.
MAX_URL_CHARS = 1800
NOTES = {
    "deleted": _("Your agenda was deleted."),
    "gone": _("Your saved agenda was deleted."),
    "kept": _("Your agenda is saved. Its private link is below."),
}
# Exceptions of a view, with the status and text of the response.
ERROR_RESPONSES: dict[type[Exception], tuple[int, object]] = {
    # It was deleted during the request.
    Agenda.DoesNotExist: (404, _("This browser has no saved agenda.")),
    agendas.TooManyError: (409, _("An agenda holds 500 stars at most. Remove some first.")),
    agendas.TooOftenError: (429, _("Too many requests. Wait a minute and try again.")),
    PermissionDenied: (403, _("Your agenda can only be changed from pages of this site.")),
    UnreadableError: (400, ""),
}


type View[**P] = Callable[Concatenate[HttpRequest, Edition, P], HttpResponseBase]


def agenda_page[**P](*methods: str) -> Callable[[View[P]], Callable[..., HttpResponseBase]]:
    """Pass the published edition to a view, make its response private, and turn errors into sentences.

    Caches and search engines may not store the response. Its address may be secret, so no other site gets it
    as a referrer. A CSRF token would need a cookie on every page, so writes use `require_same_origin()`.
    """

    def decorate(view: View[P]) -> Callable[..., HttpResponseBase]:
        @csrf_exempt
        @wraps(view)
        def wrapper(
            request: HttpRequest, edition: str, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            addressed = addressed_edition(request)
            if addressed is None or addressed.slug != edition:
                raise Http404("No such edition.")
            try:
                if request.method in methods:
                    response = view(request, addressed, *args, **kwargs)
                else:
                    message = gettext("This address only accepts requests from the agenda or a star button.")
                    response = refusal(request, 405, message)
                    response.headers["Allow"] = HttpResponseNotAllowed(methods).headers["Allow"]
            except tuple(ERROR_RESPONSES) as error:
                status, text = ERROR_RESPONSES[type(error)]
                response = refusal(request, status, str(text or error))
            response.headers["Cache-Control"] = "private, no-store"
            # Not "no-referrer": browsers then post forms with `Origin: null`, which the CSRF check refuses.
            response.headers["Referrer-Policy"] = "same-origin"
            response.headers["X-Robots-Tag"] = "noindex, nofollow"
            return response

        return wrapper

    return decorate


def refusal(request: HttpRequest, status: int, message: str) -> HttpResponse:
    """Return an error message, as JSON for a script or else as a page."""
    if "application/json" in request.headers.get("Accept", ""):
        response: HttpResponse = JsonResponse({"error": message}, status=status)
    else:
        response = render(request, "schedule/agenda_refused.html", {"message": message}, status=status)
    if status == 429:
        response.headers["Retry-After"] = "60"
    return response


def require_same_origin(request: HttpRequest) -> None:
    """Raise `PermissionDenied` if a page of another site sent the request.

    Requests without browsers' headers are not from a browser, so they have no cookie of a visitor.
    """
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is None:
        is_same_origin = origin is None or urlsplit(origin).netloc == request.get_host()
    else:
        is_same_origin = site in ("same-origin", "none")
    if not is_same_origin:
        raise PermissionDenied


def stars_of(request: HttpRequest) -> list[Star]:
    """Return the stars that an address or a form lists under `s`."""
    try:
        return read_stars(request.POST.get("s", "") if request.method == "POST" else request.GET["s"])
    except UnreadableError as error:
        raise BadParameter("s", request.GET.get("s", ""), str(error)) from None


def own_agenda(request: HttpRequest, edition: Edition) -> SavedAgenda | None:
    token = request.COOKIES.get(cookie_name(language_of_path(request.path_info)), "")
    saved = agendas.find_agenda(edition, token) if token else None
    return saved if saved and saved.is_writable else None


@agenda_page("GET", "HEAD", "POST")
def agenda(request: HttpRequest, edition: Edition) -> HttpResponseBase:
    """Show the stars in the address or, for the script, in the form; else the saved ones."""
    saved = own_agenda(request, edition)
    is_listed = request.method == "POST" or "s" in request.GET
    stars = stars_of(request) if is_listed else saved.stars() if saved else []
    is_lost = cookie_name(language_of_path(request.path_info)) in request.COOKIES and saved is None
    note = "gone" if is_lost else request.GET.get("note", "")
    if note and note not in NOTES:
        raise BadParameter("note", note)
    is_own = request.method == "POST" or "s" not in request.GET
    response = render_agenda(request, edition, stars, saved if is_own else None, is_own=is_own, note=note)
    if is_lost:
        set_cookies(response, edition, token="")
    return response


@agenda_page("GET", "HEAD", "POST")
def linked_agenda(request: HttpRequest, edition: Edition, token: str) -> HttpResponseBase:
    """Show the agenda of a secret link; with POST, use it in this browser or delete it."""
    saved = agendas.find_agenda(edition, token)
    if saved is None:
        message = gettext("There is no agenda under this link: it was deleted, or the link is incomplete.")
        return refusal(request, 404, message)
    if request.method != "POST":
        return render_agenda(request, edition, saved.stars(), saved)
    require_same_origin(request)
    if not saved.is_writable:
        message = gettext("This link is read-only. Use the private link to change the agenda.")
        return refusal(request, 403, message)
    if request.POST.get("action") == "delete":
        saved.agenda.delete()
        return redirect_to_agenda(edition, "deleted", token="")
    if request.POST.get("action") == "use":
        return redirect_to_agenda(edition, "kept", token)
    message = gettext("That action isn’t available. You can use this agenda here, or delete it.")
    return refusal(request, 400, message)


@agenda_page("POST")
def star_view(request: HttpRequest, edition: Edition) -> HttpResponseBase:
    """Add stars from a form to this browser's agenda; create one the first time."""
    require_same_origin(request)
    stars = read_stars(" ".join(request.POST.getlist("star")))
    at = timezone.now()
    saved = own_agenda(request, edition)
    is_new = saved is None
    if saved is None:
        if not upkeep.may_create(request):
            raise agendas.TooOftenError
        saved = agendas.create_agenda(edition, at)
    agendas.merge_stars(saved, stars, at)
    return redirect_to_agenda(edition, "kept" if is_new else "", saved.token)


@agenda_page("POST")
def sync(request: HttpRequest, edition: Edition) -> HttpResponseBase:
    """Merge a browser's stars with its saved agenda; return the stars of both."""
    require_same_origin(request)
    saved = own_agenda(request, edition)
    if saved is None:
        return refusal(request, 404, gettext("This browser has no saved agenda."))
    is_changed = agendas.merge_stars(saved, read_stars(request.POST.get("stars", "")), timezone.now())
    return JsonResponse({"stars": [str(star) for star in saved.stars()], "changed": is_changed})


def render_agenda(
    request: HttpRequest,
    edition: Edition,
    stars: list[Star],
    saved: SavedAgenda | None,
    *,
    is_own: bool = False,
    note: str = "",
) -> HttpResponse:
    """Render the page of these stars. `saved` is their saved agenda, whose links are shown."""
    at = timezone.now()
    plan = plan_agenda(edition, stars, at)
    sessions = [item.session for item in plan.items]
    keys = [star.key for star in plan.stars]
    short_path = f"{reverse('schedule:agenda', args=[edition.slug])}?s={'+'.join(keys)}"
    context = {
        "plan": plan,
        "notices": notices_about(edition, at, sessions),
        "stars_value": write_stars(plan.stars),
        "keys": " ".join(keys),
        "saved_agenda": saved,
        "is_own": is_own,
        "note": NOTES.get(note, ""),
        "short_url": request.build_absolute_uri(short_path) if len(short_path) <= MAX_URL_CHARS else "",
        "link": saved and saved.token and absolute_link(request, edition, saved.token),
        "reading_link": saved and absolute_link(request, edition, saved.reading_token),
    }
    return render(request, "schedule/agenda.html", context)


def absolute_link(request: HttpRequest, edition: Edition, token: str) -> str:
    return request.build_absolute_uri(reverse("schedule:agenda_link", args=[edition.slug, token]))


def redirect_to_agenda(edition: Edition, note: str, token: str) -> HttpResponse:
    """Redirect to the browser's own agenda, and set or delete its secret."""
    path = reverse("schedule:agenda", args=[edition.slug])
    response = HttpResponseRedirect(f"{path}?note={note}" if note else path, status=303)
    set_cookies(response, edition, token)
    return response


def cookie_name(language: str) -> str:
    return COOKIE if language == settings.LANGUAGE_CODE else f"{COOKIE}-{language}"


def set_cookies(response: HttpResponse, edition: Edition, token: str) -> None:
    """Set the cookies of the agenda's pages in each language; an empty token deletes them.

    A single cookie for all pages of the site would prevent their use of the page cache.
    """
    agenda_path = reverse("schedule:agenda", args=[edition.slug])
    for language, _name in settings.LANGUAGES:
        name, path = cookie_name(language), path_in_language(agenda_path, language)
        if not token:
            response.delete_cookie(name, path=path)
            continue
        response.set_cookie(
            name,
            token,
            max_age=COOKIE_SECONDS,
            path=path,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
