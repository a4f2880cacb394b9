"""Recognize files of other programs that no reader accepts, and say what to use instead."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Source
from exchange.problems import short
from exchange.reading.archives import ZIP_SIGNATURES, member_names
from exchange.reading.textfiles import read_head, top_level_names

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# The first element of XML, with its attributes.
ROOT_ELEMENT = re.compile(r"<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)([^<>]{0,2000})")
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
CSL_TYPES = (
    "paper-conference|article-journal|article-magazine|article-newspaper|article|chapter|book|thesis|report|"
    "webpage|dataset|speech|entry|manuscript|post|document|software"
)
USE_SPREADSHEET = _("Save the program as a spreadsheet (CSV or XLSX), with a row for each paper or session.")
USE_BIBTEX = _("Export the papers as BibTeX (.bib), and upload that.")


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """A kind of file that cannot be read: whether a beginning is of it, what it is, and what to use."""

    is_one: Callable[[str], bool]
    what: "StrPromise"
    advice: "StrPromise"


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.DOTALL | re.IGNORECASE)
    return lambda text: compiled.search(text) is not None


def _has_root(*names: str, attribute: str = "") -> Callable[[str], bool]:
    """Return a test for XML with one of these root elements, and a text in its attributes."""

    def is_one(text: str) -> bool:
        root = ROOT_ELEMENT.search(text) if text.startswith("<") else None
        return root is not None and root[2].lower() in names and attribute in root[0]

    return is_one


def _has_names(*names: str) -> Callable[[str], bool]:
    """Return a test for a JSON object with all these names."""
    return lambda text: top_level_names(text) >= {*names}


FOREIGN_FILES = (
    ForeignFile(
        lambda text: text.startswith("BEGIN:VCALENDAR") or _has_root("icalendar")(text),
        _("a calendar (iCalendar), which names neither papers nor authors"),
        _(
            "Use the schedule in the JSON or XML of frab and pretalx, or a spreadsheet (CSV or XLSX) with a "
            "row for each session."
        ),
    ),
    ForeignFile(
        _has_root("collection", attribute=" id="),
        _("XML of the ACL Anthology"),
        _("Download the volume there as BibTeX (.bib), and upload that."),
    ),
    ForeignFile(
        lambda text: (
            _has_root("doi_batch", "crossref_result", "crossref")(text)
            or _has_names("message-type", "message")(text)
        ),
        _("metadata of Crossref"),
        USE_BIBTEX,
    ),
    ForeignFile(_matches(r"\A(?:[^\n]{0,200}\n){0,5}TY  - "), _("a list of references in RIS"), USE_BIBTEX),
    ForeignFile(
        lambda text: (
            _matches(r"\A\[?\s*\{")(text)
            and _matches(rf'"type"\s*:\s*"(?:{CSL_TYPES})"')(text)
            and _matches(r'"(?:container-title|issued|family|DOI|publisher)"\s*:')(text)
        ),
        _("a list of references in CSL JSON"),
        USE_BIBTEX,
    ),
    ForeignFile(_matches(r'\A\[?\s*\{.*"itemType"\s*:\s*"'), _("an export of Zotero"), USE_BIBTEX),
    ForeignFile(
        _has_root("xml", "records", "mods", "modscollection", "dblp", "dblpperson", "resource", "bib"),
        _("XML of a library or reference manager"),
        USE_BIBTEX,
    ),
    ForeignFile(
        _matches(
            r'\A\s*\{.*"(?:_type"\s*:\s*"HTTPAPIResult|_fossil"\s*:\s*"(?:conference|contribution|session))'
        ),
        _("Indico’s event export"),
        _(
            "In Indico, export the contributions as a spreadsheet (management of the event, Contributions, "
            "Export, CSV or Excel), and upload that."
        ),
    ),
    ForeignFile(
        _has_names("abstracts", "version"),
        _("Indico’s export of abstracts"),
        _("In Indico, export the list of abstracts as CSV or Excel, and upload that."),
    ),
    ForeignFile(
        lambda text: (
            _has_names("results")(text)
            and _matches(r'"code"\s*:\s*"[A-Z0-9]{3,16}"')(text)
            and _matches(r'"(?:speakers|submissions|submission_type|biography)"\s*:')(text)
        ),
        _("a page of pretalx’s API"),
        _(
            "Use pretalx’s schedule export instead, as JSON or XML of frab: its address ends in "
            "/schedule/export/schedule.json."
        ),
    ),
    ForeignFile(
        _has_names("sessions", "speakers", "questions", "categories"),
        _("the JSON of Sessionize"),
        _("In Sessionize, export the accepted sessions as Excel or CSV, and upload that."),
    ),
    ForeignFile(
        _matches(r'\A\[?\s*\{.*"event_key"\s*:'),
        _("the JSON of Sched"),
        _("In Sched, export the sessions as a spreadsheet, and upload that."),
    ),
    ForeignFile(
        lambda text: text[:200].lower().startswith(("<!doctype html", "<html")),
        _("a web page"),
        USE_SPREADSHEET,
    ),
    ForeignFile(_matches(r"\A%PDF-"), _("a PDF"), USE_SPREADSHEET),
    ForeignFile(_matches(r"\A\{\\rtf"), _("a text document"), USE_SPREADSHEET),
)
SAVE_AS_XLSX = _("Open it in its program, and save it as XLSX or CSV.")


def describe_foreign(source: Source) -> str:
    """Return what a file of another program is and what to use instead; empty if it isn't known as one."""
    if source.content.startswith(ZIP_SIGNATURES):
        found = _packed_file(source)
    elif source.content.startswith(OLD_OFFICE):
        found = _("an old document of Microsoft Office"), SAVE_AS_XLSX
    else:
        text = read_head(source).lstrip()
        found = next(((kind.what, kind.advice) for kind in FOREIGN_FILES if kind.is_one(text)), None)
    if found is None:
        return ""
    what, advice = found
    message = gettext("“%(name)s” is %(what)s, which can’t be imported. %(advice)s")
    return message % {"name": short(source.name), "what": what, "advice": advice}


def _packed_file(source: Source) -> "tuple[StrPromise, StrPromise] | None":
    names = {*member_names(source)}
    if "word/document.xml" in names or "ppt/presentation.xml" in names:
        return _("a document or presentation of Microsoft Office"), USE_SPREADSHEET
    if "mimetype" in names and "content.xml" in names:
        return _("an OpenDocument file"), SAVE_AS_XLSX
    if "Index/Document.iwa" in names:
        return _("a document of Apple’s Numbers, Pages or Keynote"), SAVE_AS_XLSX
    return None


def describe_all_foreign(sources: Sequence[Source]) -> list[str]:
    return [text for source in sources if (text := describe_foreign(source))]


def describe_unknown(sources: Sequence[Source]) -> str:
    """Return why no format was found for these files, and what to use."""
    names = ", ".join(short(source.name) for source in sources[:3])
    fields = sorted(top_level_names(read_head(sources[0]))) if len(sources) == 1 else []
    if fields:
        message = gettext("“%(name)s” is JSON of an unknown kind, with %(fields)s. %(advice)s")
        shown = ", ".join(f"“{short(field, 30)}”" for field in fields[:5])
        return message % {"name": names, "fields": shown, "advice": USE_SPREADSHEET}
    message = gettext("No reader knows these files: %(names)s. %(advice)s")
    return message % {"names": names, "advice": USE_SPREADSHEET}
