"""Fuzz tests: every reader reads a corrupted file, or refuses it with a reason.

Each reader gets randomly corrupted files of its format for FUZZ_SECONDS, in a process of its own, whose
memory is measured. Set FUZZ_SEED to change the corruptions.
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
MAX_PEAK_MB = 512

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
    valid_files = [Source(path.name, path.read_bytes()) for path in sorted((folder / name).iterdir())]
    read, failures, rounds, slowest = readable()[name].read, {}, 0, 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sources = mutate_files(valid_files, f"{seed}-{rounds}")
        begin = time.process_time()
        try:
            program = read(sources, Context("2021", 2021, "America/Los_Angeles"))
            for kind in ("papers", "people", "sessions", "presentations"):
                list(getattr(program, kind))
            if not isinstance(program, Program):
                raise TypeError(type(program))
        except ProgramError as error:
            if not str(error):
                failures["no message"] = rounds
        except BaseException as error:
            failures[f"{type(error).__name__}: {str(error)[:200]}"] = rounds
        slowest = max(slowest, time.process_time() - begin)
        rounds += 1
    # The maximum of getrusage() includes the memory of the parent process before the fork.
    memory = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    return [failures, rounds, slowest, int(memory["VmHWM"].split()[0]) // 1000]
print(json.dumps(run_in_child_processes(probe, sorted(readable()))))
"""


def test_corrupted_files_are_read_or_refused_with_a_reason(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name in readable():
        (tmp_path / name).mkdir()
        for file in sample_files(name):
            (tmp_path / name / file.name).write_bytes(file.content)
    process = subprocess.run(
        [sys.executable, "-c", PROBE, str(tmp_path), str(SECONDS), SEED],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "conference.settings"},
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=20 * SECONDS + 240,
    )  # fmt: skip
    for name, (failures, rounds, slowest, peak_mb) in json.loads(process.stdout).items():
        with subtests.test(format=name):
            assert failures == {}
            assert rounds > 1
            assert slowest < 20
            assert peak_mb < MAX_PEAK_MB
