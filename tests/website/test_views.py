"""Home pages and the header and footer of every page: menus, links, invalid parameters."""

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.menu_sections import SECTIONS
from conference.models import Edition
from conference.request_edition import current_edition
from pagecache import per_revision
from schedule.models import SessionRole
from tests import factories as make
from tests.html_pages import Page, read

pytestmark = pytest.mark.django_db

NINE_AM = datetime(2021, 4, 6, 16, 0, tzinfo=UTC)  # 09:00 in Los Angeles


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(venue="Hall", country="USA", description="Welcome *all*.")


def menu_links(page: Page) -> list[tuple[str, str]]:
    """Return the edition's menu with nested entries, as labels and URLs."""
    bars = page.all("nav", "menu")
    links = bars[0].inside("a") if bars else []
    return [(link.text, link.attributes["href"]) for link in links]


# Homes


def frozen_time(moment: datetime) -> time_machine.travel:
    return time_machine.travel(moment, tick=False)


def card_texts(page: Page) -> list[str]:
    return page.texts("li", "card")


def test_home_shows_dates_place_and_mode(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/")

    assert page.title == "MLSys 2021, Hall, San Jose, USA"
    assert page.description == "MLSys 2021, 5 to 9 April 2021, Hall, San Jose, USA. Welcome all."
    assert page.texts("p", "place") == ["5 to 9 April 2021 Hall, San Jose, USA In person"]
    assert "Conference on Machine Learning and Systems" in page.main
    assert page.texts("em") == ["all"]


def test_home_shows_the_generated_art_of_the_edition(client: Client, edition: Edition) -> None:
    (drawing,) = read(client, "/2021/").all("img", "art")

    response = client.get(drawing.attributes["src"])

    assert response.headers["Content-Type"] == "image/svg+xml"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert client.get("/2021/art-0123456789.svg").status_code == 404


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2021, 3, 24, 19, tzinfo=UTC), "Starts in 12 days"),
        (NINE_AM, "Day 2 of 5 · 09:00 in San Jose"),
        (datetime(2021, 7, 1, tzinfo=UTC), "Ended on 9 April 2021"),
    ],
)
def test_home_shows_the_state_of_the_conference(
    client: Client, edition: Edition, moment: datetime, text: str
) -> None:
    with frozen_time(moment):
        assert read(client, "/2021/").texts("p", "state") == [text]


def test_home_of_a_past_conference_links_to_its_recordings(client: Client, edition: Edition) -> None:
    make.make_session(edition, recording_url="https://example.org/")

    page = read(client, "/2021/")

    assert page.texts("p", "state") == ["Ended on 9 April 2021 · Recordings"]
    assert page.links()["Recordings"] == "/2021/recordings/"


CALENDARS = ["Apple Calendar", "Google Calendar", "Outlook", "Download (.ics)"]


@pytest.mark.parametrize(
    ("moment", "labels"),
    [
        (NINE_AM, ["Today’s schedule", "Browse 1 paper", "Add to calendar"]),
        (NINE_AM - timedelta(days=9), ["Schedule", "Browse 1 paper", "Add to calendar"]),
        (NINE_AM + timedelta(days=9), ["Schedule", "Browse 1 paper"]),
    ],
)
def test_home_shows_the_main_buttons(
    client: Client, edition: Edition, moment: datetime, labels: list[str]
) -> None:
    make.make_session(edition)
    make.make_paper(edition)

    with frozen_time(moment):
        (button_bar,) = read(client, "/2021/").all("div", "ways")
    calendar_menus = [
        menu for menu in button_bar.inside("details") if "calendars" in menu.attributes["class"]
    ]
    calendar_labels = [link.text for menu in calendar_menus for link in menu.inside("a")]

    assert [
        element.text
        for element in button_bar.elements
        if element.tag in {"a", "summary"} and element.text not in calendar_labels
    ] == labels
    assert calendar_labels == CALENDARS * ("Add to calendar" in labels)


def test_home_shows_running_and_next_sessions(client: Client, edition: Edition) -> None:
    room = make.make_room(edition)
    make.make_session(edition, title="Running", minutes=90, room=room)
    make.make_session(edition, title="Over", minutes=60)
    make.make_session(edition, title="Off", minutes=90, status="cancelled")
    make.make_session(edition, title="Coming", start=NINE_AM + timedelta(hours=1))
    make.make_session(edition, title="Much later", start=NINE_AM + timedelta(hours=2))

    with frozen_time(NINE_AM):
        page = read(client, "/2021/")

    assert page.texts("h2")[:2] == ["On now", "Next"]
    assert card_texts(page) == [
        "Oral session · Hall A Running until 09:30 PDT",
        "Oral session Coming 10:00 to 11:00 PDT",
    ]


