"""What more processes bring: kept and cold pages a second with one, two and four of them.

`uv run python bench/workers.py` fills a SQLite file by `bench.generate` and forgets it; `--database URL`
names a database for this alone. Needs wrk. Prints a Markdown table.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import servers  # noqa: E402
from bench.pages import answer, pages, program  # noqa: E402

NUMBERS = (1, 2, 4)
# A parameter that no page knows: such an address is never kept, so every answer is a cold one.
UNKEPT = "?mailed=1"


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure processes.")
    asked.add_argument("--papers", type=int, default=6_000)
    asked.add_argument("--database", help="a database for this alone; filled if it is empty")
    asked.add_argument("--seconds", type=int, default=4, help="for each figure")
    options = asked.parse_args()
    with program(options.database, options.papers):
        address = pages()["paper"]
        print("| processes | kept pages a second | cold ones | MB of each afterwards |\n|---|---|---|---|")
        for number in NUMBERS:
            print(f"| {number} | {' | '.join(measured(address, number, options.seconds))} |", flush=True)


def measured(address: str, number: int, lasting: int) -> list[str]:
    """Return the rates of a paper's page, kept and cold, and the memory of each process."""
    with servers.granian("website.wsgi:application", workers=number) as site:
        answer(site + address)
        kept = servers.rate(site + address, lasting, {"Accept-Encoding": "gzip"})
        cold = servers.rate(f"{site}{address}{UNKEPT}", lasting)
        memory = [megabytes(process) for process in processes(int(site.rpartition(":")[2]))]
    return [f"{kept:,.0f}", f"{cold:.1f}", ", ".join(f"{size:.0f}" for size in memory)]


def processes(port: int, server: str = "granian") -> list[int]:
    """Return the processes that serve at a port: the children of the one that was started for it."""
    commands = {
        int(folder.name): (folder / "cmdline").read_bytes().split(b"\0")
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and (folder / "cmdline").exists()
    }
    started = [
        key
        for key, words in commands.items()
        if server.encode() in words and any(word.rpartition(b":")[2] == str(port).encode() for word in words)
    ]
    return [key for key in commands if parent(key) in started]


def parent(process: int) -> int:
    """Return the process that started one; 0 for one that has ended."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def megabytes(process: int) -> float:
    """Return the memory that a process holds, with what others hold too, such as the program's files."""
    return _counted(process, "Rss")


def share(process: int) -> float:
    """Return the memory that a process takes: of what several hold, each counts its part."""
    return _counted(process, "Pss")


def _counted(process: int, name: str) -> float:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    counted = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(counted[name].split()[0]) / 1024


if __name__ == "__main__":
    main()
