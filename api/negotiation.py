"""The API speaks JSON, whatever an asker says it would take: there is no other answer to choose."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class OnlyJson(DefaultContentNegotiation):
    """Parsers by content type, as usual; the first renderer always."""

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        only = next(iter(renderers))
        return only, only.media_type
