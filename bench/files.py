"""How long the files of a schedule take when nothing is cached.

`uv run -m bench.files [--database URL]`.
"""

import re

from bench.harness import Results, client, measure, parser, program, sample

TIMES = 5
SCHEDULE_MS, CALENDAR_MS = 1_000, 2_000
CALENDAR_TALKS = 4_000


def main() -> None:
    with program("files", parser(__doc__).parse_args()) as (_, results):
        root = sample().edition.get_absolute_url()
        for name in ("schedule.xml", "schedule.json"):
            clock, computed, _ = after_change(f"{root}{name}")
            add(results, name, clock, computed, SCHEDULE_MS)
        clock, computed, body = after_change(f"{root}papers.ics")
        talks = len(re.findall(rb"BEGIN:VEVENT", body))
        share, name = CALENDAR_TALKS / talks, f"calendar, for each {CALENDAR_TALKS:,} talks"
        add(results, name, clock * share, computed * share, CALENDAR_MS)


def add(results: Results, name: str, clock: float, computed: float, limit: int) -> None:
    results.add(f"{name}: computing", computed, "ms", at_most=limit)
    results.add(f"{name}: by the clock", clock, "ms")


def after_change(address: str) -> tuple[float, float, bytes]:
    """Return the best milliseconds after a change of everything, by the clock and computing, and the file."""
    from conference.models import Edition
    from content.revision import advance

    editions = [*Edition.objects.values_list("pk", flat=True), None]
    reader, bodies, times = client(), [b""], []

    def read() -> None:
        bodies[0] = reader.get(address).getvalue()

    for _ in range(TIMES):
        advance(editions)
        times.append(measure(read))
    return min(clock for clock, _ in times[1:]), min(computed for _, computed in times[1:]), bodies[0]


if __name__ == "__main__":
    main()
