"""What every test needs: plain static files, cheap passwords, and reasons for what is missing."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings as site_settings
from django.core.management.commands import flush
from django.db import connection, transaction
from pytest_django import Settings

from conference.models import Edition
from pagecache import per_revision
from tests.factories import make_edition
from tests.processes import keep_tables, restore_tables

SHARED = Path(__file__).resolve().parents[2] / "shared"
# What a test changes it finds changed.
site_settings.PAGE_CACHE_STALE_SECONDS = 0.0

# Debian's Chromium. Its build without windows shows the same and opens a page in half the time.
CHROMIUMS = [Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")]

# Workers, and the many processes that tests start, compile a module once, whatever the environment says.
sys.dont_write_bytecode = False

# A busy machine is no defect: how long something takes is measured in bench/.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


# What a test that uses a database asks for, itself or through other fixtures.
DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "django_db_setup"}


def depends_on_database(item: pytest.Item) -> bool:
    """Whether another database could make a difference to a test."""
    if any(item.get_closest_marker(name) for name in ("anywhere", "browser")):
        return False
    asked = getattr(item, "fixturenames", ())
    is_marked = any(item.get_closest_marker(name) for name in ("django_db", "server"))
    return is_marked or not DATABASE_FIXTURES.isdisjoint(asked)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs data beside the checkout where it is missing; leave out what every database does alike.

    The latter runs with SQLite, and with EVERYTHING=1 on others too. What failed in a browser is tried once
    more, and counted as a rerun: on a busy machine a click can come before the page is ready.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    if not SHARED.is_dir():
        missing = pytest.mark.skip("the reference data in ../shared is not here")
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(missing)
    if connection.vendor != "sqlite" and not os.environ.get("EVERYTHING"):
        config.hook.pytest_deselected(items=[item for item in items if not depends_on_database(item)])
        items[:] = [item for item in items if depends_on_database(item)]


def pytest_collection_finish() -> None:
    """Keep the collector from walking through five thousand tests whenever one makes many objects."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def forget() -> None:
    """Let no test find what another made this process keep: keys and stamps begin anew with each."""
    per_revision.clear_caches()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite keeps its tables in a file, as a site does, and each thread of a server has its own connection.

    In memory all share one, where whoever asks may take away the answer to the same question of another:
    a session is not found, and somebody who is signed in is asked to sign in.
    """
    for database in site_settings.DATABASES.values():
        if database["ENGINE"].endswith("sqlite3"):
            file = tmp_path_factory.mktemp("database") / "plenary.sqlite3"
            database.setdefault("TEST", {})["NAME"] = str(file)


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """With SQLite keep a copy of the new database, which takes the place of that which a test has written to.

    In the end, end the sessions of processes that tests killed: PostgreSQL may not have noticed yet.
    """
    with pytest.MonkeyPatch.context() as patch:
        if connection.vendor == "sqlite":
            with django_db_blocker.unblock():
                keep_tables(tmp_path_factory.mktemp("tables") / "tables.sqlite3")
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
    """A function that makes rows for all tests of a module; each takes back its own changes of them.

    All tests of the module meet these rows, and none may ask for a database without a transaction.
    """

    def made(make: Callable[[], Any]) -> Any:
        with django_db_blocker.unblock():
            return make()

    block = transaction.atomic()
    made(block.__enter__)
    yield made
    made(lambda: transaction.set_rollback(True))
    made(lambda: block.__exit__(None, None, None))


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
    """An edition in Los Angeles in 2021 whose papers and schedule are public, with nothing in it."""
    return make_edition()


@pytest.fixture
def shared() -> Path:
    """The folder of real input beside the repository."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared with real input is not here")
    return SHARED


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Debian's Chromium."""
    found = next((path for path in CHROMIUMS if path.exists()), None)
    if found is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    return str(found)
