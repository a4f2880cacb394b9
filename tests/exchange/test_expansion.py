"""Small hostile files add at most 200 MB to the process, and are refused or read within ten seconds.

Each is read in a process of its own. Time is that of the processor, since other tests run beside these.
"""

import json
from pathlib import Path

import pytest

from tests.exchange.bombs import bombs
from tests.exchange.test_hostile_files import run_probe

pytestmark = pytest.mark.anywhere

MAX_FILE_BYTES = 2_500_000
MAX_ADDED_MB = 200
MAX_SECONDS = 10
# These are read in bounded memory: what is in them is within the limits.
HARMLESS = frozenset(("elements.xml", "entries.bib", "persons.xml"))

PROBE = """
import json, pathlib, resource, sys, time
import django
django.setup()
from exchange.files import Context, Source
from exchange.formats import readable
from exchange.problems import ProgramError
from tests.exchange.child_processes import run_in_child_processes
readers = readable()
formats = json.loads(sys.argv[2])
def usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_maxrss / 1000, used.ru_utime + used.ru_stime
def probe(name):
    source = Source(name, (pathlib.Path(sys.argv[1]) / name).read_bytes())
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    megabytes, seconds = usage()
    try:
        readers[formats[name]].read([source], Context("2021", 2021, "UTC"))
        message = ""
    except ProgramError as error:
        message = str(error.problems[0])
    except BaseException as error:
        message = f"!{type(error).__name__}: {str(error)[:200]}"
    peak, end = usage()
    return [message, peak - megabytes, end - seconds]
print(json.dumps(run_in_child_processes(probe, formats)))
"""


def test_small_hostile_files_are_bounded(tmp_path: Path, subtests: pytest.Subtests) -> None:
    formats = {}
    for name, format_name, content in bombs():
        assert len(content) < MAX_FILE_BYTES, name
        (tmp_path / name).write_bytes(content)
        formats[name] = format_name
    results = run_probe(PROBE, str(tmp_path), json.dumps(formats))

    assert results.keys() == formats.keys()
    for name, (message, added_mb, seconds) in results.items():
        with subtests.test(file=name):
            assert (bool(message), message[:1] != "!") == (name not in HARMLESS, True), message
            assert added_mb < MAX_ADDED_MB
            assert seconds < MAX_SECONDS
