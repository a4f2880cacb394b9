"""Tests of the public export of conference sites: unusual rows, stable output of the writer, real files."""

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from exchange.files import Context, Source
from exchange.formats.orals_posters import write
from exchange.formats.orals_posters.events import FIELDS, absolute_url, public_host, track_of
from exchange.formats.orals_posters.records import read
from exchange.problems import ProgramError
from exchange.records import (
    UNSTATED,
    AuthorRecord,
    InstitutionRecord,
    MaterialRecord,
    PaperRecord,
    PersonRef,
    PresentationRecord,
    Program,
    RoomRecord,
    SessionRecord,
    TopicRecord,
)
from tests.exchange.outputs import reported_problems
from tests.exchange.strategies import programs

CONTEXT = Context("2026", 2026, "Asia/Seoul", "https://conf.example")
SHARED = Path(__file__).parents[4] / "shared" / "data" / "orals-posters"
ROW: dict[str, Any] = {"id": 7, "uid": "ab", "name": "T", "eventtype": "Poster"}
TIMES = {"starttime": "2026-07-08T01:00:00-07:00", "endtime": "2026-07-08T02:00:00-07:00"}
START, END = datetime(2026, 7, 8, 8, tzinfo=UTC), datetime(2026, 7, 8, 9, tzinfo=UTC)


def page(*rows: dict[str, Any], **page_fields: Any) -> Source:
    content = {"count": len(rows), "next": None, "results": [{**ROW, **row} for row in rows], **page_fields}
    return Source("op.json", json.dumps(content).encode())


def read_rows(*rows: dict[str, Any], **page_fields: Any) -> Program:
    return read([page(*rows, **page_fields)], CONTEXT)


def read_paper(*rows: dict[str, Any], **page_fields: Any) -> PaperRecord:
    (paper,) = read_rows(*rows, **page_fields).papers
    return paper


def authors_of(paper: PaperRecord) -> tuple[AuthorRecord, ...]:
    assert isinstance(paper.authors, tuple)
    return paper.authors


def messages(program: Program) -> list[tuple[str, str]]:
    return [(note.kind, note.message) for note in program.notes]


def written_sources(program: Program, context: Context = CONTEXT) -> list[Source]:
    return [Source(file.name, b"".join(file.chunks)) for file in write(program, context)]


