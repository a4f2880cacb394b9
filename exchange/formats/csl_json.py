"""CSL-JSON: papers for citation processors (citeproc, Zotero, Pandoc). Written only."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from django.utils.translation import gettext_lazy as _

import markup
from exchange.citations import Author, Citation, citations, single_file_writer
from exchange.files import Context, Format
from exchange.reading.values import tidy
from exchange.records import Program


def cite(parts: Iterable[tuple[Program, Context]]) -> Iterator[bytes]:
    """Yield one list with the papers of all these programs."""
    opening = "[\n"
    for program, context in parts:
        for citation in citations(program, context):
            yield f"{opening}{json.dumps(entry(citation), ensure_ascii=False)}".encode()
            opening = ",\n"
    yield b"[]\n" if opening == "[\n" else b"\n]\n"


def entry(citation: Citation) -> dict[str, object]:
    """Return one paper without empty fields."""
    first, last = citation.first_and_last_page
    fields = {
        "id": citation.key,
        "type": "paper-conference",
        "title": tidy(markup.plain(citation.title)),
        "author": _names(citation.authors),
        "container-title": citation.booktitle,
        "collection-title": citation.series,
        "volume": citation.volume,
        "editor": _names(citation.editors),
        "publisher": citation.publisher,
        "publisher-place": citation.publisher_place,
        "event-title": citation.event,
        "event-place": citation.place,
        "issued": {"date-parts": [[citation.year]]} if citation.year else None,
        "page": "-".join(filter(None, (first, last))),
        "ISBN": citation.isbn,
        "ISSN": citation.issn,
        "DOI": citation.doi,
        "URL": citation.url,
        "license": citation.license,
        "keyword": ", ".join(citation.keywords),
        "abstract": markup.plain(citation.abstract),
    }
    return {name: value for name, value in fields.items() if value}


def _names(authors: Iterable[Author]) -> list[dict[str, str]]:
    return [{name: part for name, part in asdict(author).items() if part} for author in authors]


write = single_file_writer(cite, "csl.json")

FORMAT = Format(
    name="csl_json",
    label=_("References (CSL-JSON)"),
    description=_("Every paper, for citation processors such as citeproc and Pandoc."),
    extensions=("csl.json",),
    media_type="application/vnd.citationstyles.csl+json",
    write=write,
    cite=cite,
    short_label="CSL-JSON",
    citation_place=3,
    takes_stream=True,
)
