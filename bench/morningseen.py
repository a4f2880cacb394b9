"""What readers of an opening morning got, and what the processes did for it, as Markdown tables."""

import argparse
from collections import defaultdict
from dataclasses import dataclass, field

STALE_AFTER = 1.0
HALF_MINUTE = 30
# What 99 of 100 readers should wait at most (seconds).
AIM = 0.25
OUTCOMES = ("hit", "stale", "miss", "none")


@dataclass(slots=True)
class Seen:
    """What readers got: seconds by kind of page and by time, errors, and how old the edited page was."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    by_time: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    behind: list[float] = field(default_factory=list)
    backwards: int = 0
    unasked: int = 0


def answered(seen: Seen) -> int:
    """Return how many answers came, right ones and errors."""
    return sum(map(len, seen.seconds.values())) + len(seen.errors)


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
    print("\n| from second | answers | median ms | p99 ms | later than aimed at |\n|---|---|---|---|---|")
    for number, seconds in sorted(seen.by_time.items()):
        ranked = sorted(seconds)
        middle, last = ranked[len(ranked) // 2] * 1000, ranked[int(len(ranked) * 0.99)] * 1000
        late = sum(second > AIM for second in ranked)
        print(f"| {number * HALF_MINUTE} | {len(ranked):,} | {middle:.0f} | {last:.0f} | {late:,} |")
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