def rows_of(sources: list[Source]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(sources[0].content)["results"]
    return rows


def presentation_rows(program: Program) -> list[tuple[object, ...]]:
    return [
        (
            presentation.uid,
            presentation.kind,
            presentation.session,
            presentation.start,
            presentation.end,
            presentation.room,
        )
        for presentation in program.presentations
    ]


def test_read_oral_and_poster_with_one_uid_are_one_paper() -> None:
    program = read_rows(
        {"id": 1, "eventtype": "Oral", "decision": "Accept (oral)"}, {"id": 2, "decision": "Accept (poster)"}
    )
    assert [(paper.uid, paper.decision) for paper in program.papers] == [("ab", "Accept (oral)")]
    assert [
        (presentation.uid, presentation.kind, presentation.paper) for presentation in program.presentations
    ] == [
        ("1", "oral", "ab"),
        ("2", "poster", "ab"),
    ]


@pytest.mark.parametrize(
    "second",
    [
        {"uid": "ab", "name": "Other"},
        {"uid": "", "name": "Other", "related_events_ids": [7]},
        {"uid": None, "name": "t!", "authors": [{"fullname": "A"}]},
    ],
)
def test_read_events_of_the_same_paper_are_joined(second: dict[str, Any]) -> None:
    program = read_rows({"authors": [{"fullname": "A"}]}, {"id": 8, "eventtype": "Oral", **second})
    assert [(paper.uid, paper.title) for paper in program.papers] == [("ab", "T")]


def test_read_same_title_by_other_authors_is_another_paper() -> None:
    rows = [{"id": n, "uid": "", "authors": [{"fullname": name}]} for n, name in ((1, "A"), (2, "B"))]
    assert [paper.uid for paper in read_rows(*rows).papers] == ["1", "2"]


def test_read_title_of_the_poster_is_used_if_titles_differ() -> None:
    program = read_rows({"id": 1, "eventtype": "Oral", "name": "Longer title"}, {"id": 2, "name": "Title"})
    assert program.papers[0].title == "Title"
    assert messages(program) == [
        (
            "warning",
            "Event 1 (oral) has another title: “Longer title”. The title of event 2 (poster) was taken.",
        )
    ]


def test_read_entities_are_decoded_once_and_tex_is_unchanged() -> None:
    program = read_rows({"name": r"Q&amp;A &amp;lt; R&D $\mathbf{T^3}$"})
    assert program.papers[0].title == r"Q&A &lt; R&D $\mathbf{T^3}$"
    assert [kind for kind, _ in messages(program)] == ["doubt"]


def test_read_repeated_author_is_one_and_authors_with_the_same_name_are_two() -> None:
    rows = [(1, "A"), (1, "A."), (None, "B"), (None, "B"), (2, "C"), (3, "C")]
    program = read_rows({"authors": [{"id": author_id, "fullname": name} for author_id, name in rows]})
    assert [(author.person.name, author.person.ids) for author in authors_of(program.papers[0])] == [
        ("A", (("orals-posters", "1"),)),
        ("B", ()),
        ("B", ()),
        ("C", (("orals-posters", "2"),)),
        ("C", (("orals-posters", "3"),)),
    ]
    assert [kind for kind, _ in messages(program)] == ["repeat", "doubt"]


@pytest.mark.parametrize(
    ("url", "person"),
    [
        ("http://www.neurips.cc/api/users/5", PersonRef(name="A", ids=(("neurips.cc", "5"),))),
        ("http://10.0.0.1:8000/users/5", PersonRef(name="A", ids=(("orals-posters", "5"),))),
        ("https://conf.example/people/yu-2/", PersonRef(name="A", uid="yu-2")),
    ],
)
def test_read_author_is_identified_by_host(url: str, person: PersonRef) -> None:
    paper = read_paper({"authors": [{"id": 5, "fullname": "A", "url": url}]})
    assert [author.person for author in authors_of(paper)] == [person]


def test_read_institutions_become_records_and_affiliations() -> None:
    program = read_rows({"authors": [{"id": 5, "fullname": "A", "institution": "ETH; Ł&amp;ódź"}]})
    (author,) = authors_of(program.papers[0])
    assert (author.affiliations, author.institutions) == (("ETH", "Ł&ódź"), ("eth", "l-odz"))
    assert [record.name for record in program.institutions] == ["ETH", "Ł&ódź"]


def test_read_topic_path_becomes_a_tree() -> None:
    program = read_rows({"topic": "Computer Vision->Other"})
    assert program.papers[0].topic == "computer-vision--other"
    assert program.topics == (
        TopicRecord(slug="computer-vision", name="Computer Vision", parent=None),
        TopicRecord(slug="computer-vision--other", name="Other", parent="computer-vision"),
    )


def test_read_absent_field_is_unstated_and_null_field_is_empty() -> None:
    paper = read_paper({"topic": None, "keywords": [], "abstract": None})
    assert (paper.topic, paper.keywords, paper.abstract) == (None, (), UNSTATED)
    assert (paper.authors, paper.decision, paper.track) == (UNSTATED, UNSTATED, UNSTATED)


@pytest.mark.parametrize(
    ("group", "track"),
    [("ICML.cc/2026/Conference", ""), ("ICML.cc/2026/Position_Paper_Track", "Position Paper Track")],
)
def test_read_track_is_that_of_the_venue_group(group: str, track: str) -> None:
    assert read_paper({"sourceurl": f"https://openreview.net/group?id={group}"}).track == track


def test_read_materials_have_absolute_urls_and_kinds() -> None:
    media = [
        {"type": "PDF", "name": "Slides", "file": "/media/a b.pdf", "visible": True},
        {"type": "URL", "name": "OpenReview", "uri": "https://openreview.net/forum?id=x"},
        {"type": "URL", "name": "Look", "uri": "javascript:alert(1)"},
        {"type": "Image", "name": "Thumb", "uri": "t.png", "visible": False},
    ]
    links = {"url": "github.com/a/b", "paper_url": "https://openreview.net/forum?id=x"}
    program = read_rows({**links, "eventmedia": media}, next="https://icml.cc/x?page=2")
    assert program.papers[0].materials == (
        MaterialRecord(kind="review", url="https://openreview.net/forum?id=x"),
        MaterialRecord(kind="code", url="https://github.com/a/b"),
        MaterialRecord(kind="slides", url="https://icml.cc/media/a%20b.pdf", label="Slides"),
        MaterialRecord(kind="other", url="https://icml.cc/t.png", label="Thumb", visible=False),
    )
    assert [kind for kind, _ in messages(program)] == ["warning"]


def test_read_session_spans_its_events() -> None:
    later_times = {"starttime": "2026-07-08T02:00:00-07:00", "endtime": "2026-07-08T02:30:00-07:00"}
    location = {"eventtype": "Oral", "session": "Oral 1", "parent_id": 9, "room_name": "HALL A"}
    program = read_rows({**TIMES, **location}, {**later_times, **location, "id": 8, "uid": "cd"})
    end = datetime(2026, 7, 8, 9, 30, tzinfo=UTC)
    (session,) = program.sessions
    assert session == SessionRecord(
        uid="9", kind="oral", title="Oral 1", start=START, end=end, room="hall-a", status="published"
    )
    assert presentation_rows(program) == [
        ("7", "oral", "9", START, END, None),
        ("8", "oral", "9", END, end, None),
    ]
    assert program.rooms == (RoomRecord(slug="hall-a", name="HALL A"),)


def test_read_talks_of_two_rooms_are_two_sessions_in_any_order() -> None:
    event: dict[str, Any] = {**TIMES, "eventtype": "Oral", "session": "Oral"}
    event_in_a, event_in_b = {**event, "room_name": "A"}, {**event, "room_name": "B", "id": 8, "uid": "cd"}
    rooms_by_uid = [
        {(session.uid, session.room) for session in program.sessions}
        for program in (read_rows(event_in_a, event_in_b), read_rows(event_in_b, event_in_a))
    ]

    assert rooms_by_uid == [{("oral-2026-07-08-a", "a"), ("oral-2026-07-08-b", "b")}] * 2


def test_read_second_slot_is_a_second_presentation() -> None:
    second_slot = {"starttime2": "2026-07-09T01:00:00Z", "endtime2": "2026-07-09T02:00:00Z"}
    program = read_rows({**TIMES, **second_slot, "session": "Posters", "room_name": None})
    uid = "posters-2026-07-08-1700"
    assert presentation_rows(program) == [
        ("7", "poster", uid, None, None, None),
        (
            "7-2",
            "poster",
            uid,
            datetime(2026, 7, 9, 1, tzinfo=UTC),
            datetime(2026, 7, 9, 2, tzinfo=UTC),
            None,
        ),
    ]
    assert rows_of(written_sources(program))[0]["starttime2"] == "2026-07-09T10:00:00+09:00"


def test_read_unscheduled_event_has_no_session_and_hidden_event_is_a_draft() -> None:
    program = read_rows({"session": "", "visible": False}, {"id": 8, "session": "S", "parent_id": 1})
    assert presentation_rows(program) == [
        ("7", "poster", None, None, None, None),
        ("8", "poster", None, None, None, None),
    ]
    assert [presentation.status for presentation in program.presentations] == ["draft", "published"]
    assert program.papers[0].status == "published"
    assert [kind for kind, _ in messages(program)] == ["warning"]


def test_read_paper_of_hidden_events_is_a_draft() -> None:
    assert read_paper({"visible": False}).status == "draft"


def test_read_file_of_abstracts_is_recognized_by_its_structure() -> None:
    abstracts = Source("a.json", b'{"7": "Text", "99": "Nobody"}')
    program = read([abstracts, page({"abstract": None})], CONTEXT)
    assert program.papers[0].abstract == "Text"
    assert messages(program) == [("warning", "1 abstracts belong to no event of these files, such as 99.")]


def test_read_two_abstracts_of_one_event_are_refused() -> None:
    first, second = (Source(f"{name}.json", json.dumps({"7": name}).encode()) for name in ("a", "b"))

    assert reported_problems(read, [first, second, page({})], CONTEXT) == [
        "b.json, 7: Another file has another abstract of this event. Keep one of them."
    ]
    empty = Source("c.json", json.dumps({"7": ""}).encode())
    for sources in ([first, first], [empty, first], [first, empty]):
        assert read([*sources, page({})], CONTEXT).papers[0].abstract == "a"


def test_read_missing_rows_and_unknown_fields_are_noted() -> None:
    program = read_rows({"brand_new": 1}, count=5)
    assert messages(program) == [
        ("warning", 'The field "brand_new" is not known to this format and was left out.'),
        ("warning", "The file says that there are 5 events and holds 1. Get the rest too."),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"name": " "}, "op.json, results[0] (7), name: The title is missing."),
        ({"name": 5}, "op.json, results[0] (7), name: This must be text, not a number."),
        ({"id": None}, "op.json, results[0], id: The number of the event is missing."),
        ({"eventtype": "Party"}, 'eventtype: This must be Poster, Oral or Spotlight, not "party".'),
        ({"starttime": "2026-07-08T01:00:00"}, "starttime: "),
        ({"authors": [{"fullname": ""}]}, "authors[0].fullname: The author's name is missing."),
        ({"authors": [5]}, "authors[0]: This must be an object, not a number."),
        ({"keywords": "a"}, "keywords: This must be a list, not text."),
        ({"uid": "a b"}, 'uid: "a b" cannot be a uid.'),
        (
            {"session": "S", "starttime": TIMES["endtime"], "endtime": TIMES["starttime"]},
            "end: It ends before",
        ),
    ],
)
def test_read_invalid_row_is_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ProgramError) as error:
        read_rows(row)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"results": 5}', 'a.json: This is neither a page with "results" nor an object'),
        (b'{"7": "Text"}', "Give the file with the events"),
        (b"nonsense", "a.json: This is not JSON"),
        (b"", "a.json: The file is empty."),
    ],
)
def test_read_file_of_another_format_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(ProgramError) as error:
        read([Source("a.json", content)], CONTEXT)
    assert str(error.value).startswith(message)


