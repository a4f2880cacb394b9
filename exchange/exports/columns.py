"""Descriptions of the columns of downloaded tables, for the page of downloads."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from exchange.formats.tables.alone import download_columns
from exchange.formats.tables.rows import DOWNLOAD_TABLES
from exchange.reading.sheets import column_heading

TITLES: Mapping[str, str | Promise] = {
    "papers": _("Papers"),
    "authors": _("Authors, in the order of the paper"),
    "people": _("People"),
    "sessions": _("Sessions"),
    "presentations": _("Presentations"),
    "awards": _("Awards"),
}
HELP: Mapping[str, str | Promise] = {
    "uid": _("Lasting identifier, part of the address."),
    "title": _("Title, in Markdown with TeX."),
    "abstract": _("Abstract, in Markdown with TeX."),
    "lay_summary": _("Summary for readers from other fields."),
    "track": _("Track; empty for the main one."),
    "topic": _("Topic, by its short name."),
    "keywords": _("Keywords, separated by semicolons."),
    "decision": _("Decision of the reviewers."),
    "status": _("Status."),
    "doi": _("DOI."),
    "pages": _("Pages in the proceedings."),
    "license": _("License of its own, as an SPDX identifier or an address; empty: that of the edition."),
    "author_names": _("Names of the authors in order, separated by semicolons."),
    "page": _("Address of its page."),
    "pdf": _("Address of its PDF."),
    "sessions": _("Sessions in which it is presented, each with its start."),
    "awards": _("Awards that it won in this edition."),
    "paper": _("Identifier of the paper."),
    "name": _("Name, as printed."),
    "person_uid": _("Identifier of the person."),
    "orcid": _("ORCID iD."),
    "ids": _("Identifiers elsewhere, such as dblp:l/YLiu."),
    "affiliations": _("Affiliations as printed, separated by semicolons."),
    "institutions": _("Institutions, by their short names."),
    "corresponding": _("Whether to write to this author."),
    "presenting": _("Whether this author presents the paper."),
    "given": _("Given names."),
    "family": _("Family name."),
    "native_name": _("Name in its own script."),
    "homepage": _("Homepage."),
    "biography": _("Biography, in Markdown."),
    "affiliation": _("Affiliation."),
    "other_names": _("Other spellings of the name, separated by semicolons."),
    "kind": _("Kind, such as oral or poster."),
    "start": _("Start, with the offset from UTC; of a presentation empty: that of its session."),
    "end": _("End, with the offset from UTC; of a presentation empty: that of its session."),
    "room": _("Room, by its short name."),
    "parent": _("Identifier of the session that it is part of."),
    "language": _("Language, as its tag, such as en."),
    "session": _("Identifier of the session."),
    "cancellation_reason": _("Why it was canceled."),
    "poster_boards": _("Poster boards of a hall: a row in each line, an empty line is an aisle."),
    "stream_url": _("Address of the live stream."),
    "recording_url": _("Address of the recording."),
    "chat_url": _("Address of the chat."),
    "rescheduled_at": _("When its time, room, title or status last changed; empty if nothing moved."),
    "position": _("Place in the order, from 1."),
    "board": _("Number of the poster board."),
    "citation": _("What it is given for, in Markdown."),
    "winners": _("Winners: titles of papers and names of people, separated by semicolons."),
    "winner_pages": _("Addresses of their pages, in the same order."),
}


def documented_tables() -> list[tuple[str | Promise, list[tuple[str, str | Promise]]]]:
    """Return the title of each table, with the headings and descriptions of its columns."""
    return [
        (TITLES[name], [(column_heading(column), HELP[column]) for column in download_columns(name)])
        for name in DOWNLOAD_TABLES
    ]
