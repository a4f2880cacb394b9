"""Read the sheets of workbooks (Office Open XML) row by row: their texts, numbers and dates as text.

The parts are unpacked and parsed piece by piece, and each piece is counted, so that a small file cannot fill
the memory. Hidden sheets and rows are left out, and counted.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from sys import getsizeof
from xml.parsers.expat import ParserCreate

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Findings, Where, short
from exchange.reading.archives import DEFLATE_METHODS, WORKBOOK_XML

RELATIONS = "xl/_rels/workbook.xml.rels"
MAX_PARTS = 10_000
MAX_SHEETS = 50
MAX_COLUMNS = 200
PIECE_BYTES = 65_536
# Unpacking so many bytes takes as long as one element.
BYTES_PER_STEP = 200
# No tag, comment or attribute of a workbook is as long, and no workbook has so many names or levels.
MAX_TAG_BYTES, MAX_NAMES, MAX_DEPTH = 1_000_000, 2_000, 100
# Longer texts are counted before their cell is complete.
MAX_SHORT_CHARS = 1_000
# A style is a number in a list; each takes a few bytes.
STYLE_BYTES = 100
# The formats of numbers that are dates by their number, and those that spell one out.
DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
DURATION_FORMATS = frozenset((46,))
QUOTED_FORMAT = re.compile(r'".*?"|\[(?!hh?\]|mm?\]|ss?\])[^\]]*\]|[_\\].', re.IGNORECASE)
DATE_LETTER = re.compile(r"[dmhys]", re.IGNORECASE)
DURATION = re.compile(r"\[(?:hh?|mm?|ss?)\]", re.IGNORECASE)
FIRST_DAY, FIRST_DAY_1904 = datetime.fromisoformat("1899-12-30"), datetime.fromisoformat("1904-01-01")
FORMULA, ERROR = "formula", "error"
CELL_PLACE = re.compile(r"([A-Z]{1,3})\d{1,7}")
MERGED_CELLS = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})")
MERGED_BYTES = 200
# The escapes of workbooks for characters that XML cannot hold, and for an underscore that would begin one.
ESCAPED_CHAR = re.compile(r"_x([0-9A-Fa-f]{4})_")

type MergedCells = tuple[str, int, str, int]


class DamagedError(Exception):
    """The workbook is not as the standard wants it. The text says where."""


class PasswordError(Exception):
    """The workbook has a password."""


@dataclass(slots=True)
class SheetRow:
    """A row that is not empty: number, cells as text, and why cells cannot be read, by their index."""

    number: int
    cells: list[str]
    faults: dict[int, tuple[str, str]] = field(default_factory=dict)
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class SheetPart:
    """A sheet of a workbook, and the part that holds its rows."""

    title: str
    path: str
    is_hidden: bool


class Workbook:
    """A workbook that is open for reading. Raises `ProgramError` where it expands beyond the limits."""

    def __init__(self, source: Source, findings: Findings) -> None:
        self.where, self.findings = Where(source.name), findings
        self.archive = zipfile.ZipFile(io.BytesIO(source.content))
        self.parts = {member.filename: member for member in self.archive.infolist()}
        if len(self.parts) > MAX_PARTS:
            raise DamagedError("parts")
        if any(member.flag_bits & 1 for member in self.parts.values()):
            raise PasswordError
        self.strings: list[str] = []
        self.styles: list[int] = []
        self.date_formats, self.duration_formats = {*DATE_FORMATS}, {*DURATION_FORMATS}
        index, relations = _IndexParser(), _RelationParser()
        self._parse(WORKBOOK_XML, index)
        self._parse(RELATIONS, relations)
        self.first_day = FIRST_DAY_1904 if index.is_1904 else FIRST_DAY
        self.sheets = [
            SheetPart(title, relations.targets[relation][1], is_hidden)
            for title, relation, is_hidden in index.sheets
            if relations.targets.get(relation, ("", ""))[0] == "worksheet"
        ]
        # Charts and macros are no sheets. The other parts occur once.
        self._part_paths = dict(relations.targets.values())

    def read_texts(self) -> None:
        """Read the texts and styles that cells refer to. Call this before `rows`."""
        if (path := self._part_paths.get("sharedStrings", "")) in self.parts:
            self._parse(path, _StringParser(self))
        if (path := self._part_paths.get("styles", "")) in self.parts:
            styles = _StyleParser(self)
            self._parse(path, styles)
            self.styles = styles.formats
            for number, code in styles.codes.items():
                is_duration = DURATION.search(code) is not None
                plain_code = QUOTED_FORMAT.sub("", code.split(";")[0])
                (self.duration_formats.add if is_duration else self.duration_formats.discard)(number)
                is_date = is_duration or DATE_LETTER.search(plain_code) is not None
                (self.date_formats.add if is_date else self.date_formats.discard)(number)

    def rows(self, sheet: SheetPart, merged: list[MergedCells]) -> Iterator[SheetRow]:
        """Yield the rows of a sheet, and add its merged cells, which follow the rows, to a list."""
        parser = _RowParser(self, merged)
        for _ in self._pieces(sheet.path, parser):
            yield from parser.rows
            parser.rows.clear()

    def _parse(self, part: str, parser: "_PartParser") -> None:
        for _ in self._pieces(part, parser):
            pass

    def _pieces(self, part: str, parser: "_PartParser") -> Iterator[None]:
        """Parse a part of the workbook piece by piece."""
        member = self.parts.get(part)
        if member is None:
            raise DamagedError(f"{part} is missing")
        if member.compress_type not in DEFLATE_METHODS:
            raise DamagedError("compression")
        fed = 0
        with self.archive.open(member) as file:
            while piece := file.read(PIECE_BYTES):
                fed += len(piece)
                parser.element_count = 0
                parser.expat.Parse(piece, False)
                if fed - parser.expat.CurrentByteIndex > MAX_TAG_BYTES:
                    raise DamagedError("tag")
                steps = parser.element_count + len(piece) // BYTES_PER_STEP
                self.findings.spend_steps(steps, self.where)
                yield
        parser.element_count = 0
        parser.expat.Parse(b"", True)
        yield


class _PartParser:
    """A parser of one part. Subclasses handle elements by their names without prefix."""

    def __init__(self) -> None:
        self.expat = ParserCreate()
        self.expat.buffer_text = True
        self.expat.StartDoctypeDeclHandler = _refuse_doctype
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end
        self.element_count = self.depth = 0
        self._local_names: dict[str, str] = {}
        self._attribute_names: set[str] = set()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.element_count += 1
        self.depth += 1
        local_name = self._local_names.get(name)
        if local_name is None or not self._attribute_names.issuperset(attributes):
            local_name = self._local_names[name] = name.rpartition(":")[2]
            self._attribute_names.update(attributes)
            if len(self._local_names) + len(self._attribute_names) > MAX_NAMES:
                raise DamagedError("names")
        if self.depth > MAX_DEPTH:
            raise DamagedError("depth")
        self.start(local_name, attributes)

    def _end(self, name: str) -> None:
        self.depth -= 1
        self.end(self._local_names[name])

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the begin of an element."""

    def end(self, name: str) -> None:
        """Handle the end of an element."""


