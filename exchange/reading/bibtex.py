"""Read BibTeX: the papers of a file with keys, authors, and text converted from TeX except formulas.

Accents and signs become Unicode. Entries for whole books (`@proceedings`) are skipped, and editors
are ignored.
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares.names import (
    InvalidNameError,
    parse_single_name_into_parts,
    split_multiple_persons_names,
)
from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, ParsingFailedBlock
from django.utils.translation import gettext
from pylatexenc.latex2text import (  # type: ignore[import-untyped]
    LatexNodes2Text,
    MacroTextSpec,
    get_default_latex_context_db,
)

import markup
from exchange.files import Context, Source, total_size
from exchange.problems import Findings, Where, short
from exchange.reading.links import keep_link
from exchange.reading.papers import PaperParts, make_uid
from exchange.reading.person_names import is_placeholder, note_placeholder
from exchange.reading.textfiles import decode, is_too_large
from exchange.reading.values import (
    MAX_AUTHORS,
    MAX_TEXT_CHARS,
    InvalidValueError,
    check_program,
    tidy,
    tidy_each,
)
from exchange.records import UNSTATED, AuthorRecord, MaterialRecord, PaperRecord, Program
from markup.tex import WORDS

FORMULA = re.compile(r"(?<!\\)\$[^$]*\$|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL)
EMPHASIS = re.compile(r"\\(?:emph|textit|textsl)\s*\{([^{}]*)\}|\{\\(?:em|it)\s+([^{}]*)\}")
STRONG = re.compile(r"\\textbf\s*\{([^{}]*)\}|\{\\bf\s+([^{}]*)\}")
# A link is replaced by its text, and an address by itself.
LINK = re.compile(r"\\href\s*\{[^{}]*\}\s*(?=\{)|\\url\s*(?=\{)")
# An accent without a letter is the character itself.
BARE_ACCENT, ACCENT_SIGN_NAMES = re.compile(r"\\([\^~])\{\}"), {"^": "circum", "~": "tilde"}
# Text without any of these signs is not TeX and needs no decoding.
TEX_SYNTAX = re.compile(r"[\\{}~]|--|``|''")
# A percent sign begins a comment in TeX, but hardly ever in a reference file.
PERCENT = re.compile(r"(?<!\\)%")
QUOTED = re.compile(r"`([^`']*)'")
# Placeholders for formulas and for the ends of emphasis while the rest is decoded.
FORMULA_MARK, EMPHASIS_MARK, STRONG_MARK = "\ue000{}\ue001", "\ue002", "\ue003"
FORMULA_MARKS = re.compile("\ue000(\\d+)\ue001")
UNMARKED_TEXT = re.compile(f"[^{EMPHASIS_MARK}{STRONG_MARK}]+")
PRIVATE_USE = re.compile("[\ue000-\ue003]")
MAX_DEPTH = 30
BRACES = {r"$\lbrace$": "{", r"$\rbrace$": "}"}
# The decoder would output the text of these commands only at the next `\maketitle`.
TITLE_COMMANDS = ("author", "date", "maketitle", "title")
commands = get_default_latex_context_db()
commands.add_context_category(
    "head",
    prepend=True,
    macros=[
        *(MacroTextSpec(name, discard=False) for name in TITLE_COMMANDS),
        # The decoder lacks many of these characters, and decodes a caret to another one.
        *(MacroTextSpec(name, simplify_repl=WORDS[name]) for name in WORDS if name.startswith("text")),
    ],
)
decoder = LatexNodes2Text(commands, math_mode="verbatim", keep_comments=True)


class RepetitionError(InvalidValueError):
    """The abbreviations of a file add too many characters to it."""


class IncompleteError(ValueError):
    """A command lacks an argument, such as a footnote without a text at the end of a title."""


def decode_tex(tex: str, *, is_plain: bool = False) -> str:
    """Return the text of TeX as Markdown, or as plain text for names and keywords.

    Raises `IncompleteError`, or `ValueError` if braces are nested too deeply.
    """
    tex, depth = PRIVATE_USE.sub("", tex), 0
    for brace in re.findall(r"(?<!\\)[{}]", tex):
        depth = max(depth + (1 if brace == "{" else -1), 0)
        if depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
    formulas: list[str] = []

    def replace_formula(match: re.Match[str]) -> str:
        formulas.append(BRACES.get(match[0], match[0]))
        return FORMULA_MARK.format(len(formulas) - 1)

    text = LINK.sub("", FORMULA.sub(replace_formula, tex))
    text = BARE_ACCENT.sub(lambda match: rf"\textascii{ACCENT_SIGN_NAMES[match[1]]}{{}}", text)
    text = EMPHASIS.sub(rf"{EMPHASIS_MARK}\1\2{EMPHASIS_MARK}", text)
    text = STRONG.sub(rf"{STRONG_MARK}\1\2{STRONG_MARK}", text)
    if TEX_SYNTAX.search(text):
        try:
            text = decoder.latex_to_text(PERCENT.sub(r"\%", text), tolerant_parsing=True)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            # The decoder does not check that a command has its arguments.
            raise IncompleteError(tex) from error
        text = text.replace("\u00a0", " ")
    text = QUOTED.sub(r"‘\1’", text)

    def restore_formulas(text: str) -> str:
        return FORMULA_MARKS.sub(lambda match: formulas[int(match[1])], text)

    if is_plain:
        return restore_formulas(_replace_emphasis_marks(text, r"\1", r"\1"))
    if not (EMPHASIS_MARK in text or STRONG_MARK in text):
        return restore_formulas(markup.escape_markup(text))
    text = UNMARKED_TEXT.sub(lambda match: markup.escape_markup(match[0], is_part=True), text)
    star_text, command_text = (
        restore_formulas(_replace_emphasis_marks(text, *signs))
        for signs in ((r"*\1*", r"**\1**"), (r"\\emph{\1}", r"\\textbf{\1}"))
    )
    # Markdown does not recognize stars as emphasis next to some characters.
    return star_text if markup.inline(star_text) == markup.inline(command_text) else command_text


def _replace_emphasis_marks(text: str, emphasis: str, strong: str) -> str:
    """Return the text with the marks of emphasis replaced by these patterns."""
    for mark, pattern in ((EMPHASIS_MARK, emphasis), (STRONG_MARK, strong)):
        text = re.sub(f"{mark}(.*?){mark}", pattern, text, flags=re.DOTALL).replace(mark, "")
    return text


# Entries


MAX_BYTES = 50_000_000
FIELDS = frozenset(("title", "abstract", "keywords", "pages", "doi", "author", "pdf", "url"))
VOLUME_TYPES = frozenset(("proceedings", "mvproceedings", "collection", "book", "periodical"))
DOI = re.compile(r"10\.\d{4,9}/\S+")
# What the uses of abbreviations may add to a file: some hundred characters for each of 100,000 entries.
MAX_REPEATED_CHARS = 20_000_000
# Signs of TeX take the decoder 40 microseconds each. A text of a paper has about one in a hundred characters.
MAX_TEX_SIGNS, CHARS_PER_TEX_SIGN = 100_000, 50
# An entry that cannot be read takes more than a kilobyte. Real ones have three hundred characters and more.
MAX_ENTRIES, CHARS_PER_ENTRY = 20_000, 20
VALUE_SIGNS = re.compile(r"\\.|[{}\"#]", re.DOTALL)
# The parser logs every entry that fails; the import reports them as problems.
logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)


class Abbreviations:
    """The texts that `@string` names. They may repeat each other, so what they add to a file is limited."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.chars_left = MAX_REPEATED_CHARS

    def resolve(self, raw: str) -> str:
        """Return the text of a value: parts joined at `#`, delimiters removed, names replaced.

        Raises `InvalidValueError` before a text is too long, and `RepetitionError` before the file is.
        """
        parts = [self._resolve_part(part.strip()) for part in _split_value(raw)]
        if sum(map(len, parts)) > MAX_TEXT_CHARS:
            message = gettext(
                "The text has more than %(most)d characters, with the abbreviations (@string) in it. "
                "Shorten it."
            )
            raise InvalidValueError(message, most=MAX_TEXT_CHARS)
        return "".join(parts)

    def _resolve_part(self, part: str) -> str:
        if len(part) > 1 and part[0] + part[-1] in ('""', "{}"):
            return part[1:-1]
        text = self.texts.get(part.lower())
        if text is None:
            return part
        self.chars_left -= len(text)
        if self.chars_left < 0:
            message = gettext(
                "Up to this text, the abbreviations (@string) of the file add more than %(most)d characters. "
                "Shorten them, or split the file."
            )
            raise RepetitionError(message, most=MAX_REPEATED_CHARS)
        return text


