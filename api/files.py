"""The rows of a list as a file, in the formats of `exchange` that hold such rows: `?format=bibtex`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from api.reader import Reader
from exchange.citing import FORMATS as CITING
from exchange.citing import cited
from exchange.downloads import reply, state_of_all

# Makes the answer with the rows that are left of a list.
type Sending = Callable[[HttpRequest, Reader, Any], HttpResponseBase]


def citations(ending: str) -> Sending:
    """Return what sends papers of one or several editions as references."""
    fmt, written = CITING[ending]

    def send(request: HttpRequest, reader: Reader, rows: Any) -> HttpResponseBase:
        wanted = Q(pk__in=rows.order_by().values("pk"))

        def made() -> Iterable[bytes]:
            editions = reader.editions().filter(papers__in=rows.order_by().values("pk")).distinct()
            return written(cited(edition, wanted) for edition in editions)

        return reply(request, state_of_all(request), f"papers.{ending}", fmt.media_type, made)

    return send


# By resource and name of the format. All of them hold what is public, whoever asks.
FILES: Mapping[str, Mapping[str, Sending]] = {
    "papers": {fmt.name: citations(ending) for ending, (fmt, _) in CITING.items()},
}
MEDIA_TYPES = {fmt.name: fmt.media_type for fmt, _ in CITING.values()}
