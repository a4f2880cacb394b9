"""Tests of the heading rows of review systems and event apps: a stated heading always wins over a guess."""

import csv
import io
import json
from datetime import date

import pytest
from django.test import Client
from openpyxl import Workbook

from exchange.files import Context, Source
from exchange.formats import spreadsheet
from exchange.formats.spreadsheet.columns import guess_columns
from exchange.formats.spreadsheet.fields import BY_HEADING, FIELDS, fold_heading
from exchange.formats.spreadsheet.mapping import column_cells, table_role
from exchange.jobs.upload_form import detect_formats
from exchange.records import Program, is_stated, stated
from people.names import is_suspicious
from tests.exchange.outputs import reported_problems
from tests.exchange.test_column_mapping import submit_columns
from tests.exchange.uploads import upload
from tests.factories import make_edition

# Headings as the systems write them, one row of cells, the expected field of each column (`-` for none), and
# what a row is.
LAYOUTS = {
    "EasyChair author.csv": (
        ("submission #,first name,last name,email,country,affiliation,Web page,person #,corresponding?"),
        "1,Mia,Zed,mia@example.org,Norway,NTNU,https://zed.example.org/,10,yes",
        "uid first last email country affiliation - person_key corresponding",
        "authors",
    ),
    "EasyChair submission.csv": (
        (
            "#,title,authors,submitted,last updated,form fields,keywords,decision,notified,"
            "reviews sent,abstract,deleted?"
        ),
        (
            '1,On n bodies,Mia Zed and Ann Abe,2026-01-02 10:00,2026-01-03 11:00,,"chaos\nstars",accept,'
            "yes,yes,Done.,no"
        ),
        "uid title authors - - - keywords decision - - abstract deleted",
        "papers",
    ),
    "EasyChair submission.csv, with tracks": (
        (
            "#,track #,track name,title,authors,submitted,last updated,form fields,keywords,decision,"
            "notified,reviews sent,abstract,deleted?"
        ),
        ("1,2,Main,On n bodies,Mia Zed,2026-01-02 10:00,2026-01-03 11:00,,chaos,accept,yes,yes,Done.,no"),
        "uid - track title authors - - - keywords decision - - abstract deleted",
        "papers",
    ),
    "CMT": (
        (
            "Paper ID,Original Paper ID,Created,Last Modified,Paper Title,Abstract,"
            "Primary Contact Author Name,Primary Contact Author Email,Authors,Author Names,"
            "Author Emails,Track Name,Primary Subject Area,Secondary Subject Areas,Conflicts,Assigned,"
            "Completed,% Completed,Bids,Discussion,Status,Requested For Author Feedback,"
            "Author Feedback Submitted?,Requested For Camera Ready,Camera Ready Submitted?,"
            "Requested For Presentation,Files,Number of Files,Supplementary Files,"
            "Number of Supplementary Files,Reviewers,Reviewer Emails,MetaReviewers,MetaReviewer Emails,"
            "SeniorMetaReviewers,SeniorMetaReviewerEmails"
        ),
        (
            "7,7,1/2/2026 10:00:00 AM,1/3/2026 9:00:00 AM,On n bodies,Done.,Mia Zed,mia@example.org,"
            "Mia Zed (NTNU)*; Ann Abe (MIT),Mia Zed; Ann Abe,mia@example.org; ann@example.org,Main,"
            "Chips,Nets; Maps,3,3,3,100%,4,Enabled,Accept (Oral),No,No,Yes,Yes,No,"
            "paper.pdf (1 234 bytes),1,,0,Bo Li; Cy Dee,bo@example.org; cy@example.org,Di Eff,"
            "di@example.org,,"
        ),
        (
            "uid - - - title abstract - - authors author_names email track topic more_topics - - - - - - "
            "decision - - - - - - - - - - - - - - -"
        ),
        "papers",
    ),
    "OpenReview console": (
        (
            "number,forum,title,abstract,num Reviewers,num submitted Reviewers,missing Reviewers,"
            "Reviewers contact info,min rating,max rating,average rating,min confidence,max confidence,"
            "average confidence,num Area Chairs assigned,Area Chairs contact info,"
            "num submitted Area Chairs,Meta Review,decision,Senior Area Chairs"
        ),
        (
            "12,https://openreview.net/forum?id=aB1,On n bodies,Done.,3,3,,Bo Li<bo@example.org>,3,5,"
            "4.25,2,4,3.1,1,Di Eff<di@example.org>,1,Accept,Accept (poster),Ed Fox"
        ),
        "- uid title abstract - - - - - - - - - - - - - - decision -",
        "papers",
    ),
    "HotCRP authors": (
        "paper,title,first,last,email,affiliation,iscontact",
        "3,On n bodies,Mia,Zed,mia@example.org,NTNU,yes",
        "uid title first last email affiliation corresponding",
        "authors",
    ),
    "HotCRP authors with countries": (
        "paper,title,first,last,email,affiliation,country,iscontact",
        "3,On n bodies,Mia,Zed,mia@example.org,NTNU,Norway,yes",
        "uid title first last email affiliation country corresponding",
        "authors",
    ),
    "HotCRP authors with newer names": (
        "paper,title,given_name,family_name,email,affiliation,orcid,country,iscontact",
        "3,On n bodies,Mia,Zed,mia@example.org,NTNU,0000-0002-1825-0097,NO,yes",
        "uid title first last email affiliation orcid country corresponding",
        "authors",
    ),
    "Google Forms": (
        (
            "Timestamp,Email Address,Paper title,Authors,Presenting author,Affiliation(s),Abstract,"
            "Link to your slides"
        ),
        (
            '7/8/2026 10:04:31,mia@example.org,On n bodies,"Mia Zed, Ann Abe",Mia Zed,NTNU,Done.,'
            "https://example.org/s.pdf"
        ),
        "- email title authors presenter affiliation abstract pdf",
        "papers",
    ),
    "Google Forms in German": (
        "Zeitstempel,E-Mail-Adresse,Title,Authors,Abstract",
        "08.07.2026 10:04:31,mia@example.org,On n bodies,Mia Zed,Done.",
        "- email title authors abstract",
        "papers",
    ),
    "Microsoft Forms": (
        "ID,Start time,Completion time,Email,Name,Title of paper,Authors,Abstract",
        "1,7/8/2026 10:00,7/8/2026 10:04,mia@example.org,Mia Zed,On n bodies,Mia Zed; Ann Abe,Done.",
        "uid - - email - title authors abstract",
        "papers",
    ),
    "Sched": (
        (
            "Unique ID,Published,Event Name,Start Date & Time,End Date & Time,Event Type,"
            "Event Sub-Type,Capacity,Venue,Address,Description,Speakers,Moderators,Tags"
        ),
        (
            "e1,Y,Chips for all,2026-07-08 09:00,2026-07-08 10:00,Keynote,,200,Hall A,1 Main St,Why.,"
            "Mia Zed,Bo Li,chips"
        ),
        "- - session start end session_kind - - room - abstract presenter moderator keywords",
        "sessions",
    ),
    "Sched API": (
        (
            "event_key,active,name,event_start,event_end,event_type,event_subtype,seats,goers,venue,"
            "description,speakers,moderators"
        ),
        ("e1,Y,Chips for all,2026-07-08 09:00,2026-07-08 10:00,Keynote,,200,12,Hall A,Why.,Mia Zed,Bo Li"),
        "- - session start end session_kind - - - room abstract presenter moderator",
        "sessions",
    ),
    "Whova agenda": (
        (
            "*Date,*Time Start,*Time End,Tracks (Optional),*Session Title,Room/Location (Optional),"
            "Description (Optional),Speakers (Optional),Role: Moderators (Optional),"
            "Role: Session Chairs (Optional),Recorded Video URL (Optional),Tags (Optional)"
        ),
        (
            "2026-07-08,08:00,17:00,Short Courses,Chips (Day 1),Regency AB,Why.,Mia Zed; Ann Abe,Bo Li,"
            "Cy Dee,,a; b"
        ),
        "date start end track session room abstract presenter moderator chair - keywords",
        "sessions",
    ),
    "Whova session list": (
        (
            "ID*,Title*,Description (optional),Tracks (Optional),Keywords or topics (optional),"
            "Session type (Optional),Speakers (Optional),Authors (Optional)"
        ),
        "7,On n bodies,Done.,Main,Chips;Maps,Talk,Mia Zed,Mia Zed (NTNU);Ann Abe",
        "uid title abstract track keywords kind presenter authors",
        "papers",
    ),
}
NUMBERS = ["1", "10", "4.25", "03.1", "100"]
# Fields that are numbers or names of numbers.
NUMBERED = {"uid", "position", "duration", "board", "pages", "session", "room", "track", "person_key"}