def _refuse_doctype(*declaration: object) -> None:
    raise DamagedError("DOCTYPE")


class _IndexParser(_PartParser):
    """Collects title, relation and visibility of the sheets."""

    def __init__(self) -> None:
        super().__init__()
        self.sheets: list[tuple[str, str, bool]] = []
        self.is_1904 = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "sheet":
            relation = next((value for key, value in attributes.items() if key.endswith(":id")), "")
            is_hidden = attributes.get("state", "visible") != "visible"
            self.sheets.append((attributes.get("name", ""), relation, is_hidden))
            if len(self.sheets) > MAX_PARTS:
                raise DamagedError("sheets")
        elif name == "workbookPr":
            self.is_1904 = attributes.get("date1904", "") in ("1", "true")


class _RelationParser(_PartParser):
    """Collects type and target of the parts that the workbook refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: dict[str, tuple[str, str]] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship":
            kind = attributes.get("Type", "").rpartition("/")[2]
            path = posixpath.normpath(posixpath.join("/xl", attributes.get("Target", "")))
            self.targets[attributes.get("Id", "")] = kind, path.lstrip("/")
            if len(self.targets) > MAX_PARTS:
                raise DamagedError("relations")


class _TextParser(_PartParser):
    """A parser that collects the characters of some elements."""

    def __init__(self, workbook: Workbook) -> None:
        super().__init__()
        self.workbook = workbook
        self.pieces: list[str] = []
        self.phonetic_depth = 0

    def collect(self, *, is_on: bool) -> None:
        self.expat.CharacterDataHandler = self._add_text if is_on else None

    def _add_text(self, text: str) -> None:
        # Short texts of cells are counted with their row.
        if len(text) > MAX_SHORT_CHARS:
            self.workbook.findings.spend_memory(len(text), self.workbook.where)
        self.pieces.append(text)

    def take_text(self) -> str:
        text = "".join(self.pieces)
        self.pieces.clear()
        return text


class _StringParser(_TextParser):
    """Collects the texts that cells share, without the readings of Japanese words."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "t" and not self.phonetic_depth:
            self.collect(is_on=True)
        elif name == "rPh":
            self.phonetic_depth += 1

    def end(self, name: str) -> None:
        if name == "t":
            self.collect(is_on=False)
        elif name == "rPh":
            self.phonetic_depth -= 1
        elif name == "si":
            text = unescape(self.take_text())
            self.workbook.findings.spend_memory(8 + getsizeof(text), self.workbook.where)
            self.workbook.strings.append(text)


