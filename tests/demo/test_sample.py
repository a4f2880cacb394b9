"""Tests of the sample conference: takes place today, is complete, and is recognizable as fictitious."""

import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.files.images import get_image_dimensions
from django.core.management import call_command
from django.test import Client

from conference.models import Announcement, Edition, KeyDate, MenuItem, Sponsor
from operations.management.commands import demo
from papers.models import Award, Paper
from people.models import Person
from schedule.models import Room, Session
from tests.demo.programs import DEMO

NOW = datetime(2027, 3, 27, 12, tzinfo=UTC)
RUNNING, UPCOMING = "scrc-12", "scrc-13"


def read_program(slug: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DEMO / f"{slug}.json").read_text("utf-8"))
    return content


def make_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "collect_static", lambda: None)
    call_command("demo", "--no-serve")


@pytest.mark.parametrize("today", [date(2026, 6, 10), date(2027, 3, 27), date(2028, 2, 29)])
def test_shift_makes_the_second_day_today_and_keeps_hours(today: date) -> None:
    before, after = read_program(RUNNING), demo.shift_to_today(read_program(RUNNING), today)
    zone = ZoneInfo(before["edition"]["timezone"])

    edition = after["edition"]
    assert edition["start_date"] == str(today - timedelta(days=1))
    assert edition["end_date"] == str(today + timedelta(days=1))
    assert edition["year"] == (today - timedelta(days=1)).year
    for old_session, new_session in zip(before["sessions"], after["sessions"], strict=True):
        old_start, new_start = (datetime.fromisoformat(row["start"]) for row in (old_session, new_session))
        assert new_start.utcoffset() == new_start.astimezone(zone).utcoffset()
        assert (old_start.time(), new_start.date() - old_start.date()) == (
            new_start.time(),
            today - demo.WRITTEN_FOR,
        )


def test_shift_to_the_original_date_changes_nothing() -> None:
    for slug in (RUNNING, UPCOMING):
        assert demo.shift_to_today(read_program(slug), demo.WRITTEN_FOR) == read_program(slug)


@pytest.mark.django_db
def test_demo_has_a_running_and_an_upcoming_edition_with_content(
    time_machine: Any, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    time_machine.move_to(NOW, tick=False)
    make_demo(monkeypatch)

    running, upcoming = (Edition.objects.get(slug=slug) for slug in (RUNNING, UPCOMING))
    assert (running.start_date, running.end_date) == (date(2027, 3, 26), date(2027, 3, 28))
    assert upcoming.start_date > date(2027, 3, 28)
    assert upcoming.schedule_public_from is upcoming.papers_public_from is None
    assert Edition.objects.published().count() == 5
    for model, min_count in (
        (Room, 6),
        (Sponsor, 6),
        (KeyDate, 6),
        (Announcement, 5),
        (Award, 3),
        (Paper, 40),
    ):
        assert model._default_manager.filter(edition=running).count() >= min_count, model
    kinds = set(Session.objects.filter(edition=running).values_list("kind", flat=True))
    assert {"invited_talk", "oral", "poster", "break", "tutorial", "social"} <= kinds
    for edition in (running, upcoming):
        home = client.get(edition.get_absolute_url()).content.decode()
        assert "This conference is invented" in home
    assert "SCRC 12" in client.get("/").content.decode()
    assert "Day 2 of 3" in client.get(running.get_absolute_url()).content.decode()
    # Creating the demo takes seconds, so one test checks all of it.
    assert_menu_pages_have_content(client)
    time_machine.move_to(NOW.replace(hour=10, minute=40), tick=False)
    page = client.get(running.get_absolute_url()).content.decode()
    assert "On now" in page
    assert "Oral Session 3A: Consensus" in page


def assert_menu_pages_have_content(client: Client) -> None:
    for item in MenuItem.objects.filter(edition__slug__in=(RUNNING, UPCOMING)).select_related(
        "edition", "page"
    ):
        slug = item.edition.slug
        path = item.page.get_absolute_url() if item.page else f"/{slug}/{item.section}/"
        path = "/people/" if item.section == "people" else path
        response = client.get(path)
        assert response.status_code == 200, path
        assert 'class="empty' not in response.content.decode(), path


@pytest.mark.django_db
def test_second_run_keeps_changes_of_chairs(time_machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    time_machine.move_to(NOW, tick=False)
    make_demo(monkeypatch)
    assert Edition.objects.get(slug=RUNNING).hero
    assert not Edition.objects.get(slug=UPCOMING).hero
    photos = Person.objects.exclude(photo="")
    assert photos.count() == len([*(DEMO / "pictures/people").iterdir()])
    assert {get_image_dimensions(person.photo) for person in photos} == {(240, 240)}
    assert not Sponsor.objects.filter(logo="").exists()
    papers = Paper.objects.filter(edition__slug=RUNNING)
    assert (
        papers.exclude(teaser="").count() == len([*(DEMO / "pictures/teasers").iterdir()]) == papers.count()
    )
    assert {(paper.picture.width, paper.picture.height) for paper in papers if paper.picture} == {(320, 240)}
    Person.objects.update(photo="")
    Edition.objects.filter(slug=RUNNING).update(name="Ours")

    time_machine.move_to(NOW + timedelta(days=30), tick=False)
    make_demo(monkeypatch)

    edition = Edition.objects.get(slug=RUNNING)
    assert (edition.name, edition.start_date) == ("Ours", date(2027, 3, 26))
    assert not Person.objects.exclude(photo="").exists()


def test_pictures_belong_to_rows_and_are_small() -> None:
    programs = [read_program(slug) for slug in (RUNNING, UPCOMING)]
    keys_by_folder = {
        "heroes": {program["edition"]["slug"] for program in programs},
        "people": {person["uid"] for program in programs for person in program["people"]},
        "teasers": {paper["uid"] for program in programs for paper in program.get("papers", [])},
        "sponsors": {sponsor["slug"] for program in programs for sponsor in program["sponsors"]},
    }
    for path in [path for path in (DEMO / "pictures").rglob("*") if path.is_file()]:
        assert path.stem in keys_by_folder[path.parent.name]
        assert path.stat().st_size < (30_000 if path.parent.name == "heroes" else 8_000), path


def test_sample_names_no_real_person_and_no_real_website() -> None:
    for slug in (RUNNING, UPCOMING):
        program = read_program(slug)
        assert {person["uid"].partition("-")[0] for person in program["people"]} == {"sample"}
        words = Path(DEMO / f"{slug}.json").read_text("utf-8").replace('"', " ").split()
        hosts = Counter(word.split("/")[2] for word in words if word.startswith("https://"))
        assert {host.removeprefix("www.") for host in hosts} <= {
            "example.org", "example.com", "video.example.org", "live.example.org", "openstreetmap.org"
        }  # fmt: skip


def test_readme_names_the_counts() -> None:
    readme = (DEMO / "README.md").read_text("utf-8")
    for slug, name in ((RUNNING, "SCRC 12"), (UPCOMING, "SCRC 13")):
        content = read_program(slug)
        counts = [len(content.get(kind, [])) for kind in ("papers", "people", "sessions", "presentations")]
        row = next(line for line in readme.splitlines() if line.startswith(f"| {name} |"))
        assert row.split(" | ")[2:] == [*map(str, counts[:-1]), f"{counts[-1]} |"]
