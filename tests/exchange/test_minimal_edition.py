"""Tests of round trips of an edition with few fields, in every format with a reader and a writer."""

from datetime import date

import pytest

from conference.models import Conference, Edition
from exchange.exports.dump import dump_for_format, writing_context
from exchange.files import Source
from exchange.formats import formats
from exchange.imports.load import load
from exchange.records import EditionRecord, PaperRecord, Program, RoomRecord, SessionRecord
from papers.models import Paper
from schedule.models import Room, Session
from tests.exchange.programs import START
from tests.exchange.samples import CONTEXT

pytestmark = pytest.mark.django_db
READABLE_AND_WRITABLE = sorted(name for name, fmt in formats().items() if fmt.read and fmt.write)
# Formats that lose fields of papers, rooms or sessions, or that add values when reading their own output.
LOSSY_FORMATS = {"bibtex", "frab_json", "frab_xml", "orals_posters"}


def make_minimal_edition() -> Edition:
    """Create an edition, a paper, a room and a session that have required fields only."""
    conference = Conference.objects.create(slug="c", name="C")
    day = date(2021, 4, 5)
    edition = Edition.objects.create(
        conference=conference,
        slug="2021",
        year=2021,
        name="2021",
        start_date=day,
        end_date=day,
        timezone="UTC",
    )
    Paper.objects.create(edition=edition, uid="p", title="T")
    Room.objects.create(edition=edition, slug="r", name="R")
    Session.objects.create(edition=edition, uid="s", title="S", start=START, end=START)
    return edition


@pytest.mark.parametrize("name", READABLE_AND_WRITABLE)
def test_round_trip_of_a_minimal_edition_changes_nothing(name: str) -> None:
    edition, fmt = make_minimal_edition(), formats()[name]
    assert fmt.write
    assert fmt.read
    context = writing_context(edition)
    (output, *_) = fmt.write(dump_for_format(fmt, edition, drafts=True), context)
    program = fmt.read([Source(output.name, b"".join(output.chunks))], context)
    tallies = load(program, "2021").tallies.values()

    assert (
        name in LOSSY_FORMATS
        or [tally for tally in tallies if tally["new"] + tally["changed"] + tally["conflicting"]] == []
    )
    assert load(program, "2021").run is None
    assert Paper.objects.get(uid="p").title == "T"


@pytest.mark.parametrize("name", ["xlsx", "tables"])
def test_unstated_fields_are_not_read_as_empty(name: str) -> None:
    fmt = formats()[name]
    assert fmt.write
    assert fmt.read
    program = Program(
        edition=EditionRecord(slug="2021", name="2021", timezone="UTC"),
        papers=(PaperRecord(uid="p", title="T"),),
        rooms=(RoomRecord(slug="r", name="R"),),
        sessions=(SessionRecord(uid="s", title="S", start=START, end=START),),
    )
    (output, *_) = fmt.write(program, CONTEXT)
    make_minimal_edition()

    tallies = load(fmt.read([Source(output.name, b"".join(output.chunks))], CONTEXT), "2021").tallies.values()
    assert [tally for tally in tallies if tally["new"] + tally["changed"] + tally["conflicting"]] == []
