"""Names of people as files write them: their parts through all exports, placeholders, separators of lists."""

import json
from typing import Any

import pytest
from django.test import Client

from exchange.exports.dump import dump, writing_context
from exchange.files import Context, Source
from exchange.formats import bibtex, csl_json, frab_json, miniconf, openreview, readable, ris, spreadsheet
from exchange.imports.load import load
from exchange.reading.papers import parse_authors
from exchange.reading.person_names import is_placeholder, written_name
from exchange.records import Program, stated
from people.models import Person
from tests.exchange.outputs import reported_problems, written_content
from tests.factories import make_edition

CONTEXT = Context("2021", 2021, "UTC")


def read_table(*tables: str) -> Program:
    return spreadsheet.read(
        [Source(f"list{number}.csv", table.encode()) for number, table in enumerate(tables)], CONTEXT
    )


def read_posters(sources: list[Source], context: Context) -> Program:
    reader = readable()["orals_posters"].read
    assert reader
    return reader(sources, context)


def read_bibtex(authors: str) -> Program:
    return bibtex.read(
        [Source("list.bib", f"@inproceedings{{k1, title={{T}}, author={{{authors}}}}}".encode())], CONTEXT
    )


def names(program: Program) -> list[str]:
    return [author.person.name for paper in program.papers for author in stated(paper.authors, ())]


def parts() -> dict[str, tuple[str, str]]:
    return {person.name: (person.given, person.family) for person in Person.objects.all()}


PAPERS = "Paper ID,Title,Decision\n1,T,accept\n"
# Each states that "Vuno Garza" is one family name, where a guess takes the last word.
STATED = {
    "bibtex": lambda: read_bibtex("Vuno Garza, Mara and {The Coral Team}"),
    "bibtex with braces": lambda: read_bibtex("Mara {Vuno Garza} and {The Coral Team}"),
    "rows of authors": lambda: read_table(
        PAPERS, "Paper ID,First name,Last name\n1,Mara,Vuno Garza\n1,,The Coral Team\n"
    ),
    "columns of parts": lambda: read_table(
        "id,title,decision,first name 1,last name 1,first name 2,last name 2\n"
        "1,T,accept,Mara,Vuno Garza,,The Coral Team\n"
    ),
    "a list": lambda: read_table(
        'id,title,decision,authors\n1,T,accept,"Vuno Garza, Mara; The Coral Team"\n'
    ),
    "a column for each": lambda: read_table(
        'id,title,decision,author 1,author 2\n1,T,accept,"Vuno Garza, Mara",The Coral Team\n'
    ),
}
TEAM_OF_PARTS = {
    name: ("", "The Coral Team") for name in STATED if name not in ("a list", "a column for each")
}


@pytest.mark.django_db
@pytest.mark.parametrize("source", STATED)
def test_trap_41_stated_parts_survive_every_export(source: str, client: Client) -> None:
    edition = make_edition()
    load(STATED[source](), "2021")
    uid = Person.objects.get(family="Vuno Garza").uid

    assert parts()["Mara Vuno Garza"] == ("Mara", "Vuno Garza")
    assert parts()["The Coral Team"] == TEAM_OF_PARTS.get(source, ("The Coral", "Team"))
    program, context = dump(edition), writing_context(edition)
    texts = {
        fmt.FORMAT.name: written_content(fmt.write, program, context).decode()
        for fmt in (bibtex, ris, csl_json)
    }
    assert "author = {Vuno Garza, Mara and " in texts["bibtex"]
    assert "AU  - Vuno Garza, Mara" in texts["ris"]
    assert {"family": "Vuno Garza", "given": "Mara"} in json.loads(texts["csl_json"])[0]["author"]
    if source in TEAM_OF_PARTS:
        assert "and {The Coral Team}" in texts["bibtex"]
        assert "AU  - The Coral Team" in texts["ris"]
    person = client.get(f"/api/v1/people/{uid}/").json()
    assert (person["given"], person["family"]) == ("Mara", "Vuno Garza")
    assert Person.objects.get(uid=uid).sort_key == "vuno garza, mara"
    assert load(STATED[source](), "2021").run is None

    again = bibtex.read([Source("again.bib", texts["bibtex"].encode())], context)
    references = [author.person for author in stated(again.papers[0].authors, ())]
    assert (references[0].given, references[0].family) == ("Mara", "Vuno Garza")


