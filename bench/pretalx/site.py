"""pretalx for the comparison: installed into its own environment, filled with the same program, served."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness import HOST, WORKERS, Server, found, free_port, running

VERSION = "2026.2.1"
PACKAGES = (f"pretalx=={VERSION}", "gunicorn==27.0.1", "psycopg[binary]==3.3.9")
# The index has no wheels of these two; only wheels are installed of all others.
BUILT = ("csscompressor", "drf-flex-fields")
STEP_SECONDS = 3600
# A whole schedule.xml takes longer than gunicorn waits for a worker by default.
RESPONSE_SECONDS = 300
FILL = Path(__file__).with_name("fill.py")
# Tables in which internal notes hold the uids of papers and people.
CODES = {"talks": "submission_submission", "speakers": "person_speakerprofile"}


def install(folder: Path) -> None:
    """Install pretalx into a folder, unless it is there. Raises `SystemExit` where it cannot be installed."""
    python, mark = str(folder / "bin" / "python"), folder / f"pretalx-{VERSION}"
    if mark.exists():
        return
    # This project's own constraints are not pretalx's.
    uv = [found("uv"), "--no-config"]
    wheels = ["--only-binary", ":all:", *(word for name in BUILT for word in ("--no-binary", name))]
    for command in (
        [*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
        [*uv, "pip", "install", "--quiet", "--python", python, *wheels, *PACKAGES],
        [python, "-P", "-m", "pretalx", "rebuild", "--silent"],
    ):
        own = {**settings(folder), "PRETALX_DATA_DIR": str(folder / "data")}
        run_quietly(command, own, folder.parent, f"pretalx {VERSION} cannot be installed here")
    mark.touch()


@contextmanager
def serve(folder: Path, database: str, program: Path, work: Path) -> Iterator[Server]:
    """Serve pretalx by gunicorn from an empty database, which is filled with a program.

    `folder` holds the environment, `work` takes what this run writes.
    """
    python = [str(folder / "bin" / "python"), "-P"]
    work.mkdir()
    port, store = free_port(), free_port()
    # A Redis of its own that writes nothing.
    redis = [found("redis-server"), "--bind", HOST, "--port", str(store), "--dir", str(work)]
    with running([*redis, "--save", "", "--appendonly", "no", "--loglevel", "warning"], store):
        own = {**environment(database, port, store, work), **settings(folder)}
        for step in (["-m", "pretalx", "migrate", "-v0"], [str(FILL), str(program)]):
            run_quietly([*python, *step], own, work, "pretalx cannot be filled")
        options = ["--bind", f"{HOST}:{port}", "--workers", str(WORKERS), "--timeout", str(RESPONSE_SECONDS)]
        command = [*python, "-m", "gunicorn", "pretalx.wsgi", *options, "--log-level", "warning"]
        with running(command, port, own) as server:
            yield server


def settings(folder: Path) -> dict[str, str]:
    """Return pretalx's configuration: static files are in the environment."""
    return {
        "DJANGO_SETTINGS_MODULE": "pretalx.settings",
        "PRETALX_FILESYSTEM_STATIC": str(folder / "static"),
    }


def environment(database: str, port: int, store: int, work: Path) -> dict[str, str]:
    """Return pretalx's settings, as on a server of its own; tasks run at once, without a worker."""
    from psycopg.conninfo import conninfo_to_dict

    place = {name: str(value or "") for name, value in conninfo_to_dict(database).items()}
    config = work / "pretalx.cfg"
    config.touch()
    return {
        "PRETALX_CONFIG_FILE": str(config),
        "PRETALX_DATA_DIR": str(work),
        "PRETALX_SITE_URL": f"http://{HOST}:{port}",
        "PRETALX_REDIS": f"redis://{HOST}:{store}/0",
        "PRETALX_DB_TYPE": "postgresql",
        "PRETALX_DB_NAME": place["dbname"],
        "PRETALX_DB_USER": place.get("user", ""),
        "PRETALX_DB_PASS": place.get("password", ""),
        "PRETALX_DB_HOST": place.get("host", ""),
        "PRETALX_DB_PORT": place.get("port", ""),
    }


def codes(database: str) -> dict[str, dict[str, str]]:
    """Return pretalx's codes of papers ("talks") and people ("speakers") by uid."""
    import psycopg

    with psycopg.connect(database) as connection:
        return {
            kind: dict(connection.execute(f"SELECT internal_notes, code FROM {table}".encode()).fetchall())  # noqa: S608
            for kind, table in CODES.items()
        }


def analyze(database: str) -> None:
    """Let PostgreSQL collect statistics for its query plans."""
    import psycopg

    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def run_quietly(command: list[str], own: dict[str, str], where: Path, failed: str) -> None:
    """Run a step before the measurement; raises `SystemExit` with the end of its output when it fails."""
    done = subprocess.run(
        ["nice", "-n", "10", *command],
        cwd=where,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=STEP_SECONDS,
    )
    if done.returncode:
        raise SystemExit(f"{failed}:\n{' '.join(command)}\n{(done.stdout + done.stderr)[-2000:].strip()}")
