"""What axe finds on a page: everything it looks for by default, and the size of targets (WCAG 2.2, 2.5.8)."""

from pathlib import Path
from typing import Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize

type Look = tuple[ViewportSize, Literal["light", "dark"]]

PHONE, DESKTOP = ViewportSize(width=390, height=844), ViewportSize(width=1280, height=900)
# 1280 pixels at 400 %, as WCAG 1.4.10 counts it.
NARROW = ViewportSize(width=320, height=700)
# Everything at both sizes, and each scheme once. The wide one first: what a script draws is hidden on a
# phone, and would be drawn too narrow there.
LOOKS: list[Look] = [(DESKTOP, "light"), (NARROW, "dark")]
DESK_LOOKS: list[Look] = [(DESKTOP, "light"), (PHONE, "dark")]

SCRIPT = (Path(__file__).parent / "look.js").read_text()
# What is below the first screen has no size until somebody scrolls to it, and lines under the bars that stay
# in sight can be scrolled out from there, as readers do and axe does not.
LAID_OUT = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { content-visibility: visible !important }
    .bar, .tabbar, .submit-row { position: static !important }`);
  document.adoptedStyleSheets.push(sheet);
}"""
# A scheme changes colors and no more: these rules read them. Everything else is told by the size.
COLORS = ["color-contrast", "link-in-text-block"]


def violations(page: Page) -> list[str]:
    """Return what hinders somebody on the page, as rule and the element that breaks it."""
    return asked(page, rules=[], is_measured=False)


def hindrances(page: Page, looks: list[Look]) -> list[str]:
    """Return what hinders somebody in any of these looks, and where the page is wider than its window.

    The page is loaded once and shown in one look after the other, at last as it was in the first.
    All rules are asked at each size, those of colors again in its other scheme.
    """
    found: list[str] = []
    sizes: list[ViewportSize] = []
    for size, scheme in looks:
        show(page, size, scheme)
        seen = asked(page, rules=COLORS if size in sizes else [], is_measured=True)
        found += [f"{size['width']} {scheme}: {one}" for one in seen]
        sizes.append(size)
    show(page, *looks[0])
    return found


def show(page: Page, size: ViewportSize, scheme: Literal["light", "dark"]) -> None:
    """Let an open page be seen on another screen."""
    if page.viewport_size != size:
        page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)


def asked(page: Page, rules: list[str], is_measured: bool) -> list[str]:
    """Let axe look at the page as it stands once it is loaded: all rules, or these alone."""
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(LAID_OUT)
    return [f"{page.url}: {one}" for one in page.evaluate(SCRIPT, [rules, is_measured])]
