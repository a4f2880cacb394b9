"""A restart: new processes have the first pages, and one reader's rendering serves all who wait for it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.deploy.test_nginx import NGINX, Proxy, write_configuration
from tests.faults.serving import METRICS_TOKEN, Site, install, serve
from tests.processes import free_port, manage

pytestmark = pytest.mark.skipif(
    not Path(NGINX).exists(), reason="nginx is not installed (apt-get install nginx)"
)
SITE_URL = "http://127.0.0.1"
WARMED = ["/2031/", "/2031/schedule/2031-07-06/", "/2031/schedule/2031-07-06/?view=grid"]
SLOW, OTHER = "/2031/papers/", "/people/"
READERS = 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("restart") / "var"
    install(folder)
    return folder


def test_new_process_answers_with_rendered_pages(folder: Path) -> None:
    with serve(folder, METRICS_TOKEN=METRICS_TOKEN, SITE_URL=SITE_URL, WARM_SECONDS="60") as site:
        statuses = [site.request(path).status for path in WARMED]
        renderings = site.renderings()
        other_status = site.request(OTHER).status

        assert statuses == [200] * len(WARMED)
        assert (renderings, other_status, site.renderings()) == (0, 200, 1)


def test_command_lets_the_running_site_render_its_pages(folder: Path) -> None:
    with serve(folder, METRICS_TOKEN=METRICS_TOKEN, SITE_URL=SITE_URL) as site:
        address = f"http://127.0.0.1:{site.port}"
        result = manage(folder, "warm --pages 12 --address", address, SITE_URL=SITE_URL)
        renderings = site.renderings()
        statuses = [site.request(path).status for path in WARMED]

        assert result.returncode == 0, result.stderr
        assert result.stdout.startswith("12 pages in ")
        assert (renderings, statuses, site.renderings()) == (12, [200] * len(WARMED), 12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--edition 1999", "There is no public edition “1999”."),
        ("--pages 0", "--pages: say 1 or more."),
        ("--address here", "“here” is no address: write it as http://127.0.0.1:8000."),
        ("--address http://127.0.0.1:1", "http://127.0.0.1:1 does not answer: "),
    ],
)
def test_command_says_what_is_wrong(folder: Path, arguments: str, message: str) -> None:
    result = manage(folder, f"warm {arguments} --skip-checks")

    assert result.returncode == 1
    assert message in result.stderr


@pytest.fixture
def ports() -> list[int]:
    return [free_port(), free_port()]


@pytest.fixture
def proxy(ports: list[int], tmp_path: Path) -> Iterator[Proxy]:
    """Yield nginx in front of two processes, which the test starts."""
    own_ports = free_port(), free_port()
    proxy = Proxy(tmp_path, write_configuration(tmp_path, ports, own_ports), own_ports)
    yield proxy
    proxy.stop()


def test_one_rendering_of_a_page_for_all_readers_of_all_processes(
    folder: Path, ports: list[int], proxy: Proxy
) -> None:
    def read(path: str) -> list[int]:
        with ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(lambda _: proxy.request(path)[0], range(READERS)))

    def start(stack: ExitStack, port: int) -> Site:
        return stack.enter_context(serve(folder, 1, port, METRICS_TOKEN=METRICS_TOKEN, SITE_URL=SITE_URL))

    statuses, renderings = [], []
    for _ in range(2):
        # The second time after a restart of both, while nginx still stores the page.
        with ExitStack() as stack:
            processes = [start(stack, port) for port in ports]
            statuses += read(SLOW)
            renderings.append(sum(process.renderings() for process in processes))

    assert {*statuses} == {200}
    assert renderings == [1, 1]