@pytest.mark.django_db
def test_parts_that_chairs_changed_stay() -> None:
    make_edition()
    load(STATED["bibtex"](), "2021")
    Person.objects.filter(name="Mara Vuno Garza").update(given="Mara Vuno", family="Garza")
    load(STATED["bibtex"](), "2021")

    assert parts()["Mara Vuno Garza"] == ("Mara Vuno", "Garza")


@pytest.mark.django_db
def test_trap_41_sign_as_a_last_name_is_none() -> None:
    make_edition()
    load(read_table(PAPERS, "Paper ID,First name,Last name\n1,Tarkus,.\n1,Wulan,-\n1,.,Siti\n"), "2021")

    assert parts() == {"Tarkus": ("", "Tarkus"), "Wulan": ("", "Wulan"), "Siti": ("", "Siti")}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Tarkus .", "Tarkus"),
        ("Wulan -", "Wulan"),
        (". Siti", "Siti"),
        ("Martin King Jr.", "Martin King Jr."),
        ("Wei Wang 0001", "Wei Wang"),
        ("Room 0001 1", "Room 0001 1"),
        ("0001", "0001"),
        ("-", "-"),
        ("Anna-Maria - Bee", "Anna-Maria - Bee"),
    ],
)
def test_signs_and_numbers_of_homonyms_are_no_part_of_a_name(text: str, name: str) -> None:
    assert written_name(text).name == name


@pytest.mark.django_db
@pytest.mark.parametrize("source", ["bibtex", "spreadsheet"])
def test_trap_41_numbers_of_homonyms_tell_people_apart(source: str) -> None:
    make_edition()
    if source == "bibtex":
        entries = "\n".join(
            f"@inproceedings{{k{number}, title={{T{number}}}, author={{Wei Wang {homonym}}}}}"
            for number, homonym in enumerate(("0001", "0002", "0001"))
        )
        program = bibtex.read([Source("dblp.bib", entries.encode())], CONTEXT)
    else:
        program = read_table(
            "id,title,decision,authors\n1,A,accept,Wei Wang 0001\n2,B,accept,Wei Wang 0002\n"
            "3,C,accept,Wei Wang 0001\n"
        )
    load(program, "2021")

    assert names(program) == ["Wei Wang"] * 3
    assert Person.objects.filter(name="Wei Wang").count() == 2
    assert load(program, "2021").run is None


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Bee, A., Dorn, C. D. & Fox, E.", ["A. Bee", "C. D. Dorn", "E. Fox"]),
        ("Bee, A., Dorn, C. D., & Fox, J.-P.", ["A. Bee", "C. D. Dorn", "J.-P. Fox"]),
        ("Bee, A. (MIT), Dorn, C. D. (ETH)", ["A. Bee", "C. D. Dorn"]),
        ("Bee, A.", ["A. Bee"]),
        ("A. Bee, C. Dorn", ["A. Bee", "C. Dorn"]),
        ("Ann Bee, Cy Dorn et al.", ["Ann Bee", "Cy Dorn"]),
        ("Ann Bee; Cy Dorn; et al", ["Ann Bee", "Cy Dorn"]),
        ("Ann Bee and Cy Dorn and others", ["Ann Bee", "Cy Dorn"]),
        ("TBA", []),
        ("Ann Bee, TBA", ["Ann Bee"]),
        ("N/A; none", []),
        ("Nan Null, Ann None", ["Nan Null", "Ann None"]),
        ("Ann Bee；Cy Dorn；Eve Fox", ["Ann Bee", "Cy Dorn", "Eve Fox"]),
        ("李雷、韩梅梅", ["李雷", "韩梅梅"]),
        ("李雷，韩梅梅", ["李雷", "韩梅梅"]),
        ("Ann Bee · Cy Dorn · Eve Fox", ["Ann Bee", "Cy Dorn", "Eve Fox"]),
        ("约翰·史密斯", ["约翰·史密斯"]),
        ("Ann Bee; Cy Dorn and Eve Fox", ["Ann Bee", "Cy Dorn", "Eve Fox"]),
        ("Ann Bee; Cy Dorn; and Eve Fox", ["Ann Bee", "Cy Dorn", "Eve Fox"]),
        ("Bee, Ann and Dorn, Cy; Fox, Eve", ["Ann Bee", "Cy Dorn", "Eve Fox"]),
        ("The Coral and Reef Team; Ann Bee", ["The Coral and Reef Team", "Ann Bee"]),
        ("Ann Bee (MIT and ETH); Cy Dorn (X)", ["Ann Bee", "Cy Dorn"]),
        ("Kim, Zoe (Acme)*", ["Zoe Kim"]),
        ("Kim, Zoe (Acme)*; Lee, Bo (ETH)", ["Zoe Kim", "Bo Lee"]),
        ("Mia Zed, Ann Abe (MIT)", ["Mia Zed", "Ann Abe"]),
    ],
)
def test_trap_43_separators_and_placeholders_of_lists(cell: str, expected: list[str]) -> None:
    assert [author.name for author in parse_authors(cell)] == expected


