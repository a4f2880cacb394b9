"""Tests of the loader: new rows, preserved hand edits, conflicts, repeated imports and query counts."""

from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from conference.models import Conference, Edition, Page
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
from tests.exchange.outputs import printed_authors
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


def write_statements(queries: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in queries if query["sql"].startswith(WRITES)]


def get_paper(uid: str = "p1") -> Paper:
    paper_row: Paper = Paper.objects.get(uid=uid)
    return paper_row


def test_new_program_creates_its_edition() -> None:
    report = load(program(paper("p1", "Zed Zu", "Abe Ba")), "2021", format_name="x", files=["x.json"])

    assert report.total == Counter(new=5)
    assert (get_paper().edition.conference.name, get_paper().title_html) == ("MLSys", "On p1")
    assert printed_authors() == [(1, "Zed Zu"), (2, "Abe Ba")]
    assert report.run is not None
    assert (report.run.format, report.run.files) == ("x", ["x.json"])
    assert {kind: len(keys) for kind, keys in report.run.created.items()} == {
        "conference": 1,
        "edition": 1,
        "person": 2,
        "paper": 1,
    }


@pytest.mark.parametrize(
    "make_program", [complete_program, lambda: program_with_papers(5)], ids=["complete", "papers"]
)
def test_second_import_writes_nothing(make_program: Any) -> None:
    load(make_program(), "2021")
    revision_before = revision.current(Edition.objects.get().pk)

    with CaptureQueriesContext(connection) as queries:
        report = load(make_program(), "2021")

    assert write_statements(queries) == []
    assert report.run is None
    assert report.total == Counter(skipped=report.total["skipped"])
    assert revision.current(Edition.objects.get().pk) == revision_before
    assert ImportRun.objects.count() == 1


def test_import_advances_each_revision_once() -> None:
    existing_edition = make_edition()
    before = revision.current(existing_edition.pk)

    load(replace(program_with_papers(5), edition=None, conference=None), "2021")

    after = revision.current(existing_edition.pk)
    assert (after.edition - before.edition, after.site - before.site) == (1, 1)


def test_dry_run_counts_the_same_and_writes_nothing() -> None:
    with CaptureQueriesContext(connection) as queries:
        preview = load(program_with_papers(3), "2021", dry_run=True)

    assert write_statements(queries) == []
    assert preview.run is None
    assert load(program_with_papers(3), "2021").tallies == preview.tallies


