"""Tests of ZIP files: unsafe paths, encrypted files and excessive sizes are refused with a message."""

import io
import tracemalloc
import zipfile
from pathlib import PurePosixPath

import pytest

from exchange.files import Source
from exchange.problems import Findings, ProgramError
from exchange.reading import archives

ENCRYPTED = 1


def packed(members: dict[str, str], compression: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def unpacked(content: bytes) -> dict[str, bytes]:
    findings = Findings()
    found = archives.unpack(Source("a.zip", content), findings, is_table)
    findings.raise_problems()
    return {one.name: one.content for one in found}


def is_table(name: str) -> bool:
    return PurePosixPath(name).suffix == ".csv"


def refusal(content: bytes) -> str:
    with pytest.raises(ProgramError) as refused:
        unpacked(content)
    return str(refused.value)


def test_wanted_files_come_by_their_bare_names() -> None:
    members = {"in/papers.csv": "1", "__MACOSX/papers.csv": "2", "notes.txt": "3", "folder.csv/": ""}

    assert unpacked(packed(members)) == {"papers.csv": b"1"}


def test_what_is_no_zip_is_the_file_itself() -> None:
    assert unpacked(b"uid,title\n") == {"a.zip": b"uid,title\n"}


@pytest.mark.parametrize("name", ["../papers.csv", "/etc/papers.csv", "C:/papers.csv", r"..\papers.csv"])
def test_name_that_leads_out_is_refused(name: str) -> None:
    said = refusal(packed({name: "1"}))

    assert said.startswith("a.zip, ")
    assert said.endswith("The name of this file points outside the ZIP file. Create the ZIP again.")


def test_encrypted_file_is_refused() -> None:
    content = bytearray(packed({"papers.csv": "1"}))
    # A ZIP has the flags twice: in the header of the file, and in the central directory.
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= ENCRYPTED

    assert refusal(bytes(content)) == (
        "a.zip, papers.csv: The file is encrypted. Create the ZIP without a password."
    )


@pytest.mark.parametrize(
    ("bound", "most", "said"),
    [
        ("MAX_FILES", 1, "The ZIP file holds more than 1 files."),
        ("MAX_BYTES", 3_000_000, "The files are larger than 3 MB together."),
    ],
)
def test_more_than_a_program_has_is_refused(
    monkeypatch: pytest.MonkeyPatch, bound: str, most: int, said: str
) -> None:
    content = packed({"a.csv": "1" * 2_000_000, "b.csv": "2" * 2_000_000})
    assert unpacked(content).keys() == {"a.csv", "b.csv"}
    monkeypatch.setattr(archives, bound, most)

    assert refusal(content).endswith(said)


def test_bomb_is_refused_before_it_is_unpacked() -> None:
    content = packed({"a.csv": "1" * 10_000_000}, zipfile.ZIP_DEFLATED)
    large, small = (10_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little")
    assert (len(content) < 20_000, content.count(large)) == (True, 2)
    honest = content.replace(large, (250_000_000).to_bytes(4, "little"))
    lying = content.replace(large, small)
    tracemalloc.start()
    said = [refusal(honest), refusal(lying)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert said == [
        "a.zip: The files are larger than 200 MB together.",
        "a.zip: The ZIP file is damaged or not supported. Create it again.",
    ]
    assert peak < 1_000_000


def test_damaged_zip_is_refused() -> None:
    damaged = packed({"papers.csv": "1" * 100})[:60]

    assert refusal(damaged) == "a.zip: The ZIP file is damaged or not supported. Create it again."
