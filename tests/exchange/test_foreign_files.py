"""Tests of files of other programs: the message says what they are and what to use instead."""

import io
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from conference.models import Edition
from exchange.exports.dump import dump, writing_context
from exchange.files import Source
from exchange.formats import formats, readable
from exchange.imports.load import load
from exchange.reading.archives import pack_zip
from exchange.reading.foreign_files import describe_foreign
from tests import factories as make
from tests.exchange.programs import complete_program
from tests.exchange.samples import sample_files
from tests.exchange.uploads import ADD_URL

INDICO = {
    "count": 1,
    "additionalInfo": {},
    "_type": "HTTPAPIResult",
    "url": "https://indico.example.org/export/event/7.json",
    "results": [{"_type": "Conference", "title": "A", "_fossil": "conferenceMetadataWithContribs"}],
}
PRETALX = {
    "count": 1,
    "next": None,
    "previous": None,
    "results": [{"code": "ABC9XY", "title": "A", "speakers": ["QWERTZ"], "submission_type": 3}],
}
CSL = [{"id": "zed", "type": "paper-conference", "title": "A", "author": [{"family": "Zed", "given": "Mia"}]}]
CROSSREF_JSON = {"status": "ok", "message-type": "work-list", "message": {"items": [{"title": ["A"]}]}}
CROSSREF = """<?xml version="1.0" encoding="UTF-8"?>
<doi_batch version="5.3.1" xmlns="http://www.crossref.org/schema/5.3.1"><head/></doi_batch>"""
ANTHOLOGY = """<?xml version='1.0' encoding='UTF-8'?>
<collection id="2020.acl">
  <volume id="main" ingest-date="2020-06-15"><meta><booktitle>B</booktitle></meta></volume>
</collection>"""
RIS = "TY  - CONF\nAU  - Zed, Mia\nTI  - A\nER  - \n"
CALENDAR = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n"
SESSIONIZE: dict[str, list[Any]] = {
    "sessions": [],
    "speakers": [],
    "questions": [],
    "categories": [],
    "rooms": [],
}

# Name and content of a file -> what the message says that it is, and what to use.
FOREIGN: dict[str, tuple[Any, str, str]] = {
    "program.ics": (
        CALENDAR,
        "a calendar (iCalendar), which names neither papers nor authors",
        "JSON or XML",
    ),
    "program.xml": ('<iCalendar xmlns="urn:ietf:params:xml:ns:icalendar-2.0"/>', "a calendar", "JSON or XML"),
    "2020.acl.xml": (ANTHOLOGY, "XML of the ACL Anthology", "as BibTeX"),
    "deposit.xml": (CROSSREF, "metadata of Crossref", "as BibTeX"),
    "works.json": (CROSSREF_JSON, "metadata of Crossref", "as BibTeX"),
    "papers.ris": (RIS, "a list of references in RIS", "as BibTeX"),
    "papers.txt": ("\ufeffTY  - CONF\r\nAU  - Zed, Mia\r\n", "a list of references in RIS", "as BibTeX"),
    "papers.json": (CSL, "a list of references in CSL JSON", "as BibTeX"),
    "zotero.json": ([{"itemType": "conferencePaper", "title": "A"}], "an export of Zotero", "as BibTeX"),
    "dblp.xml": ("<?xml version='1.0'?><!DOCTYPE dblp><dblp><r/></dblp>", "XML of a library", "as BibTeX"),
    "event.json": (INDICO, "Indico’s event export", "In Indico, export the contributions as a spreadsheet"),
    "abstracts.json": ({"version": 1, "abstracts": []}, "Indico’s export of abstracts", "as CSV or Excel"),
    "submissions.json": (PRETALX, "a page of pretalx’s API", "/schedule/export/schedule.json"),
    "speakers.json": (
        {"results": [{"code": "QWERTZ", "name": "Mia", "biography": "B"}]},
        "a page of pretalx’s API",
        "schedule.json",
    ),
    "all.json": (SESSIONIZE, "the JSON of Sessionize", "as Excel or CSV"),
    "sched.json": ([{"event_key": "1", "name": "A"}], "the JSON of Sched", "as a spreadsheet"),
    "program.html": ("<!DOCTYPE html><html><p>Program</p>", "a web page", "spreadsheet"),
    "program.pdf": (b"%PDF-1.7\n%\xe2\xe3", "a PDF", "spreadsheet"),
    "papers.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old document", "as XLSX or CSV"),
    "papers.ods": (
        pack_zip([("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", b"<x/>")]),
        "an OpenDocument file",
        "as XLSX or CSV",
    ),
    "papers.docx": (pack_zip([("word/document.xml", b"<x/>")]), "a document or presentation", "spreadsheet"),
}


