"""The rows of a list as a file, in the formats of `exchange` that hold such rows: `?format=bibtex`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from api.errors import BadValue
from api.reader import Reader
from conference.models import Edition
from exchange.citing import FORMATS as CITING
from exchange.citing import cited
from exchange.downloads import reply, state_of_all
from exchange.dump import dump, writing_context
from exchange.formats import csv_files

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


def table(name: str, kind: str) -> Sending:
    """Return what sends rows of one edition as a table, as its downloads have it."""

    def send(request: HttpRequest, reader: Reader, rows: Any) -> HttpResponseBase:
        edition = one_edition(reader, rows)
        wanted = {kind: Q(pk__in=rows.order_by().values("pk"))}

        def made() -> Iterable[bytes]:
            program = dump(edition, at=reader.at, only=wanted)
            (file,) = csv_files.write(program, writing_context(edition), [name])
            return file.chunks

        fmt = csv_files.FORMAT
        return reply(request, state_of_all(request), f"{edition.slug}-{name}.csv", fmt.media_type, made)

    return send


def one_edition(reader: Reader, rows: Any) -> Edition:
    """Return the edition that all rows belong to; of no rows, any."""
    found = list(reader.editions().filter(pk__in=rows.order_by().values("edition"))[:2])
    found = found or list(reader.editions()[:1])
    if len(found) != 1:
        raise BadValue(
            "format", csv_files.FORMAT.name, _("A table holds one edition: narrow the list by “edition”.")
        )
    edition: Edition = found[0]
    return edition


# By resource and name of the format. All of them hold what is public, whoever asks.
FILES: Mapping[str, Mapping[str, Sending]] = {
    "papers": {
        **{fmt.name: citations(ending) for ending, (fmt, written) in CITING.items()},
        csv_files.FORMAT.name: table("papers", "paper"),
    },
    "sessions": {csv_files.FORMAT.name: table("sessions", "session")},
    "presentations": {csv_files.FORMAT.name: table("presentations", "presentation")},
    "awards": {csv_files.FORMAT.name: table("awards", "award")},
}
MEDIA_TYPES = {
    fmt.name: fmt.media_type for fmt in (csv_files.FORMAT, *(fmt for fmt, written in CITING.values()))
}
