"""Headers that Django has no setting for: who may embed an answer, and what a page may ask of the browser."""

from collections.abc import Callable, Iterable

from django.http import HttpRequest, HttpResponse

# Only players of videos use some of them, so no script that might get in can use the rest.
DENIED_FEATURES = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media",
    "fullscreen", "geolocation", "gyroscope", "hid", "identity-credentials-get", "magnetometer", "microphone",
    "midi", "otp-credentials", "payment", "picture-in-picture", "publickey-credentials-create",
    "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
PERMISSIONS = ", ".join(f"{name}=()" for name in DENIED_FEATURES)
# What a player needs, which `static/js/video.js` hands on to its frame.
PLAYER_FEATURES = ("fullscreen", "picture-in-picture")
# Pictures made to be shown by other sites.
EMBEDDABLE_SUFFIX = "/card.png"


def permissions_with_players(hosts: Iterable[str]) -> str:
    """Return the `Permissions-Policy` of a page in which videos from these hosts play."""
    allowed = " ".join(["self", *(f'"https://{host}"' for host in hosts)])
    refused = [f"{name}=()" for name in DENIED_FEATURES if name not in PLAYER_FEATURES]
    return ", ".join([*refused, *(f"{name}=({allowed})" for name in PLAYER_FEATURES)])


class HeadersMiddleware:
    """The outermost middleware: its headers are on every response of Django's, errors and files too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        response.headers.setdefault("X-Permitted-Cross-Domain-Policies", "none")
        # What any script may read by CORS, other pages may embed.
        is_open = "Access-Control-Allow-Origin" in response or request.path.endswith(EMBEDDABLE_SUFFIX)
        policy = "cross-origin" if is_open else "same-origin"
        response.headers.setdefault("Cross-Origin-Resource-Policy", policy)
        return response
