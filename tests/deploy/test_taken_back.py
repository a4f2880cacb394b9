"""A paper set to draft is gone from nginx and all processes within 13 seconds of the commit.

nginx is restarted with its stored answers, and so are the processes, or they are idle.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
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
        yield [stack.enter_context(serve_one(folder)) for _ in range(2)]


def serve_one(folder: Path, port: int = 0) -> AbstractContextManager[Site]:
    return serve(folder, 1, port, PAGE_CACHE_STALE_SECONDS="10", SITE_URL="http://127.0.0.1")


def restart(stack: ExitStack, folder: Path, processes: list[Site]) -> list[Site]:
    """Kill all processes, and return those that replace them."""
    for process in processes:
        process.kill()
    return [stack.enter_context(serve_one(folder, process.port)) for process in processes]


@pytest.fixture
def proxy(processes: list[Site], tmp_path: Path) -> Iterator[Proxy]:
    """Yield nginx in front of them."""
    ports = free_port(), free_port()
    configuration = write_configuration(tmp_path, [process.port for process in processes], ports)
    proxy = Proxy(tmp_path, configuration, ports)
    yield proxy
    proxy.stop()


@pytest.mark.parametrize("is_restarted", [False, True])
def test_withdrawn_paper_is_gone_in_time_everywhere(
    folder: Path, processes: list[Site], proxy: Proxy, is_restarted: bool
) -> None:
    page, talk, title = output(start(folder, FIND)).strip().split("|")
    idle = [page, f"/{EDITION}/presentations/{talk}.ics", API]
    # The list is requested all the time, the others only before the change and after the bound.
    shown = [title in proxy.request(path)[2] for path in (*idle, LIST)]
    shown += [title in process.request(path).text for process in processes for path in idle]
    output(start(folder, WITHDRAW))
    committed = time.monotonic()
    last_shown = 0.0
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        restarting = pool.submit(restart, stack, folder, processes) if is_restarted else None
        while (seconds := time.monotonic() - committed) < BOUND_SECONDS:
            if title in proxy.request(LIST)[2]:
                last_shown = seconds
            time.sleep(0.2)
        at_end = restarting.result() if restarting else processes
        proxy.restart()
        through_nginx = {path: proxy.request(path)[2] for path in (*idle, LIST)}
        direct = {path: process.request(path).text for process in at_end for path in idle}

    assert shown == [True] * (4 + 6)
    assert last_shown < BOUND_SECONDS
    assert [path for path, text in {**through_nginx, **direct}.items() if title in text] == []
