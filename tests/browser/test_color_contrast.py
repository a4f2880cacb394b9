"""Text in the color of a kind or topic is readable, whatever color chairs choose."""

import pytest
from playwright.sync_api import expect

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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_in_every_hue_is_readable(open_page: OpenPage, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    page.goto("/2021/")
    contrasts = page.evaluate(MEASURE, [[*BUILT_IN, *PALETTE, *WHEEL, *EXTREMES], PUBLIC_PAIRS])

    assert len(contrasts) > 250
    assert [contrast_row for contrast_row in contrasts if min(contrast_row[1:]) < MIN_CONTRAST] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_timetable_of_the_desk_is_readable_in_every_hue(open_desk: OpenPage, scheme: str) -> None:
    page = open_desk(color_scheme=scheme)
    page.goto("/admin/schedule/session/timetable/")
    contrasts = page.evaluate(MEASURE, [[*BUILT_IN, *WHEEL, *EXTREMES], DESK_PAIRS])

    assert len(contrasts) > 250 - len(PALETTE)
    assert [contrast_row for contrast_row in contrasts if min(contrast_row[1:]) < MIN_CONTRAST] == []


def test_timetable_of_the_desk_shows_the_color_of_a_session_kind(open_desk: OpenPage) -> None:
    edition = Edition.objects.get(slug="2021")
    make.make_session_kind(edition.conference, "Oral", slug="oral", color="#112233")
    page = open_desk()
    page.goto(f"/admin/schedule/session/timetable/?edition={edition.pk}&day=2021-04-06")

    block = page.locator(".tt-block.kind-oral").first
    expect(block).to_have_css("border-left-color", "rgb(17, 34, 51)")
