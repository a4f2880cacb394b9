"""The generated picture of an edition: deterministic, small, and dark enough for white text."""

import re

import pytest
from defusedxml.ElementTree import fromstring

from conference import art

COLORS = ["#0b6b62", "#b5126f", "#ffff00", "#808080", "#000000", "#ffffff", "#00ffff", "#0000ff"]


def contrast_with_white(color: str) -> float:
    """Return the contrast ratio with white, as WCAG defines it."""
    red, green, blue = (art._to_linear(int(color[index : index + 2], 16) / 255) for index in (1, 3, 5))
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def test_art_is_deterministic_and_differs_by_name_and_color() -> None:
    drawings = {art.draw(name, color) for name in ("ICML 2026", "ICML 2027") for color in COLORS[:2]}
    hashes = {art.art_hash(name, color) for name in ("ICML 2026", "ICML 2027") for color in COLORS[:2]}

    art.draw.cache_clear()

    assert (len(drawings), len(hashes)) == (4, 4)
    assert art.draw("ICML 2026", COLORS[0]) in drawings


@pytest.mark.parametrize("name", ["MLSys 2027", "<&>", "大会 2027", ""])
def test_art_is_a_few_kilobytes_of_well_formed_svg(name: str) -> None:
    drawing = art.draw(name, "#0b6b62")

    assert fromstring(drawing).tag == "{http://www.w3.org/2000/svg}svg"
    assert len(drawing) < 6_500


@pytest.mark.parametrize("color", COLORS)
def test_white_text_is_readable_on_art_of_any_color(color: str) -> None:
    backgrounds = re.findall(r'stop-color="(#[0-9a-f]{6})"', art.draw("MLSys", color))

    assert len(backgrounds) == 3
    assert min(map(contrast_with_white, backgrounds)) > 6


@pytest.mark.parametrize("color", COLORS)
def test_colors_survive_a_round_trip_through_oklch(color: str) -> None:
    assert art.hex_color(*art.oklch(color)) == color
