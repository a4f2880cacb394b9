"""Tests of spreadsheets of papers: columns of EasyChair, CMT and HotCRP, lists of authors, no formulas."""

import io
import time
from typing import Any

import pytest
from openpyxl import Workbook

import markup
from exchange.files import Context, Source
from exchange.formats import spreadsheet
from exchange.formats.spreadsheet.row_choice import is_total
from exchange.reading.papers import parse_authors
from exchange.records import MaterialRecord, PaperRecord, Program, is_stated, stated
from tests.exchange.outputs import reported_problems

EASYCHAIR: dict[str, list[list[Any]]] = {
    "Submissions": [
        ["#", "title", "authors", "submitted", "keywords", "decision", "abstract"],
        [1, "On n bodies", "Mia Zed and Ann Abe", "Oct 1", "chaos\nstars", "ACCEPT", "Done."],
        [2, "Not this", "Bo Bad", "Oct 2", "", "reject", ""],
    ],
    "Authors": [
        ["submission #", "first name", "last name", "email", "country", "affiliation", "corresponding?"],
        [1, "Mia", "Zed", "mia@example.org", "Norway", "NTNU", "✔"],
        [1, "Ann", "Abe", "ann@example.org", "Japan", "Tokyo Tech", ""],
        [2, "Bo", "Bad", "bo@example.org", "", "", ""],
    ],
    "Committee": [["person", "role"], ["X", "chair"]],
}
CMT = """Paper ID,Paper Title,Authors,Emails,Track Name,Primary Subject Area,Secondary Subject Areas,Status
7,A title,"Mia Zed (NTNU)*; Ann Abe (Tokyo Tech)",m@example.org,Main,Systems,Chips; Nets,Accept (Oral)
8,Open,"Bo Li (X)",,Main,Systems,,Awaiting Decision
"""
HOTCRP = """paper,title,first,last,email,affiliation,country
3,A title,Mia,Zed,m@example.org,NTNU,Norway
3,A title,Ann,Abe,a@example.org,Tokyo Tech,
"""


def workbook_source(sheets: dict[str, list[list[Any]]]) -> Source:
    workbook = Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    workbook.save(content)
    return Source("papers.xlsx", content.getvalue())


def read(*sources: str | Source) -> Program:
    files = [
        Source("papers.csv", source.encode()) if isinstance(source, str) else source for source in sources
    ]
    return spreadsheet.read(files, Context("2026", 2026, "UTC"))


def author_rows(paper: PaperRecord) -> list[tuple[str, tuple[str, ...], bool]]:
    authors = stated(paper.authors, ())
    return [(author.person.name, author.affiliations, author.corresponding) for author in authors]


def test_easychair_workbook_is_read() -> None:
    program = read(workbook_source(EASYCHAIR))

    (paper,) = program.papers
    assert (paper.uid, paper.title, paper.abstract, paper.keywords) == (
        "1",
        "On n bodies",
        "Done.",
        ("chaos", "stars"),
    )
    assert (paper.decision, paper.status) == ("ACCEPT", "published")
    assert author_rows(paper) == [
        ("Mia Zed", ("NTNU, Norway",), True),
        ("Ann Abe", ("Tokyo Tech, Japan",), False),
    ]
    assert [str(note.where) + ": " + note.message for note in program.notes] == [
        (
            "papers.xlsx: Submissions: These columns were not taken: submitted. "
            "A mapping file can say what they are."
        ),
        "papers.xlsx: Committee: This sheet holds no papers and no authors; it was left out.",
        "papers.xlsx: Submissions, row 3: Left out because of the decision “reject”: 2.",
        "papers.xlsx: Authors, row 4: The author was left out with the paper 2.",
    ]


def test_cmt_table_is_read() -> None:
    program = read(CMT)

    first, second = program.papers
    assert (first.uid, first.topic, first.keywords, first.track) == (
        "7",
        "systems",
        ("Chips", "Nets"),
        "Main",
    )
    assert author_rows(first) == [("Mia Zed", ("NTNU",), True), ("Ann Abe", ("Tokyo Tech",), False)]
    assert (first.status, is_stated(second.status)) == ("published", False)


