"""Fixtures of a browser (Debian's Chromium) and of the demo program."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.staticfiles.finders import get_finders
from django.db import connection
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from conference.static_files import STYLESHEETS, bundle
from tests.browser.axe import DESKTOP
from tests.browser.visitor import SECURE_HOST, OpenPage, sign_in
from tests.demo.programs import import_demo
from tests.processes import free_port
from website.wsgi import pages

# The browser's event loop runs in this thread, but no coroutine uses the ORM.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
# Wait up to a minute for elements, because tests run on busy machines.
TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="session")
def secure_port() -> int:
    """Return the port to which the browser maps https://program.test. Tests start a server there."""
    return free_port()


@pytest.fixture(scope="session")
def browser(chromium: str, secure_port: int) -> Iterator[Browser]:
    flags = [
        "--no-sandbox",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--host-resolver-rules=MAP {SECURE_HOST}:443 127.0.0.1:{secure_port}",
    ]
    with sync_playwright() as playwright:
        chromium_browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield chromium_browser
        chromium_browser.close()


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer) -> Iterator[OpenPage]:
    """Yield a function that opens a page with its own browser profile.

    All pages are closed before the server stops, because its threads must not outlive their connection.
    """
    contexts: list[BrowserContext] = []

    def new_page(**options: Any) -> Page:
        contexts.append(browser.new_context(base_url=live_server.url, **options))
        contexts[-1].set_default_timeout(TIMEOUT_MS)
        return contexts[-1].new_page()

    yield new_page
    for context in contexts:
        context.close()


@pytest.fixture
def console_errors() -> list[str]:
    """Return the list of errors in the console and scripts of pages that `open_desk` opened."""
    return []


@pytest.fixture
def open_desk(
    open_page: OpenPage, live_server: LiveServer, transactional_db: None, console_errors: list[str]
) -> OpenPage:
    """Return a function that opens a page as a signed-in superuser."""
    chair = User.objects.create_superuser("chair", "chair@example.org", "secret")

    def new_page(**options: Any) -> Page:
        page = open_page(**{"viewport": DESKTOP, **options})
        sign_in(page, live_server.url, chair)
        page.on(
            "console",
            lambda message: console_errors.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: console_errors.append(str(error)))
        return page

    return new_page


@pytest.fixture
def page(open_desk: OpenPage) -> Page:
    """Return a page of a signed-in superuser."""
    return open_desk()


@pytest.fixture(scope="session")
def static_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of all static files, with bundled stylesheets: 80 imports take longer than a page.

    Their time of change is 1970, so that browsers do not revalidate them with each page.
    """
    folder = tmp_path_factory.mktemp("static")
    for finder in get_finders():
        for name, storage in finder.list(None):
            file = folder / name
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                css = bundle(storage, name).encode() if name in STYLESHEETS else None
                file.write_bytes(css or storage.open(name).read())
                os.utime(file, (0, 0))
    return folder


@pytest.fixture(autouse=True)
def _static_files(settings: Settings, static_files: Path) -> None:
    settings.STATICFILES_DIRS = [static_files]


@pytest.fixture(autouse=True)
def _empty_page_cache() -> None:
    """Clear the page cache, because the revisions start again with each test's database."""
    pages.clear()


@pytest.fixture(scope="session")
def demo_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a copy of the database with the demo; it is empty until the first import."""
    file = tmp_path_factory.mktemp("demo") / "imported.sqlite3"
    file.touch()
    return file


@pytest.fixture
def demo(transactional_db: None, demo_copy: Path) -> None:
    """Load the demo program. With SQLite it is imported once, then restored from the copy."""
    if connection.vendor != "sqlite":
        import_demo()
        return
    connection.ensure_connection()
    with closing(sqlite3.connect(demo_copy)) as copy:
        if demo_copy.stat().st_size:
            copy.backup(connection.connection)
            ContentType.objects.clear_cache()
        else:
            import_demo()
            connection.connection.backup(copy)