def content_of(name: str) -> bytes:
    content = FOREIGN[name][0]
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content)).encode()


@pytest.mark.anywhere
@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_file_is_named_with_what_to_use(name: str) -> None:
    _content, what, advice = FOREIGN[name]
    message = describe_foreign(Source(name, content_of(name)))

    assert message.startswith(f"“{name}” is {what}")
    assert ", which can’t be imported. " in message
    assert advice in message


@pytest.mark.anywhere
@pytest.mark.parametrize("name", sorted(readable()))
def test_readable_files_are_not_foreign(name: str) -> None:
    assert [describe_foreign(source) for source in sample_files(name)] == [""] * len(sample_files(name))


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["ics", "xcal", "ris", "csl_json"])
def test_own_files_that_are_only_written_are_named(name: str) -> None:
    load(complete_program(), "2021")
    edition = Edition.objects.get()
    (output, *_rest) = formats()[name].outputs(dump(edition), writing_context(edition))

    assert "can’t be imported" in describe_foreign(Source(output.name, b"".join(output.chunks)))


@pytest.mark.django_db
@pytest.mark.parametrize("chosen", ["", "spreadsheet", "program_json", "miniconf"])
@pytest.mark.parametrize("name", FOREIGN)
def test_upload_of_a_foreign_file_says_what_it_is(
    admin_client: Client, edition: Edition, name: str, chosen: str
) -> None:
    upload = SimpleUploadedFile(name, content_of(name))
    response = admin_client.post(ADD_URL, {"edition": edition.pk, "format": chosen, "sources": [upload]})
    (message,) = response.context["form"].errors["sources"]

    assert message.startswith(f"“{name}” is {FOREIGN[name][1]}")
    assert "hoose" not in message


@pytest.mark.django_db
def test_unknown_files_are_described(admin_client: Client, edition: Edition) -> None:
    def message(name: str, content: bytes) -> str:
        data = {"edition": edition.pk, "format": "", "sources": [SimpleUploadedFile(name, content)]}
        return str(admin_client.post(ADD_URL, data).context["form"].errors["sources"][0])

    advice = "Save the program as a spreadsheet (CSV or XLSX), with a row for each paper or session."
    assert message("a.json", b'{"talks": [], "day": 1}') == (
        f"“a.json” is JSON of an unknown kind, with “day”, “talks”. {advice}"
    )
    assert message("a.bin", bytes(range(1, 200))) == f"No reader knows these files: a.bin. {advice}"


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "format_name"), [("2020.acl.xml", "frab_xml"), ("event.json", "frab_json")])
def test_command_says_what_a_foreign_file_is(tmp_path: Path, name: str, format_name: str) -> None:
    make.make_edition()
    path = tmp_path / name
    path.write_bytes(content_of(name))
    err = StringIO()
    with pytest.raises(CommandError):
        call_command("import_program", format_name, str(path), edition="2021", no_progress=True, stderr=err)

    assert err.getvalue().splitlines() == [describe_foreign(Source(name, content_of(name)))]


@pytest.mark.django_db
def test_folder_with_other_files_is_read(admin_client: Client, edition: Edition) -> None:
    files = [*sample_files("miniconf"), Source("program.pdf", content_of("program.pdf"))]
    archive = io.BytesIO(pack_zip([(source.name, source.content) for source in files]))
    upload = SimpleUploadedFile("site.zip", archive.getvalue())
    response = admin_client.post(ADD_URL, {"edition": edition.pk, "format": "miniconf", "sources": [upload]})

    assert response.status_code == 302