def test_read_repeated_event_id_is_refused() -> None:
    with pytest.raises(ProgramError, match=r"results\[1\] \(7\), id: Another event has this number"):
        read_rows({}, {"uid": "cd"})


def sample_program() -> Program:
    authors = (AuthorRecord(person=PersonRef(name="A", uid="yu"), affiliations=("ETH",)),)
    paper = PaperRecord(uid="p", title="T &amp; U", authors=authors, topic="cv", track="Main talks")
    return Program(
        topics=(TopicRecord(slug="cv", name="Vision"),),
        papers=(paper,),
        sessions=(SessionRecord(uid="s", title="S", start=START, end=END, room="hall"),),
        presentations=(
            PresentationRecord(uid="12", kind="oral", paper="p", session="s"),
            PresentationRecord(uid="x", kind="poster", paper="p", board="#3"),
            PresentationRecord(uid="y", kind="talk", title="No paper's"),
        ),
    )


def test_write_row_has_every_field_in_order() -> None:
    oral, poster = rows_of(written_sources(sample_program()))
    assert tuple(oral) == tuple(poster) == FIELDS
    assert (oral["id"], oral["uid"], oral["name"]) == (12, "p", "T &amp;amp; U")
    assert (oral["starttime"], oral["endtime"]) == ("2026-07-08T17:00:00+09:00", "2026-07-08T18:00:00+09:00")
    assert oral["virtualsite_url"] == "/virtual/2026/oral/12"
    assert oral["authors"][0]["url"] == "https://conf.example/people/yu/"
    assert (oral["topic"], oral["room_name"], oral["event_type"]) == ("Vision", "hall", "Oral")
    assert (poster["session"], poster["starttime"], poster["poster_position"]) == (None, None, "#3")
    assert (oral["related_events_ids"], poster["related_events_ids"]) == ([poster["id"]], [12])
    assert oral["sourceurl"] == "https://conf.example/2026/papers/?track=Main%20talks"


