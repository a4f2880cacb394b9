"""Tests of ZIP files of tables: all tables that EasyChair exports, and what macOS adds."""

import io
import unicodedata
import zipfile
from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from exchange.files import Context, Source
from exchange.formats import spreadsheet
from exchange.jobs.upload_form import detect_formats
from exchange.reading.archives import pack_zip
from exchange.records import Program, stated
from papers.models import Paper
from tests.exchange.outputs import reported_problems
from tests.exchange.test_column_mapping import submit_columns
from tests.exchange.uploads import press_button, upload

CONTEXT = Context("2026", 2026, "UTC")
EASYCHAIR = {
    "submission.csv": (
        "#,title,authors,submitted,last updated,form fields,keywords,decision,notified,reviews sent,abstract,"
        "deleted?\n"
        "1,On n bodies,Mia Zed and Bo Li,2026-01-02 10:00,2026-01-03 11:00,,"
        '"chaos\nstars",accept,yes,yes,Done.,no\n'
        "2,Not this,Cy Dee,2026-01-02 10:00,2026-01-03 11:00,,chips,reject,yes,yes,Done.,no\n"
        "3,Gone,Cy Dee,2026-01-02 10:00,2026-01-03 11:00,,chips,accept,yes,yes,Done.,yes\n"
    ),
    "author.csv": (
        "submission #,first name,last name,email,country,affiliation,Web page,person #,corresponding?\n"
        "1,Mia,Zed,mia@example.org,Norway,NTNU,,10,yes\n"
        "1,Bo,Li,bo@example.org,Japan,ETH,,11,no\n"
        "2,Cy,Dee,cy@example.org,Spain,UB,,12,yes\n"
        "3,Cy,Dee,cy@example.org,Spain,UB,,12,yes\n"
    ),
    "committee.csv": (
        "#,person #,first name,last name,email,country,affiliation,Web page,role\n"
        "1,20,Eve,Fox,eve@example.org,France,ENS,,PC member\n"
    ),
    "committee_topic.csv": "member #,member name,topic\n1,Eve Fox,Chips\n",
    "bidding.csv": "member #,member name,submission #,bid\n1,Eve Fox,1,yes\n1,Eve Fox,2,maybe\n",
    "review.csv": (
        "#,submission #,member #,member name,number,version,text,scores,total score,reviewer first name,"
        "reviewer last name,reviewer email,reviewer person #,date,time,attachment?\n"
        "1,1,1,Eve Fox,1,1,Good.,Overall: 3,3,Eve,Fox,eve@example.org,20,2026-02-01,10:00,no\n"
        "2,1,1,Eve Fox,2,1,Bad.,Overall: 1,1,Eve,Fox,eve@example.org,20,2026-02-01,11:00,no\n"
    ),
    "submission_topic.csv": "submission #,topic\n1,Systems\n1,Theory\n2,Systems\n",
    "submission_field_value.csv": "submission #,field #,field name,value\n1,1,student,yes\n1,2,length,long\n",
    "topic.csv": "topic,header?\nAreas,yes\nSystems,no\n",
}


def zip_source(members: dict[str, str], name: str = "easychair.zip") -> Source:
    return Source(name, pack_zip([(path, text.encode()) for path, text in members.items()]))


