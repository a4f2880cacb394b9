"""What a file seems to be by its first kilobytes: enough to guess its format, never to read it."""

import csv
import io
import re
import zipfile
from pathlib import PurePath

from exchange.files import Source
from exchange.reading.archives import BOOK, is_workbook
from exchange.reading.sheets import column_name, delimiter_of

HEAD = 65_536
SHEET = re.compile(r"<(?:\w+:)?sheet\b[^>]*\bname=\"([^\"]*)\"")
# Strings, and the signs that open and close objects and lists.
PIECES = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]')


def ending(source: Source) -> str:
    """Return the ending of the file's name: "csv"."""
    return PurePath(source.name).suffix[1:].casefold()


def head(source: Source) -> str:
    """Return how the file begins, as text."""
    content = source.content[:HEAD]
    coding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return content.decode(coding, "ignore")


def outer_names(text: str) -> set[str]:
    """Return the names in the outermost object of JSON, as far as the beginning shows them."""
    found, depth = set(), 0
    if not text.lstrip().startswith("{"):
        return set()
    for piece in PIECES.finditer(text):
        sign = piece[0]
        if sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        elif depth == 1 and piece[2]:
            found.add(piece[1])
    return found


def columns(source: Source) -> set[str]:
    """Return the names of the columns of a CSV file."""
    line = head(source).lstrip("\r\n").partition("\n")[0]
    try:
        row = next(csv.reader(io.StringIO(line), delimiter=delimiter_of(line)), [])
    except csv.Error:
        return set()
    return {column_name(cell) for cell in row} - {""}


def sheets(source: Source) -> list[str]:
    """Return the names of the sheets of a workbook; nothing if it is none."""
    if not is_workbook(source):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive, archive.open(BOOK) as file:
            return SHEET.findall(file.read(HEAD).decode("utf-8", "ignore"))
    except Exception:  # a damaged file of others: the reader says so
        return []
