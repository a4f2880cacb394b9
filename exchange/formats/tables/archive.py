"""Sets of files in one ZIP: opened with limits, written with the same bytes every time."""

import io
import zipfile
from collections.abc import Iterable, Iterator

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.findings import Findings, short
from exchange.reading.unpacking import DAMAGED, ZIP

MAX_FILES = 100
MAX_BYTES = 200_000_000
# Left by one system's packing tool beside the real files.
RESOURCE_FORKS = "__MACOSX/"
EPOCH = (1980, 1, 1, 0, 0, 0)


def opened(source: Source, findings: Findings) -> list[Source]:
    """Return the files inside if this is a ZIP, else the file itself."""
    if not source.content.startswith(ZIP):
        return [source]
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            return list(_members(archive, source.name, findings))
    except DAMAGED:
        findings.problem(
            Where(source.name), "", gettext("The ZIP file is damaged or of an unusual kind. Pack it again.")
        )
        return []


def _members(archive: zipfile.ZipFile, name: str, findings: Findings) -> Iterator[Source]:
    """Yield the files of the archive. Sizes are counted while reading: a header can lie."""
    left = MAX_BYTES
    members = [member for member in archive.infolist() if not member.filename.startswith(RESOURCE_FORKS)]
    if len(members) > MAX_FILES:
        findings.problem(
            Where(name),
            "",
            gettext("The ZIP file holds more than %(most_files)s files.") % {"most_files": MAX_FILES},
        )
        return
    for member in members:
        where = Where(name, short(member.filename))
        if "/" in member.filename or "\\" in member.filename:
            findings.problem(where, "", gettext("Pack the files themselves, not a folder that holds them."))
        elif member.flag_bits & 1:
            findings.problem(where, "", gettext("The file is encrypted. Pack it without a password."))
        else:
            with archive.open(member) as file:
                content = file.read(left + 1)
            left -= len(content)
            if left < 0:
                findings.problem(
                    Where(name),
                    "",
                    gettext("The files are larger than %(most_bytes)s MB together.")
                    % {"most_bytes": MAX_BYTES // 10**6},
                )
                return
            yield Source(member.filename, content)


def packed(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return a ZIP of these files, without times or owners, so that the same files make the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files:
            archive.writestr(member_called(name), content)
    return buffer.getvalue()


def member_called(name: str) -> zipfile.ZipInfo:
    """Return the head of a file inside, which says nothing of times or owners."""
    member = zipfile.ZipInfo(name, EPOCH)
    member.create_system = 3
    member.external_attr = 0o644 << 16
    member.compress_type = zipfile.ZIP_DEFLATED
    return member
