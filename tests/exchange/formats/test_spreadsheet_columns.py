"""Tests of how columns of spreadsheets are recognized: exports of review systems, and hand-made lists."""

import csv
import io
import json
import re
import tracemalloc
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from exchange.files import Context, KnownRow, Source
from exchange.formats import spreadsheet
from exchange.formats.spreadsheet.columns import guess_columns
from exchange.formats.spreadsheet.fields import FIELDS, GROUPS
from exchange.formats.spreadsheet.guess import has_headings
from exchange.formats.spreadsheet.mapping import (
    Mapping,
    TableMapping,
    column_cells,
    headings_of,
    mapping_problems,
)
from exchange.problems import Findings
from exchange.reading.grids import TextDialect, read_grids
from exchange.records import PresentationRecord, Program, stated
from tests.exchange.outputs import reported_problems

DAYS = (date(2026, 7, 6), date(2026, 7, 10))
KNOWN_ROWS = {
    "session": [
        KnownRow("s1", "Poster session 1", "poster", datetime(2026, 7, 7, 1, tzinfo=UTC), room="hall-a"),
        KnownRow("day-1", "Orals", "oral", datetime(2026, 7, 6, 1, tzinfo=UTC)),
        KnownRow("day-2", "Orals", "oral", datetime(2026, 7, 7, 1, tzinfo=UTC)),
    ],
    "room": [KnownRow("hall-a", "Hall A")],
    "paper": [
        KnownRow("aB1", "On *n* bodies"),
        KnownRow("aB2", "Two of a name"),
        KnownRow("aB3", "Two of a name"),
    ],
    "presentation": [KnownRow("ev-9", "aB1", "poster", session="s1")],
    "topic": [KnownRow("systems", "Systems")],
    "presentation kind": [KnownRow("oral", "Oral"), KnownRow("lightning", "Lightning talk")],
}
CONTEXT = Context("2026", 2026, "Asia/Seoul", days=DAYS, known=lambda kind: KNOWN_ROWS.get(kind, []))


def csv_source(text: str) -> Source:
    return Source("list.csv", text.encode())


def read(*sources: str | Source, context: Context = CONTEXT) -> Program:
    return spreadsheet.read(
        [csv_source(source) if isinstance(source, str) else source for source in sources], context
    )


def guessed_fields(text: str) -> dict[str, str]:
    """Return the fields of a table's columns by heading."""
    headings, *rows = csv.reader(io.StringIO(text))
    return dict(zip(headings, guess_columns(headings, column_cells(rows, len(headings))), strict=True))


def presentation_rows(program: Program) -> list[tuple[Any, ...]]:
    return [
        (
            presentation.uid,
            presentation.kind,
            presentation.paper,
            presentation.session or None,
            stated(presentation.board, ""),
        )
        for presentation in program.presentations
    ]


def wall_times(presentation: PresentationRecord) -> tuple[str, str]:
    """Return the wall times in Seoul."""
    seoul = timedelta(hours=9)
    start, end = stated(presentation.start, None), stated(presentation.end, None)
    return tuple(f"{moment + seoul:%d %H:%M}" if moment else "" for moment in (start, end))  # type: ignore[return-value]