def test_text_of_cells_is_literal() -> None:
    table = "ID,Title,Authors,Abstract\n1,__init__ and a*b*c,M*a*x Zed,We use $a*b_c$ and __all__.\n"
    (paper,) = read(table).papers

    assert markup.plain(stated(paper.title, "")) == "__init__ and a*b*c"
    assert [name for name, _, _ in author_rows(paper)] == ["M*a*x Zed"]
    assert stated(paper.abstract, "") == r"We use $a*b_c$ and \_\_all\_\_."


def test_papers_are_read_from_hotcrp_table_of_authors() -> None:
    (paper,) = read(HOTCRP).papers

    assert (paper.uid, paper.title) == ("3", "A title")
    assert author_rows(paper) == [("Mia Zed", ("NTNU, Norway",), False), ("Ann Abe", ("Tokyo Tech",), False)]


def test_authors_are_in_the_order_of_their_positions() -> None:
    table = "paper,first,last,position\n3,Ann,Abe,2.0\n3,Mia,Zed,1.0\n3,Bo,Li,10\n"
    (paper,) = read(table).papers

    assert [name for name, _, _ in author_rows(paper)] == ["Mia Zed", "Ann Abe", "Bo Li"]


def test_email_addresses_are_not_shown_with_records() -> None:
    for source in (workbook_source(EASYCHAIR), CMT, HOTCRP):
        assert "@" not in repr([read(source).papers, read(source).people])


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("A. Abe, B. Bo and C. Cy", ["A. Abe", "B. Bo", "C. Cy"]),
        ("Zed, Mia; van der Berg, Jan", ["Mia Zed", "Jan van der Berg"]),
        ("John Anderson, Sandy Land", ["John Anderson", "Sandy Land"]),
        ("Martin King, Jr., Ann B", ["Martin King Jr.", "Ann B"]),
        ("Mia Zed <mia@example.org>; ann@example.org", ["Mia Zed", ""]),
        ("李雷, 韩梅梅", ["李雷", "韩梅梅"]),
        ("A B|C D", ["A B", "C D"]),
        ("", []),
    ],
)
def test_author_names_are_read_from_a_cell(cell: str, names: list[str]) -> None:
    assert [author.name for author in parse_authors(cell)] == names


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("Zed, Mia", ["Mia Zed"]),
        ("Zed, Mia, Jr. (MIT, Boston)", ["Mia, Jr. Zed"]),
        ("Zed, Mia, mia@example.org", ["Mia Zed"]),
        ("Zed, Mia and van der Berg, Jan", ["Mia Zed", "Jan van der Berg"]),
        ("Bee, A., Dorn, C. D. & Fox, E.", ["A. Bee", "C. D. Dorn", "E. Fox"]),
        ("Bee, A. (MIT), Dorn, C. D. (ETH)", ["A. Bee", "C. D. Dorn"]),
        ("A. Abe, B. Bo and C. Cy", ["A. Abe", "B. Bo", "C. Cy"]),
    ],
)
def test_author_names_are_read_where_other_cells_begin_with_the_family_name(
    cell: str, names: list[str]
) -> None:
    assert [author.name for author in parse_authors(cell, is_family_first=True)] == names


@pytest.mark.parametrize(
    "cell",
    [
        "Mia Zed (MIT); Ann Abe (MIT; CMU)",
        "Mia Zed (MIT), Ann Abe (MIT; CMU)",
        "Mia Zed (MIT) and Ann Abe (MIT; CMU)",
        "Mia Zed1, Ann Abe1,2\n1 MIT\n2 CMU",
        "Mia Zed (1), Ann Abe (1,2)\n(1) MIT (2) CMU",
        "Mia Zed [1], Ann Abe [1,2]; [1] MIT; [2] CMU",
        "Mia Zed¹ and Ann Abe^{1,2}\n(1) MIT\n(2) CMU",
        "Mia Zed2, Ann Abe2,1; 1 CMU, 2 MIT",
        "Mia Zed1, Ann Abe1,2, 1 MIT, 2 CMU",
        "Mia Zed 1, Ann Abe 1, 2; 1. MIT; 2. CMU",
    ],
)
def test_affiliations_are_read_in_parentheses_or_by_number(cell: str) -> None:
    assert [(author.name, author.affiliations) for author in parse_authors(cell)] == [
        ("Mia Zed", ("MIT",)),
        ("Ann Abe", ("MIT", "CMU")),
    ]


