"""The preview image of a shared page, in the edition's accent color.

Drawn with the site's own fonts. Letters that these lack are written in Latin ones, other signs are left out.
Pure but for the fonts; the last few hundred pictures stay in memory, each under all that it shows.
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
# Sizes that a title is tried in, each with the lines that then fit.
TITLE_SIZES = ((68, 4), (58, 5), (48, 6), (40, 7))
# No title is longer; what a row may hold must not decide how long drawing takes.
MAX_TITLE_CHARS = 600
# A picture has about 60 KB: 8 MB at most, whatever is asked for.
CACHE_ENTRIES = 128
# What a sign written as a word leaves before a comma.
SPACE_BEFORE_PUNCTUATION = re.compile(r" (?=[,;:.!?)])")
_drawing = threading.Lock()


class Picture(NamedTuple):
    """All that a card shows: what it is, the title, people, a last line, and the color."""

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
    """Return the files of a family that there are, the most common script first."""
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
    """Return which file of a family has the sign, as a place in `fonts()`."""
    style = Style(family, 40, PLAIN)
    for place, font in enumerate(fonts(style)):
        missing, drawn = font.getmask("\uffff"), font.getmask(sign)
        if (drawn.size, bytes(drawn)) != (missing.size, bytes(missing)):
            return place
    return None


def drawable(words: str, family: str) -> str:
    """Return the words in signs that a family has: letters it lacks in Latin ones, all else left out."""
    signs = unicodedata.normalize("NFC", " ".join(words[:MAX_TITLE_CHARS].split()))
    words = " ".join("".join(_drawable(sign, family) for sign in signs).split())
    return SPACE_BEFORE_PUNCTUATION.sub("", words)


def _drawable(sign: str, family: str) -> str:
    if sign == " " or font_of(sign, family) is not None:
        return sign
    is_letter = unicodedata.category(sign)[0] in "LN" or unicodedata.category(sign) == "Sm"
    latin = anyascii(sign) if is_letter else ""
    # Han signs are one word each.
    return f"{latin} " if len(latin) > 1 and unicodedata.category(sign) == "Lo" else latin


def font_runs(words: str, style: Style) -> Iterator[tuple[ImageFont.FreeTypeFont, str]]:
    """Return the words in pieces of one font file each; spaces are in the first."""
    places = [(font_of(sign, style.family) or 0) if sign != " " else 0 for sign in words]
    for place, piece in groupby(zip(places, words, strict=True), key=lambda pair: pair[0]):
        yield fonts(style)[place], "".join(sign for _, sign in piece)


def text_width(words: str, style: Style) -> float:
    return sum(font.getlength(piece) for font, piece in font_runs(words, style))


def wrap(words: str, style: Style, most: int | None = None) -> list[str]:
    """Break words into lines that fit; of more than `most`, the last ends in an ellipsis."""
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
    """Return the title in the largest size in which it fits."""
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
    """Return the picture as PNG; the same one always gives the same bytes."""
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
    """Write lines from a height down; return the height below them."""
    step = style.size * 1.2
    for line in lines:
        left: float = EDGE
        for font, piece in font_runs(line, style):
            pen.text((left, top + style.size), piece, color, font, anchor="ls")
            left += font.getlength(piece)
        top += step
    return top


# Anybody may keep a copy, but has to ask whether it still holds.
CACHE_CONTROL = "public, max-age=0, must-revalidate"


def edition_line(edition: Edition) -> str:
    """Return the conference, its dates and its place, for the foot of a card."""
    return " · ".join(filter(None, (edition.name, edition.date_line, edition.city)))


def card_response(request: HttpRequest, edition: Edition, picture: Picture) -> HttpResponse:
    """Return the picture, or 304 where the asker has it already: then nothing is drawn."""
    etag = quote_etag(picture.etag)
    changed = int(revision.current(edition.pk).changed_at.timestamp())
    found = get_conditional_response(request, etag, changed)
    reply = HttpResponse(draw(picture), content_type="image/png") if found is None else found
    reply["ETag"], reply["Last-Modified"], reply["Cache-Control"] = etag, http_date(changed), CACHE_CONTROL
    return reply
