"""Right-to-left titles are isolated in left-to-right pages."""

import re
from collections.abc import Callable
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from papers.models import Paper
from schedule.models import Session
from tests.factories import (
    MORNING,
    make_announcement,
    make_award,
    make_edition,
    make_page,
    make_paper,
    make_presentation,
    make_room,
    make_session,
    make_topic,
)

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

HEBREW = "מודלים גדולים"
ARABIC = "النماذج الكبيرة"
RIGHT_TO_LEFT = re.compile("[\u0590-\u06ff]")
VOID = {"br", "hr", "img", "input", "link", "meta", "source", "use", "path", "circle", "rect", "line"}
PAGES = [
    "/2021/",
    "/2021/papers/",
    "/2021/papers/?view=cards",
    "/2021/papers/?view=detailed",
    "/2021/topics/topic/",
    "/2021/schedule/2021-04-06/",
    "/2021/schedule/2021-04-06/?view=grid",
    "/2021/schedule/?view=week",
    "/2021/posters/",
    "/2021/rooms/hall/",
    "/2021/awards/",
    "/2021/pages/about/",
    "/2021/search/?q=GPT-4",
    "/2021/search/suggest?q=GPT-4",
    "/2021/agenda/",
    "/awards/",
    "/people/ada/",
    "paper",
    "session",
]


class DirectionParser(HTMLParser):
    """Parser that finds right-to-left words outside of elements that isolate them."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.isolated: list[str] = []
        self.mixed: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        # Text for screen readers alone needs no isolation.
        isolates = (
            tag in {"bdi", "title", "script", "option", "pre"}
            or attributes.get("dir") == "auto"
            or attributes.get("translate") == "no"
        )
        if tag not in VOID:
            self.open.append((tag, isolates or "hidden" in (attributes.get("class") or "").split()))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if RIGHT_TO_LEFT.search(data):
            is_isolated = any(isolates for _, isolates in self.open)
            (self.isolated if is_isolated else self.mixed).append(data.strip())


def make_program() -> None:
    edition = make_edition()
    room = make_room(edition, "Hall", slug="hall")
    topic = make_topic(edition, ARABIC, slug="topic")
    papers = [
        make_paper(edition, ["Ada"], title=f"{HEBREW} GPT-4 {number}", topic=topic) for number in range(3)
    ]
    make_award(edition, papers[:1])
    make_announcement(edition, title=ARABIC)
    make_page(edition, slug="about", title=ARABIC, body=HEBREW)
    for hours, kind in enumerate(("oral", "poster", "break")):
        start = MORNING + timedelta(hours=hours)
        session = make_session(edition, title=f"{ARABIC} GPT-4 {kind}", room=room, kind=kind, start=start)
        for paper in papers:
            if kind != "break":
                make_presentation(session, paper, kind=kind)
    make_session(edition, title=f"{ARABIC} GPT-4", kind="invited_talk", start=MORNING + timedelta(hours=4))
    make_presentation(paper=papers[0], kind="poster")


@pytest.fixture(scope="module", autouse=True)
def _program(made_once: Callable[..., Any]) -> None:
    made_once(make_program)


@pytest.mark.parametrize("path", PAGES)
def test_right_to_left_titles_are_isolated(client: Client, path: str) -> None:
    if path == "paper":
        path = Paper.objects.all()[1].get_absolute_url()
    elif path == "session":
        path = Session.objects.filter(kind="oral").get().get_absolute_url()

    page = DirectionParser(client.get(path, follow=True).getvalue().decode())

    assert page.mixed == []
    assert page.isolated or path in {"/2021/agenda/", "/people/ada/"}
