"""ZIP files: unpack them in memory with limits, and pack them so that equal files make equal bytes."""

import io
import lzma
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Findings, Where, short

# How a ZIP file begins, and each entry of its index, and the member that every XLSX workbook has.
ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
INDEX_ENTRY = b"PK\x01\x02"
WORKBOOK_XML = "xl/workbook.xml"
MAX_FILES = 10_000
# The limit for a ZIP file without folders.
MAX_FLAT_FILES = 100
MAX_BYTES = 200_000_000
# What a file inside takes besides its content, and how many bytes are unpacked in a step.
MEMBER_BYTES, BYTES_PER_STEP = 1_000, 200
# macOS adds this folder next to the real files, and names with these beginnings beside them.
RESOURCE_FORKS = "__MACOSX"
HIDDEN_NAMES = ("._", ".DS_Store")
# The flag of a name in UTF-8, which macOS does not set.
UTF8_NAME = 0x800
# Other methods expand without a limit: `zipfile` unpacks four kilobytes of them at once.
DEFLATE_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
EPOCH = (1980, 1, 1, 0, 0, 0)
# The errors that zipfile raises for a damaged or unsupported file.
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    OSError,
    ValueError,
)


def member_names(source: Source) -> list[str]:
    """Return the names in a ZIP, without resource forks; an empty list if the source is not a ZIP."""
    if not source.content.startswith(ZIP_SIGNATURES) or has_too_many_entries(source):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            return [member.filename for member in _real_members(archive)[:MAX_FILES]]
    except ZIP_ERRORS:
        return []


def has_too_many_entries(source: Source) -> bool:
    """Return whether the index of a ZIP is too long to be read. Files inside may have an index too."""
    return source.content.count(INDEX_ENTRY) > 2 * MAX_FILES


def is_workbook(source: Source) -> bool:
    return WORKBOOK_XML in member_names(source)


def unpack(
    source: Source, findings: Findings, name_filter: Callable[[str], bool] | None = None
) -> list[Source]:
    """Return the files inside if this is a ZIP, else the file itself.

    With `name_filter`, files in folders are included, by their paths, and files whose bare names it refuses
    are skipped.
    """
    if not source.content.startswith(ZIP_SIGNATURES):
        return [source]
    if has_too_many_entries(source):
        message = gettext("The ZIP file holds more than %(most_files)s files.")
        findings.problem(Where(source.name), "", message, most_files=MAX_FILES)
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            return list(_members(archive, source.name, name_filter, findings))
    except ZIP_ERRORS:
        message = gettext("The ZIP file is damaged or not supported. Create it again.")
        findings.problem(Where(source.name), "", message)
        return []


def _real_members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the members without what macOS adds, their names composed, as people type them."""
    members = []
    for member in archive.infolist():
        path = PurePosixPath(member.filename)
        if RESOURCE_FORKS not in path.parts and not path.name.startswith(HIDDEN_NAMES):
            member.filename = _composed_name(member)
            members.append(member)
    return members


def _composed_name(member: zipfile.ZipInfo) -> str:
    name = member.filename
    if not member.flag_bits & UTF8_NAME:
        # `zipfile` takes names without the flag for the encoding of DOS.
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name)


def _members(
    archive: zipfile.ZipFile, archive_name: str, name_filter: Callable[[str], bool] | None, findings: Findings
) -> Iterator[Source]:
    members = _real_members(archive)
    max_files = MAX_FILES if name_filter else MAX_FLAT_FILES
    if len(members) > max_files:
        message = gettext("The ZIP file holds more than %(most_files)s files.")
        findings.problem(Where(archive_name), "", message, most_files=max_files)
        return
    # Check before unpacking: `zipfile` reads no more of a file than its header states.
    if sum(member.file_size for member in members) > MAX_BYTES:
        message = gettext("The files are larger than %(megabytes)s MB together.")
        findings.problem(Where(archive_name), "", message, megabytes=MAX_BYTES // 1_000_000)
        return
    for member in members:
        name_inside = member.filename.replace("\\", "/")
        path = PurePosixPath(name_inside)
        where = Where(archive_name, short(member.filename))
        if not name_filter and "/" in name_inside:
            findings.problem(where, "", gettext("Pack the files themselves, not a folder that holds them."))
        elif ".." in path.parts or path.is_absolute() or ":" in "".join(path.parts[:1]):
            message = gettext("The name of this file points outside the ZIP file. Create the ZIP again.")
            findings.problem(where, "", message)
        elif name_filter and (member.is_dir() or not name_filter(path.name)):
            continue
        elif member.flag_bits & 1:
            findings.problem(where, "", gettext("The file is encrypted. Create the ZIP without a password."))
        elif member.compress_type not in DEFLATE_METHODS:
            message = gettext("The file is compressed in an unusual way. Create the ZIP with “Deflate”.")
            findings.problem(where, "", message)
        else:
            findings.spend_memory(member.file_size + MEMBER_BYTES, where)
            findings.spend_steps(member.file_size // BYTES_PER_STEP, where)
            with archive.open(member) as file:
                content = file.read(member.file_size + 1)
            yield Source(path.as_posix(), content)


def pack_zip(files: Iterable[tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files:
            archive.writestr(zip_member(name), content)
    return buffer.getvalue()


def zip_member(name: str) -> zipfile.ZipInfo:
    """Return the header of a member without times or owners, so that equal files make equal bytes."""
    member = zipfile.ZipInfo(name, EPOCH)
    member.create_system = 3
    member.external_attr = 0o644 << 16
    member.compress_type = zipfile.ZIP_DEFLATED
    return member
