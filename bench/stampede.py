"""A crowd at one page while it is being edited: how often each version is written, and how long readers wait.

`uv run python bench/stampede.py` fills a SQLite file by `bench.generate` and forgets it; `--database URL`
names a database for this alone, with `CACHE_URL` processes share their pages. Needs wrk. Prints Markdown.
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import servers  # noqa: E402
from bench.pages import answer, pages, program  # noqa: E402

READERS = 200
# Milliseconds between an answer and the same reader's next question.
PAUSE = 100
EDIT_EVERY = 1.0
EDITED = "Stampede, version"
TOKEN = "counting-the-stampede"  # noqa: S105  for this run alone
VIEW = 'plenary_view_seconds_count{view="schedule:day"}'
MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(slots=True)
class Edits:
    """The moments at which versions were committed, and how far behind them a reader was."""

    moments: list[float] = field(default_factory=list)
    behind: list[float] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure a crowd at a page that is edited.")
    asked.add_argument("--papers", type=int, default=6_000)
    asked.add_argument("--database", help="a database for this alone; filled if it is empty")
    asked.add_argument("--seconds", type=int, default=60)
    asked.add_argument("--processes", type=int, default=servers.WORKERS)
    options = asked.parse_args()
    with program(options.database, options.papers) as folder:
        counting = servers.counting(folder / "metrics", TOKEN)
        address, session = shown()
        with servers.granian("website.wsgi:application", counting, options.processes) as site:
            answer(site + address)
            quiet = crowd(site + address, 10)
            edits, before = Edits(), servers.counts(site, TOKEN)
            said = morning(site + address, session, edits, options.seconds)
            written = servers.counts(site, TOKEN)[VIEW] - before.get(VIEW, 0)
        report(quiet, said, edits, written)


def shown() -> tuple[str, Any]:
    """Return the address of the day, and a session whose title stands on it."""
    from schedule.models import Session

    address = pages()["day"]
    *_, slug, _schedule, day, _end = address.split("/")
    sessions = Session.objects.published().filter(edition__slug=slug, parent=None).select_related("edition")
    return address, next(one for one in sessions if str(one.edition.day_of(one.start)) == day)


def crowd(address: str, seconds: int) -> str:
    """Let readers ask for one page again and again; return what wrk says of it."""
    command = [servers.found("wrk"), "--latency", "-t1", f"-c{READERS}", f"-d{seconds}s", "--timeout", "10s"]
    pause = Path(os.environ["PLENARY_VAR_DIR"]) / "pause.lua"
    pause.write_text(f"function delay() return {PAUSE} end")
    asked = [*command, "-s", str(pause), "-HAccept-Encoding: gzip", address]
    return subprocess.run(asked, check=True, capture_output=True, text=True, timeout=seconds + 30).stdout


def morning(address: str, session: Any, edits: Edits, seconds: int) -> str:
    """Let readers in while the session is edited and somebody looks how old the page is."""
    others = [
        threading.Thread(target=edit, args=(session, edits)),
        threading.Thread(target=look, args=(address, edits)),
    ]
    for thread in others:
        thread.start()
    try:
        return crowd(address, seconds)
    finally:
        edits.ended.set()
        for thread in others:
            thread.join()


def edit(session: Any, edits: Edits) -> None:
    """Give the session another title every second."""
    while not edits.ended.wait(EDIT_EVERY):
        session.title = f"{EDITED} {len(edits.moments) + 1}"
        session.save()
        edits.moments.append(time.perf_counter())


def look(address: str, edits: Edits) -> None:
    """Read the page all the time: how far is what is shown behind what was committed?"""
    last = 0
    while not edits.ended.wait(0.05):
        asked, committed = time.perf_counter(), len(edits.moments)
        with urlopen(address, timeout=10) as reply:  # noqa: S310
            found = re.search(rf"{EDITED} (\d+)", reply.read().decode())
        last = int(found[1]) if found else last
        if last < committed:
            edits.behind.append(asked - edits.moments[last])


def milliseconds(said: str, part: str) -> float:
    """Return a part of wrk's distribution, such as "99%"."""
    number, unit = re.findall(rf"^\s+{part}\s+([\d.]+)(us|ms|s)$", said, re.MULTILINE)[0]
    return float(number) * MILLISECONDS[unit]


def report(quiet: str, said: str, edits: Edits, written: float) -> None:
    """Print what readers got, beside the same crowd at a page that nobody edits."""
    print(f"{READERS} readers of one day, an edit every second\n")
    print("| page | answers a second | median ms | p99 ms | errors |\n|---|---|---|---|---|")
    for name, text in (("nobody edits", quiet), ("edited", said)):
        rate = float(re.findall(r"Requests/sec:\s+([\d.]+)", text)[0])
        wrong = sum(int(number) for number in re.findall(r"(?:connect|read|write|timeout) (\d+)", text))
        wrong += sum(int(number) for number in re.findall(r"Non-2xx or 3xx responses: (\d+)", text))
        times = f"{milliseconds(text, '50%'):.0f} | {milliseconds(text, '99%'):.0f}"
        print(f"| {name} | {rate:,.0f} | {times} | {wrong} |")
    versions, oldest = len(edits.moments), max(edits.behind, default=0.0)
    print(f"\n{versions} versions were committed, and the page was written {written:.0f} times:")
    each = written / max(1, versions)
    print(f"{each:.2f} times for each. It was shown up to {oldest:.2f} s after the next one was")
    print(f"committed; {sum(age > 1 for age in edits.behind)} looks were more than 1 s behind.")


if __name__ == "__main__":
    main()
