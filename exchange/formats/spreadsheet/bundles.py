"""ZIP files with several tables, as review systems export them."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from django.utils.translation import gettext

from exchange.files import Source
from exchange.formats.spreadsheet.hotcrp import hotcrp_tables, is_hotcrp
from exchange.problems import Findings, Where, short
from exchange.reading.archives import WORKBOOK_XML, member_names, unpack
from exchange.reading.papers import shorten_list
from exchange.reading.textfiles import extension, is_too_large

MAX_HOTCRP_BYTES = 20_000_000
TABLE_EXTENSIONS = ("csv", "tsv", "xlsx", "xlsm")


def unpack_tables(sources: Sequence[Source], findings: Findings) -> list[Source]:
    """Return the files with the tables of ZIP files in their place. Note the other files of these."""
    unpacked: list[Source] = []
    for source in sources:
        if is_hotcrp(source):
            unpacked += _hotcrp_tables(source, findings)
            continue
        names = member_names(source)
        # What can't be opened is reported by the reader.
        if not names or WORKBOOK_XML in names:
            unpacked.append(source)
            continue
        tables = unpack(source, findings, _is_table_name)
        unpacked += [Source(f"{source.name}: {table.name}", table.content) for table in tables]
        bare_names = [PurePosixPath(name).name for name in names if not name.endswith("/")]
        others = [short(name) for name in bare_names if not _is_table_name(name)]
        if not tables and not findings.has_problems:
            message = gettext("There is no table in the ZIP file. Pack CSV or XLSX files.")
            findings.problem(Where(source.name), "", message)
        elif others:
            message = gettext("Left out, since they are no tables: %(names)s.")
            findings.note("warning", Where(source.name), message, names=shorten_list(others))
    return unpacked


def _hotcrp_tables(source: Source, findings: Findings) -> list[Source]:
    if is_too_large(source, MAX_HOTCRP_BYTES, findings):
        return []
    try:
        return hotcrp_tables(source)
    except (ValueError, RecursionError):
        findings.problem(Where(source.name), "", gettext("This is no list of papers of HotCRP."))
        return []


def _is_table_name(name: str) -> bool:
    return extension(name) in TABLE_EXTENSIONS