LAYOUTS = {
    "easychair": (
        (
            "#,Title,Authors,Submitted,Last updated,Form fields,Keywords,Decision,Notified,Abstract\n"
            '1,On n bodies,"Mia Zed, Ann Abe",2026-01-02 10:00,2026-01-03 11:00,,"a\nb",ACCEPT,yes,Done.\n'
        ),
        "uid title authors    keywords decision  abstract",
    ),
    "cmt": (
        (
            "Paper ID,Created,Last Modified,Paper Title,Abstract,Primary Contact Author Name,"
            "Primary Contact Author Email,Authors,Author Names,Author Emails,Track Name,Primary Subject Area,"
            "Secondary Subject Areas,Status\n"
            "7,1/2/2026 10:00:00 AM,1/3/2026 9:00:00 AM,A,B,Mia Zed,m@example.org,Mia Zed (NTNU)*,Mia Zed,"
            "m@example.org,Main,Chips,Nets,Accept (Oral)\n"
        ),
        "uid   title abstract   authors author_names email track topic more_topics decision",
    ),
    "openreview": (
        (
            "number,forum,title,authors,authorids,abstract,TLDR,keywords,primary_area,venue,pdf,cdate\n"
            "12,aB1,A,Mia Zed|Ann Abe,~Mia_Zed1|~Ann_Abe1,B,Short.,x;y,Chips,MLSys 2026 Oral,/pdf/x.pdf,17\n"
        ),
        " uid title authors author_ids abstract lay_summary keywords topic decision  ",
    ),
    "hotcrp": (
        "paper,title,first,last,email,affiliation,country,iscontact\n3,A,Mia,Zed,m@example.org,NTNU,Norway,yes\n",
        "uid title first last email affiliation country corresponding",
    ),
    "posters": (
        (
            "Poster #,Session name,Accept as,Title,Author affil.,Authors,Presenter,Room,Day,Time,PDF,Video\n"
            "12,Poster session 1,Poster,A,NTNU; MIT,Mia Zed; Ann Abe,Mia Zed,Hall A,7 July,10:00-11:30,"
            "https://example.org/a.pdf,https://youtu.be/x\n"
        ),
        "board session kind title affiliation authors presenter room date start pdf video",
    ),
    "numbered": (
        (
            "ID,Title,Author 1,Affiliation 1,Author 2,Affiliation 2,Session Type\n"
            "1,A,Mia Zed,NTNU,Ann Abe,MIT,Oral\n"
        ),
        "uid title authors affiliation authors affiliation kind",
    ),
    "by samples": (
        (
            "ID,Title,Where,See,Watch,Repo,E-mail\n"
            "1,A,10.1000/182,https://example.org/a.pdf,https://youtu.be/x,https://github.com/a/b,m@example.org\n"
        ),
        "uid title doi pdf video code email",
    ),
    "twice": ("Title,Title,Keywords,Keywords\nA,B,c,d\n", "title  keywords keywords"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_columns_of_known_layout_are_guessed(name: str) -> None:
    text, expected = LAYOUTS[name]
    headings, *rows = csv.reader(io.StringIO(text))
    guessed = guess_columns(headings, column_cells(rows, len(headings)))

    assert " ".join(guessed) == expected.replace("-", "")


def test_only_repeatable_fields_are_guessed_twice() -> None:
    names = [name for field in FIELDS.values() for name in field.names.split(", ")]
    guessed = guess_columns(names, [[] for _ in names])
    unrepeated = [name for name in guessed if name and not FIELDS[name].is_repeated]

    assert sorted(unrepeated) == sorted(set(unrepeated))
    assert {*guessed} - {""} >= {field.name for fields in GROUPS.values() for field in fields} - {
        "name",
        "status",
    }


def test_status_and_decision_columns_are_distinguished_by_their_cells() -> None:
    assert guessed_fields("id,title,decision,status\n1,A,Accept,published\n")["status"] == "status"
    assert guessed_fields("id,title,status\n1,A,Accept (poster)\n")["status"] == "decision"


@pytest.mark.parametrize(
    ("lines", "is_heading_row"),
    [
        ([["Title", "Authors"]], True),
        ([["Überschrift", "Leute"]], True),
        ([["1", "On n bodies", "m@example.org"]], False),
        ([["On n bodies", "2026-07-08"]], False),
        ([["x" * 90, "y"]], False),
        ([], False),
    ],
)
def test_row_of_headings_is_distinguished_from_a_row_of_cells(
    lines: list[list[str]], is_heading_row: bool
) -> None:
    assert has_headings(lines) is is_heading_row


POSTERS = """Posters of 2026,,,,
,,,,
Poster #,Title,Session name,Authors,Author affil.
P1,On n bodies,Poster session 1,Mia Zed; Ann Abe,NTNU; MIT
P2,A new one,Poster session 1,Bo Li,CMU
"""


def test_poster_list_refers_to_existing_papers_sessions_and_presentations() -> None:
    program = read(POSTERS)

    assert presentation_rows(program) == [
        ("ev-9", "poster", "aB1", "s1", "P1"),
        ("a-new-one-poster", "poster", "a-new-one", "s1", "P2"),
    ]
    assert [
        (paper.uid, [author.affiliations for author in stated(paper.authors, ())]) for paper in program.papers
    ] == [
        ("aB1", [("NTNU",), ("MIT",)]),
        ("a-new-one", [("CMU",)]),
    ]
    assert (program.sessions, program.rooms) == ((), ())


def test_title_of_two_known_papers_matches_neither() -> None:
    assert [paper.uid for paper in read("title\nTwo of a name\n").papers] == ["two-of-a-name"]


def test_new_sessions_span_their_rows() -> None:
    program = read(
        "id,title,session,room,date,start,end\n"
        "1,A,Fast chips,Hall A,July 8,10:00,10:20\n"
        "2,B,Fast chips,Hall A,July 8,10:20,10:40\n"
        "3,C,Posters,Foyer,8.7.2026,16:00,18:00\n"
        "4,D,Posters,Foyer,9.7.2026,16:00,18:00\n"
    )

    assert [
        (session.uid, session.kind, session.room, stated(session.start, None)) for session in program.sessions
    ] == [
        ("fast-chips", "oral", "hall-a", datetime(2026, 7, 8, 1, tzinfo=UTC)),
        ("posters-2026-07-08", "poster", "foyer", datetime(2026, 7, 8, 7, tzinfo=UTC)),
        ("posters-2026-07-09", "poster", "foyer", datetime(2026, 7, 9, 7, tzinfo=UTC)),
    ]
    assert [(room.slug, room.name) for room in program.rooms] == [("foyer", "Foyer")]
    assert [
        (presentation.session, presentation.room, wall_times(presentation))
        for presentation in program.presentations
    ] == [
        ("fast-chips", None, ("08 10:00", "08 10:20")),
        ("fast-chips", None, ("08 10:20", "08 10:40")),
        ("posters-2026-07-08", None, ("08 16:00", "08 18:00")),
        ("posters-2026-07-09", None, ("09 16:00", "09 18:00")),
    ]


def test_of_sessions_with_one_title_the_one_on_the_given_day_is_matched() -> None:
    program = read("id,title,session,day,time\n1,A,Orals,Tuesday,10:00\n2,B,orals,Day 1,10:30\n")

    assert [(presentation.session, wall_times(presentation)) for presentation in program.presentations] == [
        ("day-2", ("07 10:00", "")),
        ("day-1", ("06 10:30", "")),
    ]
    assert program.sessions == ()


def test_time_in_a_known_session_needs_no_date() -> None:
    (presentation,) = read("id,title,session,time,minutes\n1,A,Poster session 1,10:00,20\n").presentations

    assert wall_times(presentation) == ("07 10:00", "07 10:20")


def test_unknown_session_without_times_is_reported() -> None:
    assert reported_problems(read, "id,title,session\n1,A,Nowhere\n2,B,Nowhere\n") == [
        (
            "list.csv, row 2, session: There is no session “Nowhere” in this edition, and a new one needs "
            "a start and an end. Choose columns with its times, or add the session first."
        )
    ]


@pytest.mark.parametrize(
    ("cell", "kinds"),
    [
        ("Accept (Oral)", ["oral"]),
        ("Oral + Poster", ["oral", "poster"]),
        ("Lightning talk", ["lightning"]),
        ("Demonstration", ["demo"]),
        ("Accept", []),
        ("Round table", ["Round table"]),
    ],
)
def test_presentation_kinds_are_read_from_a_cell(cell: str, kinds: list[str]) -> None:
    assert [
        presentation.kind for presentation in read(f"id,title,accept as\n1,A,{cell}\n").presentations
    ] == kinds


def test_rows_of_one_paper_are_its_presentations() -> None:
    program = read(
        "id,title,kind,session,board\n1,A,Oral,Orals,\n1,A,Poster,Poster session 1,7\n".replace(
            "Orals", "day-1"
        )
    )

    assert len(program.papers) == 1
    assert presentation_rows(program) == [
        ("1-oral", "oral", "1", "day-1", ""),
        ("1-poster", "poster", "1", "s1", "7"),
    ]


def test_what_a_further_row_says_of_the_paper_is_named() -> None:
    program = read("id,title,abstract,kind,session\n1,A,One,Oral,day-1\n1,A,Two,Poster,s1\n")

    assert [paper.abstract for paper in program.papers] == ["One"]
    assert [note.message for note in program.notes if note.where.place == "row 3"] == [
        (
            "Of a further row of “1”, only the presentation was taken. "
            "It differs from the first one (list.csv, row 2) in: Abstract."
        )
    ]


def test_keynote_and_break_rows_are_sessions_without_papers() -> None:
    program = read(
        "title,kind,room,date,start,end,speaker\n"
        "Chips for all,Keynote,Hall A,2026-07-06,09:00,10:00,Mia Zed (NTNU)\n"
        "Coffee,Coffee break,,2026-07-06,10:00,10:30,\n"
    )

    assert program.papers == ()
    assert [(session.uid, session.kind, session.room or None) for session in program.sessions] == [
        ("chips-for-all", "invited_talk", "hall-a"),
        ("coffee", "break", None),
    ]
    assert [
        (role.person.name, role.role, role.affiliation) for role in stated(program.sessions[0].roles, ())
    ] == [("Mia Zed", "speaker", "NTNU")]


def test_presenter_is_matched_by_name_or_initial() -> None:
    program = read('id,title,authors,presenter\n1,A,"Mia Zed, Ann Abe",M. Zed\n2,B,"Bo Li, Al Bo",Somebody\n')
    presenting = [[author.presenting for author in stated(paper.authors, ())] for paper in program.papers]

    assert presenting == [[True, False], [False, False]]
    assert "“Somebody” is not an author of the paper" in " ".join(note.message for note in program.notes)


def test_affiliations_are_left_out_if_their_number_is_not_that_of_the_authors() -> None:
    program = read(
        "id,title,authors,affiliation\n1,A,Mia Zed; Ann Abe; Bo Li,NTNU; MIT\n2,B,Mia Zed; Bo Li,MIT\n"
    )
    first, second = (
        [author.affiliations for author in stated(paper.authors, ())] for paper in program.papers
    )

    assert (first, second) == ([(), (), ()], [("MIT",), ("MIT",)])
    assert "there are 2 for 3 authors" in program.notes[0].message


def test_workbook_dates_and_times_may_be_numbers() -> None:
    book = Workbook()
    for row in (
        ["Talks of the first day"],
        ["ID", "Title", "Session", "Date", "Start", "End"],
        [1, "A", "New", date(2026, 7, 8), 0.4166666667, 0.4375],
        [2, "B", "New", 46211, datetime(2026, 7, 8, 10, 30), datetime(2026, 7, 8, 11)],  # noqa: DTZ001 - as Excel has it
    ):
        book.active.append(row)
    content = io.BytesIO()
    book.save(content)
    program = read(Source("p.xlsx", content.getvalue()))

    assert [wall_times(presentation) for presentation in program.presentations] == [
        ("08 10:00", "08 10:30"),
        ("08 10:30", "08 11:00"),
    ]


def test_award_topic_and_author_ids_are_read() -> None:
    program = read(
        "id,title,topic,award,authors,author ids\n"
        "1,A,systems,Best paper,Mia Zed; Ann Abe,~Mia_Zed1; ~Ann_Abe1\n"
    )
    (paper,), (award,) = program.papers, program.awards

    assert (paper.topic, program.topics) == ("systems", ())
    assert [author.person.ids for author in stated(paper.authors, ())] == [
        (("openreview", "~Mia_Zed1"),),
        (("openreview", "~Ann_Abe1"),),
    ]
    assert (award.uid, [grant.paper for grant in stated(award.grants, ())]) == ("best-paper", ["1"])


def test_award_in_each_row_of_a_paper_is_granted_once() -> None:
    (award,) = read("id,title,kind,award\n1,A,oral,Best paper\n1,A,poster,Best paper\n").awards

    assert [grant.paper for grant in stated(award.grants, ())] == ["1"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["", ""], "No column is mapped."),
        (["abstract", ""], "Title is not mapped."),
        (["title", "title"], "“A”, “B”: only one column can be “Title”."),
        (["title", "start"], "The times have no date: “10:00”."),
        (["title", "session_kind"], "“Kind of session” needs a column"),
        (["title", "affiliation"], "Affiliations need a column with the authors."),
    ],
)
def test_unusable_column_mapping_is_reported(columns: list[str], message: str) -> None:
    (problem,) = mapping_problems(columns, ["A", "B"], [["x"], ["10:00"]], is_one_day=False)

    assert problem.startswith(message)