@pytest.mark.parametrize("track", ["", UNSTATED])
def test_write_main_track_is_the_list_of_all_papers(track: Any) -> None:
    program = sample_program()
    (paper,) = program.papers
    sources = written_sources(replace(program, papers=(replace(paper, track=track),)))

    assert [row["sourceurl"] for row in rows_of(sources)] == ["https://conf.example/2026/papers/"] * 2
    assert [paper.track for paper in read(sources, Context("2026", 2026, "UTC")).papers] == [""]


def test_write_without_site_url_has_no_site_urls() -> None:
    oral, _ = rows_of(written_sources(sample_program(), Context("2026", 2026, "Asia/Seoul")))
    assert (oral["authors"][0]["url"], oral["sourceurl"]) == (None, None)


def test_write_hidden_material_stays_hidden() -> None:
    material = MaterialRecord(kind="pdf", url="https://secret.example/x.pdf", visible=False)
    paper = PaperRecord(uid="p", title="T", materials=(material,))
    program = Program(papers=(paper,), presentations=(PresentationRecord(uid="1", kind="oral", paper="p"),))
    assert b"secret" not in written_sources(program)[0].content


def test_write_institutions_of_the_same_name_once() -> None:
    institutions = (InstitutionRecord(slug="mit", name="MIT"), InstitutionRecord(slug="mit-2", name="MIT"))
    author = AuthorRecord(person=PersonRef(name="Ada"), institutions=("mit", "mit-2"))
    papers = (PaperRecord(uid="p", title="T", authors=(author,)),)
    talks = (PresentationRecord(uid="1", kind="oral", paper="p"),)
    files = written_sources(Program(institutions=institutions, papers=papers, presentations=talks))

    assert [row["authors"][0]["institution"] for row in rows_of(files)] == ["MIT"]
    assert written_sources(read(files, CONTEXT)) == files


