"""A paper set to draft is gone from nginx and all processes within 13 seconds of the commit."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.deploy.test_nginx import NGINX, Proxy, write_configuration
from tests.faults.serving import Site, install, serve
from tests.processes import free_port, output, start

pytestmark = pytest.mark.skipif(
    not Path(NGINX).exists(), reason="nginx is not installed (apt-get install nginx)"
)
BOUND_SECONDS = 13.0
EDITION = "2031"
LIST, API = f"/{EDITION}/papers/", f"/api/v1/papers/?edition={EDITION}"
FIND = """
from papers.models import Paper
paper = Paper.objects.filter(presentations__isnull=False).order_by("pk").first()
print(paper.get_absolute_url(), paper.presentations.first().uid, paper.title, sep="|")
"""
WITHDRAW = """
from papers.models import Paper
paper = Paper.objects.filter(presentations__isnull=False).order_by("pk").first()
paper.status = "draft"
paper.save()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    install(tmp_path / "var")
    return tmp_path / "var"


@pytest.fixture
def processes(folder: Path) -> Iterator[list[Site]]:
    """Yield two processes of the application."""
    with ExitStack() as stack:
        servers = (
            serve(folder, PAGE_CACHE_STALE_SECONDS="10", SITE_URL="http://127.0.0.1") for _ in range(2)
        )
        yield [stack.enter_context(server) for server in servers]


@pytest.fixture
def proxy(processes: list[Site], tmp_path: Path) -> Iterator[Proxy]:
    """Yield nginx in front of them."""
    ports = free_port(), free_port()
    configuration = write_configuration(tmp_path, [process.port for process in processes], ports)
    proxy = Proxy(tmp_path, configuration, ports)
    yield proxy
    proxy.stop()


def test_withdrawn_paper_is_gone_in_time_everywhere(
    folder: Path, processes: list[Site], proxy: Proxy
) -> None:
    page, talk, title = output(start(folder, FIND)).strip().split("|")
    idle = [page, f"/{EDITION}/presentations/{talk}.ics", API]
    # The list is requested all the time, the others only before the change and after the bound.
    shown = [title in proxy.request(path)[2] for path in (*idle, LIST)]
    shown += [title in process.request(path).text for process in processes for path in idle]
    output(start(folder, WITHDRAW))
    committed = time.monotonic()
    last_shown = 0.0
    while (seconds := time.monotonic() - committed) < BOUND_SECONDS:
        if title in proxy.request(LIST)[2]:
            last_shown = seconds
        time.sleep(0.2)
    proxy.restart()
    through_nginx = {path: proxy.request(path)[2] for path in (*idle, LIST)}
    direct = {path: process.request(path).text for process in processes for path in idle}

    assert shown == [True] * (4 + 6)
    assert last_shown < BOUND_SECONDS
    assert [path for path, text in {**through_nginx, **direct}.items() if title in text] == []