def test_usable_column_mapping_has_no_problems() -> None:
    headings, samples = ["A", "B"], [["x"], ["10:00"]]

    assert mapping_problems(["title", "start"], headings, samples, is_one_day=True) == []
    assert mapping_problems(["keywords", "uid"], headings, samples, is_one_day=False) == []
    assert mapping_problems(["session", "start"], headings, samples, is_one_day=False) == []


def test_mapping_by_index_reads_table_without_headings() -> None:
    mapping = Mapping(
        tables=[TableMapping(0, "", ["uid", "title", "", "keywords", "keywords"], has_header=False)]
    )
    (paper,) = read("1,A,x,b,c\n", mapping.as_source()).papers

    assert (paper.uid, paper.title, paper.keywords) == ("1", "A", ("b", "c"))


@pytest.mark.parametrize(
    "table",
    [
        1,
        {},
        {"file": [], "sheet": "", "columns": []},
        {"file": 0, "sheet": "", "columns": {"uid": 1, "last": 1}},
    ],
)
def test_malformed_table_mapping_is_refused(table: object) -> None:
    mapping = Source("m.json", json.dumps({"tables": [table]}).encode())

    assert reported_problems(read, "1,A\n", mapping)[0].endswith(
        "A table needs its file, its sheet and its columns."
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is empty."),
        (b"\0\1\2", "The file is no table."),
        (b"PK\x03\x04 no workbook", "This ZIP file is no workbook."),
        (b'title,id\n"A,1\n', "is not CSV"),
    ],
)
def test_file_that_is_not_a_table_is_refused(content: bytes, message: str) -> None:
    (problem,) = reported_problems(read, Source("x.csv", content))[:1]

    assert message in problem