@pytest.mark.parametrize(
    ("authors", "affiliations"),
    [
        ("Mia Zed2, Ann Abe1", "1 CMU, USA; 2 MIT, USA"),
        ("Mia Zed2, Ann Abe1", "1 CMU, USA, 2 MIT, USA"),
        ("Mia Zed [2] and Ann Abe [1]", "[1] CMU, USA\n[2] MIT, USA"),
        ("Mia Zed²; Ann Abe¹", "¹CMU, USA, ²MIT, USA"),
        ("Mia Zed; Ann Abe", "1. MIT, USA; 2. CMU, USA"),
    ],
)
def test_column_of_numbered_affiliations_goes_to_the_authors_with_the_numbers(
    authors: str, affiliations: str
) -> None:
    (paper,) = read(f'id,title,authors,affiliations\n1,A,"{authors}","{affiliations}"\n').papers

    assert author_rows(paper) == [
        ("Mia Zed", ("MIT, USA",), False),
        ("Ann Abe", ("CMU, USA",), False),
    ]


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("1. Mia Zed, 2. Ann Abe", ["Mia Zed", "Ann Abe"]),
        ("Mia Zed (NTNU, 1 Main St), Ann Abe", ["Mia Zed", "Ann Abe"]),
        ("Mia Zed2, 1 and Ann Abe1", ["Mia Zed", "Ann Abe"]),
    ],
)
def test_numbers_in_a_cell_of_authors_are_not_always_of_affiliations(cell: str, names: list[str]) -> None:
    assert [author.name for author in parse_authors(cell)] == names


@pytest.mark.parametrize(
    ("cell", "authors"),
    [
        ("Mia (Mo) Zed", [("Mia (Mo) Zed", ())]),
        ("Mia (Mo) Zed (MIT; CMU)*", [("Mia (Mo) Zed", ("MIT", "CMU"))]),
        ("Mia (Mo) Zed1 and Ann Abe\n1 MIT", [("Mia (Mo) Zed", ("MIT",)), ("Ann Abe", ())]),
        ("Zed, Mia (Mo) Q. (MIT); Abe, Ann", [("Mia (Mo) Q. Zed", ("MIT",)), ("Ann Abe", ())]),
        ("Mia Zed (MIT) (CMU), Jr., Ann Abe", [("Mia Zed Jr.", ("MIT", "CMU")), ("Ann Abe", ())]),
        ("(MIT) Mia Zed", [("Mia Zed", ("MIT",))]),
    ],
)
def test_parenthesis_within_a_name_is_a_nickname(
    cell: str, authors: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert [(author.name, author.affiliations) for author in parse_authors(cell)] == authors


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("map.toml", '[columns]\n"Titel!" = "title"\nIntern = ""'),
        ("map.json", '{"columns": {"titel": "title", "intern": ""}}'),
    ],
)
def test_mapping_file_assigns_columns(name: str, text: str) -> None:
    program = read("Nr;Titel;Intern\n5;Über n Körper;geheim\n", Source(name, text.encode()))

    assert [(paper.uid, paper.title) for paper in program.papers] == [("5", "Über n Körper")]
    assert [note for note in program.notes if "not taken" in note.message] == []


def test_links_become_materials() -> None:
    program = read("id,title,pdf,code\n1,T,https://example.org/1.pdf,ask me\n2,U,,https://example.org/c\n")

    assert program.papers[0].materials == (MaterialRecord(kind="pdf", url="https://example.org/1.pdf"),)
    assert "This is no address and was left out: ask me" in [note.message for note in program.notes]


def test_trap_13_formula_is_refused_in_a_workbook_and_text_in_csv() -> None:
    rows: list[list[Any]] = [["id", "title"], [1, '=HYPERLINK("http://x")']]
    assert reported_problems(read, workbook_source({"S": rows})) == [
        "papers.xlsx: S, row 2, title: The cell holds a formula. Put its value in its place.",
    ]
    assert [paper.title for paper in read("id,title\n1,'=1+1\n2,-x\n").papers] == ["=1+1", "-x"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b\n1,2\n",
            (
                "papers.csv: No column is the title of a paper. Found are: a, b. "
                "Name it “title”, or give a mapping file."
            ),
        ),
        ("id,title\n1,\n", "papers.csv, row 2, title: The title is missing."),
        (
            "id,title\n1,A\n1,A\n",
            "papers.csv, row 3, uid: Another row has “1” too. Each paper has one row of its own.",
        ),
        (
            "id,title,kind\n1,A,Oral\n1,B,Poster\n",
            (
                "papers.csv, row 3, uid: Another paper has “1” too (papers.csv, row 2). "
                "Give the papers of each table numbers of their own, such as with a prefix."
            ),
        ),
        (
            "title,authors,kind\nA,Ann Bee,Oral\nA,Cy Dorn,Poster\n",
            (
                "papers.csv, row 3, uid: Another paper has “A” too (papers.csv, row 2). "
                "Give the papers of each table numbers of their own, such as with a prefix."
            ),
        ),
        (
            "id,title,authors\n1,A,x@example.org\n",
            "papers.csv, row 2, authors: The author's name is missing. An e-mail address alone is none.",
        ),
    ],
)
def test_invalid_table_is_reported(text: str, message: str) -> None:
    assert reported_problems(read, text) == [message]


