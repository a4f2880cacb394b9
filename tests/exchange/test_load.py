"""Tests of the loader: new rows, preserved hand edits, idempotence, no changes if there is a problem."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from conference.models import Edition, Page
from content import revision
from content.fields import MAX_TEXT_CHARS
from content.history import RowChange
from exchange.imports.load import load
from exchange.models import Conflict, ImportRun, Provenance
from exchange.problems import ProgramError, Where
from exchange.records import EditionRecord, MaterialRecord, PaperRecord, Program, TopicRecord, stated
from papers.models import Authorship, Paper
from people.models import Person
from schedule.models import Presentation, Session
from tests.exchange.programs import (
    HOUR,
    START,
    author,
    complete_program,
    edition,
    paper,
    program,
    program_with_papers,
    session,
    talk,
)
from tests.factories import make_edition, make_paper

pytestmark = pytest.mark.django_db
WRITES = ("INSERT", "UPDATE", "DELETE")


def writes(queries: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in queries if query["sql"].startswith(WRITES)]


def only(uid: str = "p1") -> Paper:
    found: Paper = Paper.objects.get(uid=uid)
    return found


def printed(uid: str = "p1") -> list[tuple[int, str]]:
    return list(Authorship.objects.filter(paper__uid=uid).values_list("position", "name"))


def test_new_program_makes_its_edition() -> None:
    report = load(program(paper("p1", "Zed Zu", "Abe Ba")), "2021", format_name="x", files=["x.json"])

    assert report.total == Counter(new=5)
    assert (only().edition.conference.name, only().title_html) == ("MLSys", "On p1")
    assert printed() == [(1, "Zed Zu"), (2, "Abe Ba")]
    assert report.run is not None
    assert (report.run.format, report.run.files) == ("x", ["x.json"])
    assert {kind: len(keys) for kind, keys in report.run.created.items()} == {
        "conference": 1,
        "edition": 1,
        "person": 2,
        "paper": 1,
    }


@pytest.mark.parametrize("make", [complete_program, lambda: program_with_papers(5)])
def test_same_file_twice_writes_nothing(make: Any) -> None:
    load(make(), "2021")
    stamp = revision.current(Edition.objects.get().pk)

    with CaptureQueriesContext(connection) as queries:
        report = load(make(), "2021")

    assert writes(queries) == []
    assert report.run is None
    assert report.total == Counter(skipped=report.total["skipped"])
    assert revision.current(Edition.objects.get().pk) == stamp
    assert ImportRun.objects.count() == 1


def test_whole_import_advances_the_stamps_once() -> None:
    made = make_edition()
    before = revision.current(made.pk)

    load(replace(program_with_papers(5), edition=None, conference=None), "2021")

    after = revision.current(made.pk)
    assert (after.edition - before.edition, after.site - before.site) == (1, 1)


def test_dry_run_counts_the_same_and_writes_nothing() -> None:
    with CaptureQueriesContext(connection) as queries:
        preview = load(program_with_papers(3), "2021", dry_run=True)

    assert writes(queries) == []
    assert preview.run is None
    assert load(program_with_papers(3), "2021").tallies == preview.tallies


def test_hand_edit_survives_and_other_fields_follow_the_file() -> None:
    load(program(paper("p1", "Zed Zu", title="Old", track="A")), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")

    report = load(program(paper("p1", "Zed Zu", title="Old", track="B")), "2021")

    assert (only().title, only().track) == ("By hand", "B")
    assert report.tallies["paper"] == Counter(changed=1, kept=1)
    change = RowChange.objects.get(model="exchange.provenance")
    assert change.object_id == Provenance.objects.get(kind="paper").pk
    assert change.values == {"track": ["A", "B"]}


def test_both_sides_changed_keeps_ours_and_lists_the_conflict() -> None:
    load(program(paper("p1", title="Old")), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")

    report = load(program(paper("p1", title="New")), "2021")

    assert only().title == "By hand"
    assert report.tallies["paper"] == Counter(conflicting=1)
    assert [(one.label, one.field, one.base, one.ours, one.theirs) for one in report.conflicts] == [
        ("By hand", "title", "Old", "By hand", "New")
    ]
    conflict = Conflict.objects.get()
    assert (conflict.base, conflict.ours, conflict.theirs, conflict.resolved_at) == (
        "Old",
        "By hand",
        "New",
        None,
    )


def test_open_conflict_is_not_written_again() -> None:
    load(program(paper("p1", title="Old")), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")
    load(program(paper("p1", title="New")), "2021")

    with CaptureQueriesContext(connection) as queries:
        report = load(program(paper("p1", title="New")), "2021")

    assert writes(queries) == []
    assert len(report.conflicts) == 1


def test_open_conflict_is_replaced_when_the_file_says_something_else() -> None:
    load(program(paper("p1", title="Old")), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")
    load(program(paper("p1", title="New")), "2021")

    load(program(paper("p1", title="Newer")), "2021")

    assert [one.theirs for one in Conflict.objects.all()] == ["Newer"]


def test_conflict_is_over_when_both_sides_agree() -> None:
    load(program(paper("p1", title="Old")), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")
    load(program(paper("p1", title="New")), "2021")

    load(program(paper("p1", title="By hand")), "2021")

    assert Conflict.objects.get().resolved_at is not None
    assert Provenance.objects.get(kind="paper").values["title"] == "By hand"


def test_row_entered_by_hand_is_filled_in_but_not_overwritten() -> None:
    make_paper(make_edition(), uid="p1", title="By hand", track="", status="published")

    report = load(Program(papers=(paper("p1", title="File", track="T", abstract="What was done."),)), "2021")

    assert (only().title, only().track) == ("By hand", "T")
    assert [(one.field, one.base) for one in report.conflicts] == [("title", None)]


def test_field_stated_only_later_is_no_conflict() -> None:
    load(Program(edition=edition(), conference=program().conference, sessions=(session("s"),)), "2021")
    first = Session.objects.get()

    load(Program(sessions=(session("s", kind="poster", abstract="More."),)), "2021")

    assert (first.kind, Session.objects.get().kind, Session.objects.get().abstract) == (
        "oral",
        "poster",
        "More.",
    )
    assert Conflict.objects.count() == 0


def test_author_order_lasts_through_swap_addition_and_removal() -> None:
    load(program(paper("p1", "Zed Zu", "Abe Ba", "Mia Mo")), "2021")
    kept = Authorship.objects.get(name="Abe Ba").pk

    load(program(paper("p1", "Abe Ba", "Zed Zu", "New One")), "2021")

    assert printed() == [(1, "Abe Ba"), (2, "Zed Zu"), (3, "New One")]
    assert Authorship.objects.get(name="Abe Ba").pk == kept


def test_author_order_changed_by_hand_is_kept() -> None:
    load(program(paper("p1", "Zed Zu", "Abe Ba")), "2021")
    Authorship.objects.filter(name="Abe Ba").delete()

    report = load(program(paper("p1", "Zed Zu", "Abe Ba")), "2021")

    assert printed() == [(1, "Zed Zu")]
    assert report.tallies["paper"] == Counter(kept=1)


def test_doubled_author_is_taken_once_and_reported() -> None:
    report = load(program(paper("p1", "Zed Zu", "Abe Ba", "Zed Zu")), "2021")

    assert printed() == [(1, "Zed Zu"), (2, "Abe Ba")]
    assert [(note.kind, note.message) for note in report.notes] == [
        ("repeat", "Zed Zu is listed twice in authors; taken once, at the first place.")
    ]


def test_list_of_materials_changes_as_a_whole_and_reuses_rows() -> None:
    pdf, code = (MaterialRecord(kind=kind, url=f"https://example.org/{kind}") for kind in ("pdf", "code"))
    load(program(paper("p1", materials=(pdf, code))), "2021")
    before = set(only().materials.values_list("pk", flat=True))

    load(program(paper("p1", materials=(code, replace(pdf, label="PDF")))), "2021")

    assert list(only().materials.values_list("kind", "label", "position")) == [
        ("code", "", 1),
        ("pdf", "PDF", 2),
    ]
    assert set(only().materials.values_list("pk", flat=True)) == before


def test_rows_that_the_file_no_longer_mentions_stay() -> None:
    load(program(paper("p1"), paper("p2")), "2021")

    report = load(program(paper("p1")), "2021")

    assert set(Paper.objects.values_list("uid", flat=True)) == {"p1", "p2"}
    assert [(note.kind, note.message) for note in report.notes] == [
        ("warning", "1 paper imported earlier, not in this file, left as they are: p2.")
    ]


def test_new_rows_without_position_follow_in_the_order_of_the_file() -> None:
    load(program(sessions=(session("s"),), presentations=(talk("b", title="B", session="s"),)), "2021")

    load(
        program(
            sessions=(session("s"),),
            presentations=(talk("a", title="A", session="s"), talk("0", title="0", session="s")),
        ),
        "2021",
    )

    rows = Presentation.objects.filter(session__uid="s").order_by("position")
    assert list(rows.values_list("uid", "position")) == [("b", 1), ("a", 2), ("0", 3)]


def test_parent_may_follow_its_child_in_the_file() -> None:
    topics = (TopicRecord(slug="b", name="B", parent="a"), TopicRecord(slug="a", name="A"))
    load(program(topics=topics, sessions=(session("x", parent="w"), session("w"))), "2021")

    assert Session.objects.get(uid="x").parent == Session.objects.get(uid="w")


def test_new_version_of_the_edition_keeps_what_was_edited_here() -> None:
    load(complete_program(), "2021")
    Edition.objects.update(city="Elsewhere")

    load(program(edition=edition(city="San José", venue="New hall")), "2021")

    made = Edition.objects.get()
    assert (made.city, made.venue, Page.objects.count()) == ("Elsewhere", "New hall", 1)


def test_same_uid_in_two_editions_is_two_papers() -> None:
    load(program(paper("p1", title="First")), "2021")
    second = edition(slug="2022", year=2022, name="MLSys 2022")

    load(program(paper("p1", title="Second"), edition=second), "2022")

    assert set(Paper.objects.values_list("edition__slug", "title")) == {("2021", "First"), ("2022", "Second")}


@pytest.mark.parametrize("small", [10])
def test_query_count_does_not_grow_with_the_papers(small: int) -> None:
    counts = []
    for slug, size in (("a", small), ("b", 200)):
        named = edition(slug=slug, year=2021)
        for _ in range(2):
            with CaptureQueriesContext(connection) as queries:
                load(replace(program_with_papers(size), edition=named), slug)
            counts.append(len(queries))
    first_small, again_small, first_large, again_large = counts
    assert again_small == again_large
    assert first_large <= first_small


def test_query_count_does_not_grow_with_the_changed_papers() -> None:
    counts = []
    for slug, size in (("a", 10), ("b", 100)):
        whole = replace(program_with_papers(size), edition=edition(slug=slug))
        load(whole, slug)
        changed = tuple(
            replace(one, title=f"New {one.uid}", authors=stated(one.authors, ())[::-1])
            for one in whole.papers
        )
        with CaptureQueriesContext(connection) as queries:
            report = load(replace(whole, papers=changed), slug)
        assert report.tallies["paper"] == Counter(changed=size)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_query_count_does_not_grow_with_what_the_file_leaves_out() -> None:
    counts = []
    for slug, size in (("a", 1), ("b", 3)):
        load(replace(program_with_papers(size), edition=edition(slug=slug)), slug)
        changed = (PaperRecord(uid="p0", where=Where("papers.csv", "p0"), title="New"),)
        with CaptureQueriesContext(connection) as queries:
            load(Program(papers=changed), slug)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_wrong_edition_is_reported() -> None:
    with pytest.raises(ProgramError, match="The file holds edition “2021”, not “2022”"):
        load(program(), "2022")


def test_missing_edition_is_reported_with_those_that_exist() -> None:
    make_edition(2019)

    with pytest.raises(ProgramError) as error:
        load(Program(), "2027")

    assert str(error.value) == (
        "There is no edition “2027”. Create it in the admin, or import a program_json file that holds it. "
        "Existing: 2019."
    )


def test_new_edition_without_dates_is_refused() -> None:
    with pytest.raises(ProgramError) as error:
        load(program(edition=EditionRecord(slug="2021", conference="mlsys", year=2021, name="X")), "2021")

    assert [problem.field for problem in error.value.problems] == ["start_date", "end_date", "timezone"]
    assert Edition.objects.count() == 0


def test_uploaded_material_survives_the_import_of_the_own_dump() -> None:
    load(program(paper("p1", author("Zed Zu", "zed"))), "2021")
    only().materials.create(kind="pdf", file="material/x.pdf")

    report = load(program(paper("p1", author("Zed Zu", "zed"), materials=())), "2021")

    assert [row.file.name for row in only().materials.all()] == ["material/x.pdf"]
    assert report.tallies["paper"] == Counter(kept=1)


def test_start_is_stored_as_the_moment_it_means() -> None:
    load(program(sessions=(session("s"),)), "2021")

    assert Session.objects.get().start == START
    assert Person.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_what_fails_after_the_import_does_not_say_that_nothing_was_written(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("exchange.imports.load.after_import", [fail])
    report = load(program(paper("p1", "Zed Zu")), "2021")

    assert report.run is not None
    assert only().title_html == "On p1"
    assert "database is locked" in caplog.text


def test_endless_text_is_refused_with_its_place() -> None:
    make_edition()
    long = paper("p1", abstract="x" * (MAX_TEXT_CHARS + 1), keywords=("y" * (MAX_TEXT_CHARS + 1),))
    with pytest.raises(ProgramError) as refused:
        load(program(long), "2021")

    said = f"Ensure this value has at most {MAX_TEXT_CHARS} characters (it has {MAX_TEXT_CHARS + 1})."
    assert [(one.field, one.message) for one in refused.value.problems] == [
        ("abstract", said),
        ("keywords", said),
    ]
    assert Paper.objects.count() == 0


def with_times(start: datetime | None, end: datetime | None, moved: timedelta = timedelta()) -> Program:
    """Return a program of two talks with their own times, in a session that was moved."""
    sessions = (session("s", start=START + moved, end=START + HOUR + moved),)
    talks = tuple(talk(uid, paper=uid, session="s", start=start, end=end) for uid in ("p1", "p2"))
    return program(paper("p1"), paper("p2"), sessions=sessions, presentations=talks)


def test_times_of_the_session_written_out_are_no_change() -> None:
    load(with_times(None, None), "2021")
    report = load(with_times(START, START + HOUR), "2021")

    assert (report.total["changed"], report.run) == (0, None)
    assert {*Presentation.objects.values_list("start", "end")} == {(None, None)}


def test_session_that_moves_with_its_talks_is_one_change() -> None:
    load(with_times(None, None), "2021")
    report = load(with_times(START + HOUR, START + 2 * HOUR, moved=HOUR), "2021")

    assert (report.tallies["session"]["changed"], report.tallies["presentation"]["changed"]) == (1, 0)


def test_time_of_its_own_is_a_change_of_that_talk() -> None:
    load(with_times(None, None), "2021")
    report = load(with_times(START, START + HOUR / 2), "2021")

    assert report.tallies["presentation"]["changed"] == 2
    assert {*Presentation.objects.values_list("start", "end")} == {(None, START + HOUR / 2)}


def test_papers_of_one_title_are_noted_when_they_come_in() -> None:
    two = (paper("p1", title="On *n* bodies"), paper("p2", title="On n Bodies"), paper("p3"))

    report, again = load(program(*two), "2021"), load(program(*two), "2021")

    said = "“On n bodies” is the title of 2 papers: p1, p2. Is one there twice?"
    assert [note.message for note in report.notes if note.kind == "doubt"] == [said]
    assert again.notes == ()
