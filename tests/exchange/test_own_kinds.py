"""Tests of kinds of sessions in files: new kinds are added and reported, and survive a round trip."""

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
from exchange.problems import ProgramError, Where
from exchange.records import KindRecord, Program
from schedule.models import Presentation, Session, SessionKind
from tests import factories as make
from tests.exchange import programs

pytestmark = pytest.mark.django_db


def timed(*kinds: str, shown: str = "oral") -> Program:
    sessions = tuple(programs.session(f"s{n}", kind=kind) for n, kind in enumerate(kinds))
    talk = programs.talk("t1", paper="p1", session="s0", kind=shown)
    return programs.program(programs.paper("p1"), sessions=sessions, presentations=(talk,))


def kinds() -> set[tuple[str, str, str, str]]:
    return {*SessionKind.objects.values_list("applies_to", "slug", "name", "counts_as")}


GUESSES = {
    "bof": ("bof", "Bof", "other"),
    "Panel discussion": ("panel-discussion", "Panel discussion", "panel"),
    "coffee_break_outside": ("coffee-break-outside", "Coffee break outside", "break"),
    "lunch": ("lunch", "Lunch", "meal"),
    "講演": ("jiangyan", "講演", "other"),
}


@pytest.mark.parametrize("word", GUESSES)
def test_word_of_a_file_becomes_a_kind(word: str) -> None:
    report = load(timed(word, word, "poster"), "2021")
    (note,) = report.notes
    slug, name, counts_as = GUESSES[word]

    assert kinds() == {("session", slug, name, counts_as)}
    found = Session.objects.order_by("uid").values_list("kind", "counts_as", "kind_name")
    assert [*found] == [(slug, counts_as, name)] * 2 + [("poster", "poster", "")]
    assert str(note.where) == "program.json, sessions (s0)"
    assert note.message.startswith(f"“{word}” is no kind of session here: it is added and counts as “")
    assert "(2 rows)" in note.message


def test_preview_names_it_and_writes_nothing() -> None:
    report = load(timed("bof"), "2021", dry_run=True)

    assert len(report.notes) == 1
    assert kinds() == set()


TYPOS = ["orall", "Oral", "posters", "wrokshop", "invited talk"]


@pytest.mark.parametrize("word", TYPOS)
def test_word_that_is_almost_a_kind_is_refused(word: str) -> None:
    with pytest.raises(ProgramError, match="is not one of opening, invited_talk, oral"):
        load(timed(word), "2021")
    assert kinds() == set()


def test_file_of_nonsense_adds_no_kinds_without_end() -> None:
    with pytest.raises(ProgramError, match="is not one of"):
        load(timed(*(f"x{n}" for n in range(21))), "2021")


def test_same_file_again_changes_nothing() -> None:
    load(timed("Birds of a feather", shown="Flash"), "2021")
    again = load(timed("Birds of a feather", shown="Flash"), "2021")

    assert (again.notes, again.total["new"], again.total["changed"], again.run) == ((), 0, 0, None)
    assert kinds() == {
        ("session", "birds-of-a-feather", "Birds of a feather", "other"),
        ("presentation", "flash", "Flash", "talk"),
    }


def test_kind_stays_when_the_import_is_taken_back() -> None:
    run = load(timed("bof"), "2021").run
    assert run is not None
    undo(run)

    assert (Session.objects.count(), len(kinds())) == (0, 1)


@pytest.fixture
def shown() -> Presentation:
    """Create a presentation and a session of custom kinds, with slugs that differ from their names."""
    edition = make.make_edition()
    make.make_session_kind(edition.conference, "Birds of a feather", slug="bof", counts_as="social")
    own = {"applies_to": "presentation", "slug": "flash", "counts_as": "spotlight"}
    make.make_session_kind(edition.conference, "Flash talk!", **own)
    session = make.make_session(edition, kind="bof", uid="s1")
    start = session.start
    return make.make_presentation(session, make.make_paper(edition), kind="flash", uid="t1", start=start)


def test_program_json_keeps_the_kind(shown: Presentation) -> None:
    program = dump(shown.edition)

    assert ([one.kind for one in program.sessions], [one.kind for one in program.presentations]) == (
        ["bof"],
        ["flash"],
    )
    assert load(program, "2021").total["changed"] == 0


def test_program_json_brings_names_and_colors_to_another_site(shown: Presentation) -> None:
    SessionKind.objects.filter(slug="bof").update(color="#0b6b62")
    make.make_session_kind(shown.edition.conference, "Never used", slug="unused", counts_as="panel")
    edition = Edition.objects.get()
    context = writing_context(edition)
    (file,) = program_json.write(dump(edition), context)
    before = all_kinds()
    Presentation.objects.all().delete()
    Session.objects.all().delete()
    SessionKind.objects.all().delete()
    load(program_json.read([Source("2021.json", b"".join(file.chunks))], context), "2021")

    assert all_kinds() == before
    assert before == [
        ("session", "bof", "Birds of a feather", "social", "#0b6b62"),
        ("session", "unused", "Never used", "panel", ""),
        ("presentation", "flash", "Flash talk!", "spotlight", ""),
    ]
    assert Session.objects.get().kind_name == "Birds of a feather"


