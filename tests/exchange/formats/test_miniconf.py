"""Mini-Conf site data: its usual files in small, a real conference in full, and hostile YAML."""

import io
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from exchange.files import Context, Source
from exchange.formats import miniconf
from exchange.problems import ProgramError
from exchange.records import UNSTATED, CommitteeRecord, MaterialRecord, PersonRef, Program, stated

SHARED = Path(__file__).parents[4] / "shared" / "data" / "miniconf-emnlp2020"

PAPERS = """UID,title,authors,abstract,keywords,sessions,track,pdf_url
B.1,On  n bodies,Mia Zed|Ann Abe,Done.,chaos|stars,P1,Mechanics,https://example.org/1.pdf
B.2,No,Bo Li,,,,Mechanics,https://example.org/anthology/2
"""
SESSIONS = """
P1:
  name: Poster Session 1
  start_time: 2020-04-27 09:00:00
  end_time: 2020-04-27 11:00:00+02:00
  papers: [B.2, B.9]
"""
PLENARIES = """
- UID: keynote
  title: 'Keynote: Yes'
  presenter: Mia Zed
  institution: NTNU
  bio: Mia *works*.
  abstract: About it.
  sessions:
  - {name: live, start_time: 2020-04-28T07:00:00Z, end_time: 2020-04-28T08:00:00Z}
- {UID: S9, title: Later, speaker: Bo Li}
"""
CALENDAR = """
- {title: <b>Coffee</b><br>Break, start: 2020-04-28 10:00:00+02:00, end: 2020-04-28 10:30:00+02:00, view: day}
- {title: Coffee, start: 2020-04-28 10:00:00+02:00, end: 2020-04-28 10:30:00+02:00, view: week}
- {title: K, start: 2020-04-28 09:00:00+02:00, end: 2020-04-28 10:00:00+02:00, link: plenary_keynote.html}
"""
CONFIG = "{name: MiniConf 2020, tagline: All of it., site_title: X}"
COMMITTEE = "committee: [{role: Chair, name: Ann Abe, aff: Tokyo Tech}]"
FILES = {
    "papers.csv": PAPERS,
    "poster_schedule.yml": SESSIONS,
    "plenary_sessions.yml": PLENARIES,
    "main_calendar.yml": CALENDAR,
    "config.yml": CONFIG,
    "committee.yml": COMMITTEE,
}


def read(files: dict[str, str], zone: str = "Europe/Oslo") -> Program:
    sources = [Source(name, text.encode()) for name, text in files.items()]
    return miniconf.read(sources, Context("2020", 2020, zone))


def problems(files: dict[str, str]) -> list[str]:
    with pytest.raises(ProgramError) as error:
        read(files)
    return [str(problem) for problem in error.value.problems]


def moment(day: int, hour: int) -> datetime:
    return datetime(2020, 4, day, hour, tzinfo=UTC)


def test_papers_with_authors_topic_and_links() -> None:
    first, second = read(FILES).papers

    assert (first.uid, first.title, first.abstract, first.topic) == (
        "B.1",
        "On n bodies",
        "Done.",
        "mechanics",
    )
    assert [author.person.name for author in stated(first.authors, ())] == ["Mia Zed", "Ann Abe"]
    assert (first.keywords, first.status) == (("chaos", "stars"), "published")
    assert first.materials == (MaterialRecord(kind="pdf", url="https://example.org/1.pdf"),)
    assert second.materials == (
        MaterialRecord(kind="other", url="https://example.org/anthology/2", label="Paper"),
    )
    assert second.title == "No"


def test_sessions_of_papers_plenaries_and_calendar() -> None:
    program = read(FILES)

    assert [(one.uid, one.kind, one.title, one.start) for one in program.sessions] == [
        ("P1", "poster", "Poster Session 1", moment(27, 7)),
        ("keynote", "invited_talk", "Keynote: Yes", moment(28, 7)),
        ("coffee-break-2020-04-28-1000", "break", "Coffee Break", moment(28, 8)),
    ]
    assert [(one.uid, one.kind, one.paper, one.session) for one in program.presentations] == [
        ("P1.B.2", "poster", "B.2", "P1"),
        ("P1.B.1", "poster", "B.1", "P1"),
        ("S9", "talk", UNSTATED, UNSTATED),
    ]


