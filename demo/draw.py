"""Draw the pictures of the sample conference: `uv run demo/draw.py`. They are our own work, under CC0."""

import math
import random
from collections.abc import Callable
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

PICTURES = Path(__file__).parent / "pictures"
FONT = Path(__file__).parents[1] / "static/fonts/sans-latin.woff2"
# Draw larger and scale down, for smooth edges.
SCALE = 3
type Pen = ImageDraw.ImageDraw
type Point = tuple[float, float]

# By uid of the speaker: colors of background, skin, hair and clothes, length of the hair, glasses.
SPEAKERS = {
    "sample-ines-valadouro": ("#cfe3ea", "#d9a27c", "#3b2417", "#14508c", 1.5, False),
    "sample-haruka-mizunose": ("#f1dfd0", "#ecc6a0", "#1d1b22", "#7a2f45", 1.2, True),
    "sample-layla-al-zahrawani": ("#dfe8d2", "#c98f66", "#46657a", "#46657a", 1.9, False),
    "sample-thandeka-mvelase-dube": ("#f3e2b8", "#7b4a2d", "#1b1412", "#2f6d54", 0.9, False),
    "sample-wren-hollowell": ("#ddd8ee", "#f0cdb4", "#b5552b", "#3c3f4a", 0.6, True),
    "sample-kaveh-setarenia": ("#d5e6dd", "#b98460", "#2a1d16", "#8a6a1f", 0.4, False),
}  # fmt: skip
COLORS = {
    "northlight": "#1f4e8c", "quaystone": "#5b4a3f", "fernwheel": "#2c7a4b", "tidemark": "#0f7c8a",
    "pebblenet": "#7a4fa0", "oaklantern": "#b36a12",
}  # fmt: skip


def mix_colors(first: str, second: str, share: float) -> tuple[int, ...]:
    """Return a color between two; a share of 1 is the second one."""
    pairs = zip(bytes.fromhex(first[1:]), bytes.fromhex(second[1:]), strict=True)
    return tuple(round(a + (b - a) * share) for a, b in pairs)


def hero() -> Image.Image:
    """Draw a harbor at dusk: sky, hills, a lighthouse with its beam, and water."""
    width, height, horizon = 1920, 960, 610
    image = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(image, "RGBA")
    for y in range(height):
        if y < horizon:
            color = mix_colors("#12305f", "#e8a06a", (y / horizon) ** 2.2)
        else:
            color = mix_colors("#7d6f83", "#0e2546", ((y - horizon) / (height - horizon)) ** 0.5)
        pen.line((0, y, width, y), color)
    pen.ellipse((1180, horizon - 95, 1370, horizon + 95), "#ffd9a0")
    for top, swing, fill in ((470, 70, "#5c5f86"), (525, 50, "#3c4876"), (570, 32, "#243562")):
        ridge: list[Point] = [
            (x, top - swing * math.sin(x / 310 + top) - swing / 2 * math.sin(x / 127 + 2 * top))
            for x in range(0, width + 8, 8)
        ]
        pen.polygon([*ridge, (width, horizon), (0, horizon)], fill)
    water = random.Random(12)  # noqa: S311  the same picture every time
    for y in range(horizon, height, 7):
        depth = (y - horizon) / (height - horizon)
        pen.rectangle((0, y, width, y + 6), mix_colors("#7d6f83", "#0e2546", depth**0.5))
        for _ in range(7):
            x, length = water.gauss(1275, 50 + 220 * depth), water.uniform(20, 130)
            pen.line((x - length, y + 3, x + length, y + 3), (255, 217, 160, round(150 * (1 - depth))), 3)
    for k in range(12):
        end = 1500 - 100 * k
        slope = (1611 - end) / 711
        beam = [(1611, 322), (end, 326 - 136 * slope), (end, 334 - 34 * slope), (1611, 338)]
        pen.polygon(beam, (255, 236, 190, 7))
    pen.polygon([(1340, 640), (1460, 588), (1570, 560), (1690, 566), (1920, 620), (1920, 730)], "#101d3a")
    pen.polygon([(1588, 350), (1642, 350), (1660, 575), (1570, 575)], "#f4ece0")
    for top in (395, 475):
        pen.polygon([(1584, top), (1646, top), (1650, top + 38), (1580, top + 38)], "#b3423a")
    pen.rectangle((1580, 344, 1650, 354), "#17264a")
    pen.rectangle((1597, 312, 1633, 344), "#ffe9b0")
    pen.polygon([(1588, 312), (1642, 312), (1615, 280)], "#17264a")
    x, y = 1130, 712
    pen.polygon([(x, y), (x, y - 120), (x + 68, y - 8)], "#f4ece0")
    pen.polygon([(x - 6, y - 8), (x - 6, y - 96), (x - 48, y - 8)], "#d9cdbd")
    pen.polygon([(x - 64, y), (x + 76, y), (x + 52, y + 22), (x - 48, y + 22)], "#17264a")
    return image