@pytest.mark.parametrize("decisions", [("Accept", "Reject"), ("Reject", "Accept")])
def test_paper_declined_in_one_of_two_rows_is_reported_in_any_order(decisions: tuple[str, str]) -> None:
    first, second = decisions

    assert reported_problems(read, f"id,title,decision\n1,A,{first}\n1,A,{second}\n") == [
        (
            "papers.csv, row 3, decision: “1” is declined in one row and not in another (papers.csv, row 2). "
            "Keep the one that holds."
        )
    ]


@pytest.mark.parametrize("mark", ["✔", "yes", "TRUE", "x"])
def test_trap_42_papers_that_easychair_marks_as_deleted_are_left_out(mark: str) -> None:
    rows = ["1,A,Mia Zed,ACCEPT,", f"2,B,Bo Li,ACCEPT,{mark}", "3,C,Cy Wu,ACCEPT,no"]
    papers = "\n".join(["#,title,authors,decision,deleted?", *rows])
    authors = Source("author.csv", b"submission #,first name,last name\n1,Mia,Zed\n2,Bo,Li\n3,Cy,Wu\n")
    program = read(papers, authors)

    assert [(paper.uid, paper.status) for paper in program.papers] == [("1", "published"), ("3", "published")]
    assert [remark.message for remark in program.notes] == [
        "Left out because it is marked as deleted: 2.",
        "The author was left out with the paper 2.",
    ]


@pytest.mark.parametrize(
    "row",
    [
        "Total,2,,",
        ",,TOTAL:,2",
        "Sum,,,=COUNTA(A2:A3)",
        "Summe,,2,",
        "Grand total,2,100 %,€ 1.200",
        "合計,2,,",
        ",Total: 2 papers,,",
        "Gesamt: 2,,,",
    ],
)
def test_row_of_totals_is_left_out(row: str) -> None:
    program = read(f"id,title,authors,decision\n1,A,Mia Zed,Accept\n2,B,Bo Li,Accept\n{row}\n")

    assert [paper.uid for paper in program.papers] == ["1", "2"]
    assert [remark.message for remark in program.notes] == ["Rows with totals were left out: 4."]


@pytest.mark.parametrize(
    "row", ["3,Total,Bo Li,Accept", "3,Total recall,,", "3,Total: 2 papers or more,,", "3,2024,Bo Li,"]
)
def test_paper_about_totals_is_read(row: str) -> None:
    assert [
        paper.uid for paper in read(f"id,title,authors,decision\n1,A,Mia Zed,Accept\n{row}\n").papers
    ] == [
        "1",
        "3",
    ]


@pytest.mark.parametrize(
    ("numbers", "uid"), [('prefix = "demo-"', "demo-1"), ("by_track = true", "main-1"), ("prefix = 7", "1")]
)
def test_mapping_file_makes_paper_numbers_unique(numbers: str, uid: str) -> None:
    mapping = Source("m.toml", f"[columns]\n[paper_numbers]\n{numbers}\n".encode())

    assert [paper.uid for paper in read("id,title,track\n1,A,Main\n", mapping).papers] == [uid]


def test_author_of_unknown_paper_is_reported() -> None:
    authors = Source("authors.csv", b"paper,first name,last name\n9,Bo,Li\n")
    assert reported_problems(read, "id,title\n1,A\n", authors) == [
        "authors.csv, row 2, uid: There is no paper “9” in these files."
    ]


