"""Web addresses in files of other programs: those that are none are left out and named."""

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.translation import gettext

from exchange.problems import Findings, Where, short

# What the fields of addresses hold.
MAX_URL_CHARS = 500
# That of the material of a paper.
MAX_MATERIAL_URL_CHARS = 1_000
# A value that is left out is shown up to this length.
MAX_SHOWN_CHARS = 120
check_http_url = URLValidator(schemes=["http", "https"])


def is_web_address(text: str, limit: int = MAX_URL_CHARS) -> bool:
    """Return whether a text is a complete address that pages can link to, as the site's own forms take it."""
    if not text:
        return False
    try:
        check_http_url(text)
    except ValidationError:
        return False
    return len(text) <= limit


def keep_link(text: str, where: Where, findings: Findings, limit: int = MAX_MATERIAL_URL_CHARS) -> str:
    """Return the address, or an empty text after a note that shows what is no address."""
    if not text or is_web_address(text, limit):
        return text
    message = gettext("This link was left out, since it is no web address: %(url)s")
    findings.note("warning", where, message, url=short(text, MAX_SHOWN_CHARS))
    return ""
