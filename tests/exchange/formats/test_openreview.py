"""Tests of OpenReview notes: which people are imported, and which data never is."""

import json
from typing import Any

import pytest

from exchange.files import Context, Source
from exchange.formats import openreview
from exchange.records import UNSTATED, MaterialRecord, PersonRef, Program, is_stated, stated
from tests.exchange.outputs import reported_problems

VENUE = "MLSys.org/2026/Conference"


def note(note_id: str, **content: Any) -> dict[str, Any]:
    fields = {"title": f"On {note_id}", "authors": ["Mia Zed"], "venue": "MLSys 2026 Oral", "venueid": VENUE}
    values = {name: {"value": value} for name, value in {**fields, **content}.items() if value is not None}
    return {"id": note_id, "forum": note_id, "content": values}


def read(*contents: object) -> Program:
    sources = [Source(f"{n}.json", json.dumps(content).encode()) for n, content in enumerate(contents)]
    return openreview.read(sources, Context("2026", 2026, "UTC"))


def test_address_of_a_page_keeps_repeated_parameters() -> None:
    address = "https://api2.openreview.net/notes?content.venueid=A&content.venueid=B&limit=50&offset=7#top"

    assert openreview.page_url(address, 100) == (
        "https://api2.openreview.net/notes?content.venueid=A&content.venueid=B&limit=50&offset=100"
    )


def test_missing_pages_of_notes_are_noted() -> None:
    first, second = ({"notes": [note(name)], "count": 2} for name in ("a", "b"))

    assert [remark.message for remark in read(first).notes] == [
        "There are 2 notes in all, and the files hold 1. Get the rest too."
    ]
    assert read(first, second).notes == ()


def test_note_becomes_a_paper_with_all_its_fields() -> None:
    (paper,) = read(
        [
            note(
                "aB1",
                title=" On  $n$ bodies ",
                authors=["M. Zed", "A. Abe"],
                authorids=["~Mia_Zed1", "abe@example.org"],
                abstract="What was *done*.",
                TLDR="Short.",
                keywords=["chaos", "stars"],
                primary_area="Celestial mechanics",
                pdf="/pdf/0a.pdf",
                supplementary_material="/attachment/0b.zip",
                _bibtex="@inproceedings{x,\n pages = {1--9},\n doi={10.5/x}\n}",
            )
        ]
    ).papers

    assert (paper.uid, paper.title, paper.abstract, paper.lay_summary) == (
        "aB1", "On $n$ bodies", "What was *done*.", "Short.",
    )  # fmt: skip
    assert (paper.keywords, paper.topic, paper.decision, paper.status) == (
        ("chaos", "stars"), "celestial-mechanics", "Accept (oral)", "published",
    )  # fmt: skip
    assert (paper.doi, paper.pages) == ("10.5/x", "1-9")
    assert is_stated(paper.authors)
    assert [author.person for author in paper.authors] == [
        PersonRef(name="M. Zed", ids=(("openreview.net", "~Mia_Zed1"),)),
        PersonRef(name="A. Abe"),
    ]
    assert paper.materials == (
        MaterialRecord(kind="review", url="https://openreview.net/forum?id=aB1"),
        MaterialRecord(kind="pdf", url="https://openreview.net/pdf/0a.pdf"),
        MaterialRecord(
            kind="other", url="https://openreview.net/attachment/0b.zip", label="Supplementary material"
        ),
    )


@pytest.mark.parametrize(
    ("venue", "venueid", "reason"),
    [
        ("Submitted to MLSys 2026", f"{VENUE}/Rejected_Submission", "rejected"),
        ("MLSys 2026 Conference Withdrawn Submission", f"{VENUE}/Withdrawn_Submission", "withdrawn"),
        ("x", f"{VENUE}/Desk_Rejected_Submission", "desk-rejected"),
        ("MLSys 2026 Conference Desk Rejected Submission", "", "desk-rejected"),
        ("MLSys 2026 Conference Submission", f"{VENUE}/Submission", "not decided"),
        ("Submitted to MLSys 2026", "", "not decided"),
    ],
)
def test_paper_that_was_not_accepted_is_left_out_with_a_note(venue: str, venueid: str, reason: str) -> None:
    program = read({"notes": [note("a"), note("b", venue=venue, venueid=venueid)], "count": 2})

    assert [paper.uid for paper in program.papers] == ["a"]
    assert [note.message for note in program.notes] == [f"Left out because it is {reason}: b."]


@pytest.mark.parametrize("word", ["oral", "spotlight", "poster"])
def test_decision_is_read_from_the_venue(word: str) -> None:
    (paper,) = read([note("a", venue=f"NeurIPS 2025 {word}")]).papers
    assert paper.decision == f"Accept ({word})"


def test_note_without_a_venue_is_a_draft() -> None:
    program = read([note("a", venue=None, venueid=None)])

    assert not is_stated(program.papers[0].status)
    assert [note.kind for note in program.notes] == ["doubt"]