def test_hand_edit_survives_and_other_fields_follow_the_file() -> None:
    load(program(paper("p1", "Zed Zu", title="Old", track="A")), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")

    report = load(program(paper("p1", "Zed Zu", title="Old", track="B")), "2021")

    assert (get_paper().title, get_paper().track) == ("By hand", "B")
    assert report.tallies["paper"] == Counter(changed=1, kept=1)
    change = RowChange.objects.get(model="exchange.provenance")
    assert change.object_id == Provenance.objects.get(kind="paper").pk
    assert change.values == {"track": ["A", "B"]}


@pytest.fixture
def edited_title() -> None:
    """Import a paper with the title “Old”, and change its title by hand."""
    load(program(paper("p1", title="Old")), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")


@pytest.mark.usefixtures("edited_title")
def test_field_changed_on_both_sides_is_kept_and_a_conflict() -> None:
    report = load(program(paper("p1", title="New")), "2021")

    assert get_paper().title == "By hand"
    assert report.tallies["paper"] == Counter(conflicting=1)
    assert [
        (reported.label, reported.field, reported.base, reported.ours, reported.theirs)
        for reported in report.conflicts
    ] == [("By hand", "title", "Old", "By hand", "New")]
    conflict = Conflict.objects.get()
    assert (conflict.base, conflict.ours, conflict.theirs, conflict.resolved_at) == (
        "Old",
        "By hand",
        "New",
        None,
    )


@pytest.mark.usefixtures("edited_title")
def test_open_conflict_is_not_written_again() -> None:
    load(program(paper("p1", title="New")), "2021")

    with CaptureQueriesContext(connection) as queries:
        report = load(program(paper("p1", title="New")), "2021")

    assert write_statements(queries) == []
    assert len(report.conflicts) == 1


@pytest.mark.usefixtures("edited_title")
def test_open_conflict_is_replaced_when_the_imported_value_changes() -> None:
    load(program(paper("p1", title="New")), "2021")

    load(program(paper("p1", title="Newer")), "2021")

    assert [conflict.theirs for conflict in Conflict.objects.all()] == ["Newer"]


@pytest.mark.usefixtures("edited_title")
def test_conflict_is_resolved_when_both_sides_agree() -> None:
    load(program(paper("p1", title="New")), "2021")

    load(program(paper("p1", title="By hand")), "2021")

    assert Conflict.objects.get().resolved_at is not None
    assert Provenance.objects.get(kind="paper").values["title"] == "By hand"


def test_row_entered_by_hand_is_filled_in_but_not_overwritten() -> None:
    make_paper(make_edition(), uid="p1", title="By hand", track="", status="published")

    report = load(Program(papers=(paper("p1", title="File", track="T", abstract="What was done."),)), "2021")

    assert (get_paper().title, get_paper().track) == ("By hand", "T")
    assert [(conflict.field, conflict.base) for conflict in report.conflicts] == [("title", None)]


def test_field_first_stated_by_a_later_file_is_no_conflict() -> None:
    load(Program(edition=edition(), conference=program().conference, sessions=(session("s"),)), "2021")
    session_before = Session.objects.get()

    load(Program(sessions=(session("s", kind="poster", abstract="More."),)), "2021")

    assert (session_before.kind, Session.objects.get().kind, Session.objects.get().abstract) == (
        "oral",
        "poster",
        "More.",
    )
    assert Conflict.objects.count() == 0


def test_authors_follow_the_file_after_swap_addition_and_removal() -> None:
    load(program(paper("p1", "Zed Zu", "Abe Ba", "Mia Mo")), "2021")
    authorship_pk = Authorship.objects.get(name="Abe Ba").pk

    load(program(paper("p1", "Abe Ba", "Zed Zu", "New One")), "2021")

    assert printed_authors() == [(1, "Abe Ba"), (2, "Zed Zu"), (3, "New One")]
    assert Authorship.objects.get(name="Abe Ba").pk == authorship_pk


def test_author_removed_by_hand_stays_removed() -> None:
    load(program(paper("p1", "Zed Zu", "Abe Ba")), "2021")
    Authorship.objects.filter(name="Abe Ba").delete()

    report = load(program(paper("p1", "Zed Zu", "Abe Ba")), "2021")

    assert printed_authors() == [(1, "Zed Zu")]
    assert report.tallies["paper"] == Counter(kept=1)


def test_repeated_author_is_imported_once_and_reported() -> None:
    report = load(program(paper("p1", "Zed Zu", "Abe Ba", "Zed Zu")), "2021")

    assert printed_authors() == [(1, "Zed Zu"), (2, "Abe Ba")]
    assert [(note.kind, note.message) for note in report.notes] == [
        ("repeat", "Zed Zu is listed twice in authors; taken once, at the first place.")
    ]


def test_reordered_and_changed_materials_reuse_their_rows() -> None:
    pdf, code = (MaterialRecord(kind=kind, url=f"https://example.org/{kind}") for kind in ("pdf", "code"))
    load(program(paper("p1", materials=(pdf, code))), "2021")
    pks_before = set(get_paper().materials.values_list("pk", flat=True))

    load(program(paper("p1", materials=(code, replace(pdf, label="PDF")))), "2021")

    assert list(get_paper().materials.values_list("kind", "label", "position")) == [
        ("code", "", 1),
        ("pdf", "PDF", 2),
    ]
    assert set(get_paper().materials.values_list("pk", flat=True)) == pks_before


def test_rows_missing_from_a_later_file_are_kept_and_reported() -> None:
    load(program(paper("p1"), paper("p2")), "2021")

    report = load(program(paper("p1")), "2021")

    assert set(Paper.objects.values_list("uid", flat=True)) == {"p1", "p2"}
    assert [(note.kind, note.message) for note in report.notes] == [
        ("warning", "1 paper imported earlier, not in this file, left as they are: p2.")
    ]


def test_new_rows_without_position_are_appended_in_file_order() -> None:
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


def test_defaults_of_a_new_edition_follow_the_file() -> None:
    facts = {"start_date": date(2021, 4, 5), "end_date": date(2021, 4, 9), "timezone": "America/Los_Angeles"}
    conference = Conference.objects.create(slug="mlsys", name="MLSys")
    Edition.objects.create(conference=conference, slug="2021", name="MLSys 2021", year=2021, **facts)
    first = load(complete_program(), "2021")
    stored = Edition.objects.get()
    values = (stored.mode, stored.day_start_hour, stored.accent, stored.hero_focus)
    Edition.objects.update(accent="#0b6b62")
    second = load(complete_program(), "2021")

    assert [conflict.field for conflict in first.conflicts] == []
    assert values == ("hybrid", 5, "#123456", "top-left")
    # A value that was imported and then set back by hand is kept.
    assert (Edition.objects.get().accent, second.total["kept"]) == ("#0b6b62", 1)


@pytest.mark.parametrize(("name", "kept"), [("MLSys 2021", []), ("MLSys in San Jose", ["name"])])
def test_name_that_nobody_chose_follows_the_file(name: str, kept: list[str]) -> None:
    make_edition(name=name)
    report = load(program(edition=edition(name="ACL2021")), "2021")

    assert [conflict.field for conflict in report.conflicts] == kept
    assert Edition.objects.get().name == (name if kept else "ACL2021")


def test_edited_value_of_a_new_edition_is_a_conflict() -> None:
    make_edition(accent="#654321")

    conflicts = load(complete_program(), "2021").conflicts

    assert [(row.field, row.ours) for row in conflicts if row.provenance.kind == "edition"] == [
        ("city", "San Jose"),
        ("accent", "#654321"),
    ]


def test_reimported_edition_keeps_hand_edits() -> None:
    load(complete_program(), "2021")
    Edition.objects.update(city="Elsewhere")

    load(program(edition=edition(city="San José", venue="New hall")), "2021")

    stored_edition = Edition.objects.get()
    assert (stored_edition.city, stored_edition.venue, Page.objects.count()) == ("Elsewhere", "New hall", 1)


def test_same_uid_in_two_editions_is_two_papers() -> None:
    load(program(paper("p1", title="First")), "2021")
    second = edition(slug="2022", year=2022, name="MLSys 2022")

    load(program(paper("p1", title="Second"), edition=second), "2022")

    assert set(Paper.objects.values_list("edition__slug", "title")) == {("2021", "First"), ("2022", "Second")}


def test_query_count_does_not_grow_with_the_papers() -> None:
    counts = []
    for slug, size in (("a", 10), ("b", 200)):
        slug_edition = edition(slug=slug, year=2021)
        for _ in range(2):
            with CaptureQueriesContext(connection) as queries:
                load(replace(program_with_papers(size), edition=slug_edition), slug)
            counts.append(len(queries))
    first_small, again_small, first_large, again_large = counts
    assert again_small == again_large
    assert first_large <= first_small


def test_query_count_does_not_grow_with_the_changed_papers() -> None:
    counts = []
    for slug, size in (("a", 10), ("b", 100)):
        full_program = replace(program_with_papers(size), edition=edition(slug=slug))
        load(full_program, slug)
        new_papers = tuple(
            replace(record, title=f"New {record.uid}", authors=stated(record.authors, ())[::-1])
            for record in full_program.papers
        )
        with CaptureQueriesContext(connection) as queries:
            report = load(replace(full_program, papers=new_papers), slug)
        assert report.tallies["paper"] == Counter(changed=size)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_query_count_does_not_grow_with_rows_missing_from_the_file() -> None:
    counts = []
    for slug, size in (("a", 1), ("b", 3)):
        load(replace(program_with_papers(size), edition=edition(slug=slug)), slug)
        papers = (PaperRecord(uid="p0", where=Where("papers.csv", "p0"), title="New"),)
        with CaptureQueriesContext(connection) as queries:
            load(Program(papers=papers), slug)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_wrong_edition_is_reported() -> None:
    with pytest.raises(ProgramError, match="The file holds edition “2021”, not “2022”"):
        load(program(), "2022")


def test_missing_edition_error_lists_existing_editions() -> None:
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


def test_uploaded_material_survives_an_import_without_materials() -> None:
    load(program(paper("p1", author("Zed Zu", "zed"))), "2021")
    get_paper().materials.create(kind="pdf", file="material/x.pdf")

    report = load(program(paper("p1", author("Zed Zu", "zed"), materials=())), "2021")

    assert [row.file.name for row in get_paper().materials.all()] == ["material/x.pdf"]
    assert report.tallies["paper"] == Counter(kept=1)


def test_session_start_is_stored_unchanged() -> None:
    load(program(sessions=(session("s"),)), "2021")

    assert Session.objects.get().start == START
    assert Person.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_failure_after_the_import_is_only_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("exchange.imports.load.after_import", [fail])
    report = load(program(paper("p1", "Zed Zu")), "2021")

    assert report.run is not None
    assert get_paper().title_html == "On p1"
    assert "database is locked" in caplog.text


def test_too_long_text_is_refused_with_its_field() -> None:
    make_edition()
    long_paper = paper("p1", abstract="x" * (MAX_TEXT_CHARS + 1), keywords=("y" * (MAX_TEXT_CHARS + 1),))
    with pytest.raises(ProgramError) as error:
        load(program(long_paper), "2021")

    message = f"Ensure this value has at most {MAX_TEXT_CHARS} characters (it has {MAX_TEXT_CHARS + 1})."
    assert [(problem.field, problem.message) for problem in error.value.problems] == [
        ("abstract", message),
        ("keywords", message),
    ]
    assert Paper.objects.count() == 0


def program_with_times(
    start: datetime | None, end: datetime | None, shift: timedelta = timedelta()
) -> Program:
    """Return a program of two talks with their own times, in a session that was moved."""
    sessions = (session("s", start=START + shift, end=START + HOUR + shift),)
    talks = tuple(talk(uid, paper=uid, session="s", start=start, end=end) for uid in ("p1", "p2"))
    return program(paper("p1"), paper("p2"), sessions=sessions, presentations=talks)


def test_talk_times_equal_to_the_session_are_no_change() -> None:
    load(program_with_times(None, None), "2021")
    report = load(program_with_times(START, START + HOUR), "2021")

    assert (report.total["changed"], report.run) == (0, None)
    assert {*Presentation.objects.values_list("start", "end")} == {(None, None)}


def test_session_that_moves_with_its_talks_is_one_change() -> None:
    load(program_with_times(None, None), "2021")
    report = load(program_with_times(START + HOUR, START + 2 * HOUR, shift=HOUR), "2021")

    assert (report.tallies["session"]["changed"], report.tallies["presentation"]["changed"]) == (1, 0)


def test_own_time_of_talks_is_a_change_of_each_talk() -> None:
    load(program_with_times(None, None), "2021")
    report = load(program_with_times(START, START + HOUR / 2), "2021")

    assert report.tallies["presentation"]["changed"] == 2
    assert {*Presentation.objects.values_list("start", "end")} == {(None, START + HOUR / 2)}


def test_new_papers_with_the_same_title_are_noted() -> None:
    papers = (paper("p1", title="On *n* bodies"), paper("p2", title="On n Bodies"), paper("p3"))

    report, second_report = load(program(*papers), "2021"), load(program(*papers), "2021")

    message = "“On n bodies” is the title of 2 papers: p1, p2. Is one there twice?"
    assert [note.message for note in report.notes if note.kind == "doubt"] == [message]
    assert second_report.notes == ()
