"""pretalx beside Plenary: installed into an environment of its own, filled with the same program, served."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness import HOST, WORKERS, found, free_port, running

VERSION = "2026.2.1"
PACKAGES = (f"pretalx=={VERSION}", "gunicorn==27.0.1", "psycopg[binary]==3.3.9")
# The index has no wheels of these two; of all others nothing runs while they are installed.
BUILT = ("csscompressor", "drf-flex-fields")
# What is not measured gives way to other work of the machine.
NICE = ("nice", "-n", "10")
STEP_SECONDS = 3600
# A whole schedule.xml takes longer than gunicorn waits for a worker by default.
RESPONSE_SECONDS = 300
SETTINGS = {"DJANGO_SETTINGS_MODULE": "pretalx.settings"}
FILL = Path(__file__).with_name("fill.py")
# What is in the database, by the uids in the notes.
CODES = {"talks": "submission_submission", "speakers": "person_speakerprofile"}


def install(folder: Path) -> Path:
    """Install pretalx into a folder, unless it is there; return its Python.

    Raises `SystemExit` with the reason where it cannot be installed.
    """
    python = folder / "bin" / "python"
    if not (folder / "static" / "staticfiles.json").exists() or version(python) != VERSION:
        # This project's own constraints are not pretalx's.
        uv = [found_uv(), "--no-config"]
        wheels = ["--only-binary", ":all:", *(word for name in BUILT for word in ("--no-binary", name))]
        own = {**SETTINGS, "PRETALX_DATA_DIR": str(folder / "data"), **statics(folder)}
        for command in (
            [*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
            [*uv, "pip", "install", "--quiet", "--python", str(python), *wheels, *PACKAGES],
            [str(python), "-P", "-m", "pretalx", "rebuild", "--silent"],
        ):
            run_quietly(command, own, folder.parent, f"pretalx {VERSION} cannot be installed here")
    return python


def found_uv() -> str:
    """Return where uv is; raises `SystemExit` when it is missing."""
    path = shutil.which("uv")
    if path is None:
        raise SystemExit("pretalx cannot be installed: uv is missing, see https://docs.astral.sh/uv/")
    return path


def version(python: Path) -> str:
    """Return which pretalx an environment has; nothing if there is none."""
    if not python.exists():
        return ""
    code = "from importlib.metadata import version; print(version('pretalx'))"
    return subprocess.run([python, "-P", "-c", code], capture_output=True, text=True).stdout.strip()


@contextmanager
def serve(folder: Path, database: str, program: Path, work: Path) -> Iterator[str]:
    """Serve pretalx by gunicorn from a database that is filled with a program, unless it holds one.

    `folder` holds the environment, `work` takes what this run writes.
    """
    python = install(folder)
    work.mkdir()
    port, store = free_port(), free_port()
    with running([found("redis-server"), *redis(store, work)], store):
        own = {**environment(database, port, store, work), **statics(folder)}
        fill(python, own, database, program)
        where = ["--bind", f"{HOST}:{port}", "--workers", str(WORKERS)]
        lasting = ["--timeout", str(RESPONSE_SECONDS), "--log-level", "warning"]
        command = [str(python), "-P", "-m", "gunicorn", "pretalx.wsgi", *where, *lasting]
        with running(command, port, own) as address:
            yield address


def redis(port: int, work: Path) -> list[str]:
    """Return the options of a Redis that nobody else has and that writes nothing."""
    where = ["--bind", HOST, "--port", str(port), "--dir", str(work)]
    return [*where, "--save", "", "--appendonly", "no", "--loglevel", "warning"]


def environment(database: str, port: int, store: int, work: Path) -> dict[str, str]:
    """Return pretalx's settings, as for a server of one's own; tasks run at once, as there are none."""
    from psycopg.conninfo import conninfo_to_dict

    place = {name: str(value or "") for name, value in conninfo_to_dict(database).items()}
    config = work / "pretalx.cfg"
    config.touch()
    return {
        **SETTINGS,
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


def statics(folder: Path) -> dict[str, str]:
    """Return where static files are: with the environment, as they are the same for all programs."""
    return {"PRETALX_FILESYSTEM_STATIC": str(folder / "static")}


def fill(python: Path, own: dict[str, str], database: str, program: Path) -> None:
    """Make the tables and fill in the program, unless it is there."""
    if is_filled(database):
        return
    work, failed = Path(own["PRETALX_DATA_DIR"]), "pretalx cannot be filled"
    run_quietly([str(python), "-P", "-m", "pretalx", "migrate", "-v0"], own, work, failed)
    run_quietly([str(python), "-P", str(FILL), str(program)], own, work, failed)


def is_filled(database: str, table: str = "event_event") -> bool:
    """Whether a table is there and holds something."""
    import psycopg

    with psycopg.connect(database) as connection:
        if connection.execute("SELECT 1 FROM pg_tables WHERE tablename = %s", [table]).fetchone() is None:
            return False
        return connection.execute(f"SELECT 1 FROM {table} LIMIT 1".encode()).fetchone() is not None  # noqa: S608


def codes(database: str) -> dict[str, dict[str, str]]:
    """Return pretalx's codes of papers ("talks") and people ("speakers") by uid."""
    import psycopg

    with psycopg.connect(database) as connection:
        return {
            kind: dict(connection.execute(f"SELECT internal_notes, code FROM {table}".encode()).fetchall())  # noqa: S608
            for kind, table in CODES.items()
        }


def run_quietly(command: list[str], own: dict[str, str], where: Path, failed: str) -> None:
    """Run a step before the measurement; raises `SystemExit` with the end of what it said when it fails."""
    done = subprocess.run(
        [*NICE, *command],
        cwd=where,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=STEP_SECONDS,
    )
    if done.returncode:
        raise SystemExit(f"{failed}:\n{' '.join(command)}\n{(done.stdout + done.stderr)[-2000:].strip()}")
