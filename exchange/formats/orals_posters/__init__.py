"""`<conference>-<year>-orals-posters.json`: the public export that many tools read, with its abstracts.

Only papers' orals, posters and spotlights are in it.
"""

from collections.abc import Sequence

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Source
from exchange.formats.orals_posters.links import public_host
from exchange.formats.orals_posters.output import write as write
from exchange.formats.orals_posters.records import PaperReader, SessionReader, grouped
from exchange.formats.orals_posters.rows import InputRow, read_event
from exchange.problems import Findings, Where, short
from exchange.reading.checks import checked
from exchange.reading.textfiles import head, outer_names, read_object
from exchange.reading.values import noted_text, zone_of
from exchange.records import Program, RoomRecord


class EventFiles:
    """What the files hold together: events by number, abstracts by event, and the host of relative links."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.events: dict[int, InputRow] = {}
        self.abstracts: dict[str, str] = {}
        self.host = ""
        self.has_events = False

    def add(self, source: Source) -> None:
        """Read one file by its shape: a page of events, or an object of event number -> abstract."""
        content = read_object(source, self.findings)
        if content is None:
            return
        rows = content.get("results")
        if isinstance(rows, list):
            self._add_page(rows, content, source.name)
        elif all(isinstance(text, str) for text in content.values()):
            self._add_abstracts(content, source.name)
        else:
            message = gettext(
                'This is neither a page with "results" nor an object of event number -> abstract.'
            )
            self.findings.problem(Where(source.name), "", message)

    def _add_page(self, rows: list[object], content: dict[str, object], name: str) -> None:
        self.has_events = True
        for index, row in enumerate(rows):
            event = read_event(row, Where(name, _place(index, row)), self.findings)
            if event and event.id in self.events:
                message = gettext("Another event has this number: %(place)s.")
                self.findings.problem(event.where, "id", message, place=self.events[event.id].where.place)
            elif event:
                self.events[event.id] = event
        count = content.get("count")
        if isinstance(count, int) and count > len(rows):
            message = gettext(
                "The file says that there are %(count)s events and holds %(rows)s. Get the rest too."
            )
            self.findings.note("warning", Where(name), message, count=count, rows=len(rows))
        following = content.get("next")
        self.host = self.host or (public_host(following) if isinstance(following, str) else "")

    def _add_abstracts(self, content: dict[str, object], name: str) -> None:
        for key, text in content.items():
            self.abstracts[key] = noted_text(str(text), Where(name, short(key)), "", self.findings)


def _place(index: int, row: object) -> str:
    number = row.get("id") if isinstance(row, dict) else None
    return f"results[{index}] ({number})" if type(number) is int else f"results[{index}]"


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read the events, and the abstracts where their file is given too."""
    findings = Findings()
    collected = EventFiles(findings)
    for source in sources:
        collected.add(source)
    if not (collected.has_events or findings.has_problems):
        findings.problem(Where(), "", gettext('Give the file with the events: the one that holds "results".'))
    return checked(_program(collected, context), findings)


def recognizes(sources: Sequence[Source]) -> bool:
    """Whether the files are objects, and one of them a page of events."""
    found = [outer_names(head(source)) for source in sources]
    return all(found) and any("results" in names for names in found)


def _program(collected: EventFiles, context: Context) -> Program:
    findings = collected.findings
    events = list(collected.events.values())
    # The host of relative links is the file's own, else that of the authors' pages.
    addresses = (author.url for event in events for author in event.authors)
    host = collected.host or next(filter(None, map(public_host, addresses)), "")
    papers = PaperReader(context, host, collected.abstracts, findings)
    sessions = SessionReader(zone_of(Program(), context), findings)
    sessions.add(events)
    groups = grouped(events)
    records = tuple(papers.paper(group) for group in groups)
    paper_of: dict[int, str] = {}
    for group, record in zip(groups, records, strict=True):
        paper_of.update(dict.fromkeys((event.id for event in group), record.uid))
    shown = [found for event in events for found in sessions.presentations(event, paper_of[event.id])]
    left = [key for key in collected.abstracts if not (key.isdecimal() and int(key[:18]) in collected.events)]
    if left:
        message = gettext("%(count)s abstracts belong to no event of these files, such as %(first)s.")
        findings.note("warning", Where(), message, count=len(left), first=short(left[0]))
    return Program(
        institutions=tuple(papers.institutions.values()),
        topics=tuple(papers.topics.topics.values()),
        rooms=tuple(RoomRecord(slug=key, name=name) for key, name in sessions.rooms.items()),
        papers=records,
        sessions=tuple(sessions.sessions.values()),
        presentations=tuple(shown),
    )


FORMAT = Format(
    name="orals_posters",
    label=_("Orals and posters (JSON)"),
    description=_("The orals-posters.json of conference sites, with its abstracts: papers and appearances."),
    extensions=("json",),
    media_type="application/json",
    read=read,
    write=write,
    recognizes=recognizes,
)
