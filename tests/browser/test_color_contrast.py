"""Text in the color of a kind or topic is readable, whatever color chairs choose."""

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from conference.models import Edition
from schedule.session_kinds import BuiltInPresentationKind, BuiltInSessionKind
from tests import factories as make
from tests.browser.visitor import OpenPage
from website.colors import PALETTE_TOPICS

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]

BUILT_IN = [f"var(--kind-{kind})" for kind in {*BuiltInSessionKind.values, *BuiltInPresentationKind.values}]
PALETTE = [f"var(--topic-{number})" for number in range(1, PALETTE_TOPICS + 1)]
WHEEL = [
    f"oklch({light} {chroma} {angle})"
    for light in (0.3, 0.65, 0.9)
    for chroma in (0.05, 0.2, 0.37)
    for angle in range(0, 360, 15)
]
EXTREMES = ["#000000", "#ffffff", "#ff0000", "#00ff00", "#0000ff", "#ffff00", "#00ffff", "#ff00ff", "#808080"]
MIN_CONTRAST = 4.5
COLOR_SCHEMES: list[Literal["light", "dark"]] = ["light", "dark"]

# Pairs of text and background in the colors of a hue: of public pages, and of the desk's timetable.
PUBLIC_PAIRS = [("--hue-ink", "--hue-wash"), ("--hue-ink", "--paper")]
DESK_PAIRS = [
    ("--body-fg", "--hue-wash"),
    *(("--hue-ink", ground) for ground in ("--body-bg", "--selected-row")),
]

# Returns the contrast of each pair in each color, from the pixels that the browser renders.
MEASURE = """([hues, pairs]) => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const luminance = (color) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((value) => value / 255)
      .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (color, background) => {
    const [low, high] = [luminance(color), luminance(background)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const box = document.createElement("p");
  box.className = "kind-measured";
  document.body.append(box);
  const style = getComputedStyle(box);
  return hues.map((hue) => {
    box.style.setProperty("--hue", hue);
    return [hue, ...pairs.map(([ink, ground]) => {
      box.style.color = `var(${ink})`;
      box.style.backgroundColor = `var(${ground})`;
      return contrast(style.color, style.backgroundColor);
    })];
  });
}"""


def unreadable_hues(page: Page, hues: list[str], pairs: list[tuple[str, str]]) -> list[list[object]]:
    """Return the color schemes and hues in which a pair has too little contrast, with all contrasts."""
    unreadable = []
    for scheme in COLOR_SCHEMES:
        page.emulate_media(color_scheme=scheme)
        contrasts = page.evaluate(MEASURE, [hues, pairs])
        assert len(contrasts) == len(hues)
        unreadable += [[scheme, *row] for row in contrasts if min(row[1:]) < MIN_CONTRAST]
    return unreadable


def test_text_in_every_hue_is_readable(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/2021/")
    hues = [*BUILT_IN, *PALETTE, *WHEEL, *EXTREMES]

    assert len(hues) > 250
    assert unreadable_hues(page, hues, PUBLIC_PAIRS) == []


def test_timetable_of_the_desk_is_readable_in_every_hue(open_desk: OpenPage) -> None:
    page = open_desk()
    page.goto("/admin/schedule/session/timetable/")
    hues = [*BUILT_IN, *WHEEL, *EXTREMES]

    assert len(hues) > 250 - len(PALETTE)
    assert unreadable_hues(page, hues, DESK_PAIRS) == []


def test_timetable_of_the_desk_shows_the_color_of_a_session_kind(open_desk: OpenPage) -> None:
    edition = Edition.objects.get(slug="2021")
    make.make_session_kind(edition.conference, "Oral", slug="oral", color="#112233")
    page = open_desk()
    page.goto(f"/admin/schedule/session/timetable/?edition={edition.pk}&day=2021-04-06")

    block = page.locator(".tt-block.kind-oral").first
    expect(block).to_have_css("border-left-color", "rgb(17, 34, 51)")