def test_reviews_and_deleted_notes_are_counted() -> None:
    review = {**note("r"), "forum": "a", "replyto": "a"}
    program = read([note("a"), review, {**note("d"), "ddate": 1700000000000}])

    assert [paper.uid for paper in program.papers] == ["a"]
    assert [note.message for note in program.notes] == [
        "Left out because it is deleted: d.",
        "Left out because they are reviews, comments or decisions: 1 notes.",
    ]


def test_uid_of_an_id_that_begins_with_a_sign_has_a_prefix() -> None:
    assert [paper.uid for paper in read([note("-a_b"), note("_c")]).papers] == ["n-a_b", "n_c"]


def test_same_note_in_two_files_is_one_paper() -> None:
    program = read([note("a")], {"notes": [note("a"), note("b")]})
    assert [paper.uid for paper in program.papers] == ["a", "b"]


def test_unwrapped_values_and_author_profiles_are_read() -> None:
    row = {
        "id": "a",
        "content": {"title": "T", "venue": "X Poster", "authors": [{"fullname": "Bo", "username": "~Bo1"}]},
    }
    (paper,) = read([row]).papers
    assert is_stated(paper.authors)
    assert paper.authors[0].person == PersonRef(name="Bo", ids=(("openreview.net", "~Bo1"),))


def test_email_address_as_author_name_is_refused() -> None:
    assert reported_problems(read, [note("a", authors=["bo@example.org"])]) == [
        "0.json, notes[0] (a), authors: The author's name is missing. An e-mail address alone is none."
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"x": 1}, '0.json, notes: The file must hold a list, by itself or in an object with "notes".'),
        ([1], "0.json, notes[0], content: This must be a note of OpenReview, not a number."),
        (
            [{"id": "a"}],
            "0.json, notes[0] (a), content: This must be a note of OpenReview, not one without content.",
        ),
        ([note("a", title=None)], "0.json, notes[0] (a), title: The title is missing."),
        ([note("a", title=7)], "0.json, notes[0] (a), title: This must be text, not a number."),
        ([note("a", authors="Bo")], "0.json, notes[0] (a), authors: This must be a list, not text."),
        ([], "There are no notes in the file. Did the address need a token?"),
    ],
)
def test_malformed_note_is_reported(content: object, message: str) -> None:
    assert reported_problems(read, content)[0] == message


# What is not for everyone (trap 42)


def with_readers(part: dict[str, Any], *readers: str) -> dict[str, Any]:
    return {**part, "readers": [*readers]}


def test_trap_42_notes_for_some_readers_are_drafts() -> None:
    chairs = f"{VENUE}/Program_Chairs"
    hidden_title = note("c")
    hidden_title["content"]["title"]["readers"] = [chairs]
    program = read(
        [
            with_readers(note("a"), "everyone"),
            with_readers(note("b"), chairs, f"{VENUE}/Submission1/Authors"),
            hidden_title,
            with_readers(note("d")),
            note("e"),
        ]
    )

    statuses = {paper.uid: paper.status for paper in program.papers}
    assert statuses == {"a": "published", "b": "draft", "c": "draft", "d": "draft", "e": "published"}
    assert [remark.message for remark in program.notes] == [
        "Taken as drafts because not everyone may read them on OpenReview: 3 (b, c, d)."
    ]


def test_trap_42_fields_for_some_readers_are_left_out() -> None:
    rows = [note("a", abstract="A", pdf="/pdf/a.pdf", authorids=["~Mia_Zed1"]), note("b", pdf="/pdf/b.pdf")]
    for row in rows:
        row["content"]["pdf"]["readers"] = [f"{VENUE}/Authors"]
    rows[0]["content"]["authors"]["readers"] = [f"{VENUE}/Program_Chairs"]
    rows[0]["content"]["abstract"]["readers"] = ["everyone"]
    program = read(rows)
    first = program.papers[0]

    assert (first.status, first.authors, first.abstract) == ("published", UNSTATED, "A")
    assert [material.kind for paper in program.papers for material in stated(paper.materials, ())] == [
        "review",
        "review",
    ]
    assert [remark.message for remark in program.notes] == [
        "The field “authors” was left out because not everyone may read it on OpenReview: 1 (a).",
        "The field “pdf” was left out because not everyone may read it on OpenReview: 2 (a, b).",
    ]


def test_trap_42_hidden_decision_leaves_out_what_it_rejects() -> None:
    rejected = note("a", venueid=f"{VENUE}/Rejected_Submission")
    accepted = note("b")
    for row in (rejected, accepted):
        for name in ("venue", "venueid"):
            row["content"][name]["readers"] = [f"{VENUE}/Program_Chairs"]
    program = read([rejected, accepted])

    assert [(paper.uid, paper.status, paper.decision) for paper in program.papers] == [
        ("b", UNSTATED, UNSTATED)
    ]
