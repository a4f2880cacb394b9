"""Every type of page in Chromium: phone and desktop, light and dark, without JavaScript."""

from difflib import unified_diff

import pytest
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize

from papers.models import Paper, Topic
from people.models import Institution, Person
from schedule.models import Room, Session
from tests import factories as make
from tests.browser.axe import DESKTOP, DISPLAYS, SHOW_ALL_CONTENT, display_issues
from tests.browser.visitor import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]


def page_urls() -> list[str]:
    session = Session.objects.published().get(title="ML Compilers & Runtime")
    poster_session = Session.objects.published().filter(kind="poster").earliest("start")
    invited_talk = Session.objects.published().get(kind="invited_talk")
    paper = Paper.objects.published().get(title__startswith="Cortex")
    person = Person.objects.published().get(name="Tianqi Chen")
    room = Room.objects.published().get(name="Exhibit Hall A")
    rows = [session, poster_session, invited_talk, paper, person, room]
    list_names = ["schedule", "papers", "talks", "posters", "awards", "recordings", "sponsors", "committee"]
    urls = ["/", "/2021/", "/2021/schedule/2021-04-06/", "/people/", "/awards/", "/no-such-page/"]
    urls += [f"/2021/{name}/" for name in list_names]
    urls += ["/2021/statistics/", "/2021/papers/?topic=compilers&kind=oral", "/2021/papers/?view=detailed"]
    urls += ["/2021/papers/?view=cards"]
    institution, _ = Institution.objects.get_or_create(slug="eth", defaults={"name": "ETH Zürich"})
    paper.authorships.get(position=1).institutions.add(institution)
    rows += [Topic.objects.published().filter(edition=paper.edition).earliest("pk"), institution]
    urls += ["/api/docs/", "/institutions/", f"{institution.get_absolute_url()}?show=people"]
    return [*urls, *(row.get_absolute_url() for row in rows)]


def test_pages_have_no_overflow_no_axe_violations_and_the_same_text_without_javascript(
    open_page: OpenPage,
) -> None:
    page, page_without_script = (
        open_page(viewport=DESKTOP),
        open_page(viewport=DESKTOP, java_script_enabled=False),
    )
    issues: list[str] = []
    page.on("console", lambda message: issues.append(f"{page.url}: {message.text}"))
    page.on("requestfailed", lambda request: issues.append(f"{page.url}: {request.url} failed"))
    for url in page_urls():
        page.goto(url)
        page_without_script.goto(url)
        difference = unified_diff(text_lines(page), text_lines(page_without_script), n=0)
        issues += [f"{page.url}: without JavaScript: {line}" for line in difference]
        issues += display_issues(page, DISPLAYS)
    assert [issue for issue in issues if "404 (Not Found)" not in issue] == []


def text_lines(page: Page) -> list[str]:
    page.evaluate(SHOW_ALL_CONTENT)
    return page.inner_text("main").splitlines(keepends=True)


def test_download_descriptions_are_below_their_names(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto("/2021/downloads/")
    for link in page.locator(".ways a").all():
        name_box, text_box = link.locator("b").bounding_box(), link.locator("span").bounding_box()
        assert name_box is not None
        assert text_box is not None
        assert (text_box["x"], text_box["y"] >= name_box["y"] + name_box["height"]) == (name_box["x"], True)
    assert display_issues(page, DISPLAYS) == []


def test_small_offices_of_a_committee_share_a_row(open_page: OpenPage) -> None:
    edition = make.make_edition(2031)
    for position, office in enumerate(
        ["General Chair", "Program Chair", "Program Chair", *["Reviewer"] * 3], 1
    ):
        make.make_committee_role(edition, make.make_person(), office, position=position)
    page = open_page(viewport=DESKTOP)
    page.goto("/2031/committee/")
    tops = [
        box["y"] for section in page.locator(".offices > section").all() if (box := section.bounding_box())
    ]

    assert len(tops) == 3
    assert tops[0] == tops[1] < tops[2]
    assert display_issues(page, DISPLAYS) == []


def test_front_page_of_many_conferences_uses_the_width(open_page: OpenPage) -> None:
    today = timezone.localdate()
    make.make_edition(
        2031, conference=make.make_conference(slug="alone", name="Alone"), start_date=today, end_date=today
    )
    page = open_page(viewport=DESKTOP)
    page.goto("/")
    image_box, text_box = (page.locator(f".edition-card > {part}").bounding_box() for part in ("img", "div"))
    series_boxes = [box for item in page.locator(".series > li").all() if (box := item.bounding_box())]

    assert image_box is not None
    assert text_box is not None
    assert image_box["x"] + image_box["width"] <= text_box["x"]
    assert image_box["width"] + text_box["width"] > 1100
    assert len({box["y"] for box in series_boxes}) == 1 < len(series_boxes)


def test_skip_link_has_the_first_focus_and_links_to_the_main_content(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto("/2021/schedule/2021-04-06/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")


def test_pages_work_at_400_percent_zoom_with_forced_colors_and_reduced_motion(
    open_page: OpenPage,
) -> None:
    # 1280 by 1024 pixels at a zoom of 400 %, as in WCAG 1.4.10.
    zoomed_size = ViewportSize(width=320, height=256)
    page = open_page(viewport=zoomed_size, forced_colors="active", reduced_motion="reduce")
    issues: list[str] = []
    for url in ("/2021/", "/2021/schedule/2021-04-06/", "/2021/papers/", "/awards/", "/people/"):
        page.goto(url)
        if page.evaluate("document.getAnimations().length"):
            issues.append(f"{url}: moves")
        if not page.get_by_role("heading", level=1).is_visible():
            issues.append(f"{url}: has no visible heading")
        issues += display_issues(page, [(zoomed_size, "light")])

    assert issues == []