def guessed(headings: list[str], rows: list[list[str]]) -> list[str]:
    return guess_columns(headings, column_cells(rows, len(headings)))


def parsed_layout(name: str) -> tuple[list[str], list[str], list[str]]:
    headings, row, expected, _ = LAYOUTS[name]
    heading_cells, cells = (next(csv.reader(io.StringIO(text))) for text in (headings, row))
    return heading_cells, cells, expected.split()


@pytest.mark.parametrize("name", LAYOUTS)
def test_heading_row_of_a_system_is_recognized(name: str) -> None:
    headings, cells, expected = parsed_layout(name)
    fields = guessed(headings, [cells])

    assert [field or "-" for field in fields] == expected
    assert table_role(fields) == LAYOUTS[name][3]


@pytest.mark.parametrize("pattern", ["{} count", "{} ID", "average {}", "number of {}", "{}s", "{}2"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_neighboring_column_of_numbers_changes_nothing(name: str, pattern: str) -> None:
    headings, cells, expected = parsed_layout(name)
    texts = [pattern.format(heading) for heading in headings]
    neighbors = [text for text in texts if fold_heading(text) not in BY_HEADING]
    rows = [[*[number] * len(neighbors), *cells] for number in NUMBERS]
    fields = guessed([*neighbors, *headings], rows)

    assert [field or "-" for field in fields[len(neighbors) :]] == expected
    assert {*fields[: len(neighbors)]} <= {"", *NUMBERED}


@pytest.mark.parametrize("name", [name for name in FIELDS if name not in NUMBERED])
def test_bare_numbers_are_no_names_places_topics_or_dates(name: str) -> None:
    for heading in FIELDS[name].names.split(", "):
        (guess,) = guessed([heading], [[number] for number in NUMBERS])
        assert guess in {"", "title", "abstract", "lay_summary", "license", *NUMBERED}, heading


@pytest.mark.parametrize(
    ("heading", "cells", "name"),
    [
        ("Author count", [], ""),
        ("Affiliation ID", [], ""),
        ("Affilation", ["NTNU"], "affiliation"),
        ("Key word", ["chips"], "keywords"),
        ("Score", ["3/5", "4/5"], ""),
        ("pp", ["1-12", "13-24"], ""),
        ("Section", ["03.1", "03.2"], ""),
        ("When", ["8 July 2026"], "date"),
        ("When", ["2026-07-08"], "date"),
        ("Room", ["101", "102"], "room"),
        ("Place", ["1", "2"], ""),
        ("Paper", ["On the n bodies of all things", "Why chips are fast and hot"], "title"),
        ("Paper", ["12", "13"], "uid"),
        ("Venue", ["Hall A"], "room"),
        ("Venue", ["MLSys 2026 Oral"], "decision"),
        ("Recommendation", ["3.5", "4"], ""),
        ("Length", ["12 pages"], ""),
        ("Position", ["Professor"], ""),
        ("Author order", ["1", "2.0"], "position"),
    ],
)
def test_cells_decide_what_a_heading_can_be(heading: str, cells: list[str], name: str) -> None:
    assert guessed([heading], [[cell] for cell in cells]) == [name]


def read(text: str) -> Program:
    return spreadsheet.read([Source("list.csv", text.encode())], Context("2026", 2026, "UTC"))


def author_names(program: Program) -> list[list[str]]:
    return [[author.person.name for author in stated(paper.authors, ())] for paper in program.papers]


def test_column_of_several_names_wins_over_one_of_surnames() -> None:
    program = read("ID,Title,Authors,Lastname,Decision\n1,Hello,Ann Bee and Cy Dee,Bee,accept\n")

    assert author_names(program) == [["Ann Bee", "Cy Dee"]]
    assert "These columns were not taken: Lastname." in program.notes[0].message


def test_contact_beside_the_authors_is_not_taken_for_them_even_if_chosen() -> None:
    mapping = Source(
        "columns.toml", b'[columns]\n"Family" = "last"\n"Given" = "first"\n"Authors" = "authors"\n'
    )
    table = Source("list.csv", b"ID,Title,Authors,Given,Family\n1,Hello,Ann Bee and Cy Dee,Ann,Bee\n")
    program = spreadsheet.read([table, mapping], Context("2026", 2026, "UTC"))

    assert author_names(program) == [["Ann Bee", "Cy Dee"]]


def test_first_and_last_names_win_over_a_column_of_single_words() -> None:
    assert author_names(read("ID,Title,Authors,First name,Last name\n1,Hello,Bee,Ann,Bee\n")) == [["Ann Bee"]]


def test_column_whose_heading_only_resembles_names_is_left_out_beside_them() -> None:
    fields = guessed(["paper", "first name", "last name", "persons"], [["1", "Ann", "Bee", "Zoe"]])

    assert fields == ["uid", "first", "last", ""]


def test_moderators_and_chairs_of_a_session_keep_their_roles() -> None:
    (session,) = read(
        "session,start,end,moderators,session chairs,description\n"
        "Panel,2026-07-08 09:00,2026-07-08 10:00,Mia Zed,Bo Li,Why.\n"
    ).sessions

    assert [(role.person.name, role.role) for role in stated(session.roles, ())] == [
        ("Bo Li", "chair"),
        ("Mia Zed", "moderator"),
    ]
    assert session.abstract == "Why."


def test_table_without_titles_and_sessions_is_refused() -> None:
    (problem,) = reported_problems(read, "Name count,Rating\n3,4.5\n")

    assert "No column is the title of a paper." in problem


def messages(program: Program) -> list[str]:
    return [note.message for note in program.notes]


LONG = "".join(f"{number},Talk {number},8 July 2026,x\n" for number in range(60))


def test_guessed_column_that_does_not_fit_is_left_out_with_a_remark() -> None:
    program = read(f"id,title,When,Notes\n{LONG}60,Talk 60,to be announced,x\n")

    assert len(program.papers) == 61
    assert program.presentations == ()
    assert "“When” was not taken as “Date”: “to be announced” is none." in messages(program)


def test_column_of_a_known_heading_is_left_out_if_most_cells_do_not_fit() -> None:
    rows = "".join(f"{number},Talk,soon {number}\n" for number in range(60))
    program = read(f"id,title,date\n0,Talk,2026-07-08\n{rows}".replace("0,Talk,soon 0\n", "", 1))

    assert program.presentations == ()
    assert "These columns were not taken: date. A mapping file can say what they are." in messages(program)


def test_wrong_cell_in_a_column_of_a_known_heading_is_a_problem_of_its_row() -> None:
    assert reported_problems(
        read, "id,title,date,start\n1,A,2026-07-08,9:00\n2,B,soon,9:00\n3,C,2026-07-09,9:00\n"
    ) == [
        "list.csv, row 3, date: “soon” is not a date or time. Write it as 2026-07-08 10:00.",
        "list.csv, row 3, start: “9:00” has no date. Choose a column with the date.",
    ]


def test_fields_of_all_columns_are_shown() -> None:
    shown: list[tuple[str, list[str]]] = []
    context = Context("2026", 2026, "UTC", show_columns=lambda table, lines: shown.append((table, [*lines])))
    table = "submission #,first name,last name,person #,Affilation\n1,Mia,Zed,10,NTNU\n"
    spreadsheet.read([Source("author.csv", table.encode())], context)

    assert shown == [
        (
            "author.csv",
            [
                "One row for each author of a paper",
                "“submission #”: Paper ID",
                "“first name”: Given name",
                "“last name”: Family name",
                "“person #”: Number of the person in the file",
                "“Affilation”: Affiliations, in the order of the authors (guessed)",
            ],
        )
    ]


@pytest.mark.parametrize(
    ("headings", "cells"),
    [
        ("Recommendation,Decision", "Accept,Reject"),
        ("Status,Decision", "Accept,Reject"),
        ("Venue,Decision", "X 2026 Oral,Reject"),
        ("Decision,Final decision", "Accept,Reject"),
        ("Final decision,Decision", "Reject,Accept"),
    ],
)
def test_stronger_heading_has_the_decision(headings: str, cells: str) -> None:
    program = read(f"Paper ID,Title,{headings}\n1,A,{cells.replace('Reject', 'Accept')}\n2,B,{cells}\n")

    assert [(paper.uid, paper.status) for paper in program.papers] == [("1", "published")]
    assert not program.rooms
    assert "Left out because of the decision “Reject”: 2." in [note.message for note in program.notes]


def test_paper_that_another_column_declines_stays_draft() -> None:
    program = read("id,title,recommendation,decision\n1,A,Reject,Accept\n2,B,Accept,Accept\n")

    assert [stated(paper.status, "") for paper in program.papers] == ["", "published"]
    messages = [note.message for note in program.notes]
    assert "Another column says “Reject”, so a new paper stays a draft: 1." in messages


ALARM = (
    "Most names of authors are unusual: 3 of 3 (10, 100, 11). Check which columns are taken for the names. "
    "New papers stay drafts."
)


@pytest.mark.parametrize(
    ("names", "status", "alarms"),
    [
        (["10", "100", "11"], "", [ALARM]),
        (["Plato", "Ann Bee", "Cy Dee"], "published", []),
        (["10", "Ann Bee"], "published", []),
        (["10", "10", "10"], "", [ALARM.replace("(10, 100, 11)", "(10)")]),
        (["10", "10", "Ann Bee", "Cy Dee"], "published", []),
    ],
)
def test_file_with_mostly_unusual_names_stays_draft(names: list[str], status: str, alarms: list[str]) -> None:
    mapping = Source("columns.toml", b'[columns]\n"who" = "name"\n')
    papers = "".join(f"{number},A,accept\n" for number in range(len(names)))
    authors = "".join(f"{number},{name}\n" for number, name in enumerate(names))
    tables = [
        Source("papers.csv", f"id,title,decision\n{papers}".encode()),
        Source("authors.csv", f"paper,who\n{authors}".encode()),
    ]
    context = Context("2026", 2026, "UTC", is_unusual_name=is_suspicious)
    program = spreadsheet.read([*tables, mapping], context)

    assert {stated(paper.status, "") for paper in program.papers} == {status}
    assert [note.message for note in program.notes if note.kind == "alarm"] == alarms


@pytest.mark.parametrize(
    ("cell", "uid"),
    [
        ("https://openreview.net/forum?id=aB1", "aB1"),
        ("https://openreview.net/forum?id=-B1", "n-B1"),
        ("aB1", "aB1"),
        ("7.0", "7"),
        ("1.10", "1.10"),
    ],
)
def test_key_of_a_paper_is_read_from_a_link_or_a_number(cell: str, uid: str) -> None:
    assert [paper.uid for paper in read(f"forum,title\n{cell},A\n").papers] == [uid]


def merged_workbook(rows: list[list[object]], *merged: str) -> Source:
    workbook, content = Workbook(), io.BytesIO()
    for row in rows:
        workbook.active.append(row)
    for cells in merged:
        workbook.active.merge_cells(cells)
    workbook.save(content)
    return Source("list.xlsx", content.getvalue())


def test_trap_43_merged_cells_of_papers_belong_to_all_their_authors() -> None:
    rows: list[list[object]] = [
        ["Paper ID", "Paper title", "Author name", "Affiliation"],
        [1, "On n bodies", "Ann Bee", "MIT"],
        [None, None, "Cy Dee", "MIT"],
        [2, "Chips", "Zoe Eff", "ETH"],
    ]
    program = spreadsheet.read(
        [merged_workbook(rows, "A2:A3", "B2:B3", "D2:D3")], Context("2026", 2026, "UTC")
    )

    assert [(paper.uid, paper.title) for paper in program.papers] == [("1", "On n bodies"), ("2", "Chips")]
    assert author_names(program) == [["Ann Bee", "Cy Dee"], ["Zoe Eff"]]
    assert [author.affiliations for author in stated(program.papers[0].authors, ())] == [("MIT",), ("MIT",)]
    assert messages(program)[0] == (
        "Cells are merged over several rows, and each of these was taken to have the value: "
        "A2:A3, B2:B3, D2:D3."
    )


def test_merged_session_holds_for_all_its_papers() -> None:
    rows: list[list[object]] = [
        ["id", "title", "session", "date", "start", "end"],
        [1, "A", "Chips", "2026-07-08", "9:00", "9:30"],
        [2, "B", None, None, "9:30", "10:00"],
    ]
    source = merged_workbook(rows, "C2:C3", "D2:D3")
    program = spreadsheet.read([source], Context("2026", 2026, "UTC"))

    assert [presentation.session for presentation in program.presentations] == ["chips", "chips"]


def test_cell_as_above_repeats_the_cell_above() -> None:
    program = read(
        "id,title,authors,affiliation,track\n1,A,Ann Bee,MIT,Main\n2,Ditto,Cy Dee,as above,ditto\n"
        "3,C,Zoe Eff,〃,Demo\n"
    )

    assert [author.affiliations for paper in program.papers for author in stated(paper.authors, ())] == [
        ("MIT",)
    ] * 3
    assert [(paper.title, paper.track) for paper in program.papers] == [
        ("A", "Main"),
        ("Ditto", "Main"),
        ("C", "Demo"),
    ]
    assert "Cells such as “as above” were taken to repeat the cell above: rows 3, 4." in messages(program)


def test_author_without_a_paper_belongs_to_the_paper_above() -> None:
    program = read("paper,title,name\n1,A,Ann Bee\n,,Cy Dee\n2,B,Zoe Eff\n")

    assert author_names(program) == [["Ann Bee", "Cy Dee"], ["Zoe Eff"]]
    assert "Authors without a paper were taken to belong to the one above: rows 3." in messages(program)
    assert reported_problems(read, "paper,title,name\n,A,Ann Bee\n") == [
        "list.csv, row 2, uid: Say to which paper the author belongs."
    ]


DAYS = (date(2026, 10, 5), date(2026, 10, 9))


@pytest.mark.parametrize("heading", ["Date", "When", "Session start"])
def test_month_first_beside_day_first_in_one_column_is_asked_about(heading: str) -> None:
    """Both are days of the edition, read in different orders."""
    rows = "1,A,S,07/10/2026,9:00,10:00\n2,B,S,10/07/2026,9:00,10:00\n3,C,S,10/08/2026,9:00,10:00\n"
    table = Source("list.csv", f"ID,Title,Session,{heading},Start,End\n{rows}".encode())
    context = Context("2026", 2026, "UTC", days=DAYS)
    messages = reported_problems(spreadsheet.read, [table], context)

    assert messages[0] == (
        "list.csv, row 3, date: In this column, “10/07/2026” is a day of the edition with the month first, "
        "and “07/10/2026” with the day first. Which is meant? Write the dates as 2026-07-08."
    )


@pytest.mark.parametrize(
    "cells", [("07/10/2026", "08/10/2026"), ("10/07/2026", "10/08/2026"), ("7.10.2026", "10/08/2026")]
)
def test_dates_of_one_order_are_read(cells: tuple[str, str]) -> None:
    rows = "".join(f"{number},T{number},S{number},{cell},9:00,10:00\n" for number, cell in enumerate(cells))
    table = Source("list.csv", f"ID,Title,Session,Date,Start,End\n{rows}".encode())
    program = spreadsheet.read([table], Context("2026", 2026, "UTC", days=DAYS))

    starts = [stated(session.start, None) for session in program.sessions]
    assert [start and start.day for start in starts] == [7, 8]


HOTCRP_PAPERS = [
    {
        "object": "paper",
        "pid": 3,
        "title": "On n bodies",
        "authors": [
            {
                "email": "mia@example.org",
                "first": "Mia",
                "last": "Vuno Zed",
                "affiliation": "NTNU",
                "contact": True,
            },
            {"email": "ann@example.org", "given_name": "Ann", "family_name": "Abe", "country": "NO"},
            {"name": "Bo Li"},
        ],
        "abstract": "Done & dusted.",
        "topics": {"Chips": True, "Nets": False},
        "status": "accepted",
        "decision": "Accepted",
    },
    {"object": "paper", "pid": 4, "title": "Not this", "status": "submitted", "decision": "Rejected"},
    {"object": "paper", "pid": 5, "title": "Gone", "status": "withdrawn", "withdrawn": True},
    {"object": "paper", "pid": 6, "title": "Open", "topics": ["Nets"], "status": "submitted"},
]


def hotcrp(content: object) -> Source:
    return Source("hotcrp-data.json", json.dumps(content).encode())


def test_json_of_hotcrp_is_recognized_and_read() -> None:
    sources = [hotcrp(HOTCRP_PAPERS)]
    program = spreadsheet.read(sources, Context("2026", 2026, "UTC"))
    first, second = program.papers
    authors = [
        (author.person.name, author.person.family, author.affiliations, author.corresponding)
        for author in stated(first.authors, ())
    ]

    assert [fmt.name for fmt in detect_formats(sources)] == ["spreadsheet"]
    assert (first.uid, first.title, first.abstract, first.status, first.topic) == (
        "3",
        "On n bodies",
        "Done & dusted.",
        "published",
        "chips",
    )
    assert authors == [
        ("Mia Vuno Zed", "Vuno Zed", ("NTNU",), True),
        ("Ann Abe", "Abe", (), False),
        ("Bo Li", "Bo Li", (), False),
    ]
    assert [author.person.email for author in stated(first.authors, ())][:2] == [
        "mia@example.org",
        "ann@example.org",
    ]
    assert (second.uid, is_stated(second.status)) == ("6", False)
    messages = [note.message for note in program.notes]
    assert "Left out because of the decision “Rejected”: 4." in messages
    assert "Left out because of the decision “withdrawn”: 5." in messages


@pytest.mark.parametrize("content", [[{"pid": 1, "title": "A"}, 5], "[" * 100_000])
def test_json_that_resembles_that_of_hotcrp_is_refused(content: object) -> None:
    source = (
        hotcrp(content)
        if not isinstance(content, str)
        else Source("a.json", b'[{"pid":1,"title":' + b"[" * 99_999)
    )

    assert reported_problems(spreadsheet.read, [source], Context("2026", 2026, "UTC"))[0].startswith(
        source.name
    )


@pytest.mark.django_db
def test_columns_of_the_json_of_hotcrp_are_chosen_on_the_page(admin_client: Client) -> None:
    edition = make_edition(slug="2026", year=2026)
    job = submit_columns(
        admin_client, upload(admin_client, edition, ("hotcrp-data.json", hotcrp(HOTCRP_PAPERS).content))
    )

    assert (job.state, job.problems) == ("ready", [])
