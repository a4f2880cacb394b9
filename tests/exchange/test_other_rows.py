"""Tests of files whose keys are those of other rows here, such as two tracks that are numbered from 1."""

from typing import Any

import pytest

from conference.models import Edition
from exchange.files import Source
from exchange.formats import readable
from exchange.imports.known_rows import reading_context
from exchange.imports.load import Report, load
from exchange.models import Conflict
from exchange.records import AwardRecord, GrantRecord, PersonRef, SpeakerRecord
from papers.models import AwardGrant, Paper
from schedule.models import Presentation, Session
from tests.exchange.outputs import printed_authors
from tests.exchange.programs import HOUR, START, author, paper, program, session, talk

pytestmark = pytest.mark.django_db

MAIN = "id,title,authors,decision\n1,Tides in video,Ann Bee,accept\n2,Fast chips,Cy Dorn; Eve Fox,accept\n"
DEMOS = (
    "id,title,authors,decision,session,date,start,end\n"
    "1,A tool for maps,Gil Hay,accept,Demos,2021-04-06,10:00,11:00\n"
    "3,Speech for all,Ivo Jay,accept,Demos,2021-04-06,10:00,11:00\n"
)
QUESTION = (
    "“1” is another one here: “Tides in video”. Title and people differ: nothing of it was taken. "
    "Give the rows of this file keys of their own, such as with a prefix, or decide the conflicts."
)


def import_text(edition: Edition, text: str) -> Report:
    read = readable()["spreadsheet"].read
    assert read
    return load(read([Source("papers.csv", text.encode())], reading_context(edition)), edition.slug)


def doubts(report: Report) -> list[str]:
    return [note.message for note in report.notes if note.kind == "doubt"]


def titles() -> dict[str, str]:
    return dict(Paper.objects.order_by("uid").values_list("uid", "title"))


def test_trap_44_paper_of_another_track_is_a_conflict(edition: Edition) -> None:
    import_text(edition, MAIN)
    report = import_text(edition, DEMOS)

    assert (report.tallies["paper"]["changed"], report.tallies["paper"]["conflicting"]) == (0, 1)
    assert report.tallies["paper"]["new"] == 1
    assert titles() == {"1": "Tides in video", "2": "Fast chips", "3": "Speech for all"}
    assert printed_authors("1") == [(1, "Ann Bee")]
    assert sorted(conflict.field for conflict in report.conflicts) == ["authors", "title"]
    assert list(Presentation.objects.values_list("paper__uid", flat=True)) == ["3"]
    assert doubts(report) == [f"{QUESTION} 1 presentation or award of it was left out."]


def test_conflict_ends_with_the_next_file_of_its_own_track(edition: Edition) -> None:
    import_text(edition, MAIN)
    import_text(edition, DEMOS)
    assert Conflict.objects.undecided().count() == 2

    import_text(edition, MAIN)

    assert Conflict.objects.undecided().count() == 0


def test_list_of_titles_of_another_track_is_a_conflict(edition: Edition) -> None:
    import_text(edition, MAIN)
    report = import_text(edition, "id,title\n1,A tool for maps\n")

    assert titles()["1"] == "Tides in video"
    assert doubts(report) == [QUESTION]


@pytest.mark.parametrize(
    ("title", "authors"),
    [
        ("Tides in videos", "Gil Hay"),
        ("Tides in video: a study of waves by night", "Gil Hay"),
        ("A tool for maps", "Gil Hay; Ann Bee"),
    ],
)
def test_corrected_paper_follows_the_file(edition: Edition, title: str, authors: str) -> None:
    import_text(edition, MAIN)
    report = import_text(edition, f"id,title,authors,decision\n1,{title},{authors},accept\n")

    assert (report.tallies["paper"]["changed"], report.conflicts, titles()["1"]) == (1, (), title)


def test_paper_rewritten_by_hand_is_kept(edition: Edition) -> None:
    import_text(edition, MAIN)
    row = Paper.objects.get(uid="1")
    row.title = "A tool for maps"
    row.save()
    row.authorships.all().delete()

    report = import_text(edition, MAIN)

    assert (report.tallies["paper"]["kept"], report.conflicts, doubts(report)) == (1, (), [])


def test_award_of_another_paper_is_left_out(edition: Edition) -> None:
    load(program(paper("1", author("Ann Bee"), title="Tides in video")), "2021")
    award = AwardRecord(uid="best", name="Best", grants=(GrantRecord(paper="1"), GrantRecord(paper="2")))
    papers = (paper("1", author("Gil Hay"), title="A tool for maps"), paper("2", author("Ivo Jay")))
    load(program(*papers, awards=(award,)), "2021")

    assert list(AwardGrant.objects.values_list("paper__uid", flat=True)) == ["2"]


def speakers(*names: str) -> tuple[SpeakerRecord, ...]:
    return tuple(SpeakerRecord(person=PersonRef(name=name)) for name in names)


def test_another_talk_is_a_conflict(edition: Edition) -> None:
    first = talk("1", kind="talk", title="Tides in video", speakers=speakers("Ann Bee"))
    second = talk("1", kind="talk", title="A tool for maps", speakers=speakers("Gil Hay"))
    load(program(presentations=(first,)), "2021")
    report = load(program(presentations=(second,)), "2021")

    assert Presentation.objects.get().title == "Tides in video"
    assert sorted(conflict.field for conflict in report.conflicts) == ["speakers", "title"]


def test_another_event_of_a_schedule_is_a_conflict(edition: Edition) -> None:
    """Apps number events from 1, and an event is paper, presentation and session of one number."""

    def event(title: str, name: str, **fields: Any) -> Any:
        records = (session("1", title=title, **fields),)
        return program(
            paper("1", author(name), title=title),
            sessions=records,
            presentations=(talk("1", paper="1", session="1"),),
        )

    load(event("Tides in video", "Ann Bee"), "2021")
    report = load(event("A tool for maps", "Gil Hay", start=START + HOUR, end=START + HOUR * 2), "2021")

    assert (Session.objects.get().title, Session.objects.get().start) == ("Tides in video", START)
    assert report.tallies["session"]["conflicting"] == 1