class _StyleParser(_PartParser):
    """Collects the number formats of the styles of cells."""

    def __init__(self, workbook: Workbook) -> None:
        super().__init__()
        self.workbook = workbook
        self.codes: dict[int, str] = {}
        self.formats: list[int] = []
        self.is_in_cells = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "cellXfs":
            self.is_in_cells = True
        elif name == "xf" and self.is_in_cells:
            self.workbook.findings.spend_memory(STYLE_BYTES, self.workbook.where)
            self.formats.append(int(attributes.get("numFmtId", "0")))
        elif name == "numFmt":
            code = attributes.get("formatCode", "")[:1_000]
            self.workbook.findings.spend_memory(STYLE_BYTES + getsizeof(code), self.workbook.where)
            self.codes[int(attributes.get("numFmtId", "0"))] = code

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self.is_in_cells = False


class _RowParser(_TextParser):
    """Collects the rows of a sheet that are not empty, and merged cells."""

    def __init__(self, workbook: Workbook, merged: list[MergedCells]) -> None:
        super().__init__(workbook)
        self.rows: list[SheetRow] = []
        self.merged = merged
        self.row = SheetRow(0, [])
        self.column, self.kind, self.style, self.value, self.formula = 0, "", 0, "", ""
        self.has_value = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            place = CELL_PLACE.fullmatch(attributes.get("r", ""))
            self.column = column_index(place[1]) if place else self.column + 1
            self.kind = attributes.get("t", "n")
            self.style = int(attributes.get("s", "0"))
            self.formula, self.has_value = "", False
            self.pieces.clear()
        elif name in ("v", "f") or (name == "t" and not self.phonetic_depth):
            self.collect(is_on=True)
        elif name == "row":
            number = int(attributes.get("r", "0"))
            number = number if number > self.row.number else self.row.number + 1
            self.row = SheetRow(number, [], is_hidden=attributes.get("hidden", "") in ("1", "true"))
            self.column = -1
        elif name == "rPh":
            self.phonetic_depth += 1
        elif name == "mergeCell" and (place := MERGED_CELLS.fullmatch(attributes.get("ref", ""))):
            self.workbook.findings.spend_memory(MERGED_BYTES, self.workbook.where)
            self.merged.append((place[1], int(place[2]), place[3], int(place[4])))

    def end(self, name: str) -> None:
        if name in ("v", "t"):
            # A text may have several parts in different fonts.
            self.collect(is_on=False)
            self.has_value = True
        elif name == "f":
            self.collect(is_on=False)
            self.formula, self.has_value = f"={self.take_text()}", True
        elif name == "c":
            if self.has_value:
                self.value = self.take_text()
                self._add_cell()
        elif name == "row":
            if any(map(str.strip, self.row.cells)) or self.row.faults:
                self.rows.append(self.row)
        elif name == "rPh":
            self.phonetic_depth -= 1

    def _add_cell(self) -> None:
        """Put the cell into its column. All columns beyond the limit are the one after it."""
        index, cells = min(self.column, MAX_COLUMNS), self.row.cells
        text, fault = self.formula or self._cell_text(), FORMULA if self.formula else ""
        if self.kind == "e" and not fault:
            fault = ERROR
        if not text:
            return
        cells += [""] * (index + 1 - len(cells))
        cells[index] = text
        if fault:
            self.row.faults[index] = fault, text if fault == ERROR else ""

    def _cell_text(self) -> str:
        if self.kind == "n":
            return self._number_text()
        if self.kind == "s":
            return self.workbook.strings[int(self.value)] if self.value else ""
        if self.kind == "b":
            return cell_text(self.value.strip() in ("1", "true")) if self.value else ""
        if self.kind == "d":
            try:
                return cell_text(datetime.fromisoformat(self.value.strip()))
            except ValueError:
                return self.value
        return unescape(self.value)

    def _number_text(self) -> str:
        digits = self.value.strip()
        if not digits:
            return ""
        try:
            number = float(digits)
            style = self.workbook.styles[self.style] if self.style < len(self.workbook.styles) else 0
            if style in self.workbook.date_formats:
                return cell_text(self._moment(number, is_duration=style in self.workbook.duration_formats))
            return cell_text(int(digits) if digits.lstrip("+-").isdecimal() else number)
        except (ValueError, OverflowError):
            self.kind = "e"
            return "#VALUE!"

    def _moment(self, number: float, *, is_duration: bool) -> object:
        """Return the time that a number of days is. Excel takes 1900 for a leap year."""
        if is_duration:
            return timedelta(seconds=round(number * 86_400))
        days, fraction = divmod(number, 1)
        clock = timedelta(milliseconds=round(fraction * 86_400_000))
        if 0 <= number < 1 and not clock.days:
            return (FIRST_DAY + clock).time()
        if 0 < number < 60 and self.workbook.first_day == FIRST_DAY:
            days += 1
        return self.workbook.first_day + timedelta(days=days) + clock


