"""What axe finds on a page: everything it looks for by default, and the size of targets (WCAG 2.2, 2.5.8)."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

OPTIONS = {"rules": {"target-size": {"enabled": True}}}


def violations(page: Page) -> list[str]:
    """Return what hinders somebody on the page, as rule and the element that breaks it."""
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [f"{page.url}: {one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]
