"""Headers that Django has no setting for: permissions of pages and of sites that embed responses."""

from collections.abc import Callable, Iterable

from django.http import HttpRequest, HttpResponse

# Pages need none of these, except for video players. Denying them limits what an injected script can do.
DENIED_FEATURES = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media",
    "fullscreen", "geolocation", "gyroscope", "hid", "identity-credentials-get", "magnetometer", "microphone",
    "midi", "otp-credentials", "payment", "picture-in-picture", "publickey-credentials-create",
    "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
PERMISSIONS = ", ".join(f"{name}=()" for name in DENIED_FEATURES)
# Features that video players need; `static/js/video.js` delegates them to the frame.
PLAYER_FEATURES = ("fullscreen", "picture-in-picture")
# Preview images, which other sites embed.
EMBEDDABLE_SUFFIX = "/card.png"


def permissions_with_players(hosts: Iterable[str]) -> str:
    """Return the `Permissions-Policy` of a page in which videos from these hosts play."""
    allowlist = " ".join(["self", *(f'"https://{host}"' for host in hosts)])
    denied = [f"{name}=()" for name in DENIED_FEATURES if name not in PLAYER_FEATURES]
    return ", ".join([*denied, *(f"{name}=({allowlist})" for name in PLAYER_FEATURES)])


class HeadersMiddleware:
    """Middleware that adds its headers to all responses of Django, including errors and files."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        response.headers.setdefault("X-Permitted-Cross-Domain-Policies", "none")
        # Responses that CORS lets all scripts read may be embedded, too.
        is_embeddable = "Access-Control-Allow-Origin" in response or request.path.endswith(EMBEDDABLE_SUFFIX)
        policy = "cross-origin" if is_embeddable else "same-origin"
        response.headers.setdefault("Cross-Origin-Resource-Policy", policy)
        return response
