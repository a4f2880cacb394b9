"""A browser on the demo program: Debian's Chromium, never one that is downloaded."""

import os
import sqlite3
from collections.abc import Callable, Iterator
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
from tests.browser.visitor import SECURE_HOST, sign_in
from tests.demo.programs import import_demo
from tests.processes import free_port
from website.wsgi import pages

# The browser's event loop runs in this thread; the ORM is used beside it, never inside it.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
# A busy machine is no defect: what is looked for may take its time to come.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def secure_port() -> int:
    """The port at which the browser finds https://program.test, for tests that put a server there."""
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
        opened = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer) -> Iterator[Callable[..., Page]]:
    """A function that opens a page with a browser profile of its own.

    All are closed before the server stops: its threads must not outlive the connection they share.
    """
    opened: list[BrowserContext] = []

    def new_page(**options: Any) -> Page:
        opened.append(browser.new_context(base_url=live_server.url, **options))
        opened[-1].set_default_timeout(PATIENCE_MS)
        return opened[-1].new_page()

    yield new_page
    for context in opened:
        context.close()


@pytest.fixture
def said() -> list[str]:
    """What the pages of the desk complain about: errors on their consoles, and in their scripts."""
    return []


@pytest.fixture
def open_desk(
    open_page: Callable[..., Page], live_server: LiveServer, transactional_db: None, said: list[str]
) -> Callable[..., Page]:
    """A function that opens a page as somebody who may do everything."""
    chair = User.objects.create_superuser("chair", "chair@example.org", "secret")

    def new_page(**options: Any) -> Page:
        page = open_page(**{"viewport": DESKTOP, **options})
        sign_in(page, live_server.url, chair)
        page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        return page

    return new_page


@pytest.fixture
def page(open_desk: Callable[..., Page]) -> Page:
    """A page as somebody sees it who may do everything."""
    return open_desk()


@pytest.fixture(scope="session")
def static_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All static files, with stylesheets in one file each as on a site: 80 imports take longer than a page.

    They look old, so that a browser does not ask for them again with each page.
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
    """Each test has a database of its own, whose revisions begin anew."""
    pages.clear()


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a copy of the database with the demo is kept; empty until the first test imported it."""
    file = tmp_path_factory.mktemp("demo") / "imported.sqlite3"
    file.touch()
    return file


@pytest.fixture
def demo(transactional_db: None, imported: Path) -> None:
    """The demo program. With SQLite it is imported once, and comes from the copy for all other tests."""
    if connection.vendor != "sqlite":
        import_demo()
        return
    connection.ensure_connection()
    with closing(sqlite3.connect(imported)) as copy:
        if imported.stat().st_size:
            copy.backup(connection.connection)
            ContentType.objects.clear_cache()
        else:
            import_demo()
            connection.connection.backup(copy)
