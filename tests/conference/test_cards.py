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


def opened(png: bytes) -> Image.Image:
    return Image.open(BytesIO(png)).convert("RGB")


@pytest.mark.parametrize("title", TITLES.values(), ids=TITLES)
def test_every_title_fits(title: str) -> None:
    style, lines = fit_title(title)

    assert len(lines) <= 7
    assert all(text_width(line, style) <= TEXT_WIDTH for line in lines)
    assert opened(cards.draw(Picture("", title, title, title, "#aa0000"))).size == (1200, 630)


@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        ("Łukasz Șerban Nguyễn", "Łukasz Șerban Nguyễn"),
        ("e\u0301tude", "étude"),
        ("αβγ Привет мир", "αβγ Привет мир"),
        ("深度学习, 李明", "Shen Du Xue Xi, Li Ming"),
        ("fun \N{GRINNING FACE} and \x00\ud800 more", "fun and more"),
    ],
)
@pytest.mark.parametrize("family", [SERIF, SANS])
def test_signs_are_drawn_or_written_in_latin_or_left_out(words: str, drawn: str, family: str) -> None:
    assert drawable(words, family) == drawn


def test_card_has_the_accent_color_and_is_the_same_each_time() -> None:
    first = cards.draw(PICTURE)
    cards.draw.cache_clear()

    assert cards.draw(PICTURE) == first
    assert opened(first).getpixel((5, 300)) == (0x0B, 0x6B, 0x62)
    assert len(first) < 100_000


def test_cards_stay_out_of_the_page_cache() -> None:
    asked = {"REQUEST_METHOD": "GET", "HTTP_HOST": "localhost", "wsgi.url_scheme": "http"}

    assert cache_key({**asked, "PATH_INFO": "/2021/papers/p1/"}) == ("/2021/papers/p1/", "")
    assert cache_key({**asked, "PATH_INFO": "/2021/papers/p1/card.png"}) is None
    assert cards.draw.cache_info().maxsize == 128


@pytest.mark.django_db
def test_card_is_drawn_once_and_answers_304(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    edition = make.make_edition()
    paper = make.make_paper(edition, ["Ada Lovelace"], uid="p1", title="Notes", track="Research")
    first = client.get("/2021/papers/p1/card.png")
    monkeypatch.setattr("conference.cards.draw", lambda picture: repr(picture).encode())

    again = client.get("/2021/papers/p1/card.png", headers={"if-none-match": first["ETag"]})
    dated = client.get("/2021/papers/p1/card.png", headers={"if-modified-since": first["Last-Modified"]})
    paper.title = "New notes"
    paper.save()
    changed = client.get("/2021/papers/p1/card.png", headers={"if-none-match": first["ETag"]})

    assert (first["Content-Type"], opened(first.content).size) == ("image/png", (1200, 630))
    assert [(one.status_code, one.content) for one in (again, dated)] == [(304, b""), (304, b"")]
    foot = "MLSys 2021 · 5 to 9 April 2021 · San Jose"
    shown = Picture("Research", "New notes", "Ada Lovelace", foot, "#0b6b62")
    assert (changed.status_code, changed.content) == (200, repr(shown).encode())


@pytest.mark.django_db
@pytest.mark.parametrize("number", [1, 3])
def test_card_query_count(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, number: int
) -> None:
    edition = make.make_edition()
    make.make_paper(edition, [f"Author {one}" for one in range(number)], uid="p1")
    session = make.make_session(edition, uid="s1", room=make.make_room(edition))
    for one in range(number):
        make.add_role(session, f"Chair {one}", "chair")

    for path, queries in {"papers/p1/": 5, "sessions/s1/": 5, "": 3}.items():
        with django_assert_num_queries(queries):
            assert client.get(f"/2021/{path}card.png").status_code == 200


@pytest.mark.django_db
def test_only_what_is_public_has_a_card(client: Client) -> None:
    edition = make.make_edition()
    make.make_paper(edition, uid="p1", status="draft")
    make.make_paper(edition, uid="p2", status="withdrawn")
    make.make_session(edition, uid="s1", status="draft")
    make.make_edition(2030, public_from=None)
    paths = ["2021/papers/p1", "2021/papers/p2", "2021/papers/none", "2021/sessions/s1", "2030", "none"]

    assert {client.get(f"/{path}/card.png").status_code for path in paths} == {404}