def column_index(letters: str) -> int:
    """Return the index of a column: 0 for `A`, 26 for `AA`."""
    index = 0
    for letter in letters:
        index = index * 26 + ord(letter) - 64
    return index - 1


def unescape(text: str) -> str:
    return ESCAPED_CHAR.sub(lambda code: chr(int(code[1], 16)), text) if "_x" in text else text


def cell_text(value: object) -> str:
    """Return the value of a cell as text, as in a CSV file: whole numbers have no decimal point."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, time):
        return _round_to_seconds(datetime.combine(date.min, value)).time().isoformat()
    if isinstance(value, datetime):
        value = _round_to_seconds(value)
        at_midnight = not (value.hour or value.minute or value.second)
        return value.date().isoformat() if at_midnight else value.isoformat(" ", "seconds")
    return str(value)


def _round_to_seconds(moment: datetime) -> datetime:
    """Return a time without the error of a serial number with few digits, such as 9:59:59.99 for 10:00."""
    return (moment + timedelta(microseconds=500_000)).replace(microsecond=0)


def describe_fault(kind: str, text: str) -> str:
    """Return why a cell cannot be read."""
    if kind == FORMULA:
        return gettext("The cell holds a formula. Put its value in its place.")
    message = gettext("The cell holds an error, %(error)s. Put its value in its place.")
    return message % {"error": short(text)}