@pytest.mark.parametrize(
    ("minutes", "titles"), [(30, ["Keynote"]), (60, ["Keynote"]), (61, ["Coffee", "Desk"])]
)
def test_home_skips_a_break_followed_by_a_session_within_an_hour(
    client: Client, edition: Edition, minutes: int, titles: list[str]
) -> None:
    make.make_session(edition, title="Desk", kind="registration", start=NINE_AM, minutes=240)
    make.make_session(edition, title="Coffee", kind="break", start=NINE_AM)
    make.make_session(edition, title="Keynote", start=NINE_AM + timedelta(minutes=minutes))

    with frozen_time(NINE_AM - timedelta(minutes=1)):
        page = read(client, "/2021/")

    assert [link.text for card in page.all("li", "card") for link in card.inside("a")] == titles


def test_home_shows_the_first_session_of_the_next_day_overnight(client: Client, edition: Edition) -> None:
    make.make_session(edition, title="Tomorrow", start=NINE_AM)

    with frozen_time(NINE_AM - timedelta(hours=12)):
        page = read(client, "/2021/")
    with frozen_time(NINE_AM - timedelta(days=2)):
        earlier = read(client, "/2021/")

    assert card_texts(page) == ["Oral session Tomorrow Tue 6 Apr, 09:00 to 10:00 PDT"]
    assert card_texts(earlier) == []


def test_home_shows_a_card_for_each_day_and_marks_today(client: Client, edition: Edition) -> None:
    make.make_session(edition)
    make.make_session(edition, kind="break")
    make.make_session(edition, kind="invited_talk", start=make.MORNING + timedelta(days=1))

    with frozen_time(NINE_AM):
        page = read(client, "/2021/")

    (days,) = page.all("ol", "daycards")
    assert [day.text for day in days.inside("a")] == [
        "Tuesday · today 6 April 1 session",
        "Wednesday 7 April 1 session",
    ]
    assert [bar.attributes["class"] for bar in days.inside("rect")] == ["kind-oral", "kind-invited_talk"]


def test_home_shows_invited_speakers_with_initials(client: Client, edition: Edition) -> None:
    talk = make.make_session(edition, kind="invited_talk", title="On engines")
    ada = make.make_person("Ada Lovelace")
    SessionRole.objects.create(session=talk, person=ada, affiliation="London")

    page = read(client, "/2021/")

    assert card_texts(page) == [
        "AL Invited talk Ada Lovelace London On engines Tue 6 Apr, 08:00 to 09:00 PDT"
    ]


def test_home_counts_papers_of_subtopics_for_their_topic(client: Client, edition: Edition) -> None:
    parent = make.make_topic(edition, "Systems")
    child = make.make_topic(edition, "Compilers", parent=parent)
    make.make_topic(edition, "Unused")
    for topic in (parent, child):
        make.make_paper(edition, topic=topic)

    chips = read(client, "/2021/").all("ul", "chips")[1]

    assert [(chip.text, chip.attributes["class"]) for chip in chips.inside("a")] == [
        ("Systems 2", f"topic-{parent.slug}")
    ]


def test_home_shows_awards_with_at_most_two_authors(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob", "Cyd", "Dan"], title="Engines")
    make.make_award(edition, [paper], name="Best paper")

    assert card_texts(read(client, "/2021/")) == ["Best paper Engines Ada, Bob and 2 more"]


def test_home_shows_pinned_news_first_and_folds_older_news(client: Client, edition: Edition) -> None:
    for number in range(5):
        make.make_announcement(
            edition, title=f"News {number}", published_at=NINE_AM + timedelta(hours=number)
        )
    make.make_announcement(edition, title="Pinned", pinned=True)
    make.make_announcement(edition, title="Future", published_at=datetime(2999, 1, 1, tzinfo=UTC))

    page = read(client, "/2021/")

    assert page.texts("h3") == ["Pinned", "News 4", "News 3", "News 2", "News 1", "News 0"]
    assert page.texts("li", "pinned") == ["Pinned Tue 31 Dec, 16:00 PST We begin."]
    assert [item.text[:6] for item in page.all("details", "more")[0].inside("li")] == ["News 1", "News 0"]


def test_home_links_to_sections_with_counts(client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition) for _ in range(2)]
    make.make_paper(edition, status="draft")
    session = make.make_session(edition)
    make.make_session(edition, kind="invited_talk", start=make.MORNING + timedelta(days=1))
    make.make_presentation(session, papers[0], kind="poster")
    make.make_award(edition, papers)

    page = read(client, "/2021/")

    assert [link.text for link in page.all("ul", "chips")[0].inside("a")] == [
        "Schedule 2",
        "Papers 2",
        "Invited talks 1",
        "Posters 1",
        "Awards 1",
        "People",
        "Changes",
    ]


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NINE_AM, "The program will appear here once it is published."),
        (NINE_AM + timedelta(days=9), "No program was published."),
    ],
)
def test_home_without_a_program_says_so(
    client: Client, edition: Edition, moment: datetime, text: str
) -> None:
    with frozen_time(moment):
        assert read(client, "/2021/").texts("p", "none") == [text]


