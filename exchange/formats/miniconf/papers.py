"""Tables of papers of a Mini-Conf site."""

import re
from collections import defaultdict

from django.utils.translation import gettext

from exchange.problems import Findings, short
from exchange.reading.links import keep_link
from exchange.reading.papers import WEB_ADDRESS, PaperParts, escape_markdown, make_uid
from exchange.reading.sheets import Sheet, SheetRow
from exchange.reading.values import tidy, tidy_each
from exchange.records import UNSTATED, MaterialRecord, PaperRecord

REQUIRED_COLUMNS = {"uid", "title", "authors"}
SESSION_COLUMNS = ("sessions", "session", "session_code", "session_name")
LINKS = {"pdf_url": "pdf", "pdf": "pdf", "paper_link": "pdf", "code_link": "code", "demo_url": "project"}


class PaperReader:
    """Reader of tables of papers. `papers_by_session`: the papers of rows that name a session."""

    def __init__(self, findings: Findings) -> None:
        self.parts = PaperParts(findings)
        self.papers: dict[str, PaperRecord] = {}
        self.papers_by_session: dict[str, list[str]] = defaultdict(list)
        self.has_table = False

    def add(self, sheet: Sheet) -> None:
        self.has_table = True
        for row in sheet.rows:
            paper = self._paper(row)
            if not self.add_paper(paper):
                continue
            cells = (row.cells.get(name, "") for name in SESSION_COLUMNS)
            for session in next(filter(None, cells), "").split("|"):
                if session.strip():
                    self.papers_by_session[session.strip()].append(paper.uid)

    def add_paper(self, paper: PaperRecord) -> bool:
        """Add a paper, and return False if it is there already. Another one of its uid is reported later."""
        known = self.papers.get(paper.uid)
        if known == paper:
            message = gettext("The paper %(uid)s is listed before (%(place)s); taken once.")
            values = {"uid": short(paper.uid), "place": known.where}
            self.parts.findings.note("repeat", paper.where, message, **values)
            return False
        key = paper.uid if paper.uid not in self.papers else f"{paper.uid} {paper.where}"
        self.papers[key] = paper
        return True

    def _paper(self, row: SheetRow) -> PaperRecord:
        cells = {name: self.parts.text(value, row.where, name) for name, value in row.cells.items()}
        links = [
            (name, kind)
            for name, kind in LINKS.items()
            # Others are names of files of the site.
            if WEB_ADDRESS.match(cells.get(name, ""))
            and keep_link(cells[name], row.where, self.parts.findings)
        ]
        columns = cells.keys()
        return PaperRecord(
            where=row.where,
            uid=make_uid(cells["uid"]),
            title=escape_markdown(tidy(cells["title"])),
            status="published",
            authors=self.parts.authors(split_cell(cells["authors"]), row.where),
            materials=tuple(link_material(cells[name], kind, row) for name, kind in links) or UNSTATED,
            abstract=escape_markdown(cells["abstract"].strip()) if "abstract" in columns else UNSTATED,
            keywords=tidy_each(cells["keywords"].split("|")) if "keywords" in columns else UNSTATED,
            topic=self.parts.topic(cells["track"], row.where) if "track" in columns else UNSTATED,
            track=tidy(cells["paper_type"]) if "paper_type" in columns else UNSTATED,
        )


def split_cell(cell: str) -> list[str]:
    return [part for part in map(tidy, cell.split("|")) if part]


def link_material(url: str, kind: str, row: SheetRow) -> MaterialRecord:
    """Return a link as material; a link to a page about the PDF is not of kind "pdf"."""
    if kind == "pdf" and not re.search(r"\.pdf($|[?#])|/pdf", url, re.IGNORECASE):
        return MaterialRecord(where=row.where, kind="other", url=url, label="Paper")
    return MaterialRecord(where=row.where, kind=kind, url=url)
