"""Every type of page in Chromium: phone and desktop, light and dark, without JavaScript."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize

from papers.models import Paper, Topic
from people.models import Institution, Person
from schedule.models import Room, Session
from tests import factories as make
from tests.browser.axe import DESKTOP, LAID_OUT, LOOKS, hindrances

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]


def addresses() -> list[str]:
    session = Session.objects.published().get(title="ML Compilers & Runtime")
    poster = Session.objects.published().filter(kind="poster").earliest("start")
    talk = Session.objects.published().get(kind="invited_talk")
    paper = Paper.objects.published().get(title__startswith="Cortex")
    person = Person.objects.published().get(name="Tianqi Chen")
    room = Room.objects.published().get(name="Exhibit Hall A")
    things = [session, poster, talk, paper, person, room]
    lists = ["schedule", "papers", "talks", "posters", "awards", "recordings", "sponsors", "committee"]
    fixed = ["/", "/2021/", "/2021/schedule/2021-04-06/", "/people/", "/awards/", "/no-such-page/"]
    fixed += [f"/2021/{name}/" for name in lists]
    fixed += ["/2021/statistics/", "/2021/papers/?topic=compilers&kind=oral", "/2021/papers/?view=detailed"]
    fixed += ["/2021/papers/?view=cards"]
    institution, _ = Institution.objects.get_or_create(slug="eth", defaults={"name": "ETH Zürich"})
    paper.authorships.get(position=1).institutions.add(institution)
    things += [Topic.objects.published().filter(edition=paper.edition).earliest("pk"), institution]
    fixed += ["/api/docs/", "/institutions/", f"{institution.get_absolute_url()}?show=people"]
    return [*fixed, *(thing.get_absolute_url() for thing in things)]


def test_no_page_scrolls_sideways_breaks_the_policy_or_hinders_anyone(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{page.url}: {message.text}"))
    page.on("requestfailed", lambda request: complaints.append(f"{page.url}: {request.url} failed"))
    for address in addresses():
        page.goto(address)
        complaints += hindrances(page, LOOKS)
    assert [line for line in complaints if "404 (Not Found)" not in line] == []


def test_every_page_is_whole_without_javascript(open_page: Callable[..., Page]) -> None:
    scripted, plain = open_page(viewport=DESKTOP), open_page(viewport=DESKTOP, java_script_enabled=False)
    for address in addresses():
        seen = []
        for page in (scripted, plain):
            page.goto(address)
            page.evaluate(LAID_OUT)
            seen.append(page.inner_text("main"))
        assert seen[0] == seen[1]


def test_downloads_say_below_each_name_what_the_file_is_for(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto("/2021/downloads/")
    for offer in page.locator(".ways a").all():
        name, text = offer.locator("b").bounding_box(), offer.locator("span").bounding_box()
        assert name is not None
        assert text is not None
        assert (text["x"], text["y"] >= name["y"] + name["height"]) == (name["x"], True)
    assert hindrances(page, LOOKS) == []


def test_small_offices_of_a_committee_share_a_row(open_page: Callable[..., Page]) -> None:
    edition = make.make_edition(2031)
    for position, office in enumerate(
        ["General Chair", "Program Chair", "Program Chair", *["Reviewer"] * 3], 1
    ):
        make.make_committee_role(edition, make.make_person(), office, position=position)
    page = open_page(viewport=DESKTOP)
    page.goto("/2031/committee/")
    rows = [box["y"] for one in page.locator(".offices > section").all() if (box := one.bounding_box())]

    assert len(rows) == 3
    assert rows[0] == rows[1] < rows[2]
    assert hindrances(page, LOOKS) == []


def test_front_page_of_many_conferences_uses_the_width(open_page: Callable[..., Page]) -> None:
    today = timezone.localdate()
    make.make_edition(
        2031, conference=make.make_conference(slug="alone", name="Alone"), start_date=today, end_date=today
    )
    page = open_page(viewport=DESKTOP)
    page.goto("/")
    art, words = (page.locator(f".edition-card > {part}").bounding_box() for part in ("img", "div"))
    series = [box for one in page.locator(".series > li").all() if (box := one.bounding_box())]

    assert art is not None
    assert words is not None
    assert art["x"] + art["width"] <= words["x"]
    assert art["width"] + words["width"] > 1100
    assert len({box["y"] for box in series}) == 1 < len(series)


def test_skip_link_is_the_first_stop_and_leads_to_the_program(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto("/2021/schedule/2021-04-06/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")


def test_pages_hold_at_four_times_the_size_in_forced_colors_and_without_motion(
    open_page: Callable[..., Page],
) -> None:
    # 1280 by 1024 pixels at a zoom of 400 %, as in WCAG 1.4.10.
    tiny = ViewportSize(width=320, height=256)
    page = open_page(viewport=tiny, forced_colors="active", reduced_motion="reduce")
    complaints: list[str] = []
    for address in ("/2021/", "/2021/schedule/2021-04-06/", "/2021/papers/", "/awards/", "/people/"):
        page.goto(address)
        if page.evaluate("document.getAnimations().length"):
            complaints.append(f"{address}: moves")
        if not page.get_by_role("heading", level=1).is_visible():
            complaints.append(f"{address}: has no visible heading")
        complaints += hindrances(page, [(tiny, "light")])

    assert complaints == []