def test_home_lists_key_dates_in_order_and_marks_past_ones(client: Client, edition: Edition) -> None:
    make.make_key_date(edition, "Doors open", url="https://example.org/doors")
    make.make_key_date(edition, "Party", moment=NINE_AM + timedelta(hours=10))
    make.make_key_date(edition, "Secret", status="draft")

    with frozen_time(NINE_AM):
        (dates,) = read(client, "/2021/").all("dl", "keydates")

    assert [(row.text, row.attributes.get("class")) for row in dates.inside("div")] == [
        ("5 April 2021 (past) Doors open", "past"),
        ("Tue 6 Apr, 19:00 PDT Party", None),
    ]
    assert [link.attributes["href"] for link in dates.inside("a")] == ["https://example.org/doors"]


def test_home_shows_the_venue_and_the_registration_link(client: Client, edition: Edition) -> None:
    fields = {"venue_address": "1 Market St\nSan Jose", "map_url": "https://example.org/map"}
    Edition.objects.update(**fields, registration_url="https://example.org/register")

    with frozen_time(NINE_AM - timedelta(days=30)):
        page = read(client, "/2021/")
    past = read(client, "/2021/")

    assert page.links()["Register"] == "https://example.org/register"
    assert page.links()["Map"] == "https://example.org/map"
    assert page.texts("address") == ["1 Market StSan Jose"]
    assert "Register" not in past.links()


def test_home_shows_the_configured_sections_in_order(client: Client, edition: Edition) -> None:
    make.make_announcement(edition)
    make.make_sponsor(edition)
    make.make_paper(edition)
    default_headings = read(client, "/2021/").texts("h2")
    Edition.objects.update(home_sections=["sponsors", "news"])

    assert default_headings == ["Program", "News", "Sponsors"]
    assert read(client, "/2021/").texts("h2") == ["Sponsors", "News"]


def test_front_page_is_the_home_of_the_current_edition(client: Client, edition: Edition) -> None:
    make.make_edition(2020)
    make.make_edition(2022, public_from=None)

    page = read(client, "/")

    assert page.texts("h1") == ["MLSys 2021"]
    assert page.canonical == "http://127.0.0.1:8000/2021/"


@pytest.mark.parametrize(
    ("day", "slug"),
    [
        (date(2019, 1, 1), "2020"),
        (date(2020, 4, 9), "2020"),
        (date(2020, 4, 10), "2021"),
        (date(2021, 4, 7), "2021"),
        (date(2030, 1, 1), "2021"),
    ],
)
def test_current_edition_is_the_running_or_next_or_last_one(edition: Edition, day: date, slug: str) -> None:
    make.make_edition(2020)
    moment = datetime(day.year, day.month, day.day, 20, tzinfo=UTC)

    current = current_edition(list(Edition.objects.all()), moment)

    assert current is not None
    assert current.slug == slug


