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
    at, fetched_values = at or timezone.now(), vars(edition)
    current = revision.current(edition.pk) if "site_revision" not in fetched_values else None
    if current is None:
        # Use the revision fetched with the edition: rows that are read later are at least as new.
        changed_at = max(edition.changed_at, fetched_values["site_changed_at"] or revision.FIRST_REVISION)
        current = revision.Revision(edition.revision, fetched_values["site_revision"] or 0, changed_at)
    # Rows may become public at a set time, without a new revision.
    announcements = Announcement.objects.published(at).filter(edition=edition).order_by("-published_at")
    newest_times = announcements.values_list("published_at", flat=True)[:1]
    changed_at = max([current.changed_at, *_publication_times(edition, at), *newest_times])
    return SourceState(f"{current.etag}.{int(changed_at.timestamp())}", changed_at)


def state_of_all(request: HttpRequest, at: datetime | None = None) -> SourceState:
    """Return the state of everything that is public."""
    editions = published_editions(request)
    current = revision.current(None)
    moments = [moment for edition in editions for moment in _publication_times(edition, at or timezone.now())]
    changed_at = max([current.changed_at, *(edition.changed_at for edition in editions), *moments])
    parts = "-".join(f"{edition.pk}.{edition.revision}" for edition in editions)
    digest = hashlib.sha256(f"{parts} {int(changed_at.timestamp())}".encode()).hexdigest()[:16]
    return SourceState(f"{current.etag}.{digest}", changed_at)


def _publication_times(edition: Edition, at: datetime) -> list[datetime]:
    times = (edition.public_from, edition.papers_public_from, edition.schedule_public_from)
    return [time for time in times if time and time <= at]


def conditional_response(
    request: HttpRequest, state: SourceState, name: str, media_type: str, make: Callable[[], Iterable[bytes]]
) -> HttpResponse | StreamingHttpResponse:
    """Return the file, or 304 without calling `make` if the client has it."""
    etag, changed = quote_etag(state.key), int(state.changed_at.timestamp())
    response: HttpResponse | StreamingHttpResponse | None = get_conditional_response(request, etag, changed)
    if response is None:
        response = StreamingHttpResponse(make(), content_type=media_type)
        response.headers["Content-Disposition"] = content_disposition_header(True, name)
    response["ETag"], response["Last-Modified"] = etag, http_date(changed)
    response["Cache-Control"] = CACHE_CONTROL
    return response


# Apps subscribe to lasting addresses: /<edition>/schedule.<extension>.
APP_FORMATS = {"xml": "frab_xml", "json": "frab_json", "xcal": "xcal"}


@dataclass(frozen=True, slots=True)
class DownloadFile:
    label: str
    text: str
    url: str


def download_groups(edition: Edition) -> dict[str, list[DownloadFile]]:
    """Return the public files in groups, by title of the group."""

    def download_file(fmt: Format, view_name: str, *arguments: str) -> DownloadFile:
        label = f"{fmt.label}: {arguments[-1]}" if arguments else str(fmt.label)
        url = reverse(f"exchange:{view_name}", args=[edition.slug, *arguments])
        return DownloadFile(label, str(fmt.description), url)

    has_schedule, has_papers = edition.sessions.published().exists(), edition.papers.published().exists()
    formats, groups = writable(), dict[str, list[DownloadFile]]()
    if has_schedule:
        groups[gettext("Calendar")] = [download_file(ics.FORMAT, "edition_calendar")]
        apps = [download_file(formats[name], f"schedule_{ending}") for ending, name in APP_FORMATS.items()]
        groups[gettext("Conference apps")] = apps
    if has_papers:
        references = [
            download_file(fmt, f"edition_{url_name(ending)}") for ending, (fmt, _) in FORMATS.items()
        ]
        groups[gettext("References")] = references
    if has_papers or has_schedule:
        grouped_names = {ics.FORMAT.name, *APP_FORMATS.values(), *(fmt.name for fmt, _ in FORMATS.values())}
        # All other formats, so that a new one needs no change here.
        other_formats = [fmt for fmt in formats.values() if fmt.name not in grouped_names]
        groups[gettext("The whole program")] = [
            download_file(fmt, "program_file", fmt.name, file)
            for fmt in other_formats
            for file in file_names(fmt, edition)
        ]
    return groups


def dataset_json_ld(edition: Edition, files: dict[str, list[DownloadFile]]) -> SafeString:
    """Return the program as a `Dataset` of schema.org with its license, for data search engines."""
    dataset = {
        "@type": "Dataset",
        "name": gettext("Program of %(edition)s") % {"edition": edition.name},
        "description": gettext("Papers, people, sessions and times of %(edition)s, as files and over an API.")
        % {"edition": edition.name},
        "url": absolute(reverse("exchange:downloads", args=[edition.slug])),
        "license": license_thing(find_license(edition.data_license)),
        "creator": organizer(edition),
        "distribution": [
            {"@type": "DataDownload", "name": file.label, "contentUrl": absolute(file.url)}
            for group in files.values()
            for file in group
        ],
    }
    return json_ld(dataset)


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