def _split_value(raw: str) -> list[str]:
    """Return the parts of a value between the signs `#` outside of braces and quotation marks."""
    starts, depth, is_quoted = [0], 0, False
    for match in VALUE_SIGNS.finditer(raw):
        sign = match[0]
        depth += {"{": 1, "}": -1}.get(sign, 0)
        is_quoted ^= sign == '"' and not depth
        if sign == "#" and not depth and not is_quoted:
            starts.append(match.end())
    ends = [start - 1 for start in starts[1:]]
    return [raw[start:end] for start, end in zip(starts, [*ends, len(raw)], strict=True)]


# A word in braces, without others in it.
BRACED = re.compile(r"\{[^{}]*\}")


def read(sources: Sequence[Source], context: Context) -> Program:
    findings = Findings(total_size(sources))
    reader = EntryReader(context, findings)
    papers = [paper for source in sources for paper in reader.papers(source)]
    if not (papers or findings.has_problems):
        findings.problem(Where(), "", gettext("There is no entry of a paper in the file."))
    return check_program(Program(papers=tuple(papers)), findings)


class EntryReader:
    """Converter of the entries of files to papers."""

    def __init__(self, context: Context, findings: Findings) -> None:
        self.context, self.findings, self.parts = context, findings, PaperParts(findings)
        # The signs of TeX that may still be decoded.
        self.signs_left = MAX_TEX_SIGNS

    def papers(self, source: Source) -> Iterable[PaperRecord]:
        if is_too_large(source, MAX_BYTES, self.findings):
            return
        text = decode(source, self.findings, advice=gettext("Save it in the encoding UTF-8."))
        if text is None:
            return
        if text.count("@") > MAX_ENTRIES + len(text) // CHARS_PER_ENTRY:
            message = gettext("The file begins entries (@) too often for its length. Is it BibTeX?")
            self.findings.problem(Where(source.name), "", message)
            return
        self.signs_left = MAX_TEX_SIGNS + len(text) // CHARS_PER_TEX_SIGN
        library = parse_string(text, parse_stack=[])
        abbreviations = Abbreviations()
        for string in library.strings:
            where = Where(source.name, _describe_place(string.start_line, string.key))
            value = self._resolve(string.value, abbreviations, where, "@string")
            abbreviations.texts[string.key.lower()] = value
        for block in library.failed_blocks:
            self._report_failed_block(block, source.name)
        for entry in library.entries:
            where = Where(source.name, _describe_place(entry.start_line, entry.key))
            if entry.entry_type.lower() in VOLUME_TYPES:
                message = gettext("Left out because it is a whole volume.")
                self.findings.note("warning", where, message)
            else:
                values: dict[str, set[str]] = defaultdict(set)
                for field in entry.fields:
                    values[field.key.lower()].add(str(field.value))
                if repeated_names := [name for name, texts in values.items() if len(texts) > 1]:
                    self._report_repeated_fields(where, repeated_names)
                fields = {
                    name: self._resolve(raw, abbreviations, where, name)
                    for name, texts in values.items()
                    for raw in texts
                    if name in FIELDS
                }
                yield self._paper(entry.key, fields, where)

    def _resolve(self, raw: str, abbreviations: Abbreviations, where: Where, name: str) -> str:
        """Return the text of a value, or its beginning with a problem. A file that repeats too much ends."""
        try:
            return abbreviations.resolve(raw)
        except InvalidValueError as error:
            self.findings.problem(where, name, str(error))
            if isinstance(error, RepetitionError):
                self.findings.raise_problems()
            return short(raw)

    def _report_failed_block(self, block: ParsingFailedBlock, file_name: str) -> None:
        ignored_block = getattr(block, "ignore_error_block", None)
        opening = re.match(r"@\s*\w+\s*[{(]\s*([^\s,{}()=]{1,60})", block.raw or "")
        key = getattr(ignored_block, "key", "") or (opening[1] if opening else "")
        where = Where(file_name, _describe_place(block.start_line, key))
        if isinstance(block, DuplicateFieldKeyBlock):
            self._report_repeated_fields(where, block.duplicate_keys)
            return
        if isinstance(block, DuplicateBlockKeyBlock):
            message = gettext("Another entry has this key too. Give each its own.")
        else:
            reason = getattr(block.error, "abort_reason", None) or str(block.error)
            message = gettext("This entry cannot be read: %(reason)s") % {"reason": short(str(reason), 160)}
        self.findings.problem(where, "", message)

    def _report_repeated_fields(self, where: Where, names: Iterable[str]) -> None:
        message = gettext("A field occurs twice in this entry (%(names)s). Keep one of them.")
        self.findings.problem(where, "", message, names=", ".join(sorted(names)))

    def _paper(self, key: str, fields: dict[str, str], where: Where) -> PaperRecord:
        abstract, keywords, pages = fields.get("abstract"), fields.get("keywords"), fields.get("pages")
        keyword_text = self._text(keywords or "", where, "keywords", is_plain=True)
        terms = keyword_text.split(";" if ";" in keyword_text else ",")
        # In a key written by this site, such as `mlsys2021.17`, the uid follows the dot.
        own_key = re.match(rf"[a-z][a-z0-9-]*{re.escape(self.context.edition)}\.(?=[A-Za-z0-9])(.+)\Z", key)
        doi = DOI.search(fields.get("doi", "").replace("\\", ""))
        return PaperRecord(
            where=where,
            uid=make_uid(own_key[1] if own_key else key),
            title=tidy(self._text(fields.get("title", ""), where, "title")),
            status="published",
            abstract=UNSTATED if abstract is None else self._text(abstract, where, "abstract").strip(),
            keywords=UNSTATED if keywords is None else tidy_each(terms),
            pages=UNSTATED if pages is None else re.sub(r"\s*[-–]+\s*", "-", pages.strip()),
            doi=doi[0] if doi else UNSTATED,
            authors=self._authors(fields["author"], where) if "author" in fields else UNSTATED,
            materials=tuple(self._links(fields, where)) or UNSTATED,
        )

    def _text(self, tex: str, where: Where, name: str, *, is_plain: bool = False) -> str:
        self.signs_left -= sum(1 for _ in TEX_SYNTAX.finditer(tex))
        if self.signs_left < 0:
            message = gettext(
                "Up to this text, the file has more commands, braces and accents of TeX than references do. "
                "Write accents as Unicode, or split the file."
            )
            self.findings.problem(where, name, message)
            self.findings.raise_problems()
        try:
            text = decode_tex(tex, is_plain=is_plain)
        except IncompleteError:
            message = gettext(
                "A command of TeX lacks what belongs to it in %(field)s: the text stays as it is."
            )
            self.findings.note("doubt", where, message, field=name)
            text = tex
        except (ValueError, RecursionError):
            self.findings.problem(where, name, gettext("Braces are nested too deeply here."))
            return ""
        return self.parts.text(text, where, name)

    def _authors(self, value: str, where: Where) -> tuple[AuthorRecord, ...]:
        authors = []
        for name in split_multiple_persons_names(value)[: MAX_AUTHORS + 1]:
            if name.strip().lower() == "others":
                message = gettext("The list of authors ends in “and others”: it is not complete.")
                self.findings.note("doubt", where, message)
                continue
            if is_placeholder(name.strip(" {}")):
                note_placeholder(name.strip(" {}"), where, self.findings)
                continue
            try:
                parts = parse_single_name_into_parts(name, strict=True)
            except InvalidNameError:
                message = gettext("This is not a name of BibTeX: “%(name)s”. Write it as Family, Given.")
                self.findings.problem(where, "author", message, name=short(name))
                continue
            given = self._text(" ".join(parts.first), where, "author", is_plain=True)
            family_words = [*parts.von, *parts.last, *parts.jr]
            family = self._text(" ".join(family_words), where, "author", is_plain=True)
            # Without a comma or braces, BibTeX takes the last word for the family name.
            is_stated = "," in BRACED.sub("", name) or any(word.startswith("{") for word in parts.last)
            author = self.parts.author(
                f"{given} {family}",
                where,
                given=given if is_stated else "",
                family=family if is_stated else "",
            )
            authors.append(author)
        return tuple(authors)

    def _links(self, fields: dict[str, str], where: Where) -> Iterable[MaterialRecord]:
        own_papers_path = f"/{self.context.edition}/papers/"
        for name in ("pdf", "url"):
            url = fields.get(name, "").strip().replace("\\", "")
            if own_papers_path in url or "//doi.org/" in url or not keep_link(url, where, self.findings):
                continue
            is_pdf = name == "pdf" or url.lower().partition("?")[0].endswith(".pdf")
            label = "" if is_pdf else "Paper"
            yield MaterialRecord(where=where, kind="pdf" if is_pdf else "other", url=url, label=label)


def _describe_place(line: int | None, key: str) -> str:
    number = f"line {line + 1}" if line is not None else "?"
    return f"{number} ({short(key)})" if key else number