def test_front_page_of_several_conferences_lists_running_editions_then_series(
    client: Client, edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    other = make.make_conference(slug="icml", name="ICML", full_name="")
    for year in (2020, 2022):
        make.make_edition(year, conference=other, slug=f"icml-{year}", name=f"ICML {year}")
    per_revision.clear_caches()

    with frozen_time(NINE_AM), django_assert_num_queries(2):
        page = read(client, "/")

    assert page.outline == [
        "1 Plenary", "2 On now", "3 MLSys 2021", "2 Coming up", "3 ICML 2022", "2 Conferences", "3 ICML",
        "3 MLSys",
    ]  # fmt: skip
    assert page.texts("p", "kind") == ["Day 2 of 5 · 09:00 in San Jose", "Starts in 12 months"]
    assert [link.attributes["href"] for link in page.all("ul", "series")[0].inside("a")] == [
        "/icml-2022/", "/icml-2020/", "/2021/",
    ]  # fmt: skip
    assert page.all("form", "sitesearch")[0].attributes["action"] == "/search/"


def test_front_page_without_a_public_edition_says_so(client: Client) -> None:
    make.make_edition(public_from=None)

    assert read(client, "/").outline == ["1 Plenary", "2 No program is public yet"]


def test_hidden_edition_is_404_without_its_navigation(client: Client) -> None:
    make.make_edition(public_from=None)

    page = read(client, "/2021/", 404)

    assert page.all("nav", "tabbar") == []
    assert [brand.attributes["href"] for brand in page.all("a", "brand")] == ["/"]


# Header and footer


def test_year_menu_lists_public_editions_newest_first(client: Client, edition: Edition) -> None:
    make.make_edition(2023)
    make.make_edition(2022)
    make.make_edition(2024, public_from=None)
    other = make.make_conference(slug="icml", name="ICML")
    make.make_edition(2025, conference=other, slug="icml-2025")

    years = read(client, "/2021/papers/").all("details", "years")[0]

    assert [(link.text, link.attributes["href"]) for link in years.inside("a")] == [
        ("MLSys 2023", "/2023/"),
        ("MLSys 2022", "/2022/"),
        ("MLSys 2021", "/2021/"),
        ("All conferences", "/"),
    ]


def test_menu_shows_the_configured_items_in_order(client: Client, edition: Edition) -> None:
    page = make.make_page(edition, slug="guide")
    draft = make.make_page(edition, slug="draft", status="draft")
    make.make_menu_item(edition, "Program", section="schedule")
    top = make.make_menu_item(edition, "Help", page=page)
    make.make_menu_item(edition, "Hidden", page=draft)
    make.make_menu_item(edition, "Chat", url="https://example.org/chat", parent=top)
    make.make_menu_item(edition, "Everybody", section="people")

    assert menu_links(read(client, "/2021/")) == [
        ("Program", "/2021/schedule/"),
        ("Help", "/2021/pages/guide/"),
        ("Chat", "https://example.org/chat"),
        ("Everybody", "/people/"),
    ]


@pytest.mark.parametrize("section", [name for name in SECTIONS if name != "home"])
def test_menu_item_links_to_the_existing_page_of_its_section(
    client: Client, edition: Edition, section: str
) -> None:
    session = make.make_session(edition)
    make.make_presentation(session, make.make_paper(edition, ["Ada"]), kind="poster")
    make.make_menu_item(edition, "There", section=section)

    (item,) = menu_links(read(client, "/2021/"))

    assert item[0] == "There"
    assert client.get(item[1]).status_code == 200


def test_default_menu_lists_sections_with_content(client: Client, edition: Edition) -> None:
    assert menu_links(read(client, "/2021/")) == []
    make.make_presentation(make.make_session(edition), make.make_paper(edition, ["Ada"]), kind="poster")
    make.make_page(edition, slug="guide", title="Guide")

    assert menu_links(read(client, "/2021/")) == [
        ("Schedule", "/2021/schedule/"),
        ("Papers", "/2021/papers/"),
        ("Posters", "/2021/posters/"),
        ("People", "/people/"),
        ("Guide", "/2021/pages/guide/"),
    ]


def test_home_is_linked_by_the_brand_and_not_in_the_menu(client: Client, edition: Edition) -> None:
    make.make_menu_item(edition, "Home", section="home")
    make.make_menu_item(edition, "Papers")

    page = read(client, "/2021/papers/")

    assert [label for label, _ in menu_links(page)] == ["Papers"]
    assert [brand.attributes["href"] for brand in page.all("a", "brand")] == ["/2021/"]


def test_tab_bar_links_to_sections_with_content(client: Client, edition: Edition) -> None:
    def tabs() -> list[tuple[str, str]]:
        (bar,) = read(client, "/2021/").all("nav", "tabbar")
        return [(tab.text, tab.attributes["href"]) for tab in bar.inside("a")]

    home, search, agenda = ("Home", "/2021/"), ("Search", "/2021/search/"), ("Agenda", "/2021/agenda/")
    assert tabs() == [home, search, agenda]
    make.make_session(edition)
    make.make_paper(edition)
    assert tabs() == [home, ("Schedule", "/2021/schedule/"), ("Papers", "/2021/papers/"), search, agenda]


def test_footer_links_to_sections_missing_from_the_menu(client: Client, edition: Edition) -> None:
    make.make_menu_item(edition, "Papers")
    make.make_paper(edition)
    make.make_session(edition)

    (footer,) = read(client, "/2021/").all("footer", "foot")

    assert [link.text for link in footer.inside("a") if "hreflang" not in link.attributes] == [
        "Schedule",
        "Statistics",
        "Downloads",
        "People",
        "Awards of all years",
    ]


def test_people_page_has_the_header_of_the_current_or_requested_edition(
    client: Client, edition: Edition
) -> None:
    def brand(path: str) -> str:
        (link,) = read(client, path).all("a", "brand")
        return link.attributes["href"]

    make.make_edition(2023)
    assert brand("/people/") == "/2023/"
    assert brand("/people/?edition=2021") == "/2021/"
    assert brand("/people/?edition=1999") == "/2023/"
    make.make_edition(2022, conference=make.make_conference(slug="icml", name="ICML"), slug="icml-2022")
    assert brand("/people/") == "/"
    assert brand("/people/?edition=2021") == "/2021/"


def test_links_to_people_keep_the_edition_parameter(client: Client, edition: Edition) -> None:
    make.make_edition(2023)
    ada = make.make_person("Ada Lovelace")
    paper = make.make_paper(edition, [ada])
    make.make_award(edition, [ada])
    session = make.make_session(edition, kind="invited_talk")
    make.add_role(session, ada, "speaker")
    make.make_presentation(session, paper)
    make.make_committee_role(edition, ada)
    url = f"{ada.get_absolute_url()}?edition=2021"
    paths = ["", "papers/", "schedule/2021-04-06/", "talks/", "awards/", "committee/", "search/?q=ada"]
    pages = [paper.get_absolute_url(), session.get_absolute_url(), *(f"/2021/{path}" for path in paths)]

    for path in pages:
        page = read(client, path)
        links = {
            link.attributes["href"]
            for link in page.all("a")
            if "/people/ada" in link.attributes["href"]
            or link.attributes["href"].startswith(ada.get_absolute_url())
        }
        assert links == {url}, path
        assert page.links()["People"] == "/people/?edition=2021"
    people = read(client, "/people/?edition=2021")
    person = read(client, url)

    assert people.links()["Lovelace, Ada"] == url
    assert person.all("a", "brand")[0].attributes["href"] == "/2021/"
    assert person.canonical == f"http://127.0.0.1:8000{ada.get_absolute_url()}"
    assert "?edition" not in read(client, ada.get_absolute_url()).links()["People"]


def test_menu_marks_the_section_of_the_page(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    make.make_menu_item(edition, "Home", section="home")
    make.make_menu_item(edition, "Papers")

    page = read(client, paper.get_absolute_url())

    assert [
        link.text for link in page.all("nav", "menu")[0].inside("a") if "aria-current" in link.attributes
    ] == ["Papers"]


def test_404_page_has_the_header_of_its_edition(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/nothing/here/", 404)

    assert page.texts("title") == ["Page not found"]
    assert page.links()["MLSys 2021"] == "/2021/"
    assert page.all("link", rel="canonical") == []


@pytest.mark.parametrize(("path", "queries"), [("/2021/", 16), ("/", 16)])
def test_query_count_of_home_pages_is_the_same_for_1_and_3_rows(
    client: Client,
    edition: Edition,
    django_assert_num_queries: DjangoAssertNumQueries,
    path: str,
    queries: int,
) -> None:
    page, topic = make.make_page(edition), make.make_topic(edition)
    with frozen_time(NINE_AM):
        for labels in (["One"], ["Two", "Three"]):
            for label in labels:
                make.make_menu_item(edition, label, page=page)
                make.make_announcement(edition, title=label)
                make.make_sponsor(edition, label)
                make.make_key_date(edition, label)
                make.make_session(edition, minutes=120)
                make.make_session(edition, start=NINE_AM + timedelta(hours=1))
                make.make_award(edition, [make.make_paper(edition, [label], topic=topic)])
                talk = make.make_session(edition, kind="invited_talk")
                SessionRole.objects.create(session=talk, person=make.make_person(label))
            per_revision.clear_caches()
            with django_assert_num_queries(queries):
                read(client, path)


def test_healthz_is_plain_text_without_queries(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        response = client.get("/healthz")

    assert (response.content, response.headers["Content-Type"]) == (b"ok\n", "text/plain; charset=utf-8")
