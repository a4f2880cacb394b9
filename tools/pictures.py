"""Make the screenshots of the documentation: `uv run python tools/pictures.py`, while the demo runs.

It uses Debian's Chromium, in sizes of desktops and phones. Screenshots of the admin need the password that
the demo printed: `--password`.
"""

import argparse
import io
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
DESKTOP, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)

# Name: address, size, color scheme.
PICTURES = {
    "home": ("/scrc-12/", DESKTOP, "light"),
    "day": ("/2021/schedule/2021-04-06/", DESKTOP, "light"),
    "day-phone": ("/2021/schedule/2021-04-06/", PHONE, "dark"),
    "grid": ("/scrc-12/schedule/{today}/?view=grid", DESKTOP, "dark"),
    "papers": ("/2021/papers/?topic=compilers", DESKTOP, "light"),
    "paper": ("/2021/papers/{paper}/", DESKTOP, "light"),
    "paper-phone": ("/2021/papers/{paper}/", PHONE, "light"),
    "awards": ("/2021/awards/", DESKTOP, "light"),
    "search": ("/2023/search/?q=posters+on+compilers+wednesday", DESKTOP, "dark"),
    "statistics": ("/2021/statistics/", DESKTOP, "light"),
}
# Pages that require signing in.
ADMIN_PICTURES = {
    "desk": ("/admin/?edition=4", DESKTOP, "light"),
    "publish": ("/admin/conference/edition/1/publish/?part=papers", DESKTOP, "light"),
}


def sign_in(page: Page, password: str) -> None:
    """Sign in as the demo's chair."""
    page.goto("/admin/")
    page.fill("#id_username", "chair")
    page.fill("#id_password", password)
    page.click("input[type=submit]")
    page.wait_for_load_state()


def take(page: Page, address: str) -> bytes:
    """Return a screenshot of a page, after its fonts have loaded."""
    page.goto(address, wait_until="networkidle")
    page.evaluate("document.fonts.ready")
    return page.screenshot()


def write(name: str, screenshot: bytes) -> None:
    """Write a picture as WebP, lossless in 256 colors or lossy, whichever is smaller."""
    image = Image.open(io.BytesIO(screenshot)).convert("RGB")
    lossless, lossy = io.BytesIO(), io.BytesIO()
    reduced = image.quantize(256, dither=Image.Dither.NONE).convert("RGB")
    reduced.save(lossless, "WEBP", lossless=True, quality=100, method=6)
    image.save(lossy, "WEBP", quality=80, method=6)
    (FOLDER / f"{name}.webp").write_bytes(min(lossless.getvalue(), lossy.getvalue(), key=len))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", default="http://127.0.0.1:8000", help="where the demo runs")
    parser.add_argument("--paper", default="mlsys2021-tiramisu-cost-model", help="uid of the paper shown")
    parser.add_argument("--password", default="", help="the chair's, for the pictures of the admin")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        pictures = PICTURES | (ADMIN_PICTURES if options.password else {})
        for name, (path, size, scheme) in pictures.items():
            context = browser.new_context(
                base_url=options.site, viewport=size, color_scheme="dark" if scheme == "dark" else "light"
            )
            page = context.new_page()
            if name in ADMIN_PICTURES:
                sign_in(page, options.password)
            write(name, take(page, path.format(paper=options.paper, today=datetime.now(UTC).date())))
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
