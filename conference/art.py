"""The drawing for an edition without a photograph: contour lines on a gradient in its accent color.

It depends only on name and color. White text on it is readable with any accent color.
"""

import math
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

WIDTH, HEIGHT = 1440, 520
# Increase it when the drawing changes, so that browsers fetch it again.
DESIGN = 1
LINES, STEPS = 22, 16
STEP = WIDTH // STEPS
# The first line is this far above the picture, the last one as far below it.
MARGIN = 90
# A hue in degrees.
BLUE = 275
CACHE_ENTRIES = 64


class Wave(NamedTuple):
    """A sine wave along x, whose phase changes by `drift` from the first line to the last."""

    height: float
    frequency: float
    phase: float
    drift: float

    def at(self, x: float, share: float) -> tuple[float, float]:
        """Return the height and the slope that the wave adds to a line at `x`."""
        angle = self.frequency * x + self.phase + self.drift * share
        return self.height * math.sin(angle), self.height * self.frequency * math.cos(angle)


def art_hash(name: str, accent: str) -> str:
    """Return the digest in the URL of the picture, which changes with the picture."""
    return blake2b(f"{DESIGN} {accent} {name}".encode(), digest_size=5).hexdigest()


@lru_cache(CACHE_ENTRIES)
def draw(name: str, accent: str) -> str:
    """Return the picture as SVG; it contains nothing but numbers and colors."""
    waves = waves_of(name)
    _, chroma, hue = oklch(accent)
    strength = min(chroma, 0.19)
    # Turn the hue towards blue in the shorter direction, so that yellow becomes green, not brown.
    direction = 1 if (BLUE - hue) % 360 < 180 else -1
    stops = [(0, 0.43, 1.0, 0), (0.55, 0.33, 0.8, 22), (1, 0.23, 0.55, 58)]
    gradient = "".join(
        f'<stop offset="{offset}" '
        f'stop-color="{hex_color(lightness, strength * share, hue + direction * shift)}"/>'
        for offset, lightness, share, shift in stops
    )
    lines = "".join(
        f'<path d="{path(waves, line / (LINES - 1))}" stroke-opacity="{0.06 + 0.2 * line / LINES:.2f}"/>'
        for line in range(LINES)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" preserveAspectRatio="xMidYMid slice">'
        f'<defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1">{gradient}</linearGradient></defs>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#g)"/>'
        f'<g fill="none" stroke="#fff" stroke-width="1.4">{lines}</g></svg>\n'
    )


def waves_of(name: str) -> list[Wave]:
    """Return the waves of a name: a long swell, two shorter ones, and a ripple."""
    seed = iter(blake2b(name.encode(), digest_size=16).digest())

    def between(low: float, high: float) -> float:
        return low + (high - low) * next(seed) / 255

    return [
        Wave(
            between(0.75, 1.25) * height,
            2 * math.pi * cycles * between(0.85, 1.15) / WIDTH,
            between(0, 2 * math.pi),
            between(-1.6, 1.6),
        )
        for height, cycles in ((34, 1.1), (24, 2.2), (12, 3.7), (5, 5.3))
    ]


def path(waves: list[Wave], share: float) -> str:
    """Return the SVG path of the line at `share` (0 to 1) of the height, in cubic segments of equal width."""
    base = -MARGIN + share * (HEIGHT + 2 * MARGIN)
    points = []
    for step in range(STEPS + 1):
        offsets = [wave.at(step * STEP, share) for wave in waves]
        points.append((base + sum(height for height, _ in offsets), sum(slope for _, slope in offsets)))
    (first, slope), *other_points = [(round(y), slope) for y, slope in points]
    third = STEP / 3
    segments, previous_y = [f"M0 {first}c{third:.0f} {round(slope * third)}"], first
    for index, (y, slope) in enumerate(other_points):
        curve = f"{STEP - third:.0f} {round(y - slope * third) - previous_y} {STEP} {y - previous_y}"
        segments.append(f" {curve}" if index == 0 else f"s{curve}")
        previous_y = y
    return "".join(segments).replace(" -", "-")


# Colors: sRGB and OKLCH, https://bottosson.github.io/posts/oklab/


def oklch(color: str) -> tuple[float, float, float]:
    """Return lightness (0 to 1), chroma and hue (degrees) of a color such as #0b6b62."""
    red, green, blue = (_to_linear(int(color[start : start + 2], 16) / 255) for start in (1, 3, 5))
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    lightness = 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short
    return lightness, math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360


def hex_color(lightness: float, chroma: float, hue: float) -> str:
    """Return the color as #rrggbb, with less chroma if sRGB does not contain it."""
    while True:
        channels = _linear_channels(lightness, chroma, hue)
        if chroma < 0.001 or all(-0.0005 <= channel <= 1.0005 for channel in channels):
            break
        chroma -= 0.004
    return "#" + "".join(f"{round(255 * _to_srgb(min(max(channel, 0.0), 1.0))):02x}" for channel in channels)


def _linear_channels(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )


def _to_linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


def _to_srgb(channel: float) -> float:
    return channel * 12.92 if channel <= 0.0031308 else float(1.055 * channel ** (1 / 2.4) - 0.055)