# The format has no other parts of a program.
SUPPORTED_PARTS = ("institutions", "topics", "rooms", "papers", "sessions", "presentations")


@settings(max_examples=80, deadline=None)
@given(
    programs(full=True, min_size=2, part_names=SUPPORTED_PARTS)
    | programs(min_size=1, part_names=SUPPORTED_PARTS)
)
def test_write_after_read_is_the_same(program: Program) -> None:
    files = written_sources(replace(program, presentations=linked_presentations(program)))
    assert written_sources(read(files, CONTEXT)) == files


def linked_presentations(program: Program) -> tuple[PresentationRecord, ...]:
    """Return the presentations linked to the papers, one of them without a time."""
    sessions = [*(session.uid for session in program.sessions), None]
    return tuple(
        replace(
            presentation,
            kind="oral" if presentation.kind == "talk" else presentation.kind,
            paper=program.papers[index % len(program.papers)].uid,
            session=sessions[index % len(sessions)],
        )
        for index, presentation in enumerate(program.presentations)
    )


@pytest.mark.shared
def test_read_real_conference_has_known_counts() -> None:
    names = ("icml-2026-orals-posters.json", "icml-2026-abstracts.json")
    sources = [Source(name, (SHARED / name).read_bytes()) for name in names]
    program = read(sources, CONTEXT)
    event_counts = Counter(presentation.paper for presentation in program.presentations)
    assert (len(program.papers), len(program.presentations)) == (6628, 6796)
    assert Counter(event_counts.values()) == {1: 6460, 2: 168}
    assert sum(presentation.session is None for presentation in program.presentations) == 753
    assert Counter(session.kind for session in program.sessions) == {"oral": 42, "poster": 8}
    assert sum(bool(paper.abstract) for paper in program.papers) == 823
    # Of one paper, the oral lists an author twice and the poster once, which is taken.
    assert [note.message for note in program.notes] == [
        "Event 71057 lists other authors. Those of event 64670 were taken."
    ]


@pytest.mark.shared
def test_write_real_conference_round_trips() -> None:
    names = ("icml-2026-orals-posters.json", "neurips-2025-two-rows.json")
    for name in names:
        files = written_sources(read([Source(name, (SHARED / name).read_bytes())], CONTEXT))
        assert written_sources(read(files, CONTEXT)) == files


# Addresses


LONG_URL = "https://example.org/" + "x" * 5_000


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("https://example.org/a", "https://example.org/a"),
        ("//example.org/a", "https://example.org/a"),
        ("www.example.org/a", "https://www.example.org/a"),
        ("/media/a b.pdf", "https://mlsys.org/media/a%20b.pdf"),
        ("mailto:ada@example.org", ""),
        ("javascript:alert(1)", ""),
        ("?page=2", ""),
        ("#top", ""),
        ("", ""),
        (LONG_URL, ""),
    ],
)
def test_absolute_url_of_address(address: str, url: str) -> None:
    assert absolute_url(address, "mlsys.org") == url


def test_absolute_url_of_path_without_host_is_empty() -> None:
    assert absolute_url("/media/a.pdf", "") == ""


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://www.MLSys.org/a", "mlsys.org"),
        ("/virtual/2021", ""),
        ("http://localhost/a", ""),
        ("http://[::1", ""),
        (LONG_URL, ""),
    ],
)
def test_public_host_of_address(address: str, host: str) -> None:
    assert public_host(address) == host


@pytest.mark.parametrize(
    ("address", "track"),
    [
        ("https://openreview.net/group?id=MLSys.org/2024/Conference", ""),
        ("https://openreview.net/group?id=MLSys.org/2024/Position_Paper_Track", "Position Paper Track"),
        ("https://example.org/?track=Industry", "Industry"),
        ("http://[::1", ""),
        ("", ""),
    ],
)
def test_track_of_address(address: str, track: str) -> None:
    assert track_of(address) == track
