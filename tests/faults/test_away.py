"""A database, cache or disk is unavailable: cached pages are served, others return 503, no data is lost."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from tests.faults.serving import Cluster, Site, Slowly, cluster, install, program, running, serve
from tests.processes import HOST, environment, free_port, manage, start

KEPT, OTHER = "/2031/papers/", "/2031/schedule/"
STAR = "/2031/agenda/stars/"
# Seconds that a visitor may have to wait, the same with a slow database, and the delay of each query.
BOUND, SLOW_BOUND, DELAY = 10.0, 30.0, 0.2

on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql" or not program("initdb"), reason="needs PostgreSQL's own programs"
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
    with cluster() as found:
        install(folder, DATABASE_URL=found.address())
        yield found, folder


def is_away(site: Site, path: str, method: str = "GET", body: str = "") -> bool:
    """Return whether the response is a 503 with Retry-After, in bounded time."""
    answer = site.ask(path, method, body)
    return (answer.status, answer.headers.get("retry-after")) == (503, "30") and answer.seconds < BOUND


@pytest.mark.server
@on_postgresql
def test_postgresql_restarted(own_cluster: tuple[Cluster, Path]) -> None:
    own, folder = own_cluster
    with serve(folder, DATABASE_URL=own.address()) as site:
        kept, star = site.ask(KEPT), site.ask(STAR, "POST", "star=")
        own.stop()
        still, others = site.ask(KEPT), [is_away(site, OTHER), is_away(site, STAR, "POST", "star=")]
        ready = is_away(site, "/readyz")
        own.start()
        back, again = site.until("/readyz", 200), site.ask(OTHER)
    verified = manage(folder, "verify -v 0", DATABASE_URL=own.address())

    assert (kept.status, star.status, still.status, still.text) == (200, 303, 200, kept.text)
    assert (others, ready) == ([True, True], True)
    assert (back.status, again.status) == (200, 200)
    assert verified.returncode == 0, verified.stdout


@pytest.mark.server
@on_postgresql
def test_slow_database(own_cluster: tuple[Cluster, Path]) -> None:
    own, folder = own_cluster
    way = Slowly(own.port)
    with serve(folder, DATABASE_URL=own.address(way.port)) as site:
        site.ask(KEPT)
        way.delay = DELAY
        kept = [site.ask(KEPT) for _ in range(5)]
        other = site.ask(OTHER)
    way.close()

    assert [answer.status for answer in [*kept, other]] == [200] * 6
    # Every quarter of a second, one request waits for the revisions, which takes two queries.
    assert min(answer.seconds for answer in kept) < other.seconds < SLOW_BOUND
    assert other.seconds > DELAY


@on_sqlite
@pytest.mark.skipif(not program("redis-server"), reason="needs redis-server")
def test_cache_server_gone(installed: Path, tmp_path: Path) -> None:
    port = free_port()
    words = ["--port", str(port), "--bind", HOST, "--save", "", "--dir", str(tmp_path)]
    server = [program("redis-server"), *words]
    with serve(installed, CACHE_URL=f"redis://{HOST}:{port}/0") as site:
        with running(server, port, environment(tmp_path)):
            before = [site.ask("/readyz"), site.ask(KEPT)]
        away = [site.ask(path) for path in (KEPT, OTHER, "/api/v1/papers/", "/readyz")]
        with running(server, port, environment(tmp_path)):
            back = site.until("/readyz", 200)

    assert [answer.status for answer in before] == [200, 200]
    assert [answer.status for answer in away] == [200, 200, 200, 503]
    assert max(answer.seconds for answer in away) < BOUND
    assert back.status == 200


@on_sqlite
def test_disk_full(installed: Path) -> None:
    with serve(installed, PYTHONDONTWRITEBYTECODE="1") as site:
        kept = site.ask(KEPT)
        full(site, 0)
        still, other = site.ask(KEPT), is_away(site, STAR, "POST", "star=")
        full(site, resource.RLIM_INFINITY)
        again = [site.ask(STAR, "POST", "star="), site.ask(OTHER)]

    assert (still.status, still.text, other) == (200, kept.text, True)
    assert [answer.status for answer in again] == [303, 200]
    assert manage(installed, "verify -v 0").returncode == 0


def full(site: Site, most: int) -> None:
    """Limit the size of files that the site may write, in bytes, which simulates a full disk."""
    for process in site.workers():
        _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
        resource.prlimit(process, resource.RLIMIT_FSIZE, (most, hard))


BACKUP = """
import resource
from django.core.management import call_command
from papers.models import Paper
Paper.objects.count()
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
call_command("backup", "{target}")
"""


@on_sqlite
def test_backup_on_a_full_disk_leaves_nothing(installed: Path, tmp_path: Path) -> None:
    # Write no bytecode, because the limit would truncate those files too.
    began = start(installed, BACKUP.format(target=tmp_path / "backups"), PYTHONDONTWRITEBYTECODE="1")
    _, said = began.communicate()

    assert "No backup was made" in said
    assert [*(tmp_path / "backups").iterdir()] == []
