"""Rate limits per account and token, or per address. Responses from the page cache are not counted."""

import time
from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.client_address import client_address
from accounts.rate_limits import count_in_minute, seconds_left

if TYPE_CHECKING:
    from rest_framework.views import APIView


class PerMinuteThrottle(BaseThrottle):
    """Limits requests in each minute of the clock, with counters in Django's cache."""

    def __init__(self) -> None:
        self.seconds_left = 0.0

    def timer(self) -> float:
        return time.time()

    def allow_request(self, request: Request, view: "APIView") -> bool:
        identity, limit = self.identify(request)
        now = self.timer()
        self.seconds_left = seconds_left(now)
        return count_in_minute(identity, limit, now)

    def wait(self) -> float:
        return self.seconds_left

    def identify(self, request: Request) -> tuple[str, int]:
        """Return a name for the requests that are counted together, and their limit."""
        if request.auth is not None or request.user.is_authenticated:
            return f"user:{request.user.pk} {request.auth}", settings.API_REQUESTS_PER_MINUTE_AND_TOKEN
        return f"address:{client_address(request)}", settings.API_REQUESTS_PER_MINUTE
