"""Tests of facets of papers: counts given the other facets, addresses, order on every database."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from content.revision import lock
from operations.indexing.update import refresh
from pagecache import per_revision
from papers.catalog import Catalog, ListedPaper, PaperNumbers
from papers.models import Paper
from tests import factories as make
from tests.html_pages import Page, read

URL = "/2021/papers/"
DAY = timedelta(days=1)
db = pytest.mark.django_db


@pytest.fixture
@lock()
def program(edition: Edition) -> Edition:
    """Create papers Alpha, Beta and Gamma: two areas, two days, one award, one code, two institutions."""
    vision = make.make_topic(edition, "Vision", slug="vision")
    faces = make.make_topic(edition, "Faces", slug="faces", parent=vision)
    theory = make.make_topic(edition, "Theory", slug="theory")
    first = make.make_session(edition, uid="s1", title="Oral *one*")
    second = make.make_session(edition, uid="s2", title="Hall", kind="poster", start=make.MORNING + DAY)
    topics, boards = {"Alpha": vision, "Beta": faces, "Gamma": theory}, {"Alpha": "10", "Beta": "9"}
    for title, topic in topics.items():
        paper = make.make_paper(edition, title=title, topic=topic, uid=title.lower())
        make.make_presentation(second, paper, kind="poster", board=boards.get(title, ""))
        make.make_material(paper)
    beta = edition.papers.get(uid="beta")
    make.make_presentation(first, beta)
    make.make_material(beta, "code")
    make.make_award(edition, [beta], uid="best", name="Best paper")
    eth, mit = (make.make_institution(slug.upper(), slug=slug) for slug in ("eth", "mit"))
    for uid, institution in (("alpha", eth), ("beta", eth), ("gamma", mit)):
        author = make.add_author(edition.papers.get(uid=uid), f"Author of {uid}")
        author.institutions.add(institution)
    return edition


def titles(page: Page) -> list[str]:
    return page.texts("h2", "title")


def facet_choices(page: Page, facet: str) -> list[str]:
    """Return the texts of the choices of one facet."""
    lists = {element.attributes.get("aria-labelledby"): element for element in page.all("ul")}
    choice_list = lists.get(f"facet-{facet}")
    return [link.text for link in choice_list.inside("a")] if choice_list else []


@pytest.mark.parametrize("indexes", [[], [0], [7, 8], [0, 3, 64, 6627]])
def test_bitmap_returns_the_papers_it_was_made_of(indexes: list[int]) -> None:
    papers = [ListedPaper(key, "", "", "") for key in range(10_000, 16_628)]
    numbers = PaperNumbers(papers)
    bits = numbers.bits(10_000 + index for index in indexes)
    assert Catalog(papers, numbers, {}, {}, {}).sorted_keys(bits) == [10_000 + index for index in indexes]
    assert numbers.bits([5, 99_999]) == 0


# Choices


@db
def test_facets_count_the_papers_of_each_choice(client: Client, program: Edition) -> None:
    page = read(client, URL)

    assert titles(page) == ["Alpha", "Beta", "Gamma"]
    assert facet_choices(page, "topic") == ["Vision 2", "Theory 1"]
    assert facet_choices(page, "kind") == ["Oral 1", "Poster 3"]
    assert facet_choices(page, "day") == ["Tue 6 Apr 1", "Wed 7 Apr 3"]
    assert facet_choices(page, "session") == ["Oral one 1", "Hall 3"]
    assert facet_choices(page, "institution") == ["ETH 2", "MIT 1"]
    assert facet_choices(page, "has") == ["PDF 3", "Code 1"]
    # A facet with fewer than two values is not shown.
    assert facet_choices(page, "track") == facet_choices(page, "award") == []


@db
def test_room_facet_uses_the_room_of_the_talk_or_of_its_session(client: Client, edition: Edition) -> None:
    hall, loft = (make.make_room(edition, name, slug=name.lower()) for name in ("Hall", "Loft"))
    session = make.make_session(edition, room=hall)
    for title, room in (("Alpha", None), ("Beta", loft), ("Gamma", None)):
        make.make_presentation(session, make.make_paper(edition, title=title), room=room)
    page = read(client, URL)

    assert facet_choices(page, "room") == ["Hall 2", "Loft 1"]
    assert "Oral · Tue 6 Apr, 08:00 PDT · Loft" in page.main
    assert titles(read(client, f"{URL}?room=hall")) == ["Alpha", "Gamma"]


@db
def test_counts_depend_on_other_facets_and_zeros_are_hidden(client: Client, program: Edition) -> None:
    page = read(client, f"{URL}?institution=eth")

    assert titles(page) == ["Alpha", "Beta"]
    assert facet_choices(page, "topic") == []
    assert facet_choices(page, "institution") == ["Without ETH 2", "MIT 1"]
    assert facet_choices(page, "kind") == ["Oral 1", "Poster 2"]


@db
def test_chosen_topic_shows_and_includes_its_subtopics(client: Client, program: Edition) -> None:
    page = read(client, f"{URL}?topic=vision")

    assert titles(page) == ["Alpha", "Beta"]
    assert facet_choices(page, "topic") == ["Without Vision 2", "Faces 1", "Theory 1"]
    assert [item.text for item in page.all("li", "level1")] == ["Faces 1"]


COMBINATIONS = [
    ("kind=oral", ["Beta"]),
    ("award=best", ["Beta"]),
    ("day=2021-04-06", ["Beta"]),
    ("session=s2&topic=vision", ["Alpha", "Beta"]),
    ("has=pdf&has=code", ["Beta"]),
    ("institution=eth&kind=oral&topic=faces&has=code&q=beta", ["Beta"]),
    ("institution=mit&kind=oral", []),
]


@db
def test_facets_combine(client: Client, program: Edition, subtests: pytest.Subtests) -> None:
    for query, expected in COMBINATIONS:
        with subtests.test(query=query):
            page = read(client, f"{URL}?{query}")

            assert titles(page) == expected


@db
def test_chips_link_to_the_list_without_their_value(client: Client, program: Edition) -> None:
    page = read(client, f"{URL}?topic=faces&has=code&q=beta&page=1")

    chips = {link.text: link.attributes["href"] for link in page.all("ul", "picked")[0].inside("a")}

    assert chips == {
        "Without Words beta": "?topic=faces&has=code",
        "Without Topic Faces": "?q=beta&has=code",
        "Without With Code": "?q=beta&topic=faces",
        "Clear all": URL,
    }


@db
def test_cancelled_talks_are_not_counted(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, uid="off", status="cancelled")
    make.make_presentation(session, make.make_paper(edition, title="A"))
    make.make_presentation(None, make.make_paper(edition, title="B"), kind="poster", status="cancelled")
    make.make_presentation(make.make_session(edition), make.make_paper(edition, title="C"))

    assert facet_choices(read(client, URL), "kind") == []
    assert read(client, f"{URL}?kind=poster", 400).texts("h1")


@db
def test_recording_counts_as_a_video(client: Client, edition: Edition) -> None:
    for title, url in (("A", "https://example.org/v"), ("B", "")):
        make.make_presentation(None, make.make_paper(edition, title=title), recording_url=url)

    assert titles(read(client, f"{URL}?has=video")) == ["A"]


# Addresses


CANONICAL_QUERIES = [
    ("sort=title&view=compact&q=&topic=", ""),
    ("view=detailed&kind=poster&topic=vision&utm_source=x", "?topic=vision&kind=poster&view=detailed"),
    ("has=code&has=pdf", "?has=pdf&has=code"),
    ("seed=7&by=topic", "?by=topic"),
    ("sort=random&seed=7", "?sort=random&seed=7"),
]


@db
def test_canonical_url_is_normalized(client: Client, program: Edition, subtests: pytest.Subtests) -> None:
    for query, canonical in CANONICAL_QUERIES:
        with subtests.test(query=query):
            assert read(client, f"{URL}?{query}").canonical == f"http://127.0.0.1:8000{URL}{canonical}"


# Order


@db
def test_boards_are_sorted_naturally_and_papers_without_one_come_last(
    client: Client, program: Edition
) -> None:
    assert titles(read(client, f"{URL}?sort=board")) == ["Beta", "Alpha", "Gamma"]


@db
def test_random_order_redirects_to_a_seed(client: Client, program: Edition) -> None:
    response = client.get(f"{URL}?sort=random&topic=vision")

    query = parse_qs(urlsplit(response.headers["Location"]).query)
    assert response.status_code == 302
    assert 1 <= int(query.pop("seed")[0]) <= 999_999
    assert query == {"sort": ["random"], "topic": ["vision"]}


@db
def test_seed_keeps_the_order_on_every_page_and_database(client: Client, edition: Edition) -> None:
    rows = [Paper(edition=edition, uid=f"p{n}", title="Same", status="published") for n in range(120)]
    Paper.objects.bulk_create(rows)

    uids = [
        link.attributes["href"].split("/")[3]
        for number in (1, 2, 3)
        for link in read(client, f"{URL}?sort=random&seed=42&page={number}").all("a")
        if link.attributes["href"].endswith("/same/")
    ]

    assert len(uids) == len(set(uids)) == 120
    assert uids[:4] == ["p106", "p75", "p19", "p102"]


@db
def test_detailed_view_shows_abstracts_and_material(client: Client, program: Edition) -> None:
    page = read(client, f"{URL}?view=detailed&has=code")

    assert page.texts("div", "brief") == ["What was done."]
    assert page.texts("ul", "links") == ["PDF of Beta Code of Beta"]


# Caching and queries


@db
def test_facet_counts_change_with_every_edit(client: Client, program: Edition) -> None:
    read(client, URL)
    make.make_paper(program, title="Delta", topic=program.topics.get(slug="theory"))
    assert facet_choices(read(client, URL), "topic") == ["Vision 2", "Theory 2"]

    program.papers.filter(uid="alpha").update(status="withdrawn")
    assert facet_choices(read(client, URL), "topic") == ["Vision 1", "Theory 2"]

    program.schedule_public_from = timezone.now() + DAY
    program.save()
    assert facet_choices(read(client, URL), "day") == []


@db
@pytest.mark.parametrize(
    ("query", "queries", "cached_queries"),
    [
        ("", 18, 6),
        ("?topic=vision&kind=poster&has=pdf&sort=board", 18, 6),
        ("?q=author&by=topic&view=detailed&institution=eth", 26, 12),
    ],
)
def test_query_count_is_the_same_for_3_and_4_papers(
    client: Client,
    program: Edition,
    django_assert_num_queries: DjangoAssertNumQueries,
    query: str,
    queries: int,
    cached_queries: int,
) -> None:
    make.make_menu_item(program)
    for number in range(2):
        if "q=" in query:
            refresh()
        per_revision.clear_caches()
        with django_assert_num_queries(queries):
            read(client, f"{URL}{query}")
        with django_assert_num_queries(cached_queries):
            read(client, f"{URL}{query}")
        paper = make.make_paper(program, [f"Ada {number}"], topic=program.topics.get(slug="vision"))
        make.make_presentation(program.sessions.get(uid="s2"), paper, kind="poster", board="77")
        make.make_award(program, [paper])


@db
def test_institutions_are_read_again_after_a_new_slug(client: Client, edition: Edition) -> None:
    institution = make.make_institution("ETH", slug="eth")
    make.make_paper(edition, ["Ada"]).authorships.get().institutions.add(institution)
    read(client, f"{URL}?institution=eth")
    institution.slug = "eth-zurich"
    institution.save()
    # A change of the edition that concerns no institution.
    make.make_room(edition)

    read(client, f"{URL}?institution=eth-zurich")
    read(client, f"{URL}?institution=eth", status=400)
