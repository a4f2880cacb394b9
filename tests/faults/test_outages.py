"""A database, cache or disk is unavailable: cached pages are served, others return 503, no data is lost."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from tests.faults.serving import Cluster, Site, SlowProxy, cluster, find_program, install, running, serve
from tests.processes import HOST, environment, free_port, manage, start

CACHED, UNCACHED = "/2031/papers/", "/2031/schedule/"
STAR = "/2031/agenda/stars/"
# Seconds that a visitor may have to wait, the same with a slow database, and the delay of each query.
BOUND, SLOW_BOUND, DELAY = 10.0, 30.0, 0.2

on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql" or not find_program("initdb"), reason="needs PostgreSQL's own programs"
)
# Cache and disk do not depend on the database engine.
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="runs with SQLite alone")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an installation on SQLite."""
    folder = tmp_path_factory.mktemp("installed")
    install(folder)
    return folder


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Path]]:
    """Yield a temporary PostgreSQL server and the folder of an installation on it."""
    folder = tmp_path_factory.mktemp("own")
    with cluster() as server:
        install(folder, DATABASE_URL=server.address())
        yield server, folder


def is_unavailable(site: Site, path: str, method: str = "GET", body: str = "") -> bool:
    """Return whether the response is a 503 with Retry-After, in bounded time."""
    response = site.request(path, method, body)
    return (response.status, response.headers.get("retry-after")) == (503, "30") and response.seconds < BOUND


@pytest.mark.server
@on_postgresql
def test_postgresql_is_stopped_and_restarted(own_cluster: tuple[Cluster, Path]) -> None:
    server, folder = own_cluster
    with serve(folder, DATABASE_URL=server.address(), PAGE_CACHE_STALE_SECONDS="10") as site:
        cached, star = site.request(CACHED), site.request(STAR, "POST", "star=")
        server.stop()
        cached_while_down, unavailable = (
            site.request(CACHED),
            [is_unavailable(site, UNCACHED), is_unavailable(site, STAR, "POST", "star=")],
        )
        is_unready = is_unavailable(site, "/readyz")
        server.start()
        ready, uncached = site.wait_for_status("/readyz", 200), site.request(UNCACHED)
    verified = manage(folder, "verify -v 0", DATABASE_URL=server.address())

    assert (cached.status, star.status, cached_while_down.status, cached_while_down.text) == (
        200,
        303,
        200,
        cached.text,
    )
    assert (unavailable, is_unready) == ([True, True], True)
    assert (ready.status, uncached.status) == (200, 200)
    assert verified.returncode == 0, verified.stdout


@pytest.mark.server
@on_postgresql
def test_slow_database_delays_only_uncached_pages(own_cluster: tuple[Cluster, Path]) -> None:
    server, folder = own_cluster
    proxy = SlowProxy(server.port)
    with serve(folder, DATABASE_URL=server.address(proxy.port)) as site:
        site.request(CACHED)
        proxy.delay = DELAY
        cached = [site.request(CACHED) for _ in range(5)]
        uncached = site.request(UNCACHED)
    proxy.close()

    assert [response.status for response in [*cached, uncached]] == [200] * 6
    # Every quarter of a second, one request waits for the revisions, which takes two queries.
    assert min(response.seconds for response in cached) < uncached.seconds < SLOW_BOUND
    assert uncached.seconds > DELAY


@on_sqlite
@pytest.mark.skipif(not find_program("redis-server"), reason="needs redis-server")
def test_pages_are_served_without_the_cache_server(installed: Path, tmp_path: Path) -> None:
    port = free_port()
    options = ["--port", str(port), "--bind", HOST, "--save", "", "--dir", str(tmp_path)]
    server = [find_program("redis-server"), *options]
    with serve(installed, CACHE_URL=f"redis://{HOST}:{port}/0") as site:
        with running(server, port, environment(tmp_path)):
            before = [site.request("/readyz"), site.request(CACHED)]
        during = [site.request(path) for path in (CACHED, UNCACHED, "/api/v1/papers/", "/readyz")]
        with running(server, port, environment(tmp_path)):
            after = site.wait_for_status("/readyz", 200)

    assert [response.status for response in before] == [200, 200]
    assert [response.status for response in during] == [200, 200, 200, 503]
    assert max(response.seconds for response in during) < BOUND
    assert after.status == 200


@on_sqlite
def test_full_disk_prevents_only_writes(installed: Path) -> None:
    with serve(installed, PYTHONDONTWRITEBYTECODE="1") as site:
        cached = site.request(CACHED)
        limit_file_size(site, 0)
        cached_while_full, is_unsaved = site.request(CACHED), is_unavailable(site, STAR, "POST", "star=")
        uncached_while_full = [site.request(path).status for path in (UNCACHED, "/api/v1/papers/")]
        limit_file_size(site, resource.RLIM_INFINITY)
        after = [site.request(STAR, "POST", "star="), site.request(UNCACHED)]

    assert (cached_while_full.status, cached_while_full.text, is_unsaved) == (200, cached.text, True)
    assert uncached_while_full == [200, 200]
    assert [answer.status for answer in after] == [303, 200]
    assert manage(installed, "verify -v 0").returncode == 0


def limit_file_size(site: Site, max_bytes: int) -> None:
    """Limit the size of files that the site may write, in bytes, which simulates a full disk."""
    for process in site.process_ids():
        _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
        resource.prlimit(process, resource.RLIMIT_FSIZE, (max_bytes, hard))


BACKUP = """
import resource
from django.core.management import call_command
from papers.models import Paper
Paper.objects.count()
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
call_command("backup", "{target}")
"""


@on_sqlite
def test_backup_on_a_full_disk_leaves_no_file(installed: Path, tmp_path: Path) -> None:
    # Write no bytecode, because the limit would truncate those files too.
    process = start(installed, BACKUP.format(target=tmp_path / "backups"), PYTHONDONTWRITEBYTECODE="1")
    _, stderr = process.communicate()

    assert "No backup was made" in stderr
    assert [*(tmp_path / "backups").iterdir()] == []
