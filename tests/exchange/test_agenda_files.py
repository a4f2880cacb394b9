"""Tests of the files of an agenda: calendar, table and references of starred public items."""

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
def starred() -> list[Any]:
    """Create a keynote, a poster and a poster without a star; return the two with one."""
    edition = make.make_edition()
    hall = make.make_room(edition, "Hall")
    keynote = make.make_session(edition, uid="k1", title='=SUM(A1), "Gröblacher"', room=hall)
    make.add_role(keynote, "Ada Lovelace", "speaker")
    posters = make.make_session(edition, uid="s1", kind="poster", start=make.MORNING + timedelta(hours=3))
    paper = make.make_paper(edition, ["Grace Hopper", "Alan Turing"], uid="p1", title="Notes")
    poster = make.make_presentation(posters, paper, uid="a1", kind="poster", board="12")
    make.make_presentation(posters, make.make_paper(edition, title="Unstarred"), kind="poster")
    return [keynote, poster]


def star_keys(items: list[Any]) -> str:
    return " ".join(str(star_of(item)) for item in items)


def uids_and_statuses(content: bytes) -> list[tuple[str, str]]:
    events = Calendar.from_ical(content).walk("VEVENT")
    return [(str(event["UID"]).partition("@")[0], str(event["STATUS"])) for event in events]


def test_calendar_contains_only_starred_events(client: Client, starred: list[Any]) -> None:
    response = client.post("/2021/agenda.ics", {"s": star_keys(starred)})

    assert uids_and_statuses(response.content) == [
        ("session.2021.k1", "CONFIRMED"),
        ("presentation.2021.a1", "CONFIRMED"),
    ]
    assert response.headers["Content-Disposition"] == 'attachment; filename="2021-agenda.ics"'
    assert client.get("/2021/agenda.ics?s=s.k1+p.a1").content.count(b"BEGIN:VEVENT") == 2


def test_subscribed_calendar_follows_changes(client: Client, starred: list[Any]) -> None:
    client.post("/2021/agenda/stars/", {"star": star_keys(starred)})
    token = Agenda.reading_token(client.cookies["agenda"].value)
    first_content = Client().get(f"/2021/agenda/{token}.ics").content

    assert Client().get(f"/2021/agenda/{token}.ics").content == first_content
    starred[0].status = "cancelled"
    starred[0].save()
    client.post("/2021/agenda/stars/", {"star": f"-{star_of(starred[1])}"})
    assert uids_and_statuses(Client().get(f"/2021/agenda/{token}.ics").content) == [
        ("session.2021.k1", "CANCELLED")
    ]


def test_csv_has_a_byte_order_mark_and_escaped_formulas(client: Client, starred: list[Any]) -> None:
    content = client.post("/2021/agenda.csv", {"s": star_keys(starred)}).content

    assert content.startswith(b"\xef\xbb\xbfday,start,end,zone,kind,title,")
    keynote, poster = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert keynote["title"] == '\'=SUM(A1), "Gröblacher"'
    assert (keynote["day"], keynote["start"], keynote["zone"]) == ("2021-04-06", "08:00", "PDT")
    assert (keynote["people"], keynote["room"]) == ("Ada Lovelace", "Hall")
    assert (poster["title"], poster["board"], poster["start"]) == ("Notes", "12", "11:00")
    assert poster["people"] == "Grace Hopper; Alan Turing"
    assert poster["link"] == "http://testserver/2021/papers/p1/notes/"


def test_bibtex_contains_only_starred_papers(client: Client, starred: list[Any]) -> None:
    text = client.post("/2021/agenda.bib", {"s": star_keys(starred)}).content.decode()

    assert text.count("@inproceedings{") == 1
    assert "title = {Notes}" in text


def test_drafts_and_withdrawn_papers_are_in_no_file(client: Client, starred: list[Any]) -> None:
    keynote, poster = starred
    stars = star_keys(starred)
    keynote.status = "draft"
    keynote.save()
    poster.paper.status = "withdrawn"
    poster.paper.save()

    for ending in ("ics", "csv", "bib"):
        text = client.post(f"/2021/agenda.{ending}", {"s": stars}).content.decode()
        assert "Notes" not in text
        assert "SUM" not in text


@pytest.mark.parametrize("path", ["agenda.pdf", "agenda.%00", "agenda/x.ics"])
def test_unknown_file_is_an_html_404_page(client: Client, starred: list[Any], path: str) -> None:
    response = client.get(f"/2021/{path}")

    assert response.status_code == 404
    assert "<h1>" in response.content.decode()


def test_query_count_is_the_same_for_2_and_5_items(
    client: Client, starred: list[Any], django_assert_num_queries: Any
) -> None:
    edition = starred[0].edition
    for ending, expected in (("ics", 11), ("csv", 10), ("bib", 12)):
        for items in (starred, [*starred, *(make.make_session(edition) for _ in range(3))]):
            with django_assert_num_queries(expected):
                client.post(f"/2021/agenda.{ending}", {"s": star_keys(items)})
