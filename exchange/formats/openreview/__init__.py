"""OpenReview: notes of its API (version 2), saved as JSON or fetched page by page. Read only.

Only papers that were accepted are taken; what was left out, and why, is said in notes.
"""

from collections.abc import Sequence

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Source
from exchange.formats.openreview.notes import NoteReader
from exchange.formats.openreview.paging import PAGES
from exchange.problems import Where
from exchange.reading.checks import check
from exchange.reading.findings import Findings
from exchange.reading.sniffing import head, outer_names
from exchange.reading.textfiles import read_list
from exchange.records import Program


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read files of notes, each with or without `{"notes": […]}` around them."""
    findings = Findings()
    reader = NoteReader(findings)
    for source in sources:
        for index, row in enumerate(read_list(source, "notes", findings)):
            reader.add(row, Where(source.name, _place(index, row)))
    if not (reader.seen or findings.has_problems):
        findings.problem(
            Where(), "", gettext("There are no notes in the file. Did the address need a token?")
        )
    reader.say_what_was_left_out()
    program = Program(
        institutions=tuple(reader.gathered.institutions.values()),
        topics=tuple(reader.gathered.topics.values()),
        papers=tuple(reader.papers.values()),
        notes=findings.notes,
    )
    check(program, findings)
    findings.settle()
    return program


def recognises(sources: Sequence[Source]) -> bool:
    """Whether every file is a list of notes, or an object with one."""
    return all(_has_notes(head(source)) for source in sources)


def _has_notes(text: str) -> bool:
    return "notes" in outer_names(text) or (text.lstrip().startswith("[") and '"forum"' in text)


def _place(index: int, row: object) -> str:
    key = row.get("id") if isinstance(row, dict) else None
    return f"notes[{index}] ({key[:40]})" if isinstance(key, str) else f"notes[{index}]"


FORMAT = Format(
    name="openreview",
    label=_("OpenReview (JSON)"),
    description=_("Accepted papers of a venue on OpenReview, from a saved file or by its address."),
    extensions=("json",),
    media_type="application/json",
    read=read,
    pages=PAGES,
    recognises=recognises,
)