def all_kinds() -> list[tuple[str, str, str, str, str]]:
    rows = SessionKind.objects.order_by("-applies_to", "position")
    return [*rows.values_list("applies_to", "slug", "name", "counts_as", "color")]


def test_file_with_kinds_alone_adds_them() -> None:
    load(programs.program(presentation_kinds=(KindRecord(slug="flash"),)), "2021")

    assert all_kinds() == [("presentation", "flash", "Flash", "talk", "")]


def test_kind_that_is_here_stays_as_it_is(shown: Presentation) -> None:
    program = dump(shown.edition)
    SessionKind.objects.filter(slug="bof").update(name="BoF", color="#112233")
    report = load(program, "2021")

    assert SessionKind.objects.get(slug="bof").name == "BoF"
    (note,) = report.notes
    assert note.message.startswith("The kind “Birds of a feather” differs from the conference's own")


BAD_KINDS = {
    "session_kinds (bof), color": KindRecord(slug="bof", color="red"),
    "session_kinds (bof), counts_as": KindRecord(slug="bof", counts_as="picnic"),
    "session_kinds (oral), counts_as": KindRecord(slug="oral", counts_as="panel"),
    "session_kinds (bof), name": KindRecord(slug="bof", name="x" * 61),
}


@pytest.mark.parametrize("place", BAD_KINDS)
def test_described_kind_that_breaks_a_rule_is_refused(place: str) -> None:
    record = BAD_KINDS[place]
    where = Where("program.json", f"session_kinds ({record.slug})")
    with pytest.raises(ProgramError) as refused:
        load(programs.program(session_kinds=(replace(record, where=where),)), "2021")

    (problem,) = refused.value.problems
    assert f"{problem.where.place}, {problem.field}" == place
    assert kinds() == set()


def written(shown: Presentation, name: str) -> str:
    write = writable()[name].write
    assert write
    outputs = write(dump(shown.edition), writing_context(shown.edition))
    return b"".join(chunk for output in outputs for chunk in output.chunks).decode()


def test_apps_get_the_kind(shown: Presentation) -> None:
    found = written(shown, "frab_xml")

    assert "<type>Flash talk!</type>" in found


def test_events_count_as_what_the_format_knows(shown: Presentation) -> None:
    assert '"event_type": "Spotlight"' in written(shown, "orals_posters")


def test_calendars_name_the_kind(shown: Presentation) -> None:
    lines = written(shown, "ics").splitlines()

    assert {"CATEGORIES:Birds of a feather", "CATEGORIES:Flash talk!"} == {
        line for line in lines if line.startswith("CATEGORIES")
    }


def test_type_that_apps_do_not_know_is_an_own_kind() -> None:
    xml = """<schedule><conference><title>A</title><time_zone_name>UTC</time_zone_name></conference>
      <day date="2021-04-06"><room name="Hall"><event id="7"><date>2021-04-06T09:00:00+00:00</date>
      <duration>01:00</duration><title>One</title><type>Hacker Jeopardy</type></event>
      </room></day></schedule>"""
    read = readable()["frab_xml"].read
    assert read
    program = read([Source("schedule.xml", xml.encode())], Context("2021", 2021, "UTC"))
    make.make_edition()
    load(program, "2021")

    assert kinds() == {("session", "hacker-jeopardy", "Hacker Jeopardy", "other")}


def test_color_that_chairs_gave_a_kind_is_no_difference() -> None:
    program = programs.program(session_kinds=(KindRecord(slug="lecture", name="lecture", counts_as="oral"),))
    load(program, "2021")
    SessionKind.objects.update(color="#0b6b62")

    assert load(program, "2021").notes == ()


def test_name_in_lower_case_is_shown_with_a_capital() -> None:
    edition = make.make_edition()
    make.make_session_kind(edition.conference, "lecture", slug="lecture", counts_as="oral")

    assert make.make_session(edition, kind="lecture").kind_words() == "Lecture"


def test_api_reads_and_filters_an_own_kind(shown: Presentation, client: Client) -> None:
    def asked(path: str) -> Any:
        return client.get(f"/api/v1/{path}").json()

    session = asked("sessions/?kind=bof&fields=kind,kind_name,counts_as")["results"]
    assert session == [{"id": "s1", "kind": "bof", "kind_name": "Birds of a feather", "counts_as": "social"}]
    found: Callable[[str], int] = lambda path: len(asked(path)["results"])  # noqa: E731
    assert [found(f"sessions/?kind={kind}") for kind in ("social", "oral")] == [1, 0]
    assert [found(f"papers/?kind={kind}") for kind in ("flash", "spotlight", "oral")] == [1, 1, 0]
    assert "Valid values: oral, spotlight" in asked("presentations/?kind=lecture")["detail"]