def test_trap_43_single_author_is_read_as_in_the_other_rows() -> None:
    rows = '1,A,accept,"Kim, Zoe"\n2,B,accept,"Kim, Zoe (Acme)*; Lee, Bo (ETH)"\n3,C,accept,"Van Dam, Eve*"\n'

    assert names(read_table(f"id,title,decision,authors\n{rows}")) == [
        "Zoe Kim",
        "Zoe Kim",
        "Bo Lee",
        "Eve Van Dam",
    ]


@pytest.mark.parametrize("text", ["TBA", "tbd", "T.B.A.", "N/A", "n/a", "none", "et al.", "To be announced"])
def test_placeholder_is_nobody(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text", ["Nan", "Ann None", "Ng", "Na Li", "Otherson", "An Other", "A. Null", "-", "…"]
)
def test_unusual_name_is_somebody(text: str) -> None:
    assert not is_placeholder(text)


def notes(program: Program) -> list[str]:
    return [note.message for note in program.notes if "name" in note.message or "et al" in note.message]


NOBODY = ["“TBA” is no name and was left out."]


def test_trap_43_placeholders_of_rows_are_named() -> None:
    program = read_table(
        "id,title,decision,authors,session,start,end,room,session chair\n"
        "1,A,accept,Ann Bee et al.,S,2021-04-06 9:00,2021-04-06 10:00,N/A,TBA\n"
        "2,B,accept,TBA,,,,,\n"
    )

    assert (names(program), program.rooms, [session.room for session in program.sessions]) == (
        ["Ann Bee"],
        (),
        [stated(session.room, "") or session.room for session in program.sessions],
    )
    assert sorted(
        (str(note.where), note.message) for note in program.notes if "chair" not in note.message
    ) == [
        ("list0.csv, row 2", "The list of people ends in “et al.”: it is not complete."),
        ("list0.csv, row 2", "“N/A” is no name and was left out."),
        ("list0.csv, row 2", "“TBA” is no name and was left out."),
        ("list0.csv, row 3", "“TBA” is no name and was left out."),
    ]


