"""How many answers a second a site gives, how long its files take, and what memory it holds."""

import json
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

from bench import servers, workers
from bench.pretalxasked import Places, entries

CONNECTIONS = 8
# As a browser asks: without it pretalx draws the schedule with letters.
HEADERS = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
# What is kept is kept compressed, as every browser takes it.
COMPRESSED = {**HEADERS, "Accept-Encoding": "gzip"}
PATIENCE = 300
# Seconds before the memory is read.
SETTLED = 5
# Of fewer answers wrk makes no rate.
FEW = 10
# wrk asks for one address after the other.
SCRIPT = """
local places, number = {{ {places} }}, 0
request = function()
  number = number % #places + 1
  return wrk.format("GET", places[number])
end
"""


@dataclass(slots=True)
class Measured:
    """Answers a second; of files the seconds for one, and its entries; of each process MB, and its share."""

    rates: dict[str, float] = field(default_factory=dict)
    files: dict[str, tuple[float, int]] = field(default_factory=dict)
    memory: list[tuple[float, float]] = field(default_factory=list)


def measured(
    site: str,
    server: str,
    asked: dict[str, Places],
    lasting: int,
    folder: Path,
    headers: Mapping[str, str] = HEADERS,
) -> Measured:
    """Ask for everything once, and then, but for whole files, again and again with these headers."""
    found = Measured()
    for name, places in asked.items():
        began = time.perf_counter()
        bodies = [fetched(site + address) for address in places.addresses]
        took = time.perf_counter() - began
        if not places.shows(bodies):
            raise SystemExit(f"{site}{places.addresses[0]} does not show what it should.")
        if places.is_file:
            found.files[name] = (took, entries(bodies[0]))
        else:
            found.rates[name] = rate(site, places, lasting, folder, headers)
        print(server, name, found.files.get(name) or found.rates[name], file=sys.stderr, flush=True)
    # What answers were made of goes, and is given back.
    time.sleep(SETTLED)
    processes = workers.processes(int(site.rpartition(":")[2]), server)
    found.memory = [(workers.megabytes(process), workers.share(process)) for process in processes]
    return found


def fetched(address: str) -> bytes:
    """Return one answer."""
    with urlopen(Request(address, headers=HEADERS), timeout=PATIENCE) as reply:  # noqa: S310
        body: bytes = reply.read()
        return body


def rate(site: str, places: Places, lasting: int, folder: Path, headers: Mapping[str, str]) -> float:
    """Return answers a second. Where too few would come in that time, each process is asked once."""
    parts = len(places.addresses) if places.is_whole else 1
    # Here too the first time is for loading.
    _, number = (slow_rate(site, places) for _ in range(2))
    if number * parts * lasting < FEW:
        return number
    script = folder / "places.lua"
    script.write_text(SCRIPT.format(places=", ".join(json.dumps(one) for one in places.addresses)))
    # The second time each process has loaded what it needs, and kept what it keeps.
    for _ in range(2):
        number = servers.rate(site, lasting, headers, CONNECTIONS, script)
    return number / parts


def slow_rate(site: str, places: Places) -> float:
    """Return answers a second while each process works at one."""
    addresses = places.addresses if places.is_whole else places.addresses[:1]
    asked = [f"{site}{address}" for address in addresses for _ in range(servers.WORKERS)]
    began = time.perf_counter()
    with ThreadPoolExecutor(servers.WORKERS) as pool:
        list(pool.map(fetched, asked))
    return servers.WORKERS / (time.perf_counter() - began)
