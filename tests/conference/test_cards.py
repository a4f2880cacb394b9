"""Cards: every title fits, characters missing from the fonts cause no error, cached cards are reused."""

from io import BytesIO

import pytest
from django.test import Client
from PIL import Image
from pytest_django.fixtures import DjangoAssertNumQueries

from conference import cards
from conference.cards import SANS, SERIF, TEXT_WIDTH, Picture, drawable, fit_title, text_width
from pagecache.keys import cache_key
from tests import factories as make

PICTURE = Picture("Paper", "Notes on the Engine", "Ada Lovelace", "MLSys 2021", "#0b6b62")
TITLES = {
    "long": "Attention is all you need " * 20,
    "one word": "x" * 500,
    "empty": "",
    "mixed": "Łukasz Șerban Nguyễn αβγ Привет 深度学习 \N{GRINNING FACE} \x00 \ud800 ≤ ∞ e\u0301",
}


def decode(png: bytes) -> Image.Image:
    return Image.open(BytesIO(png)).convert("RGB")


@pytest.mark.parametrize("title", TITLES.values(), ids=TITLES)
def test_every_title_fits(title: str) -> None:
    style, lines = fit_title(title)

    assert len(lines) <= 7
    assert all(text_width(line, style) <= TEXT_WIDTH for line in lines)
    assert decode(cards.draw(Picture("", title, title, title, "#aa0000"))).size == (1200, 630)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Łukasz Șerban Nguyễn", "Łukasz Șerban Nguyễn"),
        ("e\u0301tude", "étude"),
        ("αβγ Привет мир", "αβγ Привет мир"),
        ("深度学习, 李明", "Shen Du Xue Xi, Li Ming"),
        ("fun \N{GRINNING FACE} and \x00\ud800 more", "fun and more"),
    ],
)
@pytest.mark.parametrize("family", [SERIF, SANS])
def test_characters_are_drawn_transliterated_or_left_out(text: str, expected: str, family: str) -> None:
    assert drawable(text, family) == expected


def test_card_has_the_accent_color_and_is_deterministic() -> None:
    first = cards.draw(PICTURE)
    cards.draw.cache_clear()

    assert cards.draw(PICTURE) == first
    assert decode(first).getpixel((5, 300)) == (0x0B, 0x6B, 0x62)
    assert len(first) < 100_000


def test_cards_are_not_stored_in_the_page_cache() -> None:
    environ = {"REQUEST_METHOD": "GET", "HTTP_HOST": "localhost", "wsgi.url_scheme": "http"}

    assert cache_key({**environ, "PATH_INFO": "/2021/papers/p1/"}) == ("/2021/papers/p1/", "")
    assert cache_key({**environ, "PATH_INFO": "/2021/papers/p1/card.png"}) is None
    assert cards.draw.cache_info().maxsize == 128


@pytest.mark.django_db
def test_card_is_revalidated_with_304_until_its_content_changes(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition = make.make_edition()
    paper = make.make_paper(edition, ["Ada Lovelace"], uid="p1", title="Notes", track="Research")
    first = client.get("/2021/papers/p1/card.png")
    monkeypatch.setattr("conference.cards.draw", lambda card: repr(card).encode())

    by_etag = client.get("/2021/papers/p1/card.png", headers={"if-none-match": first["ETag"]})
    by_date = client.get("/2021/papers/p1/card.png", headers={"if-modified-since": first["Last-Modified"]})
    paper.title = "New notes"
    paper.save()
    changed = client.get("/2021/papers/p1/card.png", headers={"if-none-match": first["ETag"]})

    assert (first["Content-Type"], decode(first.content).size) == ("image/png", (1200, 630))
    assert [(response.status_code, response.content) for response in (by_etag, by_date)] == [
        (304, b""),
        (304, b""),
    ]
    footer = "MLSys 2021 · 5 to 9 April 2021 · San Jose"
    picture = Picture("Research", "New notes", "Ada Lovelace", footer, "#0b6b62")
    assert (changed.status_code, changed.content) == (200, repr(picture).encode())


@pytest.mark.django_db
@pytest.mark.parametrize("count", [1, 3])
def test_card_query_count_is_the_same_for_1_and_3_people(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    edition = make.make_edition()
    make.make_paper(edition, [f"Author {number}" for number in range(count)], uid="p1")
    session = make.make_session(edition, uid="s1", room=make.make_room(edition))
    for number in range(count):
        make.add_role(session, f"Chair {number}", "chair")

    for path, queries in {"papers/p1/": 5, "sessions/s1/": 5, "": 3}.items():
        with django_assert_num_queries(queries):
            assert client.get(f"/2021/{path}card.png").status_code == 200


@pytest.mark.django_db
def test_rows_that_are_not_public_have_no_card(client: Client) -> None:
    edition = make.make_edition()
    make.make_paper(edition, uid="p1", status="draft")
    make.make_paper(edition, uid="p2", status="withdrawn")
    make.make_session(edition, uid="s1", status="draft")
    make.make_edition(2030, public_from=None)
    paths = ["2021/papers/p1", "2021/papers/p2", "2021/papers/none", "2021/sessions/s1", "2030", "none"]

    assert {client.get(f"/{path}/card.png").status_code for path in paths} == {404}
