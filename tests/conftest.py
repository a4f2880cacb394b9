"""Settings and fixtures of all tests: plain static files, cheap passwords, skips where data is missing."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings as site_settings
from django.core.cache import cache
from django.core.management.commands import flush
from django.db import connection, transaction
from django.urls import get_resolver
from pytest_django import Settings

from conference.models import Edition
from content.history import changed_rows
from operations.indexing import update
from pagecache import per_revision
from tests.factories import make_edition
from tests.processes import restore_tables, save_tables

SHARED = Path(__file__).resolve().parents[2] / "shared"
# Serve no stale pages, so that tests see their own changes at once.
site_settings.PAGE_CACHE_STALE_SECONDS = 0.0

# The URLconf registers the pages of the admin.
get_resolver().url_patterns  # noqa: B018

# Debian's Chromium. The headless build renders the same and opens a page in half the time.
CHROMIUMS = [Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")]

# Let workers and the processes that tests start share compiled modules, whatever the environment says.
sys.dont_write_bytecode = False

# Disable deadlines, because tests run on busy machines. Durations are measured in bench/.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


# Fixtures of tests that use a database, directly or through other fixtures.
DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "django_db_setup"}


def depends_on_database(item: pytest.Item) -> bool:
    """Return whether the result of a test may depend on the database."""
    if any(item.get_closest_marker(name) for name in ("anywhere", "browser")):
        return False
    fixture_names = getattr(item, "fixturenames", ())
    is_marked = any(item.get_closest_marker(name) for name in ("django_db", "server"))
    return is_marked or not DATABASE_FIXTURES.isdisjoint(fixture_names)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests whose shared data is missing, and deselect tests that do not depend on the database.

    The latter run with SQLite, and on other databases only with EVERYTHING=1. Failed browser tests are rerun
    once: on a busy machine a click can come before the page is ready.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    if not SHARED.is_dir():
        skip = pytest.mark.skip("the reference data in ../shared is not here")
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(skip)
    if connection.vendor != "sqlite" and not os.environ.get("EVERYTHING"):
        config.hook.pytest_deselected(items=[item for item in items if not depends_on_database(item)])
        items[:] = [item for item in items if depends_on_database(item)]


def pytest_collection_finish() -> None:
    """Exclude the five thousand collected tests from garbage collection, which is faster."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _clear_caches() -> None:
    """Clear the caches of the process, because primary keys and revisions start again with each test.

    Django's cache counts requests of the API and sign-ins, by primary keys and addresses.
    """
    per_revision.clear_caches()
    cache.clear()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Store the tables of SQLite in a file, as a site does, with a connection for each thread of a server.

    A database in memory has one connection for all threads. One thread may then consume the result of
    another's query: a session is not found, and a signed-in user has to sign in again.
    """
    for database in site_settings.DATABASES.values():
        if database["ENGINE"].endswith("sqlite3"):
            path = tmp_path_factory.mktemp("database") / "plenary.sqlite3"
            database.setdefault("TEST", {})["NAME"] = str(path)


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Copy the new SQLite database, and restore this copy instead of flushing after a test.

    At the end, terminate the sessions of killed processes, which PostgreSQL may not have noticed yet.
    """
    with pytest.MonkeyPatch.context() as patch:
        if connection.vendor == "sqlite":
            with django_db_blocker.unblock():
                save_tables(tmp_path_factory.mktemp("tables") / "tables.sqlite3")
            patch.setattr(flush.Command, "handle", restore_tables)
        yield
    with django_db_blocker.unblock():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )


@pytest.fixture(scope="module")
def made_once(django_db_setup: None, django_db_blocker: Any) -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """Return a function that makes rows for all tests of a module; each test rolls back its own changes.

    All tests of the module see these rows, and none may use `transactional_db`.
    """

    def run_unblocked(make: Callable[[], Any]) -> Any:
        with django_db_blocker.unblock():
            return make()

    block = transaction.atomic()
    run_unblocked(block.__enter__)
    yield run_unblocked
    run_unblocked(lambda: transaction.set_rollback(True))
    run_unblocked(lambda: block.__exit__(None, None, None))


@pytest.fixture(autouse=True)
def _index_on_demand(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Update the search index when a search finds it stale, as most tests never search.

    Tests of `operations.indexing` mark themselves with `index_follows`: each change is indexed at once.
    """
    if not request.node.get_closest_marker("index_follows"):
        monkeypatch.setattr(update, "update_elsewhere", update.refresh)
        monkeypatch.setattr(changed_rows, "FOLLOWERS", [])


@pytest.fixture(autouse=True)
def _test_settings(settings: Settings, tmp_path: Path) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.STATIC_ROOT = tmp_path
    memory = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": str(tmp_path)}
    settings.CACHES = {**settings.CACHES, "imports": memory}


@pytest.fixture
def edition(db: None) -> Edition:
    """Create an empty edition in Los Angeles in 2021 whose papers and schedule are public."""
    return make_edition()


@pytest.fixture
def shared() -> Path:
    """Return the folder of real input next to the repository; skip the test if it is missing."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared with real input is not here")
    return SHARED


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of Debian's Chromium."""
    executable = next((path for path in CHROMIUMS if path.exists()), None)
    if executable is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    return str(executable)
