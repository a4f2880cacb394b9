"""Tests of a file of events: it is read, loaded, and shown on its pages."""

import json
from typing import Any

import pytest
from django.test import Client

from exchange.files import Context, Source
from exchange.formats import readable
from exchange.imports.load import load
from exchange.problems import ProgramError
from exchange.records import Program
from papers.models import Paper, Topic
from tests.factories import make_edition

pytestmark = pytest.mark.django_db


def events_program(*events: dict[str, Any]) -> Program:
    """Return the program of a file of posters, which may have other fields."""
    poster = {"id": 5, "uid": "ab", "name": "On A", "eventtype": "Poster", "authors": []}
    rows = [{**poster, **event} for event in events]
    page = {"count": len(rows), "next": None, "previous": None, "results": rows}
    read = readable()["orals_posters"].read
    assert read
    source = Source("events.json", json.dumps(page).encode())
    return read([source], Context("2021", 2021, "America/Los_Angeles"))


def test_topic_of_two_levels_is_loaded_and_has_a_page(client: Client) -> None:
    make_edition()
    load(events_program({"topic": "Computer Vision->Other"}), "2021")

    topic = Paper.objects.get().topic
    assert topic is not None
    assert (topic.name, [ancestor.name for ancestor in topic.ancestors]) == ("Other", ["Computer Vision"])
    page = client.get(topic.get_absolute_url())
    assert (page.status_code, "On A" in page.text) == (200, True)


def test_problem_of_a_topic_names_file_and_row() -> None:
    make_edition()
    with pytest.raises(ProgramError) as error:
        load(events_program({"topic": f"Computer Vision->{'x' * 200}"}), "2021")
    (problem,) = error.value.problems
    assert str(problem).startswith("events.json, results[0] (5), name: ")
    assert not Topic.objects.exists()


def posters(*starts: str, **fields: Any) -> Program:
    """Return a program of posters in one session that begin at these times."""
    events = [
        {
            "id": 10 + number,
            "uid": f"p{number}",
            "name": f"On {number}",
            "parent_id": 7,
            "session": "Posters",
            "starttime": f"2021-04-06T{start}:00+00:00",
            "endtime": "2021-04-06T19:00:00+00:00",
            **fields,
        }
        for number, start in enumerate(starts)
    ]
    return events_program(*events)


@pytest.mark.parametrize("new_start", ["16:30", "17:30"])
def test_changed_start_changes_one_presentation(new_start: str) -> None:
    make_edition()
    load(posters("17:00", "17:00", "17:00"), "2021")
    tallies = load(posters("17:00", new_start, "17:00"), "2021").tallies
    reverse_tallies = load(posters("17:00", "17:00", "17:00"), "2021").tallies

    for counts in (tallies, reverse_tallies):
        assert (counts["presentation"]["changed"], counts["presentation"]["skipped"]) == (1, 2)
        assert counts["session"]["changed"] == 0


def test_earlier_first_talk_creates_no_new_session() -> None:
    talks = {"eventtype": "Oral", "parent_id": None}
    make_edition()
    load(posters("17:00", "17:30", "18:00", **talks), "2021")
    tallies = load(posters("16:45", "17:30", "18:00", **talks), "2021").tallies

    assert (tallies["session"]["new"], tallies["session"]["changed"]) == (0, 1)
    assert tallies["presentation"]["changed"] == 0


def test_session_spans_its_consecutive_talks() -> None:
    (session,) = posters("17:00", "17:30", "18:00").sessions

    assert f"{session.start:%H:%M} {session.end:%H:%M}" == "17:00 19:00"
