"""The preview image of a shared page, in the edition's accent color.

It is drawn with the fonts of the site. Letters that these lack are transliterated to Latin, and other
characters are omitted. The functions read only fonts; the latest pictures are cached by their values.
"""

import re
import threading
import unicodedata
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from io import BytesIO
from itertools import groupby
from math import ceil
from typing import NamedTuple

from anyascii import anyascii
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, quote_etag
from PIL import Image, ImageDraw, ImageFont

from conference.models import Edition
from content import revision

WIDTH, HEIGHT, EDGE, BAR = 1200, 630, 84, 28
TEXT_WIDTH = WIDTH - 2 * EDGE
PAPER, INK, QUIET = "#ffffff", "#1d2327", "#565f66"
BOLD, PLAIN = 700, 400
SERIF, SANS = "serif", "sans"
SCRIPTS = ("latin", "latin-ext", "vietnamese", "greek", "cyrillic")
# Increase it when the drawing changes, so that cached images are fetched again.
DESIGN = 1
# The font sizes of a title, the largest first, each with the number of lines that fit.
TITLE_SIZES = ((68, 4), (58, 5), (48, 6), (40, 7))
# Limits the time to draw very long texts. Real titles are shorter.
MAX_TITLE_CHARS = 600
# A picture has about 60 KB, so the cache has at most 8 MB.
CACHE_ENTRIES = 128
# Matches the space that transliteration adds after a word, if punctuation follows.
SPACE_BEFORE_PUNCTUATION = re.compile(r" (?=[,;:.!?)])")
_drawing = threading.Lock()


class Picture(NamedTuple):
    """The contents of a card: kind, title, people, last line, and color. It is the key of the cache."""

    kind: str
    title: str
    people: str
    foot: str
    accent: str

    @property
    def etag(self) -> str:
        return blake2b(f"{DESIGN} {self!r}".encode("utf-8", "replace"), digest_size=9).hexdigest()


class Style(NamedTuple):
    family: str
    size: int
    weight: int


@cache
def fonts(style: Style) -> list[ImageFont.FreeTypeFont]:
    """Return the fonts of a family, one per script, the most common first."""
    found = []
    for script in SCRIPTS:
        path = settings.BASE_DIR / "static/fonts" / f"{style.family}-{script}.woff2"
        if path.exists():
            font = ImageFont.truetype(str(path), style.size)
            font.set_variation_by_axes([style.weight])
            found.append(font)
    return found


@lru_cache(4096)
def font_of(sign: str, family: str) -> int | None:
    """Return the index in `fonts()` of the first font with this character; `None` if all lack it."""
    style = Style(family, 40, PLAIN)
    for place, font in enumerate(fonts(style)):
        missing, drawn = font.getmask("\uffff"), font.getmask(sign)
        if (drawn.size, bytes(drawn)) != (missing.size, bytes(missing)):
            return place
    return None


def drawable(words: str, family: str) -> str:
    """Return the words in characters of a font family: missing letters in Latin, other characters omitted."""
    signs = unicodedata.normalize("NFC", " ".join(words[:MAX_TITLE_CHARS].split()))
    words = " ".join("".join(_drawable(sign, family) for sign in signs).split())
    return SPACE_BEFORE_PUNCTUATION.sub("", words)


def _drawable(sign: str, family: str) -> str:
    if sign == " " or font_of(sign, family) is not None:
        return sign
    is_letter = unicodedata.category(sign)[0] in "LN" or unicodedata.category(sign) == "Sm"
    latin = anyascii(sign) if is_letter else ""
    # Separate Han characters, each of which becomes a word.
    return f"{latin} " if len(latin) > 1 and unicodedata.category(sign) == "Lo" else latin


def font_runs(words: str, style: Style) -> Iterator[tuple[ImageFont.FreeTypeFont, str]]:
    """Yield the words in runs of one font each; spaces use the first font."""
    places = [(font_of(sign, style.family) or 0) if sign != " " else 0 for sign in words]
    for place, piece in groupby(zip(places, words, strict=True), key=lambda pair: pair[0]):
        yield fonts(style)[place], "".join(sign for _, sign in piece)


