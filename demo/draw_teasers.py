"""Draw a teaser picture for each paper of SCRC 12: `uv run demo/draw_teasers.py`. Own work, under CC0.

They resemble figures of papers: a kind of figure for each topic, with random numbers seeded by the uid.
"""

import json
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw

DEMO = Path(__file__).parent
TEASERS = DEMO / "pictures" / "teasers"
# Draw larger and scale down, for smooth edges.
SCALE = 3
WIDTH, HEIGHT = 480, 360
PALE, INK = "#f7f6f1", "#1f2430"
type Point = tuple[float, float]


def mix_colors(first: str, second: str, share: float) -> str:
    """Return a color between two; a share of 1 is the second one."""
    pairs = zip(bytes.fromhex(first[1:]), bytes.fromhex(second[1:]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


class Figure:
    """An image in the color of a topic, with methods that draw in units of 480 by 360."""

    def __init__(self, hue: str, seed: str) -> None:
        self.hue, self.random = hue, Random(seed)  # noqa: S311  the same picture every time
        self.ground, self.soft = mix_colors(hue, PALE, 0.88), mix_colors(hue, PALE, 0.62)
        self.middle, self.deep = mix_colors(hue, PALE, 0.3), mix_colors(hue, INK, 0.45)
        self.image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), self.ground)
        self.pen = ImageDraw.Draw(self.image)

    def line(self, points: Sequence[Point], fill: str, width: float = 3) -> None:
        scaled = [(x * SCALE, y * SCALE) for x, y in points]
        self.pen.line(scaled, fill, round(width * SCALE), joint="curve")

    def disc(self, x: float, y: float, r: float, fill: str, edge: str = "") -> None:
        box = ((x - r) * SCALE, (y - r) * SCALE, (x + r) * SCALE, (y + r) * SCALE)
        self.pen.ellipse(box, fill, edge or None, 4 * SCALE if edge else 0)

    def box(self, x: float, y: float, width: float, height: float, fill: str, r: float = 6) -> None:
        corners = (x * SCALE, y * SCALE, (x + width) * SCALE, (y + height) * SCALE)
        self.pen.rounded_rectangle(corners, r * SCALE, fill)

    def area(self, points: list[Point], fill: str) -> None:
        self.pen.polygon([(x * SCALE, y * SCALE) for x, y in points], fill)

    def axes(self) -> None:
        self.line([(60, 40), (60, 310), (440, 310)], self.deep, 3)


def states(fig: Figure) -> None:
    """Draw a graph of states with the path to a wrong one."""
    levels = [1, *(fig.random.randint(2, 4) for _ in range(3)), 1]
    dots = [
        [(70 + 85 * column, 180 + (row - (count - 1) / 2) * 80) for row in range(count)]
        for column, count in enumerate(levels)
    ]
    path = [fig.random.choice(column) for column in dots]
    for left, right in pairwise(dots):
        for dot in left:
            for other in fig.random.sample(right, min(len(right), 2)):
                fig.line([dot, other], fig.soft)
    fig.line(path, fig.deep, 6)
    for x, y in (dot for column in dots for dot in column):
        fig.disc(x, y, 19, fig.deep if (x, y) in path else fig.middle, fig.ground)
    fig.disc(*path[-1], 27, "#d2493c", fig.ground)


def proof(fig: Figure) -> None:
    """Draw a proof tree."""

    def step(x: float, y: float, width: float, depth: int) -> None:
        bar_width = width * fig.random.uniform(0.5, 0.85)
        fill = fig.deep if depth == 0 else fig.hue if depth % 2 else fig.middle
        fig.box(x - bar_width / 2, y, bar_width, 26, fill, 13)
        if depth < 3 and width > 90:
            fig.line([(x - width * 0.47, y - 15), (x + width * 0.47, y - 15)], fig.deep, 3)
            count = 3 if depth == 1 and fig.random.random() < 0.4 else 2
            for number in range(count):
                step(x + width * ((number + 0.5) / count - 0.5), y - 60, width / count, depth + 1)

    step(240, 280, 400, 0)


def coverage(fig: Figure) -> None:
    """Draw the coverage of several fuzzers over time."""
    fig.axes()
    for fill, top in ((fig.soft, 0.95), (fig.middle, 0.72), (fig.deep, 0.5)):
        height, steepness = 250 * top * fig.random.uniform(0.85, 1), fig.random.uniform(2.5, 6)
        points: list[Point] = [(63, 308)]
        for number in range(1, 25):
            y = 308 - height * (1 - math.exp(-steepness * number / 24))
            points += [(60 + 15.4 * number - 15.4, y), (60 + 15.4 * number, y)]
        fig.area([*points, (points[-1][0], 308)], fill)
    for _ in range(5):
        fig.disc(fig.random.uniform(90, 410), fig.random.uniform(180, 290), 8, "#d2493c", fig.ground)


