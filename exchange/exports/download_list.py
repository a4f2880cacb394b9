"""What can be taken along of an edition: every file with its address and what it is for."""

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext

from conference.models import Edition
from exchange.exports.citation_files import FORMATS
from exchange.exports.dump import writing_context
from exchange.files import Format
from exchange.formats import ics, writable
from exchange.records import Program

# What apps follow has an address that lasts: /<edition>/schedule.<ending>.
APPS = {"xml": "frab_xml", "json": "frab_json", "xcal": "xcal"}


@dataclass(frozen=True, slots=True)
class DownloadFile:
    """One file: what it is called, what it is for, and where it is."""

    label: str
    text: str
    url: str


def groups(edition: Edition) -> dict[str, list[DownloadFile]]:
    """Return the files by what they hold; nothing for what is not public."""
    has_schedule = edition.sessions.published().exists()
    has_papers = edition.papers.published().exists()
    found = {
        gettext("Calendar"): [_calendar(edition)] if has_schedule else [],
        gettext("Conference apps"): _apps(edition) if has_schedule else [],
        gettext("References"): _references(edition) if has_papers else [],
        gettext("The whole program"): _whole(edition) if has_papers or has_schedule else [],
    }
    return {title: files for title, files in found.items() if files}


def schedule_url(edition: Edition) -> str:
    """Return the address to paste into a conference app; nothing while there is no schedule."""
    path = reverse("exchange:schedule_xml", args=[edition.slug])
    return f"{settings.SITE_URL}{path}" if edition.sessions.published().exists() else ""


def file_names(fmt: Format, edition: Edition) -> list[str]:
    """Return the names of the files that a format makes of an edition; they do not depend on its content."""
    return [output.name for output in fmt.write(Program(), writing_context(edition))] if fmt.write else []


def _calendar(edition: Edition) -> DownloadFile:
    url = reverse("exchange:edition_calendar", args=[edition.slug])
    return DownloadFile(str(ics.FORMAT.label), str(ics.FORMAT.description), url)


def _apps(edition: Edition) -> list[DownloadFile]:
    found = writable()
    return [
        DownloadFile(
            str(found[name].label),
            str(found[name].description),
            reverse(f"exchange:schedule_{ending}", args=[edition.slug]),
        )
        for ending, name in APPS.items()
    ]


def _references(edition: Edition) -> list[DownloadFile]:
    return [
        DownloadFile(
            str(fmt.label),
            str(fmt.description),
            reverse(f"exchange:edition_{name_of(ending)}", args=[edition.slug]),
        )
        for ending, (fmt, _) in FORMATS.items()
    ]


def _whole(edition: Edition) -> list[DownloadFile]:
    """Return the files of all other formats: a new one is offered on its first day."""
    elsewhere = {ics.FORMAT.name, *APPS.values(), *(fmt.name for fmt, _ in FORMATS.values())}
    return [
        DownloadFile(
            f"{fmt.label}: {file}",
            str(fmt.description),
            reverse("exchange:program_file", args=[edition.slug, fmt.name, file]),
        )
        for fmt in writable().values()
        if fmt.name not in elsewhere
        for file in file_names(fmt, edition)
    ]


def name_of(ending: str) -> str:
    """Return how addresses with this ending are named: "csl.json" is "csl"."""
    return ending.partition(".")[0]