@pytest.mark.parametrize(
    ("content", "encoding", "separator"),
    [
        ("title;id\nGröße;1\n".encode("cp1252"), "windows-1252", ";"),
        ("title\tid\nGröße\t1\n".encode("utf-16"), "utf-16", "\t"),
        ("title|id\nGröße|1\n".encode(), "utf-8", "|"),
        ("title\nGröße\n".encode("utf-8-sig"), "utf-8", ","),
    ],
)
def test_encoding_and_separator_are_guessed(content: bytes, encoding: str, separator: str) -> None:
    (grid,) = read_grids([Source("x.csv", content)], Findings(), any_encoding=True)

    assert (grid.dialect.encoding, grid.dialect.separator) == (encoding, separator)
    assert grid.lines[1][1][0] == "Größe"


def test_lines_that_end_in_carriage_returns_are_recognized_and_read() -> None:
    rows = "".join(f"{number};On a, b and c;Accept, oral\r" for number in range(300))
    source = csv_source(f"id;title;decision\r{rows}")

    assert spreadsheet.recognizes([source])
    assert len(read(source).papers) == 300


def test_utf16_without_byte_order_mark_can_be_chosen() -> None:
    source = Source("x.csv", "title,id\nGröße,1\n".encode("utf-16-le"))
    (grid,) = read_grids([source], Findings(), dialects={0: TextDialect(encoding="utf-16")})

    assert grid.lines == [(1, ["title", "id"]), (2, ["Größe", "1"])]


