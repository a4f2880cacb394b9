"""A file of events on its whole way: read, loaded, and found at its addresses."""

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


def program(**event: Any) -> Program:
    row = {"id": 5, "uid": "ab", "name": "On A", "eventtype": "Poster", "authors": [], **event}
    page = {"count": 1, "next": None, "previous": None, "results": [row]}
    source = Source("events.json", json.dumps(page).encode())
    read = readable()["orals_posters"].read
    assert read
    return read([source], Context("2021", 2021, "America/Los_Angeles"))


def test_topic_of_two_levels_is_loaded_and_has_a_page(client: Client) -> None:
    make_edition()
    load(program(topic="Computer Vision->Other"), "2021")

    topic = Paper.objects.get().topic
    assert topic is not None
    assert (topic.name, [one.name for one in topic.ancestors]) == ("Other", ["Computer Vision"])
    page = client.get(topic.get_absolute_url())
    assert (page.status_code, "On A" in page.text) == (200, True)


def test_problem_of_a_topic_names_file_and_row() -> None:
    make_edition()
    with pytest.raises(ProgramError) as refusal:
        load(program(topic=f"Computer Vision->{'x' * 200}"), "2021")
    (problem,) = refusal.value.problems
    assert str(problem).startswith("events.json, results[0] (5), name: ")
    assert not Topic.objects.exists()
