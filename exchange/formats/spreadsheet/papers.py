"""From the rows of somebody's spreadsheet to papers: one row for each, and perhaps one for each author."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext

from exchange.formats.spreadsheet.columns import Mapping
from exchange.problems import Where
from exchange.reading.bylines import parsed
from exchange.reading.findings import Findings
from exchange.reading.gathering import ACCEPTED, DECLINED, WEB, Gathering, listed, tidy, uid_of
from exchange.reading.sheets import Row, Sheet, heading
from exchange.records import UNSTATED, AuthorRecord, MaterialRecord, PaperRecord

FLAGS = {"yes", "true", "1", "x", "y", "*", "✔", "✓"}
LINKS = ("pdf", "code", "video", "slides", "project")
LISTS = ";|\n"


@dataclass
class PaperReader:
    """Takes sheets one by one: those of papers first, whatever order they come in."""

    mapping: Mapping
    findings: Findings
    papers: dict[str, PaperRecord] = field(default_factory=dict)
    declined: dict[str, str] = field(default_factory=dict)
    undecided: list[str] = field(default_factory=list)
    authors: dict[str, list[tuple[int, AuthorRecord]]] = field(default_factory=lambda: defaultdict(list))
    titles: dict[str, tuple[str, Where]] = field(default_factory=dict)
    has_decisions: bool = False
    has_papers: bool = False

    def __post_init__(self) -> None:
        self.gathered = Gathering(self.findings)

    def add(self, sheet: Sheet) -> bool:
        """Take a sheet if it is one of papers or of authors; say which columns were not taken."""
        names = {self.mapping.column(heading(name)): name for name in reversed(sheet.columns)}
        names.pop("", None)
        is_authors = bool({"last", "name"} & set(names)) and "uid" in names and "authors" not in names
        is_papers = "title" in names and not is_authors
        if not (is_papers or is_authors):
            return False
        if is_papers:
            self.has_papers = True
            self.has_decisions |= "decision" in names
        self._say_what_is_not_taken(sheet, set(names.values()))
        for row in sheet.rows:
            cells = {column: row.cells[name].strip() for column, name in names.items()}
            if any(cells.values()):
                self._add_author(cells, row) if is_authors else self._add_paper(cells, row)
        return True

    def _say_what_is_not_taken(self, sheet: Sheet, taken: set[str]) -> None:
        left = [heading(name) for name in sheet.columns if name not in taken]
        left = [name for name in left if not self.mapping.is_left_out(name)]
        if left:
            message = gettext(
                "These columns were not taken: %(names)s. A mapping file can say what they are."
            )
            self.findings.note("warning", sheet.where, message % {"names": ", ".join(left)})

    # Papers

    def _add_paper(self, cells: dict[str, str], row: Row) -> None:
        where = row.where
        title = tidy(self.gathered.text(cells.get("title", ""), where, "title"))
        uid = uid_of(cells.get("uid", "")) or uid_of(title)
        if not title:
            self.findings.problem(where, "title", gettext("The title is missing."))
            return
        if uid in self.papers or uid in self.declined:
            message = gettext("Another row has “%(uid)s” too. Each paper has one row of its own.")
            self.findings.problem(where, "uid", message % {"uid": uid})
            return
        word = cells.get("decision", "")
        if DECLINED.search(word):
            self.declined[uid] = word
            return
        self.papers[uid] = self._paper(uid, title, cells, where)

    def _paper(self, uid: str, title: str, cells: dict[str, str], where: Where) -> PaperRecord:
        own: dict[str, Any] = {"where": where, "uid": uid, "title": title}
        for name in ("abstract", "lay_summary", "track", "decision", "doi", "pages"):
            if name in cells:
                own[name] = self.gathered.text(cells[name], where, name)
        if ACCEPTED.search(cells.get("decision", "")):
            own["status"] = "published"
        else:
            self.undecided.append(uid)
        topics = words(cells.get("topic", ""), is_list=True)
        more = (*topics[1:], *words(cells.get("more_topics", ""), is_list=True))
        if topics:
            own["topic"] = self.gathered.topic(topics[0], where)
        if "keywords" in cells or more:
            keywords = (*words(cells.get("keywords", "")), *more)
            cleaned = (self.gathered.text(word, where, "keywords") for word in keywords)
            own["keywords"] = tuple(dict.fromkeys(cleaned))
        materials = tuple(self._materials(cells, where))
        names = cells.get("author_names") or cells.get("authors", "")
        byline = cells.get("authors") if _tells_more(cells) else names
        if byline:
            own["authors"] = self._authors(byline, where)
        return PaperRecord(**own, materials=materials if materials else UNSTATED)

    def _authors(self, cell: str, where: Where) -> tuple[AuthorRecord, ...]:
        names = parsed(self.gathered.text(cell, where, "authors"))
        if len(names) > 1 and all(name.name and " " not in name.name for name in names) and cell.isascii():
            message = gettext(
                "All authors have one name only: %(cell)s. Do commas part family and given names?"
            )
            self.findings.note("doubt", where, message % {"cell": cell[:60]})
        return tuple(
            self.gathered.author(
                one.name, where, affiliations=one.affiliations, corresponding=one.is_corresponding
            )
            for one in names
        )

    def _materials(self, cells: dict[str, str], where: Where) -> Iterable[MaterialRecord]:
        for kind in LINKS:
            link = cells.get(kind, "")
            if WEB.match(link):
                yield MaterialRecord(where=where, kind=kind, url=link)
            elif link:
                message = gettext("This is no address and was left out: %(link)s")
                self.findings.note("warning", where, message % {"link": link[:60]})

    # Authors with a row each

    def _add_author(self, cells: dict[str, str], row: Row) -> None:
        uid = uid_of(cells.get("uid", ""))
        if not uid:
            self.findings.problem(row.where, "uid", gettext("Say to which paper the author belongs."))
            return
        text = {name: self.gathered.text(value, row.where, name) for name, value in cells.items()}
        name = text.get("name") or f"{text.get('first', '')} {text.get('last', '')}"
        parts = [text.get("affiliation", ""), text.get("country", "")]
        affiliation = ", ".join(filter(None, parts if text.get("affiliation") else []))
        position = text.get("position", "")
        author = self.gathered.author(
            name,
            row.where,
            affiliations=[affiliation],
            corresponding=text.get("corresponding", "").casefold() in FLAGS,
            orcid=text.get("orcid", ""),
        )
        order = int(position) if position.isdecimal() and len(position) < 6 else 0
        self.authors[uid].append((order, author))
        self.titles.setdefault(uid, (tidy(text.get("title", "")), row.where))

    def finish(self) -> tuple[PaperRecord, ...]:
        """Give the authors to their papers, and say what was left out."""
        strays = [uid for uid in self.authors if uid not in self.papers and uid not in self.declined]
        for uid in strays:
            title, where = self.titles[uid]
            if title and not self.has_papers:
                self.papers[uid] = PaperRecord(where=where, uid=uid, title=title)
                self.undecided.append(uid)
            elif self.has_papers:
                message = gettext("There is no paper “%(uid)s” in these files.") % {"uid": uid}
                self.findings.problem(where, "uid", message)
            else:
                self.papers[uid] = PaperRecord(where=where, uid=uid)
        for uid, rows in self.authors.items():
            if uid in self.papers:
                ordered = tuple(author for _, author in sorted(rows, key=lambda row: row[0]))
                self.papers[uid] = replace(self.papers[uid], authors=ordered)
        self._say_what_was_decided()
        return tuple(self.papers.values())

    def _say_what_was_decided(self) -> None:
        groups: dict[str, list[str]] = defaultdict(list)
        for uid, word in self.declined.items():
            groups[tidy(word)].append(uid)
        for word, uids in sorted(groups.items()):
            message = gettext("Left out because of the decision “%(word)s”: %(count)s (%(keys)s).")
            told = {"word": word[:60], "count": len(uids), "keys": listed(uids)}
            self.findings.note("warning", Where(), message % told)
        if self.undecided:
            message = gettext(
                "Without a decision that accepts them, new papers are drafts: %(count)s (%(keys)s)."
            )
            told = {"count": len(self.undecided), "keys": listed(self.undecided)}
            self.findings.note("warning", Where(), message % told)


def _tells_more(cells: dict[str, str]) -> bool:
    """Whether the column of authors holds affiliations that a second column of bare names does not."""
    return "(" in cells.get("authors", "")


def words(cell: str, *, is_list: bool = False) -> tuple[str, ...]:
    """Split at semicolons, bars or lines, else at commas; topics (`is_list`) may hold commas themselves."""
    separators = [sign for sign in LISTS if sign in cell] or ([] if is_list else [","])
    for sign in separators:
        cell = cell.replace(sign, "\0")
    return tuple(dict.fromkeys(filter(None, map(tidy, cell.split("\0")))))