def test_first_rows_of_a_large_file_are_read_with_little_memory() -> None:
    source = Source("x.csv", b"id,title\n" + b"1,On n bodies\n" * 500_000)
    tracemalloc.start()
    (grid,) = read_grids([source], Findings(), max_rows=50, any_encoding=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(grid.lines) == 51
    assert peak < 2_000_000


def test_rows_after_thousands_of_blank_rows_are_not_read() -> None:
    """Spreadsheets save a sheet with formatting in all rows as a million rows of commas."""
    (grid,) = read_grids([csv_source("id,title\n1,A\n" + ",\n" * 3_000 + "2,B\n")], Findings())

    assert [number for number, _ in grid.lines] == [1, 2]


def test_line_of_ten_million_characters_is_refused() -> None:
    findings = Findings()
    assert read_grids([csv_source("id,title\n" + "," * 10_000_001)], findings) == []

    assert findings.has_problems


def test_very_long_heading_is_truncated_and_not_guessed() -> None:
    (grid,) = read_grids([csv_source("x" * 3_000_000 + ",title\n1,A\n")], Findings())
    headings = headings_of([cells for _, cells in grid.lines], grid.width, has_header=True)

    assert (len(headings[0]), guess_columns(headings, [[], []])) == (1_000, ["", "title"])


def test_table_with_values_beyond_column_200_is_marked_as_cut() -> None:
    (grid,) = read_grids([csv_source(f"title{',' * 299}\nA{',' * 299}\n")], Findings())
    assert not grid.is_cut
    (grid,) = read_grids([csv_source(f"title\n{'a,' * 299}x\n")], Findings())
    assert (grid.width, grid.is_cut) == (200, True)


def test_columns_beyond_column_200_are_noted() -> None:
    program = read(csv_source(f"id,title,decision\n1,A,Accept\n2,B,Accept{',' * 198}x\n"))

    assert [note.message for note in program.notes if "more than" in note.message] == [
        "The table has more than 200 columns. Those after them are left out."
    ]


def test_docs_list_all_fields_of_a_spreadsheet() -> None:
    section = Path("docs/formats.md").read_text().partition("The fields, whose ")[2].partition("\n\n")[0]

    assert re.findall(r"`(\w+)`", section) == [*FIELDS]
