"""The opening morning: many readers through nginx, while chairs edit and import.

`uv run python bench/morning.py` fills a SQLite file by `generate_program` and forgets it; `--database URL`
names a database for this alone, with `CACHE_URL` processes share their pages. Readers come at a steady rate,
whether or not answers do; the time of an answer counts from when it was due. It ends when it should, however
slow the site is: who could not even ask by then is counted. Needs nginx. Prints a Markdown table.
"""

import argparse
import http.client
import random
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import servers  # noqa: E402
from bench.pages import program  # noqa: E402

READERS = 64
EDIT_EVERY = 5.0
STALE_AFTER = 1.0
# So long may a reader, the looker or the import take after the end (seconds).
PATIENCE = 10
TOKEN = "counting-the-morning"  # noqa: S105  for this run alone
# With a mark of its own: a database that is used again shows what was edited before.
EDITED = f"Opening morning {int(time.time())}, edition"
WORDS = ("learning", "graph", "attention", "memory", "quantum", "ada", "sparse", "model", "kernels", "vision")
# How much more some pages are asked for than others: places are drawn as this power of an even number.
SKEW = 4
OUTCOMES = ("hit", "shared", "miss", "none")
# What readers ask for, in hundredths.
MIX = {"home": 20, "day": 25, "session": 15, "paper": 22, "search": 8, "person": 4, "ics": 3, "api": 3}
NGINX = """
    location / { proxy_pass http://site; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $host:$server_port; proxy_set_header X-Forwarded-Proto https;
      proxy_cache pages; proxy_cache_key $request_uri; proxy_ignore_headers Cache-Control Expires;
      proxy_cache_valid 200 1s; proxy_cache_revalidate on; proxy_cache_lock on; }
"""


