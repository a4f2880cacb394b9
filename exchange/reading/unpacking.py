"""Files out of a ZIP that holds folders: only the wanted ones, bounded, and never written anywhere."""

import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.findings import Findings, short

# How a ZIP begins, and what a workbook, which is one, must hold.
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
BOOK = "xl/workbook.xml"
MAX_FILES = 10_000
MAX_BYTES = 100_000_000
# What the library says of one that it cannot open or unpack.
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError, ValueError)


def unpacked(source: Source, is_wanted: Callable[[str], bool], findings: Findings) -> list[Source]:
    """Return the wanted files inside if this is a ZIP, by their bare names, else the file itself."""
    if not source.content.startswith(ZIP):
        return [source]
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            return list(_members(archive, source.name, is_wanted, findings))
    except DAMAGED:
        message = gettext("The ZIP file is damaged or of an unusual kind. Pack it again.")
        findings.problem(Where(source.name), "", message)
        return []


def _members(
    archive: zipfile.ZipFile, name: str, is_wanted: Callable[[str], bool], findings: Findings
) -> Iterator[Source]:
    """Yield the files. Sizes are counted while reading: a header can lie."""
    members, left = archive.infolist(), MAX_BYTES
    if len(members) > MAX_FILES:
        message = gettext("The ZIP file holds more than %(most_files)s files.") % {"most_files": MAX_FILES}
        findings.problem(Where(name), "", message)
        return
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        where = Where(name, short(member.filename))
        if ".." in path.parts or path.is_absolute() or ":" in "".join(path.parts[:1]):
            message = gettext("The name of this file leads out of the ZIP file. Pack the folder again.")
            findings.problem(where, "", message)
        elif member.is_dir() or "__MACOSX" in path.parts or not is_wanted(path.name):
            continue
        elif member.flag_bits & 1:
            findings.problem(where, "", gettext("The file is encrypted. Pack it without a password."))
        else:
            with archive.open(member) as file:
                content = file.read(left + 1)
            left -= len(content)
            if left < 0:
                message = gettext("The files are larger than %(megabytes)s MB together.")
                findings.problem(Where(name), "", message % {"megabytes": MAX_BYTES // 1_000_000})
                return
            yield Source(path.name, content)
