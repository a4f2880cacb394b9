"""Any spreadsheet of papers, CSV or XLSX, as EasyChair, CMT and HotCRP give it. Read only.

Columns are found by their names, else by a small mapping file among the files. Ours are `tables`.
"""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Source
from exchange.problems import Findings, Where, nearest, short
from exchange.reading.archives import ZIP
from exchange.reading.papers import ACCEPTED, DECLINED, WEB, PaperParts, as_source, listed, parsed, uid_of
from exchange.reading.sheets import Row, Sheet, columns, heading, read_csv, read_workbook, sheet_names
from exchange.reading.textfiles import decode, ending
from exchange.reading.values import checked, tidy
from exchange.records import UNSTATED, AuthorRecord, MaterialRecord, PaperRecord, Program, Stated

ADVICE = "Write the mapping as TOML or JSON, in UTF-8."
NOT_IN_NAMES = re.compile(r"[^0-9a-z#]+")
# What each column may be called, the names of EasyChair, CMT and HotCRP among them.
NAMES = {
    "uid": "#, id, uid, no, nr, number, pid, paper, paper id, paper #, paper no, paper number, submission, "
    "submission #, submission id, submission number, submission no, contribution id",
    "title": "title, paper title, submission title, title of paper, name of paper",
    "abstract": "abstract, paper abstract, summary, description",
    "lay_summary": "lay summary, tl dr, tldr, plain summary, teaser",
    "authors": "authors, author list, author s, all authors, author names and affiliations",
    "author_names": "author names, names of authors",
    "decision": "decision, status, outcome, acceptance, notification, paper status, result, paper decision, "
    "accept reject, final decision",
    "track": "track, track name, session type, submission type, paper type, contribution type, type, "
    "category, presentation type, format",
    "topic": "topic, topics, area, subject area, primary subject area, primary area, primary topic, "
    "main topic, subject areas",
    "more_topics": "secondary subject areas, secondary areas, secondary topics, other topics",
    "keywords": "keywords, keyword, key words, author keywords, tags, index terms",
    "doi": "doi, digital object identifier",
    "pages": "pages, page range, page numbers",
    "pdf": "pdf, pdf url, pdf link, paper url, paper link, paper pdf, file url",
    "code": "code, code url, code link, github, repository",
    "video": "video, video url, video link, recording",
    "slides": "slides, slides url",
    "project": "project, project page, website, web site, url, link, homepage",
    # One row for each author
    "first": "first name, first, given name, given, given names, firstname, forename, author first name",
    "last": "last name, last, family name, family, surname, lastname, author last name",
    "name": "author, author name, full name, name, person",
    "affiliation": "affiliation, affiliations, organization, organisation, institution, institute, "
    "university, company, author affiliation",
    "country": "country, author country",
    "corresponding": "corresponding, corresponding author, contact author, contact, is contact",
    "orcid": "orcid, orcid id, orcid identifier",
    "position": "author position, author order, order, position, author #, author number, author no",
}


def folded(name: str) -> str:
    """Return a column's name without case, blanks and punctuation; `#` counts."""
    return NOT_IN_NAMES.sub("", name.casefold())


COLUMNS = {folded(name): column for column, names in NAMES.items() for name in names.split(", ")}


def read_mapping(source: Source, findings: Findings) -> dict[str, str]:
    """Read a mapping file: `[columns]`, then lines such as `"Titel" = "title"`; `""` leaves a column out."""
    where, found = Where(source.name), None
    text = decode(source, findings, advice=ADVICE)
    try:
        if text is not None:
            found = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = gettext("The mapping cannot be read: %(error)s. %(advice)s")
        findings.problem(where, "", message, error=short(str(error)), advice=ADVICE)
    if found is None:
        return {}
    columns = found.get("columns") if isinstance(found, dict) else None
    if not isinstance(columns, dict):
        message = gettext('The mapping must hold "columns": names in the sheet and what they are.')
        findings.problem(where, "columns", message)
        return {}
    mapping = {}
    for name, column in columns.items():
        if column == "" or (isinstance(column, str) and column in NAMES):
            mapping[folded(name)] = column
            continue
        message = gettext("There is no such column: “%(column)s”. %(hint)s Known are: %(known)s.")
        values = {"column": short(str(column)), "hint": nearest(str(column), NAMES).strip()}
        findings.problem(where, f"columns.{short(name)}", message, **values, known=", ".join(NAMES))
    return mapping


# Papers


FLAGS = {"yes", "true", "1", "x", "y", "*", "✔", "✓"}
LINKS = ("pdf", "code", "video", "slides", "project")
LISTS = ";|\n"