@dataclass(slots=True)
class Seen:
    """What readers got: seconds by kind of page, errors, and how old the edited page was."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    behind: list[float] = field(default_factory=list)
    backwards: int = 0
    unasked: int = 0


@dataclass(slots=True)
class Edits:
    """The versions of one paper, by the moment at which each was committed."""

    moments: list[float] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure an opening morning.")
    asked.add_argument("--papers", type=int, default=6_000)
    asked.add_argument("--database", help="a database for this alone; filled if it is empty")
    asked.add_argument("--seconds", type=int, default=300)
    asked.add_argument("--rate", type=int, default=600, help="requests a second")
    asked.add_argument("--warm", type=int, default=0, help="seconds of reading before it is measured")
    asked.add_argument("--no-import", action="store_true", help="edits alone")
    options = asked.parse_args()
    with program(options.database, options.papers) as folder:
        addresses, paper = asked_for()
        counting = servers.counting(folder / "metrics", TOKEN)
        with (
            servers.granian("website.wsgi:application", {"BEHIND_PROXY": "true", **counting}) as site,
            served(folder, site) as front,
        ):
            if options.warm:
                read(front, addresses, Seen(), options.rate, options.warm)
            before = servers.counts(site, TOKEN)
            seen = morning(front, addresses, paper, options)
            counts = {name: n - before.get(name, 0) for name, n in servers.counts(site, TOKEN).items()}
        report(seen, options)
        report_work(counts)


def served(folder: Path, site: str) -> servers.Server:
    """Put nginx with a micro-cache in front of the site."""
    cache = f"proxy_cache_path {folder}/kept keys_zone=pages:10m use_temp_path=off;"
    upstream = f"upstream site {{ server {site.removeprefix('http://')}; keepalive 32; }}"
    return servers.nginx(folder / "nginx", NGINX, f"{cache} {upstream}")


def asked_for() -> tuple[dict[str, list[str]], Any]:
    """Return addresses by kind of page, and the paper that is going to be edited."""
    from django.db.models import Count
    from django.urls import reverse

    from conference.models import Edition
    from people.models import Person

    edition = Edition.objects.published().annotate(size=Count("papers")).order_by("-size")[0]
    root = edition.get_absolute_url()
    papers = list(edition.papers.published().order_by("pk").select_related("edition")[:2000])
    sessions = list(edition.sessions.published().select_related("edition"))
    days = sorted(edition.sessions.published().program_days(edition.day_of))
    people = Person.objects.filter(authorships__paper__in=papers[:200]).distinct()[:200]
    talk = edition.presentations.published().filter(paper__in=papers[:50])
    calendars = [reverse("exchange:presentation_calendar", args=[edition.slug, one.uid]) for one in talk]
    addresses = {
        "home": [root],
        "day": [f"{root}schedule/{day}/" for day in days],
        "session": [session.get_absolute_url() for session in sessions],
        "paper": [paper.get_absolute_url() for paper in papers],
        "search": [f"/search/?q={quote(word)}" for word in WORDS],
        "person": [person.get_absolute_url() for person in people],
        "ics": calendars,
        "api": [f"/api/v1/papers/?edition={edition.slug}&page_size=20"],
    }
    return addresses, papers[7]


def morning(front: str, addresses: dict[str, list[str]], paper: Any, options: argparse.Namespace) -> Seen:
    """Let readers in for so many seconds, and chairs work beside them."""
    seen, edits = Seen(), Edits()
    host = front.removeprefix("http://")
    others = [
        threading.Thread(target=edit, args=(paper, edits)),
        threading.Thread(target=look, args=(host, paper, edits, seen)),
    ]
    if not options.no_import:
        times = (options.seconds / 2, options.seconds + PATIENCE)
        others.append(threading.Thread(target=take_in, args=times))
    for thread in others:
        thread.start()
    read(front, addresses, seen, options.rate, options.seconds)
    seen.unasked = max(0, options.seconds * options.rate - answered(seen))
    edits.ended.set()
    for thread in others:
        thread.join()
    return seen


def read(front: str, addresses: dict[str, list[str]], seen: Seen, rate: int, seconds: int) -> None:
    """Let a crowd read at a steady rate for so many seconds."""
    host, began = front.removeprefix("http://"), time.perf_counter()
    due, lock = count(), threading.Lock()

    def next_due() -> float:
        with lock:
            number: int = next(due)
        return began + number / float(rate)

    end = began + seconds
    crowd = [
        threading.Thread(target=reader, args=(host, addresses, next_due, end, seen, random.Random(number)))
        for number in range(READERS)
    ]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()


def answered(seen: Seen) -> int:
    """Return how many answers came, right ones and errors."""
    return sum(map(len, seen.seconds.values())) + len(seen.errors)


def reader(
    host: str, addresses: dict[str, list[str]], next_due: Any, end: float, seen: Seen, dice: random.Random
) -> None:
    """Ask for one page after the other, each when it is due or as soon as there is time, until the end."""
    connection = http.client.HTTPConnection(host, timeout=PATIENCE)
    kinds, weights = list(MIX), list(MIX.values())
    while (due := next_due()) < end and time.perf_counter() < end:
        time.sleep(max(0.0, due - time.perf_counter()))
        (kind,) = dice.choices(kinds, weights)
        # Half of those who open a paper open one of the six best known in a hundred.
        address = addresses[kind][int(len(addresses[kind]) * dice.random() ** SKEW)]
        try:
            connection.request("GET", address, headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            seen.errors.append(f"{address}: {error}")
            continue
        seen.seconds[kind].append(time.perf_counter() - due)
        # A paper's slug follows its title.
        if answer.status not in (http.client.OK, http.client.MOVED_PERMANENTLY):
            seen.errors.append(f"{address}: {answer.status}")
    connection.close()


def edit(paper: Any, edits: Edits) -> None:
    """Give the paper another title every few seconds."""
    while not edits.ended.wait(EDIT_EVERY):
        paper.title = f"{EDITED} {len(edits.moments) + 1}"
        paper.save()
        edits.moments.append(time.perf_counter())


def look(host: str, paper: Any, edits: Edits, seen: Seen) -> None:
    """Read the edited paper all the time: how far is what is shown behind what was committed?"""
    address, last = paper.get_absolute_url(), 0
    while not edits.ended.wait(0.02):
        connection = http.client.HTTPConnection(host, timeout=PATIENCE)
        asked, committed = time.perf_counter(), len(edits.moments)
        connection.request("GET", address)
        answer = connection.getresponse()
        if answer.status == http.client.MOVED_PERMANENTLY:
            # Its slug follows its title.
            address = answer.getheader("Location", address)
            last_page = b""
        else:
            last_page = answer.read()
        connection.close()
        found = re.search(rf"<h1>{EDITED} (\d+)</h1>", last_page.decode())
        version = int(found[1]) if found else last
        seen.backwards += version < last
        if last_page and version < committed:
            seen.behind.append(asked - edits.moments[version])
        last = max(last, version)


def take_in(wait: float, end: float) -> None:
    """Import a program of 500 papers as another edition, in a process of its own, in the middle of it."""
    from conference.models import Edition

    year = f"--last-year={1 + max(Edition.objects.values_list('year', flat=True))}"
    time.sleep(wait)
    command = ("generate_program", "--papers=500", "--editions=1", "--seed=5", year, "-v0")
    subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, check=True, timeout=end - wait)


def report(seen: Seen, options: argparse.Namespace) -> None:
    """Print what readers got."""
    from django.db import connection

    print(f"## {connection.vendor}, {options.rate} requests a second for {options.seconds} s\n")
    print("| page | answers | median ms | p99 ms | longest ms |\n|---|---|---|---|---|")
    everything = [second for seconds in seen.seconds.values() for second in seconds]
    for kind, seconds in (*seen.seconds.items(), ("all", everything)):
        ranked = sorted(seconds)
        places = (ranked[len(ranked) // 2], ranked[int(len(ranked) * 0.99)], ranked[-1])
        print(f"| {kind} | {len(ranked):,} | {' | '.join(f'{place * 1000:.0f}' for place in places)} |")
    oldest, late = max(seen.behind, default=0.0), sum(age > STALE_AFTER for age in seen.behind)
    due = options.seconds * options.rate
    print(f"\nOf {due:,} requests that were due {seen.unasked:,} could not be asked by the end.")
    print(f"Errors: {len(seen.errors)}{'; such as ' + seen.errors[0] if seen.errors else ''}.")
    print(f"A committed edit was seen after {oldest:.2f} s at most; {late} looks were more than 1 s behind,")
    print(f"{seen.backwards} showed an older page after a newer one.")


def report_work(counts: dict[str, float]) -> None:
    """Print what the processes did for that: a kept page is a hit, one of another process is shared."""
    outcomes = {
        name: f"{counts.get(f'plenary_page_cache_total{{outcome="{name}"}}', 0):,.0f}" for name in OUTCOMES
    }
    print(f"\nPage cache: {', '.join(f'{number} {name}' for name, number in outcomes.items())}.\n")
    print("| view that wrote | times | mean ms |\n|---|---|---|")
    written = {name: counts[name] for name in counts if name.startswith("plenary_view_seconds_count")}
    for name, times in sorted(written.items(), key=lambda pair: -counts[pair[0].replace("_count", "_sum")])[
        :8
    ]:
        mean = counts[name.replace("_count", "_sum")] / times * 1000
        print(f"| {name.split('"')[1]} | {times:,.0f} | {mean:.0f} |")


if __name__ == "__main__":
    main()
