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


def zip_of(members: dict[str, str], compression: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def unpack(content: bytes) -> dict[str, bytes]:
    findings = Findings()
    files = archives.unpack(Source("a.zip", content), findings, is_table)
    findings.raise_problems()
    return {file.name: file.content for file in files}


def is_table(name: str) -> bool:
    return PurePosixPath(name).suffix == ".csv"


def error_message(content: bytes) -> str:
    with pytest.raises(ProgramError) as error:
        unpack(content)
    return str(error.value)


def test_matching_files_are_unpacked_by_path() -> None:
    members = {"in/papers.csv": "1", "__MACOSX/papers.csv": "2", "notes.txt": "3", "folder.csv/": ""}

    assert unpack(zip_of(members)) == {"in/papers.csv": b"1"}


def test_file_that_is_no_zip_is_returned_unchanged() -> None:
    assert unpack(b"uid,title\n") == {"a.zip": b"uid,title\n"}


@pytest.mark.parametrize("name", ["../papers.csv", "/etc/papers.csv", "C:/papers.csv", r"..\papers.csv"])
def test_path_outside_the_archive_is_refused(name: str) -> None:
    message = error_message(zip_of({name: "1"}))

    assert message.startswith("a.zip, ")
    assert message.endswith("The name of this file points outside the ZIP file. Create the ZIP again.")


def test_encrypted_file_is_refused() -> None:
    content = bytearray(zip_of({"papers.csv": "1"}))
    # A ZIP has the flags twice: in the header of the file, and in the central directory.
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= ENCRYPTED

    assert error_message(bytes(content)) == (
        "a.zip, papers.csv: The file is encrypted. Create the ZIP without a password."
    )


@pytest.mark.parametrize(
    ("limit", "maximum", "message"),
    [
        ("MAX_FILES", 1, "The ZIP file holds more than 1 files."),
        ("MAX_BYTES", 3_000_000, "The files are larger than 3 MB together."),
    ],
)
def test_archive_over_a_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch, limit: str, maximum: int, message: str
) -> None:
    content = zip_of({"a.csv": "1" * 2_000_000, "b.csv": "2" * 2_000_000})
    assert unpack(content).keys() == {"a.csv", "b.csv"}
    monkeypatch.setattr(archives, limit, maximum)

    assert error_message(content).endswith(message)


def test_zip_bomb_is_refused_without_unpacking() -> None:
    content = zip_of({"a.csv": "1" * 10_000_000}, zipfile.ZIP_DEFLATED)
    large, small = (10_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little")
    assert (len(content) < 20_000, content.count(large)) == (True, 2)
    honest = content.replace(large, (250_000_000).to_bytes(4, "little"))
    lying = content.replace(large, small)
    tracemalloc.start()
    messages = [error_message(honest), error_message(lying)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert messages == [
        "a.zip: The files are larger than 200 MB together.",
        "a.zip: The ZIP file is damaged or not supported. Create it again.",
    ]
    assert peak < 1_000_000


def test_damaged_zip_is_refused() -> None:
    damaged = zip_of({"papers.csv": "1" * 100})[:60]

    assert error_message(damaged) == "a.zip: The ZIP file is damaged or not supported. Create it again."