class PaperReader:
    """Reads sheets one by one. `mapping`: what the column of a folded name is; nothing if it is left out."""

    def __init__(self, mapping: dict[str, str], findings: Findings) -> None:
        self.mapping, self.findings = mapping, findings
        self.parts = PaperParts(findings)
        self.papers: dict[str, PaperRecord] = {}
        self.declined: dict[str, str] = {}
        self.undecided: list[str] = []
        self.authors: dict[str, list[tuple[int, AuthorRecord]]] = defaultdict(list)
        self.titles: dict[str, tuple[str, Where]] = {}
        self.has_papers = False

    def add(self, sheet: Sheet) -> bool:
        """Take a sheet if it is one of papers or of authors; say which columns were not taken."""
        columns = {name: self.mapping.get(folded(heading(name))) for name in reversed(sheet.columns)}
        names = {column: name for name, column in columns.items() if column}
        is_authors = bool({"last", "name"} & set(names)) and "uid" in names and "authors" not in names
        is_papers = "title" in names and not is_authors
        if not (is_papers or is_authors):
            return False
        self.has_papers = self.has_papers or is_papers
        taken = set(names.values())
        left = [heading(name) for name in sheet.columns if name not in taken and columns[name] != ""]
        if left:
            message = gettext(
                "These columns were not taken: %(names)s. A mapping file can say what they are."
            )
            self.findings.note("warning", sheet.where, message, names=", ".join(left))
        for row in sheet.rows:
            cells = {column: row.cells[name].strip() for column, name in names.items()}
            if any(cells.values()):
                self._add_author(cells, row) if is_authors else self._add_paper(cells, row)
        return True

    def _add_paper(self, cells: dict[str, str], row: Row) -> None:
        where = row.where
        title = tidy(self.parts.text(cells.get("title", ""), where, "title"))
        uid = uid_of(cells.get("uid", "")) or uid_of(title)
        if not title:
            self.findings.problem(where, "title", gettext("The title is missing."))
            return
        if uid in self.papers or uid in self.declined:
            message = gettext("Another row has “%(uid)s” too. Each paper has one row of its own.")
            self.findings.problem(where, "uid", message, uid=uid)
            return
        word = cells.get("decision", "")
        if DECLINED.search(word):
            self.declined[uid] = word
            return
        self.papers[uid] = self._paper(uid, title, cells, where)

    def _paper(self, uid: str, title: str, cells: dict[str, str], where: Where) -> PaperRecord:
        text = {
            name: self.parts.text(cells[name], where, name)
            for name in ("track", "decision", "doi", "pages")
            if name in cells
        }
        is_accepted = bool(ACCEPTED.search(cells.get("decision", "")))
        if not is_accepted:
            self.undecided.append(uid)
        topics = words(cells.get("topic", ""), is_list=True)
        more = (*topics[1:], *words(cells.get("more_topics", ""), is_list=True))
        keywords = (*words(cells.get("keywords", "")), *more)
        cleaned = (self.parts.text(word, where, "keywords") for word in keywords)
        authors, names = cells.get("authors", ""), cells.get("author_names", "")
        # The column of authors may hold affiliations that a second column of bare names does not.
        byline = authors if "(" in authors else names or authors
        return PaperRecord(
            where=where,
            uid=uid,
            title=as_source(title),
            abstract=self._source(cells, "abstract", where),
            lay_summary=self._source(cells, "lay_summary", where),
            **text,
            topic=self.parts.topic(topics[0], where) if topics else UNSTATED,
            keywords=tuple(dict.fromkeys(cleaned)) if "keywords" in cells or more else UNSTATED,
            status="published" if is_accepted else UNSTATED,
            authors=self._authors(byline, where) if byline else UNSTATED,
            materials=tuple(self._materials(cells, where)) or UNSTATED,
        )

    def _source(self, cells: dict[str, str], name: str, where: Where) -> Stated[str]:
        return as_source(self.parts.text(cells[name], where, name)) if name in cells else UNSTATED

    def _authors(self, cell: str, where: Where) -> tuple[AuthorRecord, ...]:
        names = parsed(self.parts.text(cell, where, "authors"))
        if len(names) > 1 and all(name.name and " " not in name.name for name in names) and cell.isascii():
            message = gettext(
                "All authors have one name only: %(cell)s. Do commas part family and given names?"
            )
            self.findings.note("doubt", where, message, cell=cell[:60])
        return tuple(
            self.parts.author(
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
                self.findings.note("warning", where, message, link=link[:60])

    def _add_author(self, cells: dict[str, str], row: Row) -> None:
        uid = uid_of(cells.get("uid", ""))
        if not uid:
            self.findings.problem(row.where, "uid", gettext("Say to which paper the author belongs."))
            return
        text = {name: self.parts.text(value, row.where, name) for name, value in cells.items()}
        name = text.get("name") or f"{text.get('first', '')} {text.get('last', '')}"
        parts = [text.get("affiliation", ""), text.get("country", "")]
        affiliation = ", ".join(filter(None, parts if text.get("affiliation") else []))
        position = text.get("position", "")
        author = self.parts.author(
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
            if self.has_papers:
                message = gettext("There is no paper “%(uid)s” in these files.")
                self.findings.problem(where, "uid", message, uid=uid)
                continue
            self.papers[uid] = PaperRecord(where=where, uid=uid, title=as_source(title) or UNSTATED)
            if title:
                self.undecided.append(uid)
        for uid, rows in self.authors.items():
            if uid in self.papers:
                ordered = tuple(author for _, author in sorted(rows, key=lambda row: row[0]))
                self.papers[uid] = replace(self.papers[uid], authors=ordered)
        groups: dict[str, list[str]] = defaultdict(list)
        for uid, word in self.declined.items():
            groups[tidy(word)].append(uid)
        for word, uids in sorted(groups.items()):
            message = gettext("Left out because of the decision “%(word)s”: %(count)s (%(keys)s).")
            count, keys = len(uids), listed(uids)
            self.findings.note("warning", Where(), message, word=word[:60], count=count, keys=keys)
        if self.undecided:
            message = gettext(
                "Without a decision that accepts them, new papers are drafts: %(count)s (%(keys)s)."
            )
            count, keys = len(self.undecided), listed(self.undecided)
            self.findings.note("warning", Where(), message, count=count, keys=keys)
        return tuple(self.papers.values())


def words(cell: str, *, is_list: bool = False) -> tuple[str, ...]:
    """Split at semicolons, bars or lines, else at commas; topics (`is_list`) may hold commas themselves."""
    separators = [sign for sign in LISTS if sign in cell] or ([] if is_list else [","])
    for sign in separators:
        cell = cell.replace(sign, "\0")
    return tuple(dict.fromkeys(filter(None, map(tidy, cell.split("\0")))))


# Files


MAPPINGS = (".toml", ".json")


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read sheets of papers and of authors, in any order, with or without a mapping file."""
    findings = Findings()
    mapping, sheets = dict(COLUMNS), []
    for source in sources:
        if PurePath(source.name).suffix.casefold() in MAPPINGS:
            mapping |= read_mapping(source, findings)
        elif source.content.startswith(ZIP):
            sheets += [sheet for _, sheet in read_workbook(source, findings)]
        elif sheet := read_csv(source, findings):
            sheets.append(sheet)
    reader = PaperReader(mapping, findings)
    strange = [sheet for sheet in sheets if not reader.add(sheet)]
    for sheet in strange:
        if len(strange) < len(sheets):
            message = gettext("This sheet holds no papers and no authors; it was left out.")
            findings.note("warning", sheet.where, message)
            continue
        message = gettext(
            "No column is the title of a paper. Found are: %(names)s. "
            "Name it “title”, or give a mapping file."
        )
        findings.problem(sheet.where, "", message, names=listed(map(heading, sheet.columns)))
    if not sheets and not findings.has_problems:
        findings.problem(Where(), "", gettext("There is no table to read. Give a CSV or XLSX file."))
    program = reader.parts.program(reader.finish())
    if not (program.papers or reader.declined or findings.has_problems):
        message = gettext("The table has columns of papers, but no rows.")
        findings.problem(sheets[0].where, "", message)
    return checked(program, findings)


def recognizes(sources: Sequence[Source]) -> bool:
    """Whether there is a table of papers or authors; a mapping file is optional."""
    tables = [source for source in sources if PurePath(source.name).suffix.casefold() not in MAPPINGS]
    for table in tables:
        known = any(folded(column) in COLUMNS for column in columns(table))
        is_ours = sheet_names(table) if ending(table) == "xlsx" else known and ending(table) in ("csv", "tsv")
        if not is_ours:
            return False
    return bool(tables)


FORMAT = Format(
    name="spreadsheet",
    label=_("Spreadsheet of papers (CSV, XLSX)"),
    description=_("Papers and authors as EasyChair, CMT, HotCRP or a chair's own spreadsheet list them."),
    extensions=("csv", "xlsx", "tsv"),
    media_type="text/csv",
    read=read,
    recognizes=recognizes,
)