def test_speakers_have_roles_and_one_a_biography() -> None:
    program = read(FILES)

    (role,) = stated(program.sessions[1].roles, ())
    assert (role.person, role.role, role.affiliation) == (PersonRef(name="Mia Zed"), "speaker", "NTNU")
    assert [(one.ref.name, one.biography) for one in program.people] == [("Mia Zed", "Mia *works*.")]
    assert [one.person.name for one in stated(program.presentations[2].speakers, ())] == ["Bo Li"]


def test_committee_and_name_of_the_edition() -> None:
    edition = read(FILES).edition

    assert edition
    assert (edition.slug, edition.name, edition.description) == ("2020", "MiniConf 2020", "All of it.")
    assert edition.committee == (
        CommitteeRecord(person=PersonRef(name="Ann Abe"), role="Chair", affiliation="Tokyo Tech"),
    )


def test_what_was_assumed_or_left_out_is_said() -> None:
    assert [(one.where.file, one.message) for one in read(FILES).notes] == [
        ("poster_schedule.yml", "1 times name no zone; they were taken as times in Europe/Oslo."),
        ("", "Left out because no table holds the paper: 1 appearances (B.9)."),
    ]


def test_zone_of_the_config_is_taken() -> None:
    program = read({**FILES, "config.yml": "{tagline: x, timezone: Asia/Tokyo}"})
    assert program.sessions[0].start == moment(27, 0)


def test_zip_with_folders_reads_the_same() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(f"sitedata/{name}", text)
        archive.writestr("sitedata/logo.png", b"\x89PNG")
    program = miniconf.read([Source("site.zip", packed.getvalue())], Context("2020", 2020, "Europe/Oslo"))

    assert program == read(FILES)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"a.yml": "a: &x [1]\nb: *x"}, "a.yml: Line 2 repeats another part by an alias (*x). Write it out."),
        ({"a.yml": "[" * 99}, "a.yml: Lists and objects are nested too deeply on line 1."),
        ({"a.yml": "a: 'x"}, "a.yml: Line 1 is not YAML: found unexpected end of stream."),
        (
            {"x.csv": "a,b\n1,2\n"},
            "x.csv: There is nothing of Mini-Conf to read: give papers.csv, or the YAML files beside it.",
        ),
        (
            {"p.yml": "P1: {start_time: noon, end_time: 2020-04-28 10:00:00Z}"},
            'p.yml, P1, start_time: "noon" is not a time. Write it as 2026-07-08 10:00.',
        ),
        ({"papers.csv": "UID,title,authors\n1,,A B\n"}, "papers.csv, row 2, title: The title is missing."),
        (
            {"papers.csv": "UID,title,authors\n1,A,A\n1,B,A\n"},
            'papers.csv, row 3, uid: Another paper has "1" too: row 2.',
        ),
    ],
)
def test_misfits_are_named(files: dict[str, str], sentence: str) -> None:
    assert problems(files) == [sentence]


def test_tags_of_yaml_make_no_objects() -> None:
    program = read({**FILES, "config.yml": "{tagline: !!python/object/apply:os.getcwd [], name: !!int x}"})
    assert program.edition
    assert program.edition.name == "x"


@pytest.mark.shared
def test_real_conference_has_known_figures() -> None:
    sources = [Source(path.name, path.read_bytes()) for path in sorted(SHARED.iterdir())]
    program = miniconf.read(sources, Context("2020", 2020, "UTC"))

    assert len(program.papers) == 781
    assert sum(len(stated(paper.authors, ())) for paper in program.papers) == 3414
    assert Counter(paper.track for paper in program.papers) == {
        "Long": 601,
        "Short": 150,
        "TACL": 25,
        "CL": 5,
    }
    assert len(program.topics) == 20
    assert (len(program.sessions), len(program.presentations)) == (115 + 8 + 5, 810 - 29)
    assert Counter(one.kind for one in program.sessions)["invited_talk"] == 3
    assert [person.ref.name for person in program.people] == [
        "Claire Cardie",
        "Rich Caruana",
        "Janet Pierrehumbert",
    ]
    first = program.sessions[0]
    assert (first.uid, first.start) == ("z1A", datetime(2020, 11, 16, 16, tzinfo=UTC))
