"""Lists as files in the formats of `exchange`, for requests such as `?format=bibtex`."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import ModuleType

from django.db.models import Q
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from api.errors import BadValue
from api.reader import Reader
from api.shapes import Rows
from conference.models import Edition
from exchange.exports.calendars import calendar_scope, sessions_calendar
from exchange.exports.citation_files import FORMATS as CITING
from exchange.exports.citation_files import dump_for_citation
from exchange.exports.downloads import conditional_response, state_of_all
from exchange.exports.dump import selection_for_table, stream, writing_context
from exchange.files import Format
from exchange.formats import csv_files, ics, writable, xcal, xlsx
from exchange.formats.ics import CalendarScope

# A function that returns the filtered rows of a list as a response.
type Sender = Callable[[HttpRequest, Reader, Rows], HttpResponseBase]
# A function that writes the rows of an edition with a condition, in the format of a module.
type Contents = Callable[[ModuleType, Edition, Reader, Q], Iterable[bytes]]


def citation_sender(ending: str) -> Sender:
    """Return a sender of papers, of one or several editions, as references."""
    fmt, write = CITING[ending]

    def send(request: HttpRequest, reader: Reader, rows: Rows) -> HttpResponseBase:
        condition = Q(pk__in=rows.order_by().values("pk"))

        def chunks() -> Iterable[bytes]:
            editions = reader.editions().filter(papers__in=rows.order_by().values("pk")).distinct()
            return write(dump_for_citation(edition, condition) for edition in editions)

        return conditional_response(
            request, state_of_all(request), f"papers.{ending}", fmt.media_type, chunks
        )

    return send


def edition_senders(name: str, formats: Iterable[ModuleType], contents: Contents) -> dict[str, Sender]:
    """Return senders by format that write rows of one edition as a file."""

    def send(fmt: ModuleType, request: HttpRequest, reader: Reader, rows: Rows) -> HttpResponseBase:
        edition = one_edition(reader, rows, fmt.FORMAT)
        condition = Q(pk__in=rows.order_by().values("pk"))
        file_name, media_type = f"{edition.slug}-{name}.{fmt.FORMAT.extensions[0]}", fmt.FORMAT.media_type
        chunks = partial(contents, fmt, edition, reader, condition)
        return conditional_response(request, state_of_all(request), file_name, media_type, chunks)

    return {fmt.FORMAT.name: partial(send, fmt) for fmt in formats}


def one_edition(reader: Reader, rows: Rows, fmt: Format) -> Edition:
    """Return the edition of the rows; raise `BadValue` if there are several."""
    editions = list(reader.editions().filter(pk__in=rows.order_by().values("edition"))[:2])
    editions = editions or list(reader.editions()[:1])
    if len(editions) != 1:
        raise BadValue(
            "format", fmt.name, _("This file format holds one edition: filter the list by “edition”.")
        )
    edition: Edition = editions[0]
    return edition


CITATIONS = {fmt.name: citation_sender(ending) for ending, (fmt, _write) in CITING.items()}


def table_senders(name: str, kind: str) -> dict[str, Sender]:
    """Return senders by format that write rows of one edition as the tables that its downloads contain."""

    def contents(fmt: ModuleType, edition: Edition, reader: Reader, condition: Q) -> Iterable[bytes]:
        program = stream(edition, at=reader.at, only=selection_for_table(edition, kind, condition))
        chunks: Iterable[bytes] = fmt.write_table(name, program, writing_context(edition)).chunks
        return chunks

    return edition_senders(name, (csv_files, xlsx), contents)


def calendar_senders(name: str, appointments: Callable[[Edition, Q], CalendarScope]) -> dict[str, Sender]:
    """Return senders by format that write rows of one edition as a calendar."""

    def contents(fmt: ModuleType, edition: Edition, reader: Reader, condition: Q) -> Iterable[bytes]:
        chunks: Iterable[bytes] = fmt.calendar([appointments(edition, condition)], str(edition))
        return chunks

    return edition_senders(name, (ics, xcal), contents)


# Senders by resource and name of the format. Files contain only public rows.
FILES: Mapping[str, Mapping[str, Sender]] = {
    "papers": {**CITATIONS, **table_senders("papers", "paper")},
    "sessions": {**table_senders("sessions", "session"), **calendar_senders("sessions", sessions_calendar)},
    "presentations": {
        **table_senders("presentations", "presentation"),
        **calendar_senders(
            "presentations", lambda edition, condition: calendar_scope(edition, presentations=condition)
        ),
    },
    "awards": table_senders("awards", "award"),
}
MEDIA_TYPES = {name: fmt.media_type for name, fmt in writable().items()}
