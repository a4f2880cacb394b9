"""The first view of a day on a telephone in a slow network: how much is sent, when its largest part stands.

`uv run python bench/firstview.py` fills a SQLite file by `bench.generate` and forgets it; `--database URL`
names a database for this alone. Needs nginx and Debian's Chromium. Prints a Markdown table.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import servers  # noqa: E402
from bench.pages import answer, pages, program  # noqa: E402

TIMES = 5
CHROMIUM = "/usr/bin/chromium"
WINDOW = {"width": 390, "height": 844}
# Lighthouse's slow 4G: milliseconds of a round trip, bytes a second.
NETWORKS: dict[str, dict[str, float]] = {
    "slow 4G": {"latency": 150, "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 750_000 / 8},
    "this machine": {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
}
SHOWN = ("day", "day as grid", "paper")
LARGEST = """() => new Promise(told => new PerformanceObserver(list => {
  const last = list.getEntries().at(-1);
  told([last.startTime, `${last.element?.tagName} ${last.element?.className}`, last.size]);
}).observe({type: "largest-contentful-paint", buffered: true}))"""
FIRST = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure first views.")
    asked.add_argument("--papers", type=int, default=6_000)
    asked.add_argument("--database", help="a database for this alone; filled if it is empty")
    options = asked.parse_args()
    with program(options.database, options.papers) as folder:
        addresses = {name: address for name, address in pages().items() if name in SHOWN}
        behind = {"BEHIND_PROXY": "true"}
        with (
            servers.granian("website.wsgi:application", behind) as site,
            servers.micro_cache(folder, site) as front,
        ):
            for address in addresses.values():
                answer(site + address)
            report(front, addresses)


def report(front: str, addresses: dict[str, str]) -> None:
    """Print what a browser with nothing kept sees of each page."""
    from playwright.sync_api import sync_playwright

    print("| page | network | KB of the page | KB of all | requests | first paint ms | largest ms | which |")
    print("|---|---|---|---|---|---|---|---|")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, address in addresses.items():
            for network, limits in NETWORKS.items():
                views = [view(browser, front + address, limits) for _ in range(TIMES)]
                part = {key: median(one[key] for one in views) for key in ("page", "all", "first", "largest")}
                sizes = f"{part['page'] / 1000:.1f} | {part['all'] / 1000:.1f} | {views[0]['requests']}"
                times = f"{part['first']:.0f} | {part['largest']:.0f} | {views[0]['which']}"
                print(f"| {name} | {network} | {sizes} | {times} |", flush=True)
        browser.close()


def view(browser: Any, address: str, limits: dict[str, float]) -> dict[str, Any]:
    """Open a page in a browser that has nothing of the site."""
    context = browser.new_context(viewport=WINDOW, device_scale_factor=2, is_mobile=True, has_touch=True)
    page = context.new_page()
    wire = context.new_cdp_session(page)
    sent: dict[str, float] = defaultdict(float)
    whose: dict[str, str] = {}
    wire.on("Network.responseReceived", lambda said: whose.update({said["requestId"]: said["type"]}))
    wire.on(
        "Network.loadingFinished", lambda said: sent.update({said["requestId"]: said["encodedDataLength"]})
    )
    wire.send("Network.enable")
    wire.send("Network.emulateNetworkConditions", {"offline": False, **limits})
    page.goto(address, wait_until="load", timeout=60_000)
    page.wait_for_timeout(500)
    largest, which, _size = page.evaluate(LARGEST)
    found = {
        "page": sum(size for key, size in sent.items() if whose.get(key) == "Document"),
        "all": sum(sent.values()),
        "requests": len(sent),
        "first": page.evaluate(FIRST),
        "largest": largest,
        "which": which.strip(),
    }
    context.close()
    return found


if __name__ == "__main__":
    main()
