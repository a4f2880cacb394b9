"""RIS: one record per paper, for Zotero, EndNote, Mendeley and library systems. Written only."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

import markup
from exchange.citations import Author, Citation, citation_writer, single_file_writer
from exchange.files import Format
from exchange.reading.values import tidy


def entry(citation: Citation) -> str:
    # A value has no line ends, which begin the next field.
    return "".join(f"{tag}  - {tidy(value)}\r\n" for tag, value in _fields(citation))


def _fields(citation: Citation) -> Iterator[tuple[str, str]]:
    first, last = citation.first_and_last_page
    yield "TY", "CPAPER"
    yield "ID", citation.key
    yield from (("AU", _name(author)) for author in citation.authors)
    optional = (
        ("TI", markup.plain(citation.title)),
        # Zotero and EndNote read conference and proceedings from T2 and C3, others the proceedings from BT.
        ("T2", citation.conference),
        ("C3", citation.proceedings or citation.event),
        ("BT", citation.proceedings),
        *(("ED", _name(editor)) for editor in citation.editors),
        ("T3", citation.series),
        ("VL", citation.volume),
        ("PB", citation.publisher),
        ("C1", citation.publisher_place),
        ("PY", str(citation.year or "")),
        ("CY", citation.place),
        ("SP", first),
        ("EP", last),
        ("SN", citation.isbn),
        ("SN", citation.issn),
        ("DO", citation.doi),
        ("UR", citation.url),
        *(("KW", keyword) for keyword in citation.keywords),
        ("AB", markup.plain(citation.abstract)),
        # RIS has no field for the license.
        ("N1", citation.license and f"License: {citation.license}"),
    )
    yield from ((tag, value) for tag, value in optional if value.strip())
    yield "ER", ""


def _name(author: Author) -> str:
    """Return "Family, Given, Suffix"; a comma inside a part would begin the next."""
    parts = (author.family, author.given, author.suffix)
    return ", ".join(part.replace(",", " ") for part in parts if part)


cite = citation_writer(entry, "\r\n")
write = single_file_writer(cite, "ris")

FORMAT = Format(
    name="ris",
    label=_("References (RIS)"),
    description=_("A record for every paper, for Zotero, EndNote, Mendeley and library systems."),
    extensions=("ris",),
    media_type="application/x-research-info-systems",
    write=write,
    cite=cite,
    short_label="RIS",
    citation_place=2,
    takes_stream=True,
)
