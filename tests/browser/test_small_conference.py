"""A chair enters a complete small conference in the admin, and schedules its publication."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from conference.models import Edition
from papers.models import Award, Paper
from schedule.models import Presentation, Session
from tests.browser.axe import violations
from tests.browser.visitor import OpenPage
from tests.factories import make_edition, make_paper

pytestmark = pytest.mark.browser

# Clicks and fields as in docs/editors.md. Choices by keyboard count as fields, not as clicks.
CLICKS, FIELDS = 80, 93
MAX_CLICKS, MAX_FIELDS = 90, 100
TITLES = [
    *("Amber", "Birch", "Cedar", "Dogwood", "Elder", "Fir", "Gorse", "Hazel", "Ironwood", "Juniper", "Kapok"),
    "Larch",
]


class Chair:
    """A user of the admin whose clicks and filled fields are counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.fields = page, 0, 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def press(self, name: str, role: str = "button", within: Page | None = None) -> None:
        self.click((within or self.page).get_by_role(role, name=name, exact=True).first)  # type: ignore[arg-type]

    def fill(self, **values: str) -> None:
        for name, value in values.items():
            self.page.locator(f"#id_{name.replace('__', '-')}").fill(value)
            self.fields += 1

    def select(self, field: str, value: str) -> None:
        self.page.locator(f"#{field}").select_option(value)
        self.fields += 1

    def choose(self, field: str, text: str) -> None:
        """Choose an option by typing: one click opens the field, Enter takes the result."""
        self.click(self.page.locator(f"#{field}-box"))
        self.page.locator(".select2-search__field").fill(text)
        self.page.wait_for_selector(f".select2-results__option--highlighted:has-text('{text}')")
        self.page.keyboard.press("Enter")
        self.fields += 1

    def add_related(self, field: str, **values: str) -> None:
        """Add the related row of a field in the window that its plus sign opens."""
        with self.page.expect_popup() as popup_info:
            self.click(self.page.locator(f"#add_{field}"))
        popup = popup_info.value
        for name, value in values.items():
            popup.locator(f"#id_{name}").fill(value)
            self.fields += 1
        self.press("Save", within=popup)
        expect(self.page.locator(f"#{field} option[selected], #{field} option:checked")).not_to_have_count(0)

    def save(self, button: str = "Save") -> None:
        with self.page.expect_navigation():
            self.press(button)
        expect(self.page.locator(".messagelist .success")).to_be_visible()


def enter_edition(chair: Chair) -> None:
    """Enter an edition with its conference and three rooms, on one form."""
    chair.press("Add an edition", "link")
    chair.add_related("id_conference", name="SmallConf")
    chair.fill(name="SmallConf 2031", year="2031", start_date="2031-05-06", end_date="2031-05-07")
    chair.fill(timezone="Europe/Berlin", city="Berlin")
    for number, room in enumerate(("Hall A", "Hall B", "Foyer")):
        if number:
            chair.press("Add another Room")
        chair.fill(**{f"rooms__{number}__name": room})
    chair.save()


def enter_sessions(chair: Chair) -> None:
    """Enter a keynote with its speaker, three oral sessions and a poster session."""
    chair.press("Add a session", "link")
    for title, kind, times, room in (
        ("Opening keynote", "invited_talk", ("09:00", "10:00"), "Hall A"),
        ("Systems", "oral", ("10:30", "12:00"), "Hall A"),
        ("Learning", "oral", ("10:30", "12:00"), "Hall B"),
        ("Theory", "oral", ("13:00", "14:00"), "Hall A"),
        ("Posters", "poster", ("14:00", "16:00"), "Foyer"),
    ):
        chair.select("id_kind", kind)
        chair.fill(title=title, start_1=times[0], end_1=times[1])
        chair.choose("id_room", room)
        if kind == "invited_talk":
            chair.select("id_roles-0-role", "speaker")
            chair.add_related("id_roles-0-person", name="Grace Hopper")
        chair.save("Save" if kind == "poster" else "Save and add another")


