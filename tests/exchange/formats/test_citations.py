"""Tests of BibTeX, RIS and CSL-JSON with other readers: stable keys, name parts, any title, one APA line."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import LatexDecodingMiddleware, SeparateCoAuthors, SplitNameParts
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import markup
from exchange.citations import apa, citations, initials
from exchange.exports.dump import name_parts
from exchange.files import Context, Source, Writer
from exchange.formats import bibtex, csl_json, program_json, ris
from exchange.records import AuthorRecord, ConferenceRecord, PersonRecord, PersonRef, Program, stated
from tests.demo.programs import DEMO, YEARS
from tests.exchange.outputs import written_content
from tests.exchange.programs import PROCEEDINGS, author, complete_program, edition, paper, program

CONTEXT = Context("2021", 2021, "America/Los_Angeles", "https://conf.example", name_parts=name_parts)
MLSYS = ConferenceRecord(slug="mlsys", name="MLSys", full_name="Machine Learning & Systems")
NAMES = ("Jan van der Berg", "Martin L. King Jr.", "bell hooks", "李雷", "Plato", "Tom Sand and Co, Inc")
CHARACTERS = st.one_of(
    st.sampled_from("{}\\$&%_#~^\"'’“”é李@=,* "), st.characters(exclude_categories=["Cs", "Cc"])
)
# Map the library's output to the printed characters: ' is an apostrophe, \\textasciicircum a caret.
AS_PRINTED = str.maketrans({"'": "’", "ˆ": "^", "$": ""})
TEXT_FIELDS = (
    *("id", "title", "container-title", "collection-title", "volume", "publisher", "publisher-place"),
    *("ISBN", "ISSN", "license", "event-title", "event-place", "page", "DOI", "URL", "keyword", "abstract"),
)
NAME_LIST_SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["family"],
        "additionalProperties": False,
        "properties": {name: {"type": "string"} for name in ("family", "given", "suffix")},
    },
}
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "type", "title"],
        "additionalProperties": False,
        "properties": {
            **{name: {"type": "string", "minLength": 1} for name in TEXT_FIELDS},
            "type": {"const": "paper-conference"},
            "issued": {
                "type": "object",
                "properties": {"date-parts": {"type": "array", "items": {"type": "array", "minItems": 1}}},
            },
            **dict.fromkeys(("author", "editor"), NAME_LIST_SCHEMA),
        },
    },
}


def written_text(write: Writer, input_program: Program) -> str:
    return written_content(write, input_program, CONTEXT).decode()


def bibtex_entries(input_program: Program, *middlewares: Any) -> list[Any]:
    library = parse_string(written_text(bibtex.write, input_program), append_middleware=list(middlewares))
    assert library.failed_blocks == []
    return library.entries


def program_with_titles(*titles: str) -> Program:
    return program(*(paper(f"p{n}", title=title) for n, title in enumerate(titles)), conference=MLSYS)


def bibtex_title(title: str) -> str:
    """Return a title as readers of the entry see it: TeX is decoded, braces around capitals are removed."""
    (entry,) = bibtex_entries(program_with_titles(title), LatexDecodingMiddleware(keep_math_mode=False))
    decoded: str = entry["title"]
    return decoded.translate(AS_PRINTED)


def test_bibtex_entry_has_all_known_fields() -> None:
    paper_record = paper(
        "cortex", "Pratik Fegade", "Tianqi Chen", pages="12-25", doi="10.1/x_y", keywords=("a & b",)
    )
    (entry,) = bibtex_entries(
        program(paper_record, conference=MLSYS, edition=edition(city="San José", country="USA"))
    )

    assert (entry.entry_type, entry.key) == ("inproceedings", "mlsys2021.cortex")
    assert {field.key: field.value for field in entry.fields} == {
        "author": "Fegade, Pratik and Chen, Tianqi",
        "title": "On cortex",
        "booktitle": r"Machine Learning \& Systems",
        "eventtitle": "MLSys 2021",
        "year": "2021",
        "address": "San José, USA",
        "pages": "12--25",
        "doi": "10.1/x_y",
        "url": "https://conf.example/2021/papers/cortex/",
        "keywords": r"a \& b",
        "abstract": "What was done.",
    }


def program_with_proceedings() -> Program:
    paper_record = paper("17", "Mia Zed", pages="12-25")
    return program(paper_record, conference=MLSYS, edition=edition(city="Seoul", **PROCEEDINGS))


def test_bibtex_names_the_proceedings() -> None:
    (entry,) = bibtex_entries(program_with_proceedings())
    field_names = ("booktitle", "editor", "series", "volume", "publisher", "address", "venue", "isbn", "issn")

    assert {name: entry[name] for name in field_names} == {
        "booktitle": "Proceedings of the Fourth Meeting",
        "editor": "Zed, Mia and van der Berg, Anna",
        "series": r"Notes \& Letters",
        "volume": "139",
        "publisher": "Old Press",
        "address": "Oslo",
        "venue": "Seoul",
        "isbn": "978-3-16-148410-0",
        "issn": "2640-3498",
    }


def test_ris_names_the_proceedings() -> None:
    lines = written_text(ris.write, program_with_proceedings()).split("\r\n")

    assert lines[4:16] == [
        "T2  - Machine Learning & Systems",
        "C3  - Proceedings of the Fourth Meeting",
        "BT  - Proceedings of the Fourth Meeting",
        "ED  - Zed, Mia",
        "ED  - van der Berg, Anna",
        "T3  - Notes & Letters",
        "VL  - 139",
        "PB  - Old Press",
        "C1  - Oslo",
        "PY  - 2021",
        "CY  - Seoul",
        "SP  - 12",
    ]
    assert lines[17:19] == ["SN  - 978-3-16-148410-0", "SN  - 2640-3498"]


def test_csl_json_names_the_proceedings() -> None:
    (item,) = json.loads(written_text(csl_json.write, program_with_proceedings()))

    assert item == {
        "id": "mlsys2021.17",
        "type": "paper-conference",
        "title": "On 17",
        "author": [{"family": "Zed", "given": "Mia"}],
        "container-title": "Proceedings of the Fourth Meeting",
        "collection-title": "Notes & Letters",
        "volume": "139",
        "editor": [{"family": "Zed", "given": "Mia"}, {"family": "van der Berg", "given": "Anna"}],
        "publisher": "Old Press",
        "publisher-place": "Oslo",
        "event-title": "MLSys 2021",
        "event-place": "Seoul",
        "issued": {"date-parts": [[2021]]},
        "page": "12-25",
        "ISBN": "978-3-16-148410-0",
        "ISSN": "2640-3498",
        "URL": "https://conf.example/2021/papers/17/",
        "abstract": "What was done.",
    }


def test_apa_line_names_the_proceedings() -> None:
    (citation,) = citations(program_with_proceedings(), CONTEXT)

    assert apa(citation) == (
        "Zed, M. (2021). On 17. In M. Zed & A. van der Berg (Eds.), Proceedings of the Fourth Meeting "
        "(Notes & Letters Vol. 139, pp. 12–25). Old Press. https://conf.example/2021/papers/17/"
    )


def test_citation_has_the_license_of_the_paper_or_else_of_the_edition() -> None:
    papers = (paper("17", license="CC0-1.0"), paper("18"))
    input_program = program(*papers, conference=MLSYS, edition=edition(license="CC-BY-4.0"))

    assert [entry["copyright"] for entry in bibtex_entries(input_program)] == ["CC0-1.0", "CC-BY-4.0"]
    assert [item["license"] for item in json.loads(written_text(csl_json.write, input_program))] == [
        "CC0-1.0",
        "CC-BY-4.0",
    ]
    notes = [line for line in written_text(ris.write, input_program).split("\r\n") if line.startswith("N1")]
    assert notes == ["N1  - License: CC0-1.0", "N1  - License: CC-BY-4.0"]


@pytest.mark.parametrize(
    "title",
    [
        "Braces {left open",
        "closed} only",
        "Both {A} of $\\{x\\}$",
        "90% of A & B_1 #2 ~ ^",
        "It’s “quoted” – twice",
        'Straight "quotes" and it\'s',
        "Éric Šimek’s 李 café",
        "ends in \\",
        "x@y.z, = {a}, @article{b,",
        r"a | b, \-\-verbose and \-\-\-",
    ],
)
def test_trap_15_title_is_the_same_after_bibtex(title: str) -> None:
    assert bibtex_title(title) == markup.plain(title).replace("'", "’")


@settings(max_examples=150, deadline=None)
@given(st.text(CHARACTERS, min_size=1, max_size=40), st.text(CHARACTERS, max_size=60))
def test_trap_15_file_with_any_title_and_abstract_is_parsed(title: str, abstract: str) -> None:
    paper_record = paper("p1", AuthorRecord(person=PersonRef(name=title)), title=title, abstract=abstract)
    content = written_text(bibtex.write, program(paper_record, paper("p2", title="After"), conference=MLSYS))
    library = parse_string(content)

    assert library.failed_blocks == []
    assert [entry.key for entry in library.entries] == ["mlsys2021.p1", "mlsys2021.p2"]
    assert content.count("{") == content.count("}")


def test_trap_15_keys_are_unique_and_unchanged_by_corrections() -> None:
    papers = tuple(paper(uid, "Zed Zu") for uid in ("a.b", "a-b", "17", "mlsys2021-17", "mlsys2021.17"))
    before = program(*papers, conference=MLSYS)
    after = replace(before, papers=tuple(replace(paper, title="New", authors=()) for paper in papers))
    keys = [[entry.key for entry in bibtex_entries(input_program)] for input_program in (before, after)]

    assert (
        keys[0]
        == keys[1]
        == ["mlsys2021.a.b", "mlsys2021.a-b", "mlsys2021.17", "mlsys2021-17", "mlsys2021.mlsys2021.17"]
    )
    hyphenated_context = replace(CONTEXT, edition="mlsys-2027")
    assert [citation.key for citation in citations(before, hyphenated_context)][2] == "mlsys-2027.17"


def test_capitals_and_formulas_are_protected_by_braces() -> None:
    (entry,) = bibtex_entries(program_with_titles("MLPerf and BERT-like $O(N)$ *GPU* models"))

    assert entry["title"] == r"{MLPerf} and {BERT}-like {$O(N)$} \emph{GPU} models"


def test_bibtex_names_have_parts() -> None:
    input_program = program(paper("p1", *NAMES), conference=MLSYS)
    (entry,) = bibtex_entries(input_program, SeparateCoAuthors(), SplitNameParts())

    assert [(part.von, part.last, part.jr, part.first) for part in entry["author"]] == [
        (["van", "der"], ["Berg"], [], ["Jan"]),
        ([], ["King"], ["Jr."], ["Martin", "L."]),
        ([], ["{hooks}"], [], ["bell"]),
        ([], ["李"], [], ["雷"]),
        ([], ["Plato"], [], []),
        ([], ["{Tom Sand and Co}"], [], ["Inc"]),
    ]


def test_trap_9_printed_name_is_split_as_the_name_of_the_person() -> None:
    person = PersonRecord(ref=PersonRef(name="Ana Ruiz Soto", uid="ana"), given="Ana", family="Ruiz Soto")
    papers = [
        paper(f"p{n}", author(name, "ana"))
        for n, name in enumerate(("Ana Ruiz Soto", "A. Ruiz Soto", "Ana Ruiz"))
    ]
    all_citations = citations(program(*papers, people=(person,)), CONTEXT)

    assert [(citation.authors[0].family, citation.authors[0].given) for citation in all_citations] == [
        ("Ruiz Soto", "Ana"),
        ("Ruiz Soto", "A."),
        ("Ruiz", "Ana"),
    ]


def test_family_name_printed_in_capitals_is_not_cut() -> None:
    person = PersonRecord(ref=PersonRef(name="Mia Groß", uid="mia"), given="Mia", family="Groß")
    papers = paper("p1", author("Mia GROSS", "mia")), paper("p2", author("M. GROß", "mia"))
    all_citations = citations(program(*papers, people=(person,)), CONTEXT)

    assert [(citation.authors[0].family, citation.authors[0].given) for citation in all_citations] == [
        ("GROSS", "Mia"),
        ("GROß", "M."),
    ]


def test_ris_record_has_one_field_per_line() -> None:
    paper_record = paper(
        "17", "Pratik Fegade", "Martin King Jr.", title="A\n*b*", pages="12–25", doi="10.1/x", keywords=("k",)
    )
    content = written_text(ris.write, program(paper_record, paper("18", abstract=""), conference=MLSYS))

    assert content.split("\r\n") == [
        "TY  - CPAPER",
        "ID  - mlsys2021.17",
        "AU  - Fegade, Pratik",
        "AU  - King, Martin, Jr.",
        "TI  - A b",
        "T2  - Machine Learning & Systems",
        "C3  - MLSys 2021",
        "PY  - 2021",
        "SP  - 12",
        "EP  - 25",
        "DO  - 10.1/x",
        "UR  - https://conf.example/2021/papers/17/",
        "KW  - k",
        "AB  - What was done.",
        "ER  - ",
        "",
        "TY  - CPAPER",
        "ID  - mlsys2021.18",
        "TI  - On 18",
        "T2  - Machine Learning & Systems",
        "C3  - MLSys 2021",
        "PY  - 2021",
        "UR  - https://conf.example/2021/papers/18/",
        "ER  - ",
        "",
    ]


@pytest.mark.parametrize(
    "input_program", [complete_program(), program(), program(paper("17", *NAMES), paper("18"))]
)
def test_csl_json_is_valid_by_its_schema(input_program: Program) -> None:
    items = json.loads(written_text(csl_json.write, input_program))

    assert list(Draft202012Validator(SCHEMA).iter_errors(items)) == []
    assert [item["id"].partition(".")[2] for item in items] == [paper.uid for paper in input_program.papers]


def test_csl_json_has_name_parts_and_plain_title() -> None:
    (item,) = json.loads(
        written_text(csl_json.write, program(paper("17", "Martin King Jr.", title="On $x^2$")))
    )

    assert item["author"] == [{"family": "King", "given": "Martin", "suffix": "Jr."}]
    assert (item["title"], item["issued"]) == ("On x²", {"date-parts": [[2021]]})


@pytest.mark.parametrize(
    ("names", "fields", "line"),
    [
        (
            ["Pratik Fegade", "Jean-Luc Marie Chen", "Martin King Jr."],
            {"pages": "12-25", "doi": "10.1/x"},
            "Fegade, P., Chen, J.-L. M., & King, M., Jr. (2021). On 17. In Systems (pp. 12–25). https://doi.org/10.1/x",
        ),
        (
            ["李雷"],
            {"title": "Why?", "pages": "7"},
            "李, 雷. (2021). Why? In Systems (p. 7). https://conf.example/2021/papers/17/",
        ),
        ([], {}, "On 17. (2021). In Systems. https://conf.example/2021/papers/17/"),
    ],
)
def test_apa_line(names: list[str], fields: dict[str, str], line: str) -> None:
    systems = replace(MLSYS, full_name="Systems")
    (citation,) = citations(program(paper("17", *names, **fields), conference=systems), CONTEXT)

    assert apa(citation) == line


def test_apa_line_of_many_authors_shows_the_first_19_and_the_last() -> None:
    names = [f"Ann Author{number}" for number in range(30)]
    (citation,) = citations(program(paper("17", *names)), CONTEXT)

    assert "Author18, A., … Author29, A. (2021)." in apa(citation)
    assert initials("") == ""


# BibTeX in other readers


# Strings that may break BibTeX, in any order; the formulas look the same as text and as TeX.
TITLE_PIECES = [*"{}&%_#’“”é\"'李—", r"\{", r"\ ", "{A}", "BERT", "a_b"]
TITLE_PIECE_LISTS = st.lists(
    st.sampled_from([*TITLE_PIECES, "$n$", "$a+b$", "@article{x,", ",", "=", " on "]), max_size=14
)


def printed_title(title: str) -> str:
    return " ".join(markup.plain(title).replace("'", "’").replace("$", "").split())


@settings(max_examples=150, deadline=None)
@given(st.lists(TITLE_PIECE_LISTS.map(lambda pieces: f"x{''.join(pieces)}x"), min_size=1, max_size=4))
def test_trap_15_titles_of_breaking_characters_round_trip(titles: list[str]) -> None:
    entries = bibtex_entries(program_with_titles(*titles), LatexDecodingMiddleware(keep_math_mode=False))
    read_titles = [" ".join(entry["title"].translate(AS_PRINTED).split()) for entry in entries]

    assert [entry.key for entry in entries] == [f"mlsys2021.p{n}" for n in range(len(titles))]
    assert read_titles == [printed_title(title) for title in titles]


def demo_program(year: int) -> Program:
    path = DEMO / f"mlsys-{year}.json"
    return program_json.read([Source(path.name, path.read_bytes())], CONTEXT)


@pytest.mark.parametrize("year", YEARS)
def test_trap_15_complete_demo_program_is_parsed(year: int) -> None:
    input_program = demo_program(year)
    entries = bibtex_entries(input_program, LatexDecodingMiddleware(keep_math_mode=False))
    keys = [entry.key for entry in entries]
    corrected = replace(
        input_program, papers=tuple(replace(paper, title="New", authors=()) for paper in input_program.papers)
    )

    assert len({*keys}) == len(input_program.papers)
    assert keys == [entry.key for entry in bibtex_entries(corrected)]
    titles = [printed_title(stated(paper.title, "")) for paper in input_program.papers]
    assert sorted(entry["title"].translate(AS_PRINTED) for entry in entries) == sorted(titles)


@pytest.mark.skipif(shutil.which("biber") is None, reason="biber, the reader of biblatex, is not installed")
def test_trap_15_biber_reads_the_demo(tmp_path: Path) -> None:
    (tmp_path / "all.bib").write_text(written_text(bibtex.write, demo_program(2021)), "utf-8")
    result = subprocess.run(
        ["biber", "--tool", "--validate-datamodel", "all.bib"], cwd=tmp_path, capture_output=True, text=True
    )

    assert (result.returncode, "ERROR" in result.stdout) == (0, False)
