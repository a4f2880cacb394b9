"""Bodies as they come in: JSON of bounded size and depth."""

import io
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class ShortJson(JSONParser):
    """JSON no longer than Django takes of any form."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(most + 1)
        if len(body) > most:
            raise ParseError(_("The body is longer than %(most)d bytes.") % {"most": most})
        try:
            return super().parse(io.BytesIO(body), media_type, parser_context)
        except RecursionError:
            raise ParseError(_("The body is nested too deeply.")) from None