def enter_papers(chair: Chair) -> None:
    """Enter twelve papers, each with an author and a presentation in a session."""
    chair.press("Home", "link")
    chair.press("Add a paper", "link")
    session_titles = [*["Systems"] * 3, *["Learning"] * 3, *["Theory"] * 2, *["Posters"] * 4]
    for number, session_title in enumerate(session_titles):
        chair.fill(title=TITLES[number], abstract="What was done.")
        chair.add_related("id_authorships-0-person", name=f"Ada {TITLES[number]}")
        if session_title == "Posters":
            chair.select("id_presentations-0-kind", "poster")
        chair.choose("id_presentations-0-session", session_title)
        chair.save("Save" if number == len(session_titles) - 1 else "Save and add another")


def enter_awards(chair: Chair) -> None:
    chair.press("Home", "link")
    chair.press("Add an award", "link")
    for number, name in enumerate(("Best Paper", "Best Poster")):
        chair.fill(name=name)
        chair.choose("id_grants-0-paper", TITLES[number * 7])
        chair.save("Save" if number else "Save and add another")


def test_small_conference_is_entered_and_published_in_the_admin(page: Page) -> None:
    chair = Chair(page)
    page.goto("/admin/")
    enter_edition(chair)
    chair.press("Home", "link")
    enter_sessions(chair)
    enter_papers(chair)
    enter_awards(chair)
    chair.press("Home", "link")
    chair.press("Publish", "link")
    chair.click(page.get_by_label("Publish the drafts too"))
    chair.press("Publish everything")
    expect(page.locator(".messagelist .success")).to_contain_text("19 drafts were published")
    edition = Edition.objects.get()
    assert (edition.slug, edition.rooms.count(), edition.timezone) == ("2031", 3, "Europe/Berlin")
    assert [str(session) for session in Session.objects.order_by("pk")] == [
        "Opening keynote",
        "Systems",
        "Learning",
        "Theory",
        "Posters",
    ]
    assert (Paper.objects.count(), Presentation.objects.count(), Award.objects.count()) == (12, 12, 2)
    page.goto("/2031/schedule/")
    text = page.locator("main").inner_text()
    expected_texts = ["Opening keynote", "Grace Hopper", "Systems", "Learning", "Theory", "Posters"]
    assert [
        expected for expected in [*expected_texts, "Hall A", "Hall B", "Foyer"] if expected not in text
    ] == []
    page.goto("/2031/papers/")
    text = page.locator("main").inner_text()
    assert [title for title in TITLES if title not in text or f"Ada {title}" not in text] == []
    assert (chair.clicks, chair.fields) == (CLICKS, FIELDS)
    assert CLICKS <= MAX_CLICKS
    assert FIELDS <= MAX_FIELDS


def test_papers_become_public_at_the_set_time(page: Page, open_page: OpenPage) -> None:
    edition = make_edition(2031, timezone="Asia/Seoul", papers_public_from=None)
    make_paper(edition, title="Embargoed")
    visitor = open_page()
    page.goto("/admin/")
    page.locator(".is-closed").get_by_role("link", name="Publish: Papers").click()
    page.get_by_label("At a set time").check()
    public_time = timezone.now().astimezone(edition.zone) + timedelta(hours=1)
    page.locator("#id_moment_0").fill(f"{public_time:%Y-%m-%d}")
    page.locator("#id_moment_1").fill(f"{public_time:%H:%M:%S}")
    issues = violations(page)
    page.get_by_role("button", name="Publish the papers").click()
    expect(page.locator(".is-waiting")).to_contain_text("KST")
    visitor.goto("/2031/papers/")
    earlier_text = visitor.locator("main").inner_text()
    assert "Embargoed" not in earlier_text
    for second, is_public in ((-1, False), (1, True)):
        with time_machine.travel(public_time + timedelta(seconds=second)):
            visitor.reload()
            assert ("Embargoed" in visitor.locator("main").inner_text()) is is_public

    assert issues == []


def test_preview_with_drafts_is_opened_and_left_by_links(page: Page) -> None:
    edition = make_edition(2031, public_from=None)
    make_paper(edition, title="Not out yet", status="draft")
    page.goto("/admin/")
    page.get_by_role("link", name="Preview with drafts").click()
    page.goto("/2031/papers/")
    expect(page.locator("main")).to_contain_text("Not out yet")
    issues = violations(page)
    page.get_by_role("link", name="View public page").click()

    expect(page.locator("main")).not_to_contain_text("Not out yet")
    expect(page.locator("aside.preview")).to_have_count(0)
    assert issues == []
