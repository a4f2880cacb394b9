"""Tests of custom kinds in files: they are added and reported, and survive a round trip."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from exchange.exports.dump import dump, writing_context
from exchange.files import Context, Source
from exchange.formats import program_json, readable, writable
from exchange.imports.load import load
from exchange.jobs.undo import undo
from exchange.problems import ProgramError, Where, note_sections
from exchange.records import KindRecord, Program
from schedule.models import Presentation, Session, SessionKind
from tests import factories as make
from tests.exchange import programs

pytestmark = pytest.mark.django_db


def program_with_kinds(*kinds: str, talk_kind: str = "oral") -> Program:
    sessions = tuple(programs.session(f"s{n}", kind=kind) for n, kind in enumerate(kinds))
    talk = programs.talk("t1", paper="p1", session="s0", kind=talk_kind)
    return programs.program(programs.paper("p1"), sessions=sessions, presentations=(talk,))


def stored_kinds() -> set[tuple[str, str, str, str]]:
    return {*SessionKind.objects.values_list("applies_to", "slug", "name", "counts_as")}


NEW_KINDS = {
    "bof": ("bof", "Bof", "other"),
    "Panel discussion": ("panel-discussion", "Panel discussion", "panel"),
    "coffee_break_outside": ("coffee-break-outside", "Coffee break outside", "break"),
    "lunch": ("lunch", "Lunch", "meal"),
    "講演": ("jiangyan", "講演", "other"),
}


@pytest.mark.parametrize("kind", NEW_KINDS)
def test_unknown_kind_is_added_and_reported(kind: str) -> None:
    report = load(program_with_kinds(kind, kind, "poster"), "2021")
    (note,) = report.notes
    slug, name, counts_as = NEW_KINDS[kind]

    assert stored_kinds() == {("session", slug, name, counts_as)}
    rows = Session.objects.order_by("uid").values_list("kind", "counts_as", "kind_name")
    assert [*rows] == [(slug, counts_as, name)] * 2 + [("poster", "poster", "")]
    assert str(note.where) == "program.json, sessions (s0)"
    assert note.message.startswith(f"“{kind}” is no kind of session here: it is added and counts as “")
    assert "(2 rows)" in note.message


def test_reports_of_new_kinds_are_grouped() -> None:
    report = load(program_with_kinds("bof", "lunch", "bof", "lunch", talk_kind="poster"), "2021")
    (section,) = note_sections(report.notes)

    assert [len(group) for group in section.groups] == [2]


def test_reports_of_different_kinds_are_grouped() -> None:
    names = ("bof", "lunch")
    load(programs.program(session_kinds=tuple(KindRecord(slug=name) for name in names)), "2021")
    renamed = tuple(KindRecord(slug=name, name=f"New {name}") for name in names)
    (section,) = note_sections(load(programs.program(session_kinds=renamed), "2021").notes)

    assert [len(group) for group in section.groups] == [2]


def test_preview_reports_a_new_kind_and_writes_nothing() -> None:
    report = load(program_with_kinds("bof"), "2021", dry_run=True)

    assert len(report.notes) == 1
    assert stored_kinds() == set()


TYPOS = ["orall", "Oral", "posters", "wrokshop", "invited talk"]


@pytest.mark.parametrize("kind", TYPOS)
def test_misspelled_kind_is_refused(kind: str) -> None:
    with pytest.raises(ProgramError, match="is not one of opening, invited_talk, oral"):
        load(program_with_kinds(kind), "2021")
    assert stored_kinds() == set()


def test_more_than_20_new_kinds_are_refused() -> None:
    with pytest.raises(ProgramError, match="is not one of"):
        load(program_with_kinds(*(f"x{n}" for n in range(21))), "2021")


def test_second_import_changes_nothing() -> None:
    load(program_with_kinds("Birds of a feather", talk_kind="Flash"), "2021")
    report = load(program_with_kinds("Birds of a feather", talk_kind="Flash"), "2021")

    assert (report.notes, report.total["new"], report.total["changed"], report.run) == ((), 0, 0, None)
    assert stored_kinds() == {
        ("session", "birds-of-a-feather", "Birds of a feather", "other"),
        ("presentation", "flash", "Flash", "talk"),
    }


def test_kind_stays_when_the_import_is_undone() -> None:
    run = load(program_with_kinds("bof"), "2021").run
    assert run is not None
    undo(run)

    assert (Session.objects.count(), len(stored_kinds())) == (0, 1)


@pytest.fixture
def presentation() -> Presentation:
    """Create a presentation and a session of custom kinds, with slugs that differ from their names."""
    edition = make.make_edition()
    make.make_session_kind(edition.conference, "Birds of a feather", slug="bof", counts_as="social")
    fields = {"applies_to": "presentation", "slug": "flash", "counts_as": "spotlight"}
    make.make_session_kind(edition.conference, "Flash talk!", **fields)
    session = make.make_session(edition, kind="bof", uid="s1")
    start = session.start
    return make.make_presentation(session, make.make_paper(edition), kind="flash", uid="t1", start=start)


def test_program_json_keeps_custom_kinds(presentation: Presentation) -> None:
    program = dump(presentation.edition)

    assert (
        [record.kind for record in program.sessions],
        [record.kind for record in program.presentations],
    ) == (
        ["bof"],
        ["flash"],
    )
    assert load(program, "2021").total["changed"] == 0


def test_program_json_transfers_kinds_to_another_site(presentation: Presentation) -> None:
    SessionKind.objects.filter(slug="bof").update(color="#0b6b62")
    make.make_session_kind(presentation.edition.conference, "Never used", slug="unused", counts_as="panel")
    edition = Edition.objects.get()
    context = writing_context(edition)
    (file,) = program_json.write(dump(edition), context)
    kinds_before = kinds_with_colors()
    Presentation.objects.all().delete()
    Session.objects.all().delete()
    SessionKind.objects.all().delete()
    load(program_json.read([Source("2021.json", b"".join(file.chunks))], context), "2021")

    assert kinds_with_colors() == kinds_before
    assert kinds_before == [
        ("session", "bof", "Birds of a feather", "social", "#0b6b62"),
        ("session", "unused", "Never used", "panel", ""),
        ("presentation", "flash", "Flash talk!", "spotlight", ""),
    ]
    assert Session.objects.get().kind_name == "Birds of a feather"


def kinds_with_colors() -> list[tuple[str, str, str, str, str]]:
    rows = SessionKind.objects.order_by("-applies_to", "position")
    return [*rows.values_list("applies_to", "slug", "name", "counts_as", "color")]


def test_file_with_only_kinds_adds_them() -> None:
    load(programs.program(presentation_kinds=(KindRecord(slug="flash"),)), "2021")

    assert kinds_with_colors() == [("presentation", "flash", "Flash", "talk", "")]


def test_existing_kind_is_not_changed(presentation: Presentation) -> None:
    program = dump(presentation.edition)
    SessionKind.objects.filter(slug="bof").update(name="BoF", color="#112233")
    report = load(program, "2021")

    assert SessionKind.objects.get(slug="bof").name == "BoF"
    (note,) = report.notes
    assert note.message.startswith("The kind “Birds of a feather” differs from the conference's own")


INVALID_KINDS = {
    "session_kinds (bof), color": KindRecord(slug="bof", color="red"),
    "session_kinds (bof), counts_as": KindRecord(slug="bof", counts_as="picnic"),
    "session_kinds (oral), counts_as": KindRecord(slug="oral", counts_as="panel"),
    "session_kinds (bof), name": KindRecord(slug="bof", name="x" * 61),
}


@pytest.mark.parametrize("location", INVALID_KINDS)
def test_invalid_kind_is_refused(location: str) -> None:
    record = INVALID_KINDS[location]
    where = Where("program.json", f"session_kinds ({record.slug})")
    with pytest.raises(ProgramError) as error:
        load(programs.program(session_kinds=(replace(record, where=where),)), "2021")

    (problem,) = error.value.problems
    assert f"{problem.where.place}, {problem.field}" == location
    assert stored_kinds() == set()


def exported_text(presentation: Presentation, format_name: str) -> str:
    write = writable()[format_name].write
    assert write
    outputs = write(dump(presentation.edition), writing_context(presentation.edition))
    return b"".join(chunk for output in outputs for chunk in output.chunks).decode()


def test_frab_xml_has_the_name_of_the_kind(presentation: Presentation) -> None:
    xml = exported_text(presentation, "frab_xml")

    assert "<type>Flash talk!</type>" in xml


def test_orals_posters_has_the_kind_that_a_custom_kind_counts_as(presentation: Presentation) -> None:
    assert '"event_type": "Spotlight"' in exported_text(presentation, "orals_posters")


def test_calendar_has_the_name_of_the_kind(presentation: Presentation) -> None:
    lines = exported_text(presentation, "ics").splitlines()

    assert {"CATEGORIES:Birds of a feather", "CATEGORIES:Flash talk!"} == {
        line for line in lines if line.startswith("CATEGORIES")
    }


def test_unknown_frab_type_becomes_a_custom_kind() -> None:
    xml = """<schedule><conference><title>A</title><time_zone_name>UTC</time_zone_name></conference>
      <day date="2021-04-06"><room name="Hall"><event id="7"><date>2021-04-06T09:00:00+00:00</date>
      <duration>01:00</duration><title>One</title><type>Hacker Jeopardy</type></event>
      </room></day></schedule>"""
    read = readable()["frab_xml"].read
    assert read
    program = read([Source("schedule.xml", xml.encode())], Context("2021", 2021, "UTC"))
    make.make_edition()
    load(program, "2021")

    assert stored_kinds() == {("session", "hacker-jeopardy", "Hacker Jeopardy", "other")}


def test_color_set_by_chairs_is_not_reported_as_a_difference() -> None:
    program = programs.program(session_kinds=(KindRecord(slug="lecture", name="lecture", counts_as="oral"),))
    load(program, "2021")
    SessionKind.objects.update(color="#0b6b62")

    assert load(program, "2021").notes == ()


def test_lowercase_kind_name_is_shown_capitalized() -> None:
    edition = make.make_edition()
    make.make_session_kind(edition.conference, "lecture", slug="lecture", counts_as="oral")

    assert make.make_session(edition, kind="lecture").kind_words() == "Lecture"


def test_api_returns_and_filters_custom_kinds(presentation: Presentation, client: Client) -> None:
    def get_json(path: str) -> Any:
        return client.get(f"/api/v1/{path}").json()

    sessions = get_json("sessions/?kind=bof&fields=kind,kind_name,counts_as")["results"]
    assert sessions == [{"id": "s1", "kind": "bof", "kind_name": "Birds of a feather", "counts_as": "social"}]
    count_results: Callable[[str], int] = lambda path: len(get_json(path)["results"])  # noqa: E731
    assert [count_results(f"sessions/?kind={kind}") for kind in ("social", "oral")] == [1, 0]
    assert [count_results(f"papers/?kind={kind}") for kind in ("flash", "spotlight", "oral")] == [1, 1, 0]
    assert "Valid values: oral, spotlight" in get_json("presentations/?kind=lecture")["detail"]
