"""Tests of the pages of papers, topics and awards: content, order, parameters, queries."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from operations.indexing.update import refresh
from pagecache import per_revision
from papers.models import Paper
from papers.querysets import TOPIC_LEVELS
from people.models import PersonName
from tests import factories as make
from tests.html_pages import read

pytestmark = pytest.mark.django_db

URL = "/2021/papers/"


def make_full_paper(edition: Edition, number: int) -> Paper:
    """Create a paper with all related rows that a list or page of papers may fetch."""
    topic = make.make_topic(edition, f"Topic {number}", slug=f"topic-{number}")
    paper = make.make_paper(
        edition,
        [f"Ada {number}", f"Alan {number}"],
        uid=f"p{number}",
        title=f"Paper {number}",
        topic=topic,
        track="Research",
        keywords=["engines"],
        decision="Accept (oral)",
    )
    room = make.make_room(edition, f"Hall {number}")
    session = make.make_session(edition, title=f"Session {number}", room=room)
    make.make_presentation(session, paper)
    make.make_presentation(paper=paper, kind="poster", board=str(number))
    make.make_material(paper)
    make.make_award(edition, [paper], name=f"Award {number}")
    return paper


# The list


def test_list_shows_title_authors_awards_and_appearances(client: Client, edition: Edition) -> None:
    make_full_paper(edition, 1)

    page = read(client, URL)

    assert page.title == "Papers · MLSys 2021"
    assert page.canonical == "http://127.0.0.1:8000/2021/papers/"
    assert page.outline == ["1 Papers 1", "2 Paper 1"]
    assert page.texts("div", "people") == ["Ada 1 · Alan 1"]
    assert page.texts("div", "facts") == [
        "Award 1 Oral · Tue 6 Apr, 08:00 PDT · Hall 1 Poster · time not announced · Board 1"
    ]


@pytest.mark.parametrize(
    ("board", "label"),
    [
        ("Hall B - Position 34", "Position 34"),
        ("Hall B34", "Hall B34"),
        ("Hall B", "Hall B"),
        ("7", "Board 7"),
    ],
)
def test_room_in_the_label_of_a_board_is_not_repeated(
    client: Client, edition: Edition, board: str, label: str
) -> None:
    paper = make.make_paper(edition, uid="p1")
    session = make.make_session(edition, room=make.make_room(edition, "Hall B"))
    make.make_presentation(session, paper, kind="poster", board=board)

    assert read(client, URL).texts("div", "facts") == [f"Poster · Tue 6 Apr, 08:00 PDT · Hall B · {label}"]
    assert f"Poster · {label} " in read(client, paper.get_absolute_url()).texts("ul", "appearances")[0]


def test_list_shows_no_times_while_the_schedule_is_embargoed(client: Client) -> None:
    edition = make.make_edition(schedule_public_from=None)
    make_full_paper(edition, 1)

    assert read(client, URL).texts("div", "facts") == ["Award 1"]


def test_list_is_sorted_by_title_without_accents_and_case(client: Client, edition: Edition) -> None:
    for title in ("zeta", "Éclair", "alpha", "Delta"):
        make.make_paper(edition, title=title)

    assert read(client, URL).texts("h2") == ["alpha", "Delta", "Éclair", "zeta"]


def test_list_follows_new_titles(client: Client, edition: Edition) -> None:
    *_, last = [make.make_paper(edition, title=title) for title in ("Bees", "Cats", "Dogs")]
    assert read(client, URL).texts("h2") == ["Bees", "Cats", "Dogs"]

    last.title = "Ants"
    last.save()
    assert read(client, URL).texts("h2") == ["Ants", "Bees", "Cats"]


def test_list_sorted_by_schedule_ends_with_unscheduled_papers(client: Client, edition: Edition) -> None:
    late, _, early, cancelled = (make.make_paper(edition, title=title) for title in ("A", "B", "C", "D"))
    make.make_presentation(make.make_session(edition, start=make.MORNING.replace(hour=20)), late)
    make.make_presentation(make.make_session(edition), early)
    make.make_presentation(make.make_session(edition), cancelled, status="cancelled")

    assert read(client, f"{URL}?sort=schedule").texts("h2") == ["C", "A", "B", "D"]


def test_list_is_grouped_by_topic_or_track(client: Client, edition: Edition) -> None:
    compilers = make.make_topic(edition, "Compilers")
    subtopic = make.make_topic(edition, "Other", parent=compilers)
    make.make_paper(edition, title="B", topic=subtopic, track="Position")
    make.make_paper(edition, title="A", topic=compilers)
    make.make_paper(edition, title="C")

    topics = read(client, f"{URL}?by=topic")
    tracks = read(client, f"{URL}?by=track")

    assert topics.outline[1:] == ["2 Compilers", "3 A", "2 Compilers / Other", "3 B", "2 Other papers", "3 C"]
    assert tracks.outline[1:] == ["2 Main track", "3 A", "3 C", "2 Position", "3 B"]
    assert read(client, f"{URL}?track=Position").texts("h2") == ["B"]


INVALID_PARAMETERS = [
    ("page=abc", "“abc” isn’t a valid value for “page”. The last page is 1."),
    ("page=9999", "“9999” isn’t a valid value for “page”. The last page is 1."),
    ("page=0", "“0” isn’t a valid value for “page”. The last page is 1."),
    ("page=%00", "“\ufffd” isn’t a valid value for “page”. The last page is 1."),
    ("sort=size", "“size” isn’t a valid value for “sort”."),
    ("topic=none", "“none” isn’t a valid value for “topic”."),
    ("track=%00", "“\ufffd” isn’t a valid value for “track”."),
    ("by=x", "“x” isn’t a valid value for “by”."),
    ("kind=opera", "“opera” isn’t a valid value for “kind”."),
    ("award=none", "“none” isn’t a valid value for “award”."),
    ("day=2021-13-01", "“2021-13-01” isn’t a valid value for “day”."),
    ("session=%00", "“\ufffd” isn’t a valid value for “session”."),
    ("institution=nowhere", "“nowhere” isn’t a valid value for “institution”."),
    ("has=pdf&has=gold", "“gold” isn’t a valid value for “has”."),
    ("view=grid", "“grid” isn’t a valid value for “view”."),
    ("sort=random&seed=x", "“x” isn’t a valid value for “seed”."),
    ("sort=random&seed=1234567", "“1234567” isn’t a valid value for “seed”."),
    (f"q={'x' * 101}", f"“{'x' * 60}…” isn’t a valid value for “q”."),
    ("q=%00", "“\ufffd” isn’t a valid value for “q”."),
]


def test_invalid_parameter_is_400_with_an_explanation(
    client: Client, edition: Edition, subtests: pytest.Subtests
) -> None:
    make.make_material(make.make_paper(edition))
    for query, sentence in INVALID_PARAMETERS:
        with subtests.test(query=query):
            page = read(client, f"{URL}?{query}", 400)

            assert page.texts("p", "lead")[0].startswith(sentence)


def test_paginated_list_has_each_paper_once(client: Client, edition: Edition) -> None:
    Paper.objects.bulk_create(
        Paper(edition=edition, uid=f"p{number}", title="Same title", status="published")
        for number in range(120)
    )

    urls = [
        link.attributes["href"]
        for number in (1, 2, 3)
        for link in read(client, f"{URL}?page={number}").all("a")
        if link.attributes["href"].endswith("/same-title/")
    ]

    assert len(urls) == len(set(urls)) == 120


@pytest.mark.parametrize(
    ("author_count", "ending"), [(8, "Ada 7 · Ada 8"), (10, "Ada 8 and 2 more of Paper Ada 9 · Ada 10")]
)
def test_list_folds_all_authors_after_the_eighth(
    client: Client, edition: Edition, author_count: int, ending: str
) -> None:
    make.make_paper(edition, [f"Ada {position}" for position in range(1, author_count + 1)], title="Paper")

    (people,) = read(client, URL).texts("div", "people")

    assert people.endswith(ending)


def test_list_shows_papers_as_cards_in_the_color_of_their_topic(client: Client, edition: Edition) -> None:
    make.make_paper(edition, title="A", topic=make.make_topic(edition, slug="vision"))
    make.make_paper(edition, title="B")

    page = read(client, f"{URL}?view=cards")

    assert [card.attributes["class"] for card in page.all("li", "card")] == ["topic-vision card", "card"]
    assert page.canonical == "http://127.0.0.1:8000/2021/papers/?view=cards"


# A topic


def test_topic_page_shows_its_papers_and_those_of_subtopics(client: Client, edition: Edition) -> None:
    topic = make.make_topic(edition, "Vision", slug="vision")
    subtopic = make.make_topic(edition, "Faces", parent=topic, slug="faces")
    make.make_topic(edition, "Unused", parent=topic)
    make.make_paper(edition, title="B", topic=topic)
    make.make_paper(edition, title="A", topic=subtopic)

    page = read(client, "/2021/topics/vision/")

    assert page.outline == ["1 Vision 2 papers", "2 A", "2 B"]
    assert page.texts("ul", "chips") == ["Faces 1"]
    crumbs = read(client, "/2021/topics/faces/").all("nav", "crumbs")[0]
    assert [link.text for link in crumbs.inside("a")] == ["Papers", "Vision"]


def test_page_of_a_deep_topic_needs_no_more_queries(
    client: Client, edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    topic = None
    for level in range(TOPIC_LEVELS):
        topic = make.make_topic(edition, f"Level {level}", slug=f"level-{level}", parent=topic)
    make.make_paper(edition, topic=topic)
    client.get("/2021/topics/level-0/")
    with CaptureQueriesContext(connection) as queries:
        client.get("/2021/topics/level-0/")

    with django_assert_num_queries(len(queries)):
        page = read(client, "/2021/topics/level-3/")

    links = page.all("nav", "crumbs")[0].inside("a")
    assert [link.attributes["href"] for link in links[1:]] == [
        f"/2021/topics/level-{level}/" for level in range(3)
    ]


def test_topic_without_a_public_paper_is_404(client: Client, edition: Edition) -> None:
    make.make_paper(edition, topic=make.make_topic(edition, slug="quiet"), status="draft")

    assert read(client, "/2021/topics/quiet/", 404).texts("h1") == ["Page not found"]


# A paper


def test_paper_page_shows_all_parts_of_a_paper(client: Client, edition: Edition) -> None:
    paper = make_full_paper(edition, 1)
    Paper.objects.filter(pk=paper.pk).update(doi="10.1000/x", pages="12-25", track="Research")

    page = read(client, paper.get_absolute_url())

    assert page.title == "Paper 1 · MLSys 2021"
    assert page.description == "What was done."
    assert page.outline == [
        "1 Paper 1",
        "2 When and where",
        "2 Files and links",
        "2 Abstract",
        "2 Keywords",
        "2 Details",
    ]
    assert page.texts("div", "abstract") == ["What was done."]
    assert page.texts("p", "awards") == ["Award 1"]
    (appearances,) = page.texts("ul", "appearances")
    programs = "Apple Calendar Google Calendar Outlook Download (.ics)"
    calendars = f"{programs} Subscriptions stay up to date; downloads don’t."
    assert appearances.split(" Poster ") == [
        f"Oral Tue 6 Apr, 08:00 to 09:00 PDT Session 1 · Hall 1 Add to calendar: Oral {calendars}",
        "· Board 1 Time not announced",
    ]
    assert [button.text for button in page.all("button", "star")] == ["All appearances", "Oral", "Poster"]
    assert page.texts("dl")[:1] == ["Track Research Topic Topic 1 DOI 10.1000/x Pages 12-25"]
    assert page.links()["10.1000/x"] == "https://doi.org/10.1000/x"
    assert page.links()["PDF example.org"] == "https://example.org/paper.pdf"


def test_paper_page_shows_licenses_of_paper_and_materials(client: Client, edition: Edition) -> None:
    Edition.objects.update(license="CC-BY-4.0", data_license="CC0-1.0")
    paper = make.make_paper(edition)
    for kind, license in (("pdf", ""), ("code", "MIT"), ("slides", "")):
        make.make_material(paper, kind=kind, license=license)
    page = read(client, paper.get_absolute_url())
    items = [row.text for row in page.all("ul", "links")[0].elements if row.tag == "li"]

    assert [row.split()[-1] for row in items] == ["CC-BY-4.0", "MIT", "example.org"]
    assert "CC-BY-4.0" in page.all("dl", "dl")[0].text
    assert [link.attributes["href"] for link in page.all("a", rel="license noopener")] == [
        "https://creativecommons.org/licenses/by/4.0/",
        "https://spdx.org/licenses/MIT.html",
        "https://creativecommons.org/licenses/by/4.0/",
    ]
    assert "iCalendar · CC0-1.0" in " ".join(read(client, "/2021/papers/").texts("p", "quiet"))


def test_paper_page_numbers_the_affiliations(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    make.add_author(paper, "Ada", affiliations=["ETH", "MIT"])
    make.add_author(paper, "Alan", affiliations=["MIT"])
    make.add_author(paper, "Mia")

    page = read(client, paper.get_absolute_url())

    assert page.texts("p", "authors") == ["Ada1,2 · Alan2 · Mia"]
    assert page.texts("p", "affiliations") == ["1ETH 2MIT"]


def test_paper_page_does_not_number_a_common_affiliation(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    for name in ("Ada", "Alan"):
        make.add_author(paper, name, affiliations=["ETH"])

    page = read(client, paper.get_absolute_url())

    assert page.texts("p", "authors") == ["Ada · Alan"]
    assert page.texts("p", "affiliations") == ["ETH"]


def test_paper_page_shows_printed_names_but_no_hidden_names(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    emma, renamed = make.make_person("Yu Wang"), make.make_person("New Name")
    make.add_author(paper, emma, name="Yu (Emma) Wang")
    make.add_author(paper, renamed, name="Old Name")
    PersonName.objects.create(person=renamed, name="Old Name", hidden=True)

    assert read(client, paper.get_absolute_url()).texts("p", "authors") == ["Yu (Emma) Wang · New Name"]


def test_paper_page_strikes_out_cancelled_talks(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    make.make_presentation(make.make_session(edition, status="cancelled", title="Off"), paper)

    page = read(client, paper.get_absolute_url())

    assert page.texts("li", "cancelled") == ["Oral Canceled Tue 6 Apr, 08:00 to 09:00 PDT Off"]
    assert page.texts("s") == ["Tue 6 Apr, 08:00 to 09:00 PDT"]


def test_paper_page_shows_a_talk_with_a_start_alone(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, uid="a", title="Notes")
    make.make_presentation(paper=paper, start=make.MORNING)

    assert "Tue 6 Apr, 08:00 PDT" in client.get("/2021/papers/a/notes/").text


def test_paper_page_shows_no_end_before_the_start(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, uid="a", title="Notes")
    make.make_presentation(make.make_session(edition), paper, start=make.MORNING + timedelta(hours=5))

    page = client.get("/2021/papers/a/notes/").text

    assert "Tue 6 Apr, 13:00 PDT" in page
    assert "13:00 to 09:00" not in page


def test_paper_page_renders_mathematics(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="Fast $n^2$", abstract="Costs $5 and $6, not $a_1+b_2$.")

    markup = client.get(paper.get_absolute_url()).content.decode()

    assert markup.count("<math") == 2
    assert "$5 and $6" in markup


@pytest.mark.parametrize("suffix", ["", "wrong-slug/", "Paper-1/"])
def test_paper_url_redirects_to_the_right_slug(client: Client, edition: Edition, suffix: str) -> None:
    make.make_paper(edition, uid="p1", title="Paper 1")

    response = client.get(f"{URL}p1/{suffix}")

    assert (response.status_code, response.headers["Location"]) == (301, "/2021/papers/p1/paper-1/")


@pytest.mark.parametrize("status", ["draft", "withdrawn"])
def test_draft_or_withdrawn_paper_that_was_never_public_is_404(
    client: Client, edition: Edition, status: str
) -> None:
    paper = make.make_paper(edition, status=status)

    assert client.get(paper.get_absolute_url()).status_code == 404
    assert client.get(f"{URL}{paper.uid}/").status_code == 404


def test_withdrawn_paper_that_was_public_is_410_with_its_title(client: Client, edition: Edition) -> None:
    abe = make.make_person("Abe New")
    abe.names.create(name="Abe Old", hidden=True)
    paper = make.make_paper(edition, uid="p1", title="Notes", abstract="Secret")
    make.add_author(paper, abe, name="Abe Old")
    make.add_author(paper, "Zed")
    Paper.objects.update(status="withdrawn")
    Paper.objects.update(title="Never public")
    make.add_author(paper, "Added Later")

    response = client.get("/2021/papers/p1/notes/")
    page = read(client, "/2021/papers/p1/", 410)
    assert response.status_code == 410
    assert (page.title, page.outline) == ("Withdrawn: Notes · MLSys 2021", ["1 Notes"])
    assert page.texts("p", "authors") == ["Abe New · Zed"]
    assert page.texts("p", "lead") == ["This paper was withdrawn."]
    for word in ("Secret", "Never public", "Abe Old"):
        assert word not in response.content.decode()


def test_deleted_paper_that_was_public_is_410_with_its_title(client: Client, edition: Edition) -> None:
    make.make_paper(edition, ["Ada"], uid="p1", title="Notes").delete()
    make.make_paper(edition, uid="p2", title="Draft", status="draft").delete()

    page = read(client, "/2021/papers/p1/notes/", 410)
    assert (page.outline, page.texts("p", "lead")) == (["1 Notes"], ["This paper was removed."])
    assert client.get("/2021/papers/p2/draft/").status_code == 404


@pytest.mark.parametrize("status", ["draft", "withdrawn"])
def test_paper_withdrawn_during_the_embargo_is_404_after_it(
    client: Client, edition: Edition, status: str
) -> None:
    Edition.objects.update(papers_public_from=None)
    paper = make.make_paper(edition)
    Paper.objects.update(status=status)
    Edition.objects.update(papers_public_from=make.PAST)

    assert client.get(paper.get_absolute_url()).status_code == 404


@pytest.mark.parametrize(
    ("decision", "expected"),
    [("Accept (poster)", []), ("accepted", []), ("Accept: notable-top-5%", ["Accept: notable-top-5%"])],
)
def test_decision_is_shown_if_it_is_informative(
    client: Client, edition: Edition, decision: str, expected: list[str]
) -> None:
    paper = make.make_paper(edition, decision=decision)

    (page,) = read(client, paper.get_absolute_url()).all("main")
    assert [element.text for element in page.inside("dd")] == expected


def test_paper_page_has_a_share_link_and_a_qr_code(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, uid="p1", title="Notes")

    page = read(client, f"{paper.get_absolute_url()}?utm_source=mail")

    url = "http://127.0.0.1:8000/2021/papers/p1/notes/"
    assert page.links()[url] == url
    assert len(page.all("svg", "qr")) == 1
    assert page.all("button", **{"data-copy": "share"})[0].text == "Copy link"


# Awards


def test_awards_page_shows_each_paper_once_in_the_given_order(client: Client, edition: Edition) -> None:
    first, second = make_full_paper(edition, 1), make_full_paper(edition, 2)
    edition.awards.all().delete()
    award = make.make_award(edition, [second, first], citation="For *everything*.")
    award.grants.filter(paper=second).update(citation_html="<p>For two.</p>")

    page = read(client, "/2021/awards/")

    assert page.outline == ["1 Awards", "2 Outstanding Paper Award", "3 Paper 2", "3 Paper 1"]
    assert page.texts("div", "people") == ["Ada 2 · Alan 2", "Ada 1 · Alan 1"]
    assert page.texts("div", "citation") == ["For everything.", "For two."]
    assert page.texts("p", "facts")[:2] == [
        "Oral, Tue 6 Apr, 08:00 to 09:00 PDT, Session 2, Hall 2",
        "Poster, time not announced, Board 2",
    ]
    assert page.texts("div", "abstract") == ["What was done.", "What was done."]


def test_awards_page_shows_people_and_papers_of_earlier_editions(client: Client, edition: Edition) -> None:
    old = make.make_paper(make.make_edition(2011), ["Ada Lovelace"], title="Notes")
    make.make_award(edition, [old], name="Test of Time")
    make.make_award(edition, [make.make_person("Alan Turing", affiliation="King's")], name="Service")

    page = read(client, "/2021/awards/")

    assert page.outline[1:] == ["2 Test of Time", "3 Notes", "2 Service", "3 Alan Turing"]
    assert page.texts("p", "quiet")[0] == "MLSys 2011"


def test_awards_of_all_years_are_newest_first(client: Client, edition: Edition) -> None:
    make.make_award(edition, [make_full_paper(edition, 1)])
    later = make.make_edition(2022)
    make.make_award(later, [make.make_paper(later, title="Later")], name="Best Paper")

    assert read(client, "/awards/").outline == [
        "1 Awards of all years",
        "2 MLSys 2022",
        "3 Best Paper",
        "4 Later",
        "2 MLSys 2021",
        "3 Award 1",
        "4 Paper 1",
        "3 Outstanding Paper Award",
        "4 Paper 1",
    ]


@pytest.mark.parametrize("path", ["/2021/awards/", "/awards/", URL])
def test_page_without_rows_shows_an_empty_state(client: Client, edition: Edition, path: str) -> None:
    assert len(read(client, path).all("div", "empty")) == 1


# Queries


@pytest.mark.parametrize(
    ("path", "queries"),
    [
        (URL, 16),
        (f"{URL}?by=topic&sort=schedule&q=paper", 23),
        ("/2021/topics/topic-1/", 12),
        ("/2021/papers/p1/paper-1/", 14),
        ("/2021/awards/", 10),
        ("/awards/", 10),
    ],
)
def test_query_count_is_the_same_for_1_and_3_papers(
    client: Client,
    edition: Edition,
    django_assert_num_queries: DjangoAssertNumQueries,
    path: str,
    queries: int,
) -> None:
    make.make_menu_item(edition)
    for numbers in ([1], [2, 3]):
        for number in numbers:
            make_full_paper(edition, number)
        if "q=" in path:
            refresh()
        per_revision.clear_caches()
        with django_assert_num_queries(queries):
            read(client, path)
