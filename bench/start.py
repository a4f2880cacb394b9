"""How long a web process and the demo take to start, beside a process that sets up Django alone.

`uv run python bench/start.py` makes the demo in a folder that it forgets. Prints a Markdown table.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import servers  # noqa: E402

TIMES = 5
PATIENCE = 60
PLAIN = """
import django
from django.conf import settings
settings.configure(INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes"])
django.setup()
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PLENARY_VAR_DIR"] = folder
        # Without it nothing is compiled before it runs, in the copies of this run alone.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"
        uncompiled = taken(lambda: run("import website.wsgi"))
        run(PLAIN)
        base = median(taken(lambda: run(PLAIN)) for _ in range(TIMES))
        worker = median(taken(lambda: run("import website.wsgi")) for _ in range(TIMES))
        # Compiles what the demo needs beside that.
        demo(f"{folder}/warming")
        fresh = taken(lambda: demo(f"{folder}/0"))
        rows = {
            "Django, set up with two apps": base,
            "web process until it can answer": worker,
            "the same, nothing compiled": uncompiled,
            "demo until the first page, as it is for the first time": fresh,
            "demo until the first page, again": median(taken(lambda: demo(f"{folder}/0")) for _ in range(3)),
        }
    print("| start | s | / Django |\n|---|---|---|")
    for name, seconds in rows.items():
        print(f"| {name} | {seconds:.2f} | {seconds / base:.1f} |")


def taken(call: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def run(code: str) -> None:
    """Run Python in a process of its own."""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def demo(folder: str) -> None:
    """Start the demo in a folder, read its first page, end it."""
    port = servers.free_port()
    command = [sys.executable, "manage.py", "demo", "--port", str(port)]
    own = {**os.environ, "PLENARY_VAR_DIR": folder}
    process = subprocess.Popen(command, cwd=ROOT, env=own, stdout=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + PATIENCE
    try:
        while not answers(f"http://{servers.HOST}:{port}/"):
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit("The demo does not start.")
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(address: str) -> bool:
    """Whether a page comes from there."""
    try:
        with urlopen(address, timeout=30) as reply:  # noqa: S310
            return bool(reply.read())
    except OSError:
        return False


if __name__ == "__main__":
    main()