def mac_zip(members: dict[str, str]) -> Source:
    """Return a ZIP as macOS makes it of a folder: decomposed names without a flag, and forks beside them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("Programm/", b"")
        archive.writestr("Programm/.DS_Store", b"\0\0\0\1Bud1")
        for name, text in members.items():
            stored = unicodedata.normalize("NFD", name)
            archive.writestr(f"Programm/{stored}", text)
            archive.writestr(f"__MACOSX/Programm/._{stored}", b"\0\5\26\7")
            archive.writestr(f"Programm/._{stored}", b"\0\5\26\7")
    content = buffer.getvalue()
    for member in zipfile.ZipFile(io.BytesIO(content)).infolist():
        if member.flag_bits & 0x800:
            start = member.header_offset
            content = content[: start + 7] + b"\0" + content[start + 8 :]
    index = content.find(b"PK\1\2")
    while index >= 0:
        content = content[: index + 9] + b"\0" + content[index + 10 :]
        index = content.find(b"PK\1\2", index + 4)
    return Source("Programm.zip", content)


def facts(program: Program) -> list[tuple[Any, ...]]:
    return [
        (
            paper.uid,
            paper.title,
            stated(paper.topic, ""),
            stated(paper.keywords, ()),
            [author.person.name for author in stated(paper.authors, ())],
        )
        for paper in program.papers
    ]


def test_all_tables_of_easychair_make_papers_with_authors_and_topics() -> None:
    source = zip_source(EASYCHAIR)
    program = spreadsheet.read([source], CONTEXT)

    assert facts(program) == [
        ("1", "On n bodies", "systems", ("chaos", "stars", "Theory"), ["Mia Zed", "Bo Li"])
    ]
    left_out = {
        str(note.where) for note in program.notes if note.message.startswith("This sheet holds no papers")
    }
    assert left_out == {
        f"easychair.zip: {name}.csv"
        for name in ("committee", "committee_topic", "bidding", "review", "submission_field_value", "topic")
    }
    messages = [note.message for note in program.notes]
    assert [message for message in messages if message.startswith("Left out")] == [
        "Left out because of the decision “reject”: 2.",
        "Left out because it is marked as deleted: 3.",
    ]
    (fmt,) = detect_formats([source])
    assert fmt is not None
    assert fmt.name == "spreadsheet"


@pytest.mark.parametrize("name", ["committee.csv", "review.csv", "bidding.csv", "topic.csv"])
def test_table_of_easychair_without_papers_is_refused_alone(name: str) -> None:
    (problem,) = reported_problems(spreadsheet.read, [Source(name, EASYCHAIR[name].encode())], CONTEXT)

    assert "No column is the title of a paper." in problem


def test_zip_of_a_mac_is_read_without_what_it_adds() -> None:
    members = {"Beiträge.csv": EASYCHAIR["submission.csv"], "author.csv": EASYCHAIR["author.csv"]}
    source = mac_zip(members)
    program = spreadsheet.read([source], CONTEXT)

    assert [paper.uid for paper in program.papers] == ["1"]
    assert program.papers[0].where.file == "Programm.zip: Programm/Beiträge.csv"
    assert not [note for note in program.notes if "no tables" in note.message]
    assert spreadsheet.recognizes([source])


def test_files_that_are_no_tables_are_named() -> None:
    members = {"submission.csv": EASYCHAIR["submission.csv"], "notes/readme.pdf": "%PDF"}
    program = spreadsheet.read([zip_source(members)], CONTEXT)

    assert "Left out, since they are no tables: readme.pdf." in [note.message for note in program.notes]
    assert reported_problems(spreadsheet.read, [zip_source({"readme.pdf": "%PDF"})], CONTEXT) == [
        "easychair.zip: There is no table in the ZIP file. Pack CSV or XLSX files.",
    ]


@pytest.mark.django_db
def test_zip_is_uploaded_and_its_columns_are_chosen(admin_client: Client, edition: Edition) -> None:
    source = zip_source(EASYCHAIR)
    job = upload(admin_client, edition, (source.name, source.content))
    wanted = [table["name"] for table in job.columns["tables"] if table["is_wanted"]]

    assert (job.state, job.format) == ("mapping", "spreadsheet")
    assert wanted == [
        "easychair.zip: submission.csv",
        "easychair.zip: author.csv",
        "easychair.zip: submission_topic.csv",
    ]
    job = press_button(admin_client, submit_columns(admin_client, job), "confirm")
    assert (job.state, Paper.objects.get().title) == ("done", "On n bodies")


def test_contacts_that_hotcrp_lists_behind_the_authors_are_no_authors() -> None:
    table = (
        b"paper,title,first,last,email,affiliation,iscontact\n3,A,Mia,Zed,mia@example.org,NTNU,yes\n"
        b"3,A,Bo,Li,bo@example.org,ETH,no\n3,A,Eve,Fox,eve@example.org,ENS,contact_only\n"
    )
    program = spreadsheet.read([Source("authors.csv", table)], CONTEXT)

    assert [
        (author.person.name, author.corresponding)
        for paper in program.papers
        for author in stated(paper.authors, ())
    ] == [("Mia Zed", True), ("Bo Li", False)]
    assert "Left out because they are contacts, not authors: 1 (3)." in [
        note.message for note in program.notes
    ]
