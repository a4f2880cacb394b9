"""The table of papers: authors and keywords joined with bars, the area in `track`."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from exchange.reading.findings import Findings
from exchange.reading.gathering import WEB, Gathering, tidy, uid_of
from exchange.reading.sheets import Row, Sheet
from exchange.records import UNSTATED, MaterialRecord, PaperRecord

NEEDED = {"uid", "title", "authors"}
LINKS = {"pdf_url": "pdf", "pdf": "pdf", "paper_link": "pdf", "code_link": "code", "demo_url": "project"}


def is_paper_table(sheet: Sheet) -> bool:
    return set(sheet.columns) >= NEEDED


@dataclass
class PaperReader:
    """Takes tables of papers; `of_session` keeps the sessions that a paper names itself."""

    findings: Findings
    papers: dict[str, PaperRecord] = field(default_factory=dict)
    of_session: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    has_table: bool = False

    def __post_init__(self) -> None:
        self.gathered = Gathering(self.findings)

    def add(self, sheet: Sheet) -> None:
        self.has_table = True
        for row in sheet.rows:
            paper = self._paper(row)
            if paper.uid in self.papers and self.papers[paper.uid] == paper:
                continue
            key = paper.uid if paper.uid not in self.papers else f"{paper.uid} {row.where}"
            self.papers[key] = paper
            for session in row.cells.get("sessions", row.cells.get("session", "")).split("|"):
                if session.strip():
                    self.of_session[session.strip()].append(paper.uid)

    def _paper(self, row: Row) -> PaperRecord:
        cells = {name: self.gathered.text(value, row.where, name) for name, value in row.cells.items()}
        own: dict[str, Any] = {}
        if "abstract" in cells:
            own["abstract"] = cells["abstract"].strip()
        if "keywords" in cells:
            own["keywords"] = tuple(dict.fromkeys(parts(cells["keywords"])))
        if "track" in cells:
            own["topic"] = self.gathered.topic(cells["track"], row.where)
        if "paper_type" in cells:
            own["track"] = tidy(cells["paper_type"])
        materials = tuple(
            material(cells[name], kind, row) for name, kind in LINKS.items() if WEB.match(cells.get(name, ""))
        )
        return PaperRecord(
            where=row.where,
            uid=uid_of(cells["uid"]),
            title=tidy(cells["title"]),
            status="published",
            authors=tuple(self.gathered.author(name, row.where) for name in parts(cells["authors"])),
            materials=materials or UNSTATED,
            **own,
        )


def parts(cell: str) -> list[str]:
    return [part for part in map(tidy, cell.split("|")) if part]


def material(url: str, kind: str, row: Row) -> MaterialRecord:
    """Return a link; one to a page that leads to the PDF is no PDF."""
    if kind == "pdf" and not re.search(r"\.pdf($|[?#])|/pdf", url, re.IGNORECASE):
        return MaterialRecord(where=row.where, kind="other", url=url, label="Paper")
    return MaterialRecord(where=row.where, kind=kind, url=url)