def test_mapping_of_unknown_column_is_refused() -> None:
    messages = reported_problems(read, "id,title\n1,A\n", Source("m.toml", b'[columns]\nx = "titel"'))
    assert messages[0].startswith(
        'm.toml, columns.x: There is no such column: “titel”. Did you mean "title"?'
    )


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("9" * 60 + "x", "9" * 60 + "x"),
        ("a" * 70_000, "a" * 70_000),
        ("Zed" + " " * 70_000 + "Zu", "Zed Zu"),
        ("Zed " + "1+" * 9_000 + "x", "Zed " + "1+" * 9_000 + "x"),
    ],
)
def test_hostile_author_cell_is_read_as_one_name(cell: str, name: str) -> None:
    assert [author.name for author in parse_authors(cell)] == [name]


EASYCHAIR_AUTHORS = (
    "submission #,first name,last name,affiliation,person #\n"
    "1,J.,Kim,MIT,10\n2,J.,Kim,MIT,11\n3,J.,Kim,MIT,10\n"
)


def test_affiliation_does_not_replace_the_number_of_a_person() -> None:
    program = read("#,title,decision\n1,A,accept\n2,B,accept\n3,C,accept\n", EASYCHAIR_AUTHORS)

    keys = [author.person.key for paper in program.papers for author in stated(paper.authors, ())]
    assert keys == ["papers.csv 10", "papers.csv 11", "papers.csv 10"]
    assert [institution.name for institution in program.institutions] == ["MIT"]


def test_list_that_repeats_a_name_too_often_is_refused() -> None:
    text = f'id,title,authors\n1,A,"{"a b;" * 20}"\n2,B,"{"a b;" * 2_000}"\n'

    assert reported_problems(lambda: read(text)) == [
        (
            "papers.csv, row 3, authors: “a b” is 2000 times among the authors of this paper. "
            "At most 20 people of one name are read. Delete the repetitions."
        )
    ]


def test_long_row_of_digits_is_tested_for_totals_at_once() -> None:
    """The time grows with the length, not with its square."""
    start = time.perf_counter()
    is_total(["1" * 200_000 + "x", "Total"])

    assert time.perf_counter() - start < 5


def test_paper_with_a_further_row_that_is_not_deleted_stays() -> None:
    authors = Source("author.csv", b"submission #,first name,last name\n1,Mia,Zed\n2,Bo,Li\n")
    topics = Source("topics.csv", b"submission #,topic\n1,Chips\n2,Maps\n")
    rows = "#,title,decision,deleted?\n1,A,ACCEPT,yes\n1,A,ACCEPT,no\n2,B,ACCEPT,yes\n"
    program = read(rows, authors, topics)

    (paper,) = program.papers
    assert [name for name, *_ in author_rows(paper)] == ["Mia Zed"]
    assert [topic.name for topic in program.topics] == ["Chips"]
    assert [(str(note.where), note.message) for note in program.notes] == [
        ("papers.csv, row 2", "Left out because it is marked as deleted: 1."),
        ("papers.csv, row 4", "Left out because it is marked as deleted: 2."),
        ("topics.csv, row 3", "The topic was left out with the paper 2."),
        ("author.csv, row 3", "The author was left out with the paper 2."),
    ]


def test_authors_left_out_are_named_in_the_order_of_the_file() -> None:
    numbers = range(1, 40)
    papers = "".join(f"{number},P{number},reject\n" for number in numbers)
    authors = "".join(f"{number},Mia,Zed\n" for number in numbers)
    program = read(
        f"#,title,decision\n{papers}",
        Source("author.csv", f"submission #,first name,last name\n{authors}".encode()),
    )

    messages = [note.message for note in program.notes if note.where.file == "author.csv"]
    assert messages == [f"The author was left out with the paper {number}." for number in numbers]


def test_columns_that_are_not_taken_are_named_in_short() -> None:
    program = read(f"id,title,{'Zzz ' * 200}\n1,A,b\n")

    (message,) = [note.message for note in program.notes if "not taken" in note.message]
    assert len(message) < 200


def test_trap_39_row_without_a_topic_is_named() -> None:
    topics = Source("topics.csv", b"submission #,topic\n1,Chips\n1,\n")
    program = read("#,title,decision\n1,A,ACCEPT\n", topics)

    assert [(str(note.where), note.message) for note in program.notes] == [
        ("topics.csv, row 3", "Left out: the row names no topic.")
    ]
