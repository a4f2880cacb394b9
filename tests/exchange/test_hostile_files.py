"""Tests of hostile files: every reader refuses each of them in limited time and memory, with a reason.

Each reader runs in its own process, whose memory is limited by the operating system.
"""

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exchange.files import Source
from exchange.formats import readable
from exchange.problems import ProgramError
from tests.exchange.samples import CONTEXT

pytestmark = pytest.mark.anywhere

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1_000_000
MAX_READ_SECONDS = 20
# Detection reads only the first kilobytes of a file.
MAX_DETECTION_SECONDS = 3
MAX_PEAK_MB = 900
ZEROS = 1_000_000_000
XML_ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
XML_BOMB = f'<?xml version="1.0"?><!DOCTYPE s [<!ENTITY l0 "lol">{XML_ENTITIES}]><schedule>&l9;</schedule>'
YAML_BOMB = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
XML_EXTERNAL_ENTITY = (
    '<?xml version="1.0"?><!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><schedule>&x;</schedule>'
)
ENDINGS = ("json", "csv", "xlsx", "zip", "yml", "bib", "xml", "toml")


def zip_of(*members: tuple[str, bytes | int]) -> bytes:
    """Return a ZIP; a member given as a number contains so many zero bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, value in members:
            with archive.open(name, "w", force_zip64=True) as file:
                pieces = [value] if isinstance(value, bytes) else [bytes(MEGABYTE)] * (value // MEGABYTE)
                for piece in pieces:
                    file.write(piece)
    return content.getvalue()


def hostile_files() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each hostile file."""
    yield "empty", b""
    yield "blank", b" \n\t\n"
    yield "blank_lines", b"\n" * MEGABYTE
    yield "nul", b'{"a": "\0"}'
    yield "not_utf8", b"title\n\xff\xfe\xfa\n"
    yield "half_utf16", b"\xff\xfea"
    yield "xml_bomb", XML_BOMB.encode()
    yield "xml_outside", XML_EXTERNAL_ENTITY.encode()
    yield "yaml_bomb", YAML_BOMB.encode()
    yield "deep_json", b"[" * MEGABYTE
    yield "deep_objects", b'{"notes":' * MEGABYTE
    yield "deep_braces", b"@misc{a, title=" + b"{" * MEGABYTE
    yield "deep_xml", b"<schedule>" + b"<a>" * 300_000
    yield "many_entries", b"@misc{a,\n" * 100_000
    yield "long_number", b'{"count": ' + b"9" * MEGABYTE + b"}"
    yield "open_quote", b'id,title\n1,"' + b"x" * MEGABYTE
    yield "many_columns", b"," * MEGABYTE + b"\n1"
    yield "formulas", b"id,title\n=1+1,\n@SUM(A1),\n"
    yield "zip_slip", zip_of(("../../etc/papers.csv", b"uid,title\n1,A\n"), ("/abs/p.yml", b"a: 1"))
    yield "zip_cut", zip_of(("papers.csv", b"uid,title\n1,A\n" * 100))[:60]
    yield "zip_zeros", zip_of(("papers.csv", ZEROS))
    book = [("[Content_Types].xml", b"<Types/>"), ("xl/workbook.xml", XML_BOMB.encode())]
    yield "book_bomb", zip_of(*book)
    yield "book_zeros", zip_of(*book, ("xl/sharedStrings.xml", ZEROS))


READ_PROBE = """
import json, pathlib, resource, sys, time
limit = 3_000_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
import django
django.setup()
from exchange.files import Context, Source
from exchange.formats import readable
from exchange.problems import ProgramError
from tests.exchange.child_processes import run_in_child_processes
endings = json.loads(sys.argv[2])
def probe(name):
    results = {}
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        begin = time.monotonic()
        for ending in endings[name]:
            try:
                source = Source(f"{path.name}.{ending}", path.read_bytes())
                readable()[name].read([source], Context("2021", 2021, "UTC"))
                message = ""
            except ProgramError as error:
                message = str(error.problems[0])
            except BaseException as error:
                message = f"!{type(error).__name__}: {str(error)[:200]}"
            results[f"{path.name}.{ending}"] = (message, time.monotonic() - begin)
    return [results, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000]
print(json.dumps(run_in_child_processes(probe, endings)))
"""


@pytest.fixture(scope="session")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    for name, content in hostile_files():
        (folder / name).write_bytes(content)
    return folder


def run_probe(script: str, *arguments: str) -> Any:
    """Run Python code in a child process; return its output, parsed as JSON."""
    process = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "conference.settings"},
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    return json.loads(process.stdout)


def test_hostile_files_are_refused_in_bounded_memory(hostile_folder: Path, subtests: pytest.Subtests) -> None:
    endings = {
        name: [ending for ending in ENDINGS if ending in fmt.extensions] or ["json"]
        for name, fmt in readable().items()
    }
    for name, (results, peak_mb) in run_probe(READ_PROBE, str(hostile_folder), json.dumps(endings)).items():
        with subtests.test(format=name):
            assert {
                file: message
                for file, (message, _) in results.items()
                if not message or message.startswith("!")
            } == {}
            assert {
                file: seconds for file, (_, seconds) in results.items() if seconds > MAX_READ_SECONDS
            } == {}
            assert peak_mb < MAX_PEAK_MB


DETECTION_PROBE = """
import json, pathlib, sys, time
import django
django.setup()
from exchange.jobs.upload_form import detect_formats
from exchange.files import Source
results = {}
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    for name in (path.name, *(f"{path.name}.{ending}" for ending in ("json", "csv", "xlsx", "zip"))):
        begin = time.monotonic()
        detected = detect_formats([Source(name, path.read_bytes())])
        results[name] = (detected[0].name if len(detected) == 1 else "", time.monotonic() - begin)
print(json.dumps(results))
"""


def test_format_detection_of_hostile_files_is_quick(hostile_folder: Path) -> None:
    results = run_probe(DETECTION_PROBE, str(hostile_folder))

    assert {name for name, _ in results.values()} <= {"", *readable()}
    assert {file: seconds for file, (_, seconds) in results.items() if seconds > MAX_DETECTION_SECONDS} == {}


@pytest.mark.parametrize("name", sorted(readable()))
def test_error_names_the_file(name: str) -> None:
    fmt = readable()[name]
    assert fmt.read
    with pytest.raises(ProgramError) as error:
        fmt.read([Source(f"x.{fmt.extensions[0]}", b"\xff\xff\0")], CONTEXT)
    assert error.value.problems[0].where.file == f"x.{fmt.extensions[0]}"