def portrait(back: str, skin: str, hair: str, clothes: str, length: float, glasses: bool) -> Image.Image:
    """Draw a person from the front, in a simple style that does not resemble real people."""
    size = 240 * SCALE
    image = Image.new("RGB", (size, size), back)
    pen = ImageDraw.Draw(image)

    def box(left: float, top: float, right: float, bottom: float) -> tuple[float, ...]:
        return (left * SCALE, top * SCALE, right * SCALE, bottom * SCALE)

    pen.rounded_rectangle(box(68, 42, 172, 95 + 55 * length), 50 * SCALE, hair)
    pen.ellipse(box(30, 178, 210, 330), clothes)
    pen.rounded_rectangle(box(102, 140, 138, 198), 18 * SCALE, mix_colors(skin, "#000000", 0.12))
    pen.ellipse(box(78, 56, 162, 164), skin)
    pen.chord(box(72, 42, 168, 132), 186, 354, hair)
    for x in (103, 137):
        pen.ellipse(box(x - 4, 104, x + 4, 112), "#22201f")
        if glasses:
            pen.ellipse(box(x - 15, 93, x + 15, 123), outline="#22201f", width=3 * SCALE)
    pen.arc(box(104, 118, 136, 146), 25, 155, "#7c3a30", 3 * SCALE)
    return image.resize((240, 240), Image.Resampling.LANCZOS)


def star(pen: Pen, s: float) -> None:
    points = [(math.pi * k / 4, 1 if k % 2 == 0 else 0.36) for k in range(8)]
    pen.polygon([(s / 2 * (1 + r * math.sin(a)), s / 2 * (1 - r * math.cos(a))) for a, r in points], "white")


def stones(pen: Pen, s: float) -> None:
    for top, left in ((0.08, 0.3), (0.38, 0.15), (0.68, 0)):
        pen.rounded_rectangle((s * left, s * top, s * (1 - left), s * (top + 0.24)), s * 0.07, "white")


def wheel(pen: Pen, s: float) -> None:
    pen.ellipse((s * 0.1, s * 0.1, s * 0.9, s * 0.9), outline="white", width=round(s * 0.09))
    for k in range(8):
        x, y = math.cos(math.pi * k / 4), math.sin(math.pi * k / 4)
        pen.line((s / 2, s / 2, s / 2 * (1 + x), s / 2 * (1 + y)), "white", round(s * 0.07))


def waves(pen: Pen, s: float) -> None:
    for middle in (0.22, 0.5, 0.78):
        line = [(s * k / 60, s * (middle + 0.09 * math.sin(k / 60 * 4 * math.pi))) for k in range(61)]
        pen.line(line, "white", round(s * 0.1), joint="curve")


def net(pen: Pen, s: float) -> None:
    dots = [(0.5, 0.15), (0.15, 0.5), (0.85, 0.5), (0.5, 0.85), (0.5, 0.5)]
    for x, y in dots:
        pen.line((s / 2, s / 2, s * x, s * y), "white", round(s * 0.06))
        pen.ellipse((s * (x - 0.13), s * (y - 0.13), s * (x + 0.13), s * (y + 0.13)), "white")


def lantern(pen: Pen, s: float) -> None:
    pen.arc((s * 0.3, 0, s * 0.7, s * 0.4), 180, 360, "white", round(s * 0.07))
    pen.rounded_rectangle((s * 0.2, s * 0.22, s * 0.8, s * 0.34), s * 0.05, "white")
    pen.polygon(
        [(s * 0.27, s * 0.4), (s * 0.73, s * 0.4), (s * 0.66, s * 0.82), (s * 0.34, s * 0.82)], "white"
    )
    pen.rounded_rectangle((s * 0.2, s * 0.86, s * 0.8, s), s * 0.05, "white")


MARKS: dict[str, tuple[str, Callable[[Pen, float], None]]] = {
    "northlight": ("Northlight", star),
    "quaystone": ("Quaystone", stones),
    "fernwheel": ("Fernwheel", wheel),
    "tidemark": ("Tidemark", waves),
    "pebblenet": ("Pebblenet", net),
    "oaklantern": ("Oak & Lantern", lantern),
}


def logo(name: str, color: str, mark: Callable[[Pen, float], None]) -> Image.Image:
    """Draw the name of a company next to its mark, on white."""
    width, height, edge = 480 * SCALE, 180 * SCALE, 96 * SCALE
    font = ImageFont.truetype(str(FONT), 52 * SCALE)
    font.set_variation_by_axes([700])
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    left = round((width - edge - 24 * SCALE - pen.textlength(name, font)) / 2)
    tile = Image.new("RGB", (edge, edge), color)
    inner = Image.new("L", (edge * 6 // 10, edge * 6 // 10))
    mark(ImageDraw.Draw(inner), inner.width)
    tile.paste("white", (edge // 5, edge // 5), inner)
    shape = Image.new("L", (edge, edge))
    ImageDraw.Draw(shape).rounded_rectangle((0, 0, edge - 1, edge - 1), edge // 5, "white")
    image.paste(tile, (left, (height - edge) // 2), shape)
    pen.text((left + edge + 24 * SCALE, height // 2), name, color, font, anchor="lm")
    return image.resize((480, 180), Image.Resampling.LANCZOS)


def main() -> None:
    for folder in ("heroes", "people", "sponsors"):
        (PICTURES / folder).mkdir(parents=True, exist_ok=True)
    hero().save(PICTURES / "heroes" / "scrc-12.webp", quality=60, method=6)
    for uid, looks in SPEAKERS.items():
        portrait(*looks).save(PICTURES / "people" / f"{uid}.webp", quality=80, method=6)
    for slug, (name, mark) in MARKS.items():
        colored = logo(name, COLORS[slug], mark).quantize(32)
        colored.save(PICTURES / "sponsors" / f"{slug}.png", optimize=True)


if __name__ == "__main__":
    main()
