"""Plenary beside pretalx, with the same generated program: what readers, calendars and programs ask for.

`uv run python bench/pretalx.py` installs pretalx into an environment of its own and fills two databases on a
PostgreSQL server, which are dropped afterwards. Needs uv, wrk and redis-server. Prints Markdown tables.
"""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import pretalxsite, servers  # noqa: E402
from bench.growth import database  # noqa: E402
from bench.pages import program  # noqa: E402
from bench.pretalxasked import asked_for  # noqa: E402
from bench.pretalxrates import COMPRESSED, HEADERS, Measured, measured  # noqa: E402

SERVER = "postgres://postgres@127.0.0.1:5432/"
EDITION = "2031"
# Plenary's limit would stop a measurement after a minute.
UNLIMITED = {"API_REQUESTS_PER_MINUTE": "100000000"}
# Which figures of Plenary's stand in which column, by the application that gives them.
KEPT, MADE = "website.wsgi:application", "bench.uncached:application"


def main() -> None:
    asked = argparse.ArgumentParser(description="Compare with pretalx.")
    asked.add_argument("--papers", type=int, default=4_000)
    asked.add_argument("--server", default=SERVER, help="of PostgreSQL, with a slash at its end")
    asked.add_argument("--seconds", type=int, default=4, help="for each figure")
    asked.add_argument("--environment", type=Path, help="folder for pretalx that is kept and used again")
    asked.add_argument("--keep", action="store_true", help="keep the databases and use them again")
    asked.add_argument("--only", default="", help="lines whose name holds this")
    options = asked.parse_args()
    # What ends it otherwise must end what it started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended."))
    own, other = (f"{name}_bench_{options.papers}" for name in ("plenary", "pretalx"))
    with (
        tempfile.TemporaryDirectory() as folder,
        kept(options.server, own, options.keep) as ours,
        kept(options.server, other, options.keep) as theirs,
    ):
        work = Path(folder)
        environment = (options.environment or work / "pretalx").resolve()
        pretalxsite.installed(environment)
        file = work / "program.json"
        if not pretalxsite.is_filled(theirs):
            export(ours, options.papers, file)
        compare(ours, theirs, environment, file, options)


@contextmanager
def kept(server: str, name: str, keep: bool) -> Iterator[str]:
    """Yield the address of a database: one for the time of the block, or one that stays."""
    if not keep:
        with database(server, name) as address:
            yield address
        return
    import psycopg

    with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {name}".encode())
    yield f"{server}{name}"


def export(address: str, papers: int, file: Path) -> None:
    """Fill Plenary's database, unless it is filled, and write its program into a file."""
    own = {"DATABASE_URL": address, "PLENARY_VAR_DIR": str(file.parent / "plenary")}
    manage = [sys.executable, str(ROOT / "manage.py")]
    made = [sys.executable, "-m", "bench.generate", "--papers", str(papers), "--last-year", EDITION]
    steps = [[*manage, "export_program", "program_json", "--edition", EDITION, "-o", str(file)]]
    if not pretalxsite.is_filled(address, "conference_edition"):
        steps = [[*manage, "migrate", "-v0"], made, *steps]
    for step in steps:
        pretalxsite.quietly(step, own, file.parent, "Plenary cannot be filled")


def compare(ours: str, theirs: str, environment: Path, file: Path, options: argparse.Namespace) -> None:
    """Measure one site after the other, and print what they gave."""
    with program(ours, options.papers) as folder:
        with pretalxsite.serving(environment, theirs, file, folder / "pretalx") as site:
            everything = asked_for(EDITION, pretalxsite.codes(theirs))
            asked = [one for one in everything if options.only in one.name]
            ready((ours, theirs))
            other = measured(
                site, "gunicorn", {one.name: one.other for one in asked}, options.seconds, folder
            )
        figures = []
        plenary = {one.name: one.own for one in asked}
        for application, headers in ((MADE, HEADERS), (KEPT, COMPRESSED)):
            with servers.granian(application, UNLIMITED) as site:
                figures.append(measured(site, "granian", plenary, options.seconds, folder, headers))
    report(other, *figures)


def ready(addresses: tuple[str, ...]) -> None:
    """Let PostgreSQL count what it holds, so that it asks neither site's tables blindly."""
    import psycopg

    for address in addresses:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


def report(other: Measured, made: Measured, kept: Measured) -> None:
    """Print how many answers a second there are, how long files take, and what memory is held."""
    load = ", ".join(f"{number:.1f}" for number in os.getloadavg())
    print(f"pretalx {pretalxsite.VERSION}; load of the last 1, 5 and 15 minutes at the end: {load}.\n")
    print(
        "| answers a second | pretalx | Plenary, nothing kept | / pretalx | Plenary, as served | / pretalx |"
    )
    print("|---|---|---|---|---|---|")
    for name, theirs in other.rates.items():
        new, old = made.rates[name], kept.rates[name]
        ratios = new / theirs, old / theirs
        print(f"| {name} | {theirs:,.2f} | {new:,.2f} | {ratios[0]:,.1f} | {old:,.1f} | {ratios[1]:,.0f} |")
    print(
        "\n| one file, made anew | pretalx s | entries | Plenary s | entries | pretalx / Plenary | by entry |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, (took, many) in other.files.items():
        short, few = made.files[name]
        ratios = took / short, took / many / (short / few)
        print(
            f"| {name} | {took:.2f} | {many:,} | {short:.2f} | {few:,} | {ratios[0]:.1f} | {ratios[1]:.1f} |"
        )
    print(
        "\n| memory of each process afterwards | MB | MB, each its part of what several hold |\n|---|---|---|"
    )
    names = ("pretalx", "Plenary, nothing kept", "Plenary, as served")
    for name, figures in zip(names, (other, made, kept), strict=True):
        sizes = (", ".join(f"{size:.0f}" for size in column) for column in zip(*figures.memory, strict=True))
        print(f"| {name} | {' | '.join(sizes)} |")


if __name__ == "__main__":
    main()