def text_width(words: str, style: Style) -> float:
    return sum(font.getlength(piece) for font, piece in font_runs(words, style))


def wrap(words: str, style: Style, most: int | None = None) -> list[str]:
    """Break words into lines that fit; truncate to `most` lines with an ellipsis."""
    lines: list[list[str]] = []
    room, space = 0.0, text_width(" ", style)
    for word in (piece for whole in words.split() for piece in split_long_word(whole, style)):
        width = text_width(word, style)
        if not lines or width > room:
            lines.append([])
            room = TEXT_WIDTH
        lines[-1].append(word)
        room -= width + space
    if most is not None and len(lines) > most:
        last = lines[most - 1]
        while last and text_width(" ".join([*last, "…"]), style) > TEXT_WIDTH:
            last.pop()
        lines = [*lines[: most - 1], [*last, "…"]]
    return [" ".join(line) for line in lines]


def split_long_word(word: str, style: Style) -> Iterator[str]:
    while text_width(word, style) > TEXT_WIDTH:
        fitting = (
            bisect(range(2, len(word)), TEXT_WIDTH, key=lambda end: ceil(text_width(word[:end], style))) + 1
        )
        yield word[:fitting]
        word = word[fitting:]
    yield word


def fit_title(title: str) -> tuple[Style, list[str]]:
    """Return the largest style in which the title fits, and its lines."""
    words = drawable(title, SERIF)
    for size, most in TITLE_SIZES:
        style = Style(SERIF, size, BOLD)
        lines = wrap(words, style)
        if len(lines) <= most:
            return style, lines
    size, most = TITLE_SIZES[-1]
    style = Style(SERIF, size, BOLD)
    return style, wrap(words, style, most)


@lru_cache(CACHE_ENTRIES)
def draw(picture: Picture) -> bytes:
    """Return the picture as PNG. The result is deterministic, and cached."""
    with _drawing:
        image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
        pen = ImageDraw.Draw(image)
        pen.rectangle((0, 0, BAR, HEIGHT), picture.accent)
        kind, small = Style(SANS, 30, BOLD), Style(SANS, 30, PLAIN)
        top = layout(pen, wrap(drawable(picture.kind, SANS), kind, 1), kind, EDGE - 24, INK)
        style, lines = fit_title(picture.title)
        top = layout(pen, lines, style, top + 14, picture.accent)
        people = wrap(drawable(picture.people, SANS), small, 2 if len(lines) * style.size < 250 else 1)
        layout(pen, people, small, top + 18, INK)
        foot = wrap(drawable(picture.foot, SANS), small, 1)
        layout(pen, foot, small, HEIGHT - EDGE - 8, QUIET)
        file = BytesIO()
        image.save(file, "PNG", compress_level=4)
    return file.getvalue()


def layout(pen: ImageDraw.ImageDraw, lines: Sequence[str], style: Style, top: float, color: str) -> float:
    """Draw lines, the first at `top`; return the position below the last."""
    step = style.size * 1.2
    for line in lines:
        left: float = EDGE
        for font, piece in font_runs(line, style):
            pen.text((left, top + style.size), piece, color, font, anchor="ls")
            left += font.getlength(piece)
        top += step
    return top


# Caches may store a card, but have to revalidate it.
CACHE_CONTROL = "public, max-age=0, must-revalidate"


def edition_line(edition: Edition) -> str:
    """Return the name, dates and city of an edition, for the foot of a card."""
    return " · ".join(filter(None, (edition.name, edition.date_line, edition.city)))


def card_response(request: HttpRequest, edition: Edition, picture: Picture) -> HttpResponse:
    """Return the picture, or a 304 without drawing it if the client has the current one."""
    etag = quote_etag(picture.etag)
    changed = int(revision.current(edition.pk).changed_at.timestamp())
    found = get_conditional_response(request, etag, changed)
    reply = HttpResponse(draw(picture), content_type="image/png") if found is None else found
    reply["ETag"], reply["Last-Modified"], reply["Cache-Control"] = etag, http_date(changed), CACHE_CONTROL
    return reply