def checks(fig: Figure) -> None:
    """Draw results of tests by revision, of which some fail."""
    failing = {fig.random.randrange(7): fig.random.randrange(3, 8) for _ in range(3)}
    for row in range(7):
        for column in range(10):
            since = failing.get(row, 99)
            fill = fig.middle if fig.random.random() < 0.3 else fig.soft
            if column >= since and fig.random.random() < 0.8:
                fill = fig.deep
            fig.box(46 + 39.5 * column, 40 + 41 * row, 33, 34, fill)


def quorum(fig: Figure) -> None:
    """Draw machines in a circle, and a majority that agrees."""
    count = fig.random.choice((5, 7, 9))
    turn = fig.random.uniform(0, math.tau)
    points: list[Point] = [
        (240 + 125 * math.cos(turn + math.tau * k / count), 180 + 125 * math.sin(turn + math.tau * k / count))
        for k in range(count)
    ]
    majority = points[: count // 2 + 1]
    fig.area(majority, fig.soft)
    for point in points:
        fig.line([point, points[0]], fig.middle, 3)
    fig.line([*majority, majority[0]], fig.hue, 5)
    for number, (x, y) in enumerate(points):
        fig.disc(x, y, 28 if number else 36, fig.hue if number < len(majority) else fig.soft, fig.ground)
    fig.disc(*points[0], 14, fig.ground)


def blocks(fig: Figure) -> None:
    """Draw disks with data blocks, parity blocks, and lost blocks."""
    count = fig.random.choice((4, 5, 6))
    width = 400 / count
    lost = fig.random.randrange(count)
    for disk in range(count):
        left = 40 + disk * width
        fig.box(left + 5, 36, width - 10, 288, fig.soft, 14)
        for row in range(6):
            is_parity = (row + disk) % count == 0
            fill = fig.deep if is_parity else fig.middle if fig.random.random() < 0.75 else fig.hue
            if disk == lost and row > 1:
                fill = fig.ground
            fig.box(left + 15, 50 + 45 * row, width - 30, 35, fill)


def traces(fig: Figure) -> None:
    """Draw the spans of requests as bars, with a slow one marked."""
    slow = fig.random.randrange(2, 7)
    left = 50.0
    for row in range(8):
        width = fig.random.uniform(60, 150) if row != slow else 210.0
        left = min(left, 430 - width)
        fig.box(
            left, 34 + 37 * row, width, 25, fig.deep if row == slow else fig.middle if row % 2 else fig.hue
        )
        left += width * fig.random.uniform(0.15, 0.6)
    fig.line([(left, 22), (left, 338)], "#d2493c", 3)


def outage(fig: Figure) -> None:
    """Draw the requests of a day, with an outage and the recovery."""
    fig.axes()
    start, length = fig.random.uniform(150, 230), fig.random.uniform(70, 110)
    fig.box(start, 42, length, 266, fig.soft, 0)
    curve: list[Point] = []
    for x in range(62, 438, 4):
        y = 150 - 45 * math.sin(x / 60 + fig.random.random() * 0.25) + fig.random.uniform(-5, 5)
        if start < x < start + length:
            y = 280 - 90 * max(0, (x - start) / length - 0.35) + fig.random.uniform(-6, 6)
        curve.append((x, y))
    fig.line(curve, fig.deep, 5)
    fig.disc(start, curve[round((start - 62) / 4)][1], 11, "#d2493c", fig.ground)
    fig.disc(start + length, curve[round((start + length - 62) / 4)][1], 11, fig.hue, fig.ground)


BLUE, RED, GREEN, VIOLET = "#2f6fb5", "#c4593c", "#2f8f5b", "#8a57b8"
# By topic: the color of its parent topic, and the function that draws its figure.
FIGURES: dict[str, tuple[str, Callable[[Figure], None]]] = {
    "model-checking": (BLUE, states),
    "proofs": (BLUE, proof),
    "fuzzing": (RED, coverage),
    "regression": (RED, checks),
    "consensus": (GREEN, quorum),
    "storage": (GREEN, blocks),
    "observability": (VIOLET, traces),
    "incidents": (VIOLET, outage),
}


def main() -> None:
    TEASERS.mkdir(parents=True, exist_ok=True)
    for paper in json.loads((DEMO / "scrc-12.json").read_text("utf-8"))["papers"]:
        hue, draw = FIGURES[paper["topic"]]
        figure = Figure(hue, paper["uid"])
        draw(figure)
        teaser = figure.image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        teaser.save(TEASERS / f"{paper['uid']}.webp", quality=70, method=6)


if __name__ == "__main__":
    main()
