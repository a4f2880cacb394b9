"""BibTeX read: every paper of a file with its key, its authors, and text freed from TeX. Formulas stay.

Entries for whole books (`@proceedings`) are no papers, and editors no authors of the program.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares.names import (
    InvalidNameError,
    parse_single_name_into_parts,
    split_multiple_persons_names,
)
from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, Entry
from django.utils.translation import gettext

from exchange.files import Context, Source
from exchange.problems import Where
from exchange.reading.checks import check
from exchange.reading.findings import Findings, short
from exchange.reading.gathering import WEB, Gathering, listed, tidy, uid_of
from exchange.reading.tex import IncompleteError, decoded
from exchange.reading.textfiles import decode
from exchange.records import UNSTATED, AuthorRecord, MaterialRecord, PaperRecord, Program

ADVICE = "Save it in the encoding UTF-8."
MAX_BYTES = 50_000_000
BOOKS = frozenset(("proceedings", "mvproceedings", "collection", "book", "periodical"))
DOI = re.compile(r"10\.\d{4,9}/\S+")
MAX_AUTHORS = 5_000
# The parser tells its log of every entry that fails; whoever imports is told by problems.
logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read one file or several."""
    findings = Findings()
    reader = EntryReader(context, findings)
    papers = [paper for source in sources for paper in reader.papers(source)]
    if not (papers or findings.has_problems):
        findings.problem(Where(), "", gettext("There is no entry of a paper in the file."))
    if reader.books:
        message = gettext("Left out because they are whole volumes: %(keys)s.")
        findings.note("warning", Where(), message, keys=listed(reader.books))
    program = Program(papers=tuple(papers), notes=findings.notes)
    check(program, findings)
    findings.settle()
    return program


@dataclass
class EntryReader:
    """Makes papers of the entries of files."""

    context: Context
    findings: Findings

    def __post_init__(self) -> None:
        self.books: list[str] = []
        self.gathered = Gathering(self.findings)

    def papers(self, source: Source) -> Iterable[PaperRecord]:
        where = Where(source.name)
        if len(source.content) > MAX_BYTES:
            message = gettext("The file is larger than %(megabytes)s MB. Is this a conference program?")
            self.findings.problem(where, "", message, megabytes=MAX_BYTES // 1_000_000)
            return
        text = decode(source, self.findings, advice=ADVICE)
        if text is None:
            return
        library = parse_string(text)
        for block in library.failed_blocks:
            self._say_what_failed(block, source.name)
        for entry in library.entries:
            if entry.entry_type.lower() in BOOKS:
                self.books.append(short(entry.key))
            else:
                yield self._paper(entry, Where(source.name, _place(entry.start_line, entry.key)))

    def _say_what_failed(self, block: Any, file: str) -> None:
        inner = getattr(block, "ignore_error_block", None)
        key = getattr(inner, "key", "") or _key_in(block.raw or "")
        if isinstance(block, DuplicateBlockKeyBlock):
            message = gettext("Another entry has this key too. Give each its own.")
        elif isinstance(block, DuplicateFieldKeyBlock):
            message = gettext("A field stands twice in this entry (%(names)s). Keep one of them.")
            message %= {"names": ", ".join(sorted(block.duplicate_keys))}
        else:
            reason = getattr(block.error, "abort_reason", None) or str(block.error)
            message = gettext("This entry cannot be read: %(reason)s") % {"reason": short(str(reason), 160)}
        self.findings.problem(Where(file, _place(block.start_line, key)), "", message)

    def _paper(self, entry: Entry, where: Where) -> PaperRecord:
        fields = {field.key.lower(): str(field.value) for field in entry.fields}
        own: dict[str, Any] = {}
        if "abstract" in fields:
            own["abstract"] = self._text(fields["abstract"], where, "abstract").strip()
        if "keywords" in fields:
            words = self._text(fields["keywords"], where, "keywords")
            parts = words.split(";" if ";" in words else ",")
            own["keywords"] = tuple(dict.fromkeys(filter(None, map(tidy, parts))))
        if "pages" in fields:
            own["pages"] = re.sub(r"\s*[-–]+\s*", "-", fields["pages"].strip())
        doi = DOI.search(fields.get("doi", "").replace("\\", ""))
        links = tuple(self._links(fields, where))
        return PaperRecord(
            where=where,
            uid=self._uid(entry.key),
            title=tidy(self._text(fields.get("title", ""), where, "title")),
            status="published",
            doi=doi[0] if doi else UNSTATED,
            authors=self._authors(fields["author"], where) if "author" in fields else UNSTATED,
            materials=links or UNSTATED,
            **own,
        )

    def _uid(self, key: str) -> str:
        """Return the key; of a key as we write it, `mlsys2021.17`, the uid in it."""
        ours = re.match(rf"[a-z][a-z0-9-]*{re.escape(self.context.edition)}\.(?=[A-Za-z0-9])(.+)\Z", key)
        return uid_of(ours[1] if ours else key)

    def _text(self, tex: str, where: Where, name: str) -> str:
        try:
            text = decoded(tex)
        except IncompleteError:
            message = gettext(
                "A command of TeX lacks what belongs to it in %(field)s: the text stays as it is."
            )
            self.findings.note("doubt", where, message, field=name)
            text = tex
        except (ValueError, RecursionError):
            self.findings.problem(where, name, gettext("Braces are nested too deeply here."))
            return ""
        return self.gathered.text(text, where, name)

    def _authors(self, value: str, where: Where) -> tuple[AuthorRecord, ...]:
        found = []
        for name in split_multiple_persons_names(value)[:MAX_AUTHORS]:
            if name.strip().lower() == "others":
                message = gettext("The list of authors ends in “and others”: it is not complete.")
                self.findings.note("doubt", where, message)
                continue
            try:
                parts = parse_single_name_into_parts(name, strict=True)
            except InvalidNameError:
                message = gettext("This is not a name of BibTeX: “%(name)s”. Write it as Family, Given.")
                self.findings.problem(where, "author", message, name=short(name))
                continue
            words = [*parts.first, *parts.von, *parts.last, *parts.jr]
            found.append(self.gathered.author(self._text(" ".join(words), where, "author"), where))
        return tuple(found)

    def _links(self, fields: dict[str, str], where: Where) -> Iterable[MaterialRecord]:
        ours = f"/{self.context.edition}/papers/"
        for name in ("pdf", "url"):
            url = fields.get(name, "").strip().replace("\\", "")
            if not WEB.match(url) or ours in url or "//doi.org/" in url:
                continue
            is_pdf = name == "pdf" or url.lower().partition("?")[0].endswith(".pdf")
            label = "" if is_pdf else "Paper"
            yield MaterialRecord(where=where, kind="pdf" if is_pdf else "other", url=url, label=label)


def _place(line: int | None, key: str) -> str:
    number = f"line {line + 1}" if line is not None else "?"
    return f"{number} ({short(key)})" if key else number


def _key_in(raw: str) -> str:
    found = re.match(r"@\s*\w+\s*[{(]\s*([^\s,{}()=]{1,60})", raw)
    return found[1] if found else ""
