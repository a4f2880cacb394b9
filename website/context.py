"""What every page needs: the year menu, the edition's own menu, the links of the whole site."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """Return the frame's variables."""
    return {"site_name": settings.SITE_NAME}