def test_trap_43_placeholders_of_all_formats_are_nobody() -> None:
    event: dict[str, Any] = {"id": 1, "date": "2021-04-06T10:00:00Z", "duration": "00:30", "title": "T"}
    days = [{"date": "2021-04-06", "rooms": {"TBA": [{**event, "persons": [{"name": "TBA"}]}]}}]
    schedule = {"schedule": {"conference": {"acronym": "c", "days": days}}}
    frab_program = frab_json.read([Source("s.json", json.dumps(schedule).encode())], CONTEXT)
    note = {"id": "a1", "content": {"title": {"value": "T"}, "authors": {"value": ["TBA", "Ann Bee"]}}}
    note_program = openreview.read([Source("n.json", json.dumps([note]).encode())], CONTEXT)
    row = {"id": 1, "uid": "a", "name": "T", "eventtype": "Poster", "room_name": "TBA"}
    row |= {"authors": [{"fullname": "TBA"}, {"fullname": "Ann Bee"}]}
    page = {"count": 1, "next": None, "previous": None, "results": [row]}
    poster_program = read_posters([Source("o.json", json.dumps(page).encode())], CONTEXT)
    papers = b"UID,title,authors\n1,T,TBA|Ann Bee\n"
    miniconf_program = miniconf.read([Source("papers.csv", papers)], CONTEXT)
    bibtex_program = read_bibtex("{TBA} and Bee, Ann")

    assert (frab_program.sessions[0].roles, frab_program.rooms) == ((), ())
    for program in (note_program, poster_program, miniconf_program, bibtex_program):
        assert names(program) == ["Ann Bee"]
    for program in (frab_program, note_program, poster_program, miniconf_program, bibtex_program):
        assert notes(program)[:1] == NOBODY
    assert poster_program.rooms == ()


def test_author_objects_of_openreview_have_institutions() -> None:
    authors = [
        {
            "fullname": "Ann Bee",
            "username": "~Ann_Bee1",
            "institutions": [{"name": "ETH", "domain": "ethz.ch"}],
        },
        {"fullname": "Tarkus .", "username": "~Tarkus1", "institutions": [{"domain": "x.test"}, "MIT", None]},
        {"fullname": "Cy Dorn", "institutions": None},
    ]
    note = {"id": "a1", "content": {"title": {"value": "T"}, "authors": {"value": authors}}}
    program = openreview.read([Source("n.json", json.dumps([note]).encode())], CONTEXT)

    assert [
        (author.person.name, author.person.ids, author.affiliations)
        for author in stated(program.papers[0].authors, ())
    ] == [
        ("Ann Bee", (("openreview.net", "~Ann_Bee1"),), ("ETH",)),
        ("Tarkus", (("openreview.net", "~Tarkus1"),), ("x.test", "MIT")),
        ("Cy Dorn", (), ()),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("link", ["http://", "https://-/a", "http://x y"])
def test_trap_45_link_that_is_none_refuses_no_file(link: str) -> None:
    make_edition()
    note = {"id": "a1", "content": {"title": {"value": "T"}, "pdf": {"value": link}}}
    row = {"id": 1, "uid": "a", "name": "T", "eventtype": "Poster", "paper_pdf_url": link}
    page = {"count": 1, "next": None, "previous": None, "results": [row]}
    programs = [
        read_table(f"id,title,decision,pdf\n1,T,accept,{link}\n2,B,accept,https://x.test/a.pdf\n"),
        openreview.read([Source("n.json", json.dumps([note]).encode())], CONTEXT),
        read_posters([Source("o.json", json.dumps(page).encode())], CONTEXT),
        miniconf.read(
            [Source("papers.csv", f"UID,title,authors,pdf_url\n1,T,Ann Bee,{link}\n".encode())], CONTEXT
        ),
        bibtex.read(
            [Source("l.bib", f"@inproceedings{{k1, title={{T}}, url={{{link}}}}}".encode())], CONTEXT
        ),
    ]

    for program in programs:
        load(program, "2021", dry_run=True)


def test_name_that_is_missing_is_still_reported() -> None:
    assert reported_problems(read_table, "id,title,decision,authors\n1,A,accept,a@x.test\n") != []
