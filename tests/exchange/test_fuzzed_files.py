"""Fuzz tests: every reader imports a corrupted file as far as possible, or reports the problem.

Each reader gets valid files of its format, with bytes changed, deleted, copied or exchanged, for some
seconds, in a process with limited memory. Set FUZZ_SEED to repeat a run.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from exchange.formats import readable
from tests.exchange.samples import sample_files

pytestmark = pytest.mark.anywhere

ROOT = Path(__file__).resolve().parents[2]
SECONDS = int(os.environ.get("FUZZ_SECONDS", "1"))
SEED = os.environ.get("FUZZ_SEED", "1")
PEAK = 512

PROBE = """
import json, pathlib, sys, time
import django
django.setup()
from exchange.files import Context, Source
from exchange.formats import readable
from exchange.problems import ProgramError
from exchange.records import Program
from tests.exchange.child_processes import run_in_child_processes
from tests.exchange.mutations import mutate_files

folder, seconds, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def probe(name):
    good = [Source(path.name, path.read_bytes()) for path in sorted((folder / name).iterdir())]
    read, wrong, rounds, slowest = readable()[name].read, {}, 0, 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sources = mutate_files(good, f"{seed}-{rounds}")
        begin = time.process_time()
        try:
            made = read(sources, Context("2021", 2021, "America/Los_Angeles"))
            for kind in ("papers", "people", "sessions", "presentations"):
                list(getattr(made, kind))
            if not isinstance(made, Program):
                raise TypeError(type(made))
        except ProgramError as error:
            if not str(error):
                wrong["says nothing"] = rounds
        except BaseException as error:
            wrong[f"{type(error).__name__}: {str(error)[:200]}"] = rounds
        slowest = max(slowest, time.process_time() - begin)
        rounds += 1
    # What getrusage() calls its own began as the memory of the process that started it.
    held = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    return [wrong, rounds, slowest, int(held["VmHWM"].split()[0]) // 1000]
print(json.dumps(run_in_child_processes(probe, sorted(readable()))))
"""


def test_file_that_went_wrong_ends_in_the_readers_own_words(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name in readable():
        (tmp_path / name).mkdir()
        for one in sample_files(name):
            (tmp_path / name / one.name).write_bytes(one.content)
    answer = subprocess.run(
        [sys.executable, "-c", PROBE, str(tmp_path), str(SECONDS), SEED],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "conference.settings"},
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=20 * SECONDS + 240,
    )  # fmt: skip
    for name, (wrong, rounds, slowest, peak) in json.loads(answer.stdout).items():
        with subtests.test(format=name):
            assert wrong == {}
            assert rounds > 1
            assert slowest < 20
            assert peak < PEAK
