"""Tests of the files of an agenda: calendar, table and references with public, starred items only."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from icalendar import Calendar

from schedule.agenda.agendas import star_of
from schedule.following import Agenda
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def things() -> list[Any]:
    """Return a keynote, a poster in a poster session, and a session without a star."""
    edition = make.make_edition()
    hall = make.make_room(edition, "Hall")
    keynote = make.make_session(edition, uid="k1", title='=SUM(A1), "Gröblacher"', room=hall)
    make.add_role(keynote, "Ada Lovelace", "speaker")
    posters = make.make_session(edition, uid="s1", kind="poster", start=make.MORNING + timedelta(hours=3))
    paper = make.make_paper(edition, ["Grace Hopper", "Alan Turing"], uid="p1", title="Notes")
    poster = make.make_presentation(posters, paper, uid="a1", kind="poster", board="12")
    make.make_presentation(posters, make.make_paper(edition, title="Unstarred"), kind="poster")
    return [keynote, poster]


def listed(things: list[Any]) -> str:
    return " ".join(str(star_of(thing)) for thing in things)


def summaries(content: bytes) -> list[tuple[str, str]]:
    events = Calendar.from_ical(content).walk("VEVENT")
    return [(str(event["UID"]).partition("@")[0], str(event["STATUS"])) for event in events]


def test_calendar_holds_the_starred_alone(client: Client, things: list[Any]) -> None:
    response = client.post("/2021/agenda.ics", {"s": listed(things)})

    assert summaries(response.content) == [
        ("session.2021.k1", "CONFIRMED"),
        ("presentation.2021.a1", "CONFIRMED"),
    ]
    assert response.headers["Content-Disposition"] == 'attachment; filename="2021-agenda.ics"'
    assert client.get("/2021/agenda.ics?s=s.k1+p.a1").content.count(b"BEGIN:VEVENT") == 2


def test_subscribed_calendar_follows_changes(client: Client, things: list[Any]) -> None:
    client.post("/2021/agenda/stars/", {"star": listed(things)})
    token = Agenda.reading_token(client.cookies["agenda"].value)
    first = Client().get(f"/2021/agenda/{token}.ics").content

    assert Client().get(f"/2021/agenda/{token}.ics").content == first
    things[0].status = "cancelled"
    things[0].save()
    client.post("/2021/agenda/stars/", {"star": f"-{star_of(things[1])}"})
    assert summaries(Client().get(f"/2021/agenda/{token}.ics").content) == [("session.2021.k1", "CANCELLED")]


def test_table_opens_in_spreadsheets_and_runs_no_formula(client: Client, things: list[Any]) -> None:
    content = client.post("/2021/agenda.csv", {"s": listed(things)}).content

    assert content.startswith(b"\xef\xbb\xbfday,start,end,zone,kind,title,")
    keynote, poster = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert keynote["title"] == '\'=SUM(A1), "Gröblacher"'
    assert (keynote["day"], keynote["start"], keynote["zone"]) == ("2021-04-06", "08:00", "PDT")
    assert (keynote["people"], keynote["room"]) == ("Ada Lovelace", "Hall")
    assert (poster["title"], poster["board"], poster["start"]) == ("Notes", "12", "11:00")
    assert poster["people"] == "Grace Hopper; Alan Turing"
    assert poster["link"] == "http://testserver/2021/papers/p1/notes/"


def test_references_are_of_the_starred_papers(client: Client, things: list[Any]) -> None:
    text = client.post("/2021/agenda.bib", {"s": listed(things)}).content.decode()

    assert text.count("@inproceedings{") == 1
    assert "title = {Notes}" in text


def test_what_is_not_public_stays_out_of_files(client: Client, things: list[Any]) -> None:
    keynote, poster = things
    stars = listed(things)
    keynote.status = "draft"
    keynote.save()
    poster.paper.status = "withdrawn"
    poster.paper.save()

    for ending in ("ics", "csv", "bib"):
        text = client.post(f"/2021/agenda.{ending}", {"s": stars}).content.decode()
        assert "Notes" not in text
        assert "SUM" not in text


@pytest.mark.parametrize("path", ["agenda.pdf", "agenda.%00", "agenda/x.ics"])
def test_unknown_file_is_a_page(client: Client, things: list[Any], path: str) -> None:
    response = client.get(f"/2021/{path}")

    assert response.status_code == 404
    assert "<h1>" in response.content.decode()


def test_files_cost_the_same_for_many(
    client: Client, things: list[Any], django_assert_num_queries: Any
) -> None:
    edition = things[0].edition
    for ending, expected in (("ics", 11), ("csv", 10), ("bib", 12)):
        for rows in (things, [*things, *(make.make_session(edition) for _ in range(3))]):
            with django_assert_num_queries(expected):
                client.post(f"/2021/agenda.{ending}", {"s": listed(rows)})
