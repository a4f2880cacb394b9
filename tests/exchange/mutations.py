"""Random damage to valid files, as by transfers, editors and attackers; a seed repeats it."""

import io
import random
import re
import zipfile
from collections.abc import Callable

from exchange.files import Source

# Strings that parsers often mishandle: terminators, special characters, very large numbers, long text.
SPECIAL_STRINGS = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\r", b"\n" * 50, b" " * 500,
    b'"', b"'", b"\\", b"{", b"}" * 40, b"[" * 2_000, b"]", b"<", b"<!--", b"]]>", b"&#0;", b"&x;", b"%",
    b"$", b"@", b",", b";", b"\t", b"=", b"-1", b"0", b"9" * 400, b"1e999", b"NaN", b"null", b"true", b"[]",
    b"{}", b'""', b"9999-12-31T23:59:59+14:00", b"0001-01-01", b"25:61", b"P99999D", b"\\u0000", b"\\ud800",
    b"a" * 70_000, b"@" * 9_000, b" " * 70_000, b"a@" * 9_000, b"1," * 9_000, b"(" * 9_000, b" and " * 9_000,
)  # fmt: skip


def flip_bytes(content: bytearray, rng: random.Random) -> None:
    """Replace up to eight bytes with random ones."""
    for _ in range(rng.randint(1, 8)):
        content[rng.randrange(len(content))] = rng.randrange(256)


def delete_slice(content: bytearray, rng: random.Random) -> None:
    """Delete a random slice, often up to the end."""
    start = rng.randrange(len(content))
    end = len(content) if rng.random() < 0.3 else start + rng.randint(1, 200)
    del content[start:end]


def insert_special_string(content: bytearray, rng: random.Random) -> None:
    """Insert one of SPECIAL_STRINGS, or replace a word or number with one."""
    words = [*re.finditer(rb"[\w.:+-]+", bytes(content))]
    if words and rng.random() < 0.6:
        word = rng.choice(words)
        content[word.start() : word.end()] = rng.choice(SPECIAL_STRINGS)
    else:
        position = rng.randrange(len(content) + 1)
        content[position:position] = rng.choice(SPECIAL_STRINGS)


def copy_slice(content: bytearray, rng: random.Random) -> None:
    """Copy a random slice to a random position."""
    start = rng.randrange(len(content))
    piece = content[start : start + rng.randint(1, 400)]
    position = rng.randrange(len(content) + 1)
    content[position:position] = piece


def swap_words(content: bytearray, rng: random.Random) -> None:
    """Swap two words or numbers."""
    words = [*re.finditer(rb"[\w.:+-]+", bytes(content))]
    if len(words) > 1:
        first, second = sorted(rng.sample(words, 2), key=lambda word: word.start())
        content[second.start() : second.end()] = first[0]
        content[first.start() : first.end()] = second[0]


MUTATIONS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    flip_bytes,
    delete_slice,
    insert_special_string,
    insert_special_string,
    copy_slice,
    swap_words,
)


def mutate_files(valid_files: list[Source], seed: str) -> list[Source]:
    """Return the files with one of them corrupted; of a ZIP either the archive or one of its members."""
    rng = random.Random(seed)
    index = rng.randrange(len(valid_files))
    corrupted_file = Source(valid_files[index].name, _corrupt(valid_files[index].content, rng))
    other_files = valid_files if rng.random() < 0.9 else valid_files[:index]
    return [*other_files[:index], corrupted_file, *other_files[index + 1 :]]


def _corrupt(content: bytes, rng: random.Random) -> bytes:
    if content.startswith(b"PK") and rng.random() < 0.8:
        return _corrupt_zip_member(content, rng)
    corrupted = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        if corrupted:
            rng.choice(MUTATIONS)(corrupted, rng)
    return bytes(corrupted)


def _corrupt_zip_member(content: bytes, rng: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice([*members])
    members[name] = _corrupt(members[name], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member_name, member_content in members.items():
            archive.writestr(member_name, member_content)
    return packed.getvalue()
