"""A replica stops, lags behind and comes back: visitors read the primary database meanwhile."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from tests.faults.serving import Cluster, Site, cluster, find_program, install, serve
from tests.processes import output, start

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(
        connection.vendor != "postgresql" or not find_program("pg_basebackup"),
        reason="needs PostgreSQL's own programs",
    ),
]
PAGES = ["/2031/schedule/", "/2031/papers/", "/people/", "/api/v1/papers/", "/2031/papers.csv"]
LIST = "/2031/papers/"
SECONDS = 5.0
RENAME = """
from papers.models import Paper
paper = Paper.objects.filter(presentations__isnull=False).order_by("pk").first()
paper.title = "{title}"
paper.save()
"""


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Cluster, Path]]:
    """Yield a server with an installation, a streaming replica of it, and the folder of the installation."""
    folder = tmp_path_factory.mktemp("replicated")
    with cluster() as primary:
        install(folder, DATABASE_URL=primary.address())
        with cluster(primary) as standby:
            yield primary, standby, folder


def checks(site: Site) -> tuple[int, dict[str, str]]:
    response = site.request("/readyz")
    states: dict[str, str] = json.loads(response.text)["checks"]
    return response.status, states


def rename(folder: Path, primary: Cluster, title: str) -> None:
    output(start(folder, RENAME.format(title=title), DATABASE_URL=primary.address()))


def wait_for_text(site: Site, text: str, seconds: float = SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if text in site.request(LIST).text:
            return True
        time.sleep(0.1)
    return False


def test_replica_stops_and_comes_back(servers: tuple[Cluster, Cluster, Path]) -> None:
    primary, standby, folder = servers
    with serve(folder, DATABASE_URL=primary.address(), DATABASE_REPLICA_URL=standby.address()) as site:
        before = checks(site), [site.request(path).status for path in PAGES]
        reads_before = standby_reads(standby)
        site.request("/2031/schedule/?before")
        is_used = standby_reads(standby) > reads_before
        standby.stop()
        # Each address is new, so that no page is in memory.
        during = [site.request(f"{path}?language=x") for path in PAGES[:3]] + [
            site.request(path) for path in PAGES
        ]
        checks_during = checks(site)
        rename(folder, primary, "While the replica is down")
        is_changed = wait_for_text(site, "While the replica is down")
        standby.start()
        time.sleep(10.5)
        site.request(LIST)
        reads = standby_reads(standby)
        time.sleep(0.5)
        after = [site.request(f"{path}?after") for path in PAGES[:3]]
        is_used_again = standby_reads(standby) > reads
        checks_after = checks(site)

    assert before[0] == (200, {
        "database": "ok: postgresql",
        "migrations": "ok: all applied",
        "replica": "ok: 0 changes behind",
        "cache": "ok: in each process",
        "bucket": "ok: not used",
        "disk": "ok: enough room",
        "worker": "ok: not used",
    })  # fmt: skip
    assert (before[1], is_used) == ([200] * 5, True)
    assert [response.status for response in during] == [200] * 8
    assert max(response.seconds for response in during) < SECONDS
    assert checks_during == (200, before[0][1] | {
        "replica": "degraded: does not answer; visitors read the primary database",
    })  # fmt: skip
    assert is_changed
    assert [response.status for response in after] == [200] * 3
    assert (is_used_again, checks_after) == (True, before[0])


def standby_reads(standby: Cluster) -> int:
    """Return how many transactions the replica has had, after a pause for its statistics."""
    time.sleep(1.2)
    with psycopg.connect(standby.address(), autocommit=True) as reader:
        row = reader.execute(
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'"
        ).fetchone()
    assert row
    return int(row[0])


def test_replica_lags_behind(servers: tuple[Cluster, Cluster, Path]) -> None:
    primary, standby, folder = servers
    with serve(folder, DATABASE_URL=primary.address(), DATABASE_REPLICA_URL=standby.address()) as site:
        site.request(LIST)
        standby.execute("SELECT pg_wal_replay_pause()")
        rename(folder, primary, "While the replica is paused")
        is_changed = wait_for_text(site, "While the replica is paused")
        # Longer than a lagging replica is avoided.
        time.sleep(10.5)
        stays_changed = [wait_for_text(site, "While the replica is paused", 0.3) for _ in range(5)]
        paused = checks(site)
        standby.execute("SELECT pg_wal_replay_resume()")
        time.sleep(10.5)
        resumed_text, resumed = wait_for_text(site, "While the replica is paused"), checks(site)

    assert (is_changed, stays_changed, resumed_text) == (True, [True] * 5, True)
    assert paused[1]["replica"].endswith("changes behind; visitors read the primary database")
    assert (paused[0], paused[1]["replica"].split(":")[0]) == (200, "degraded")
    assert resumed[1]["replica"] == "ok: 0 changes behind"


def test_primary_stops_while_the_replica_answers(servers: tuple[Cluster, Cluster, Path]) -> None:
    primary, standby, folder = servers
    with serve(folder, DATABASE_URL=primary.address(), DATABASE_REPLICA_URL=standby.address()) as site:
        site.request(LIST)
        primary.stop()
        statuses = [site.request(path).status for path in PAGES]
        status, states = checks(site)
        primary.start()

    assert statuses == [200] * 5
    assert status == 503
    assert {name: states[name] for name in ("database", "replica", "worker")} == {
        "database": "failing: does not answer",
        "replica": "ok: answers",
        "worker": "ok: not used",
    }
