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
_drawing_lock = threading.Lock()


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
    available_fonts = []
    for script in SCRIPTS:
        path = settings.BASE_DIR / "static/fonts" / f"{style.family}-{script}.woff2"
        if path.exists():
            font = ImageFont.truetype(str(path), style.size)
            font.set_variation_by_axes([style.weight])
            available_fonts.append(font)
    return available_fonts


@lru_cache(4096)
def font_of(char: str, family: str) -> int | None:
    """Return the index in `fonts()` of the first font with this character; `None` if all lack it."""
    style = Style(family, 40, PLAIN)
    for index, font in enumerate(fonts(style)):
        missing_glyph, glyph = font.getmask("\uffff"), font.getmask(char)
        if (glyph.size, bytes(glyph)) != (missing_glyph.size, bytes(missing_glyph)):
            return index
    return None


def drawable(text: str, family: str) -> str:
    """Return a text in characters of a font family: missing letters in Latin, other characters omitted."""
    chars = unicodedata.normalize("NFC", " ".join(text[:MAX_TITLE_CHARS].split()))
    text = " ".join("".join(_drawable_char(char, family) for char in chars).split())
    return SPACE_BEFORE_PUNCTUATION.sub("", text)


def _drawable_char(char: str, family: str) -> str:
    if char == " " or font_of(char, family) is not None:
        return char
    is_letter = unicodedata.category(char)[0] in "LN" or unicodedata.category(char) == "Sm"
    latin = anyascii(char) if is_letter else ""
    # Separate Han characters, each of which becomes a word.
    return f"{latin} " if len(latin) > 1 and unicodedata.category(char) == "Lo" else latin


def font_runs(text: str, style: Style) -> Iterator[tuple[ImageFont.FreeTypeFont, str]]:
    """Yield a text in runs of one font each; spaces use the first font."""
    font_indexes = [(font_of(char, style.family) or 0) if char != " " else 0 for char in text]
    for index, pairs in groupby(zip(font_indexes, text, strict=True), key=lambda pair: pair[0]):
        yield fonts(style)[index], "".join(char for _, char in pairs)


def text_width(text: str, style: Style) -> float:
    return sum(font.getlength(run) for font, run in font_runs(text, style))


def wrap(text: str, style: Style, max_lines: int | None = None) -> list[str]:
    """Break a text into lines that fit; truncate to `max_lines` with an ellipsis."""
    lines: list[list[str]] = []
    remaining_width, space_width = 0.0, text_width(" ", style)
    for word in (part for long_word in text.split() for part in split_long_word(long_word, style)):
        width = text_width(word, style)
        if not lines or width > remaining_width:
            lines.append([])
            remaining_width = TEXT_WIDTH
        lines[-1].append(word)
        remaining_width -= width + space_width
    if max_lines is not None and len(lines) > max_lines:
        last_line = lines[max_lines - 1]
        while last_line and text_width(" ".join([*last_line, "…"]), style) > TEXT_WIDTH:
            last_line.pop()
        lines = [*lines[: max_lines - 1], [*last_line, "…"]]
    return [" ".join(line) for line in lines]


def split_long_word(word: str, style: Style) -> Iterator[str]:
    while text_width(word, style) > TEXT_WIDTH:
        lengths = range(2, len(word))
        fit_length = 1 + bisect(lengths, TEXT_WIDTH, key=lambda end: ceil(text_width(word[:end], style)))
        yield word[:fit_length]
        word = word[fit_length:]
    yield word


def fit_title(title: str) -> tuple[Style, list[str]]:
    """Return the largest style in which the title fits, and its lines."""
    text = drawable(title, SERIF)
    for size, max_lines in TITLE_SIZES:
        style = Style(SERIF, size, BOLD)
        lines = wrap(text, style)
        if len(lines) <= max_lines:
            return style, lines
    size, max_lines = TITLE_SIZES[-1]
    style = Style(SERIF, size, BOLD)
    return style, wrap(text, style, max_lines)


@lru_cache(CACHE_ENTRIES)
def draw(picture: Picture) -> bytes:
    """Return the picture as PNG. The result is deterministic, and cached."""
    with _drawing_lock:
        image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
        pen = ImageDraw.Draw(image)
        pen.rectangle((0, 0, BAR, HEIGHT), picture.accent)
        kind_style, plain_style = Style(SANS, 30, BOLD), Style(SANS, 30, PLAIN)
        top = layout(pen, wrap(drawable(picture.kind, SANS), kind_style, 1), kind_style, EDGE - 24, INK)
        style, lines = fit_title(picture.title)
        top = layout(pen, lines, style, top + 14, picture.accent)
        people = wrap(drawable(picture.people, SANS), plain_style, 2 if len(lines) * style.size < 250 else 1)
        layout(pen, people, plain_style, top + 18, INK)
        foot = wrap(drawable(picture.foot, SANS), plain_style, 1)
        layout(pen, foot, plain_style, HEIGHT - EDGE - 8, QUIET)
        file = BytesIO()
        image.save(file, "PNG", compress_level=4)
    return file.getvalue()


def layout(pen: ImageDraw.ImageDraw, lines: Sequence[str], style: Style, top: float, color: str) -> float:
    """Draw lines, the first at `top`; return the position below the last."""
    line_height = style.size * 1.2
    for line in lines:
        x: float = EDGE
        for font, run in font_runs(line, style):
            pen.text((x, top + style.size), run, color, font, anchor="ls")
            x += font.getlength(run)
        top += line_height
    return top


# Caches may store a card, but have to revalidate it.
CACHE_CONTROL = "public, max-age=0, must-revalidate"


def edition_line(edition: Edition) -> str:
    """Return the name, dates and city of an edition, for the foot of a card."""
    return " · ".join(filter(None, (edition.name, edition.date_line, edition.city)))


def card_response(request: HttpRequest, edition: Edition, picture: Picture) -> HttpResponse:
    """Return the picture, or a 304 without drawing it if the client has the current one."""
    etag = quote_etag(picture.etag)
    last_modified = int(revision.current(edition.pk).changed_at.timestamp())
    not_modified = get_conditional_response(request, etag, last_modified)
    response = HttpResponse(draw(picture), content_type="image/png") if not_modified is None else not_modified
    response["ETag"] = etag
    response["Last-Modified"] = http_date(last_modified)
    response["Cache-Control"] = CACHE_CONTROL
    return response
