"""Downloads: the files of an edition with their addresses, and conditional responses."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, http_date, quote_etag
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conference.models import Announcement, Edition
from conference.page_metadata import absolute, json_ld, license_thing, organizer
from conference.request_edition import published_editions
from content import revision
from content.licenses import find_license
from exchange.exports.citation_files import FORMATS
from exchange.exports.dump import writing_context
from exchange.files import Format
from exchange.formats import ics, writable
from exchange.records import Program

# Shared caches may store the file, but must revalidate it.
CACHE_CONTROL = "public, max-age=0, must-revalidate"


@dataclass(frozen=True, slots=True)
class SourceState:
    """State of the rows of a file. The file is unchanged while the state is the same."""

    key: str
    changed_at: datetime


def state_of(edition: Edition, at: datetime | None = None) -> SourceState:
    """Return the state of an edition: its revision, and the last time that rows became public."""
    at, held = at or timezone.now(), vars(edition)
    stamp = revision.current(edition.pk) if "site_revision" not in held else None
    if stamp is None:
        # Use the revision fetched with the edition: rows that are read later are at least as new.
        changed = max(edition.changed_at, held["site_changed_at"] or revision.FIRST_REVISION)
        stamp = revision.Revision(edition.revision, held["site_revision"] or 0, changed)
    # Rows may become public at a set time, without a new revision.
    announced = Announcement.objects.published(at).filter(edition=edition).order_by("-published_at")
    newest = announced.values_list("published_at", flat=True)[:1]
    changed = max([stamp.changed_at, *_gates(edition, at), *newest])
    return SourceState(f"{stamp.etag}.{int(changed.timestamp())}", changed)


def state_of_all(request: HttpRequest, at: datetime | None = None) -> SourceState:
    """Return the state of everything that is public."""
    editions = published_editions(request)
    stamp = revision.current(None)
    moments = [moment for edition in editions for moment in _gates(edition, at or timezone.now())]
    changed = max([stamp.changed_at, *(edition.changed_at for edition in editions), *moments])
    parts = "-".join(f"{edition.pk}.{edition.revision}" for edition in editions)
    digest = hashlib.sha256(f"{parts} {int(changed.timestamp())}".encode()).hexdigest()[:16]
    return SourceState(f"{stamp.etag}.{digest}", changed)


def _gates(edition: Edition, at: datetime) -> list[datetime]:
    gates = (edition.public_from, edition.papers_public_from, edition.schedule_public_from)
    return [gate for gate in gates if gate and gate <= at]


def conditional_response(
    request: HttpRequest, state: SourceState, name: str, media_type: str, make: Callable[[], Iterable[bytes]]
) -> HttpResponse | StreamingHttpResponse:
    """Return the file, or 304 without calling `make` if the client has it."""
    etag, changed = quote_etag(state.key), int(state.changed_at.timestamp())
    found = get_conditional_response(request, etag, changed)
    answer: HttpResponse | StreamingHttpResponse
    if found is not None:
        answer = found
    else:
        answer = StreamingHttpResponse(make(), content_type=media_type)
        answer.headers["Content-Disposition"] = content_disposition_header(True, name)
    # Other origins may read public data; no cookies are sent.
    answer["Access-Control-Allow-Origin"] = "*"
    answer["Access-Control-Expose-Headers"] = "ETag, Last-Modified"
    answer["ETag"], answer["Last-Modified"], answer["Cache-Control"] = etag, http_date(changed), CACHE_CONTROL
    return answer


# Apps subscribe to lasting addresses: /<edition>/schedule.<extension>.
APP_FORMATS = {"xml": "frab_xml", "json": "frab_json", "xcal": "xcal"}


@dataclass(frozen=True, slots=True)
class DownloadFile:
    label: str
    text: str
    url: str


def download_groups(edition: Edition) -> dict[str, list[DownloadFile]]:
    """Return the public files in groups, by title of the group."""

    def offered(fmt: Format, address: str, *rest: str) -> DownloadFile:
        label = f"{fmt.label}: {rest[-1]}" if rest else str(fmt.label)
        url = reverse(f"exchange:{address}", args=[edition.slug, *rest])
        return DownloadFile(label, str(fmt.description), url)

    has_schedule, has_papers = edition.sessions.published().exists(), edition.papers.published().exists()
    formats, found = writable(), dict[str, list[DownloadFile]]()
    if has_schedule:
        found[gettext("Calendar")] = [offered(ics.FORMAT, "edition_calendar")]
        apps = [offered(formats[name], f"schedule_{ending}") for ending, name in APP_FORMATS.items()]
        found[gettext("Conference apps")] = apps
    if has_papers:
        references = [offered(fmt, f"edition_{url_name(ending)}") for ending, (fmt, _) in FORMATS.items()]
        found[gettext("References")] = references
    if has_papers or has_schedule:
        elsewhere = {ics.FORMAT.name, *APP_FORMATS.values(), *(fmt.name for fmt, _ in FORMATS.values())}
        # All other formats, so that a new one needs no change here.
        others = [fmt for fmt in formats.values() if fmt.name not in elsewhere]
        found[gettext("The whole program")] = [
            offered(fmt, "program_file", fmt.name, file)
            for fmt in others
            for file in file_names(fmt, edition)
        ]
    return found


def dataset_json_ld(edition: Edition, files: dict[str, list[DownloadFile]]) -> SafeString:
    """Return the program as a `Dataset` of schema.org with its license, for data search engines."""
    described = {
        "@type": "Dataset",
        "name": gettext("Program of %(edition)s") % {"edition": edition.name},
        "description": gettext("Papers, people, sessions and times of %(edition)s, as files and over an API.")
        % {"edition": edition.name},
        "url": absolute(reverse("exchange:downloads", args=[edition.slug])),
        "license": license_thing(find_license(edition.data_license)),
        "creator": organizer(edition),
        "distribution": [
            {"@type": "DataDownload", "name": one.label, "contentUrl": absolute(one.url)}
            for group in files.values()
            for one in group
        ],
    }
    return json_ld(described)


def schedule_url(edition: Edition) -> str:
    """Return the address to paste into a conference app; empty if no session is public."""
    path = reverse("exchange:schedule_xml", args=[edition.slug])
    return f"{settings.SITE_URL}{path}" if edition.sessions.published().exists() else ""


def file_names(fmt: Format, edition: Edition) -> list[str]:
    """Return the names of a format's files for an edition; they do not depend on its content."""
    return [output.name for output in fmt.outputs(Program(), writing_context(edition))]


def url_name(ending: str) -> str:
    """Return the last part of the names of URLs with this extension: "csl" for "csl.json"."""
    return ending.partition(".")[0]
