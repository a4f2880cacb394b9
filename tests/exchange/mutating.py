"""Mutations of valid files as by transfers, editors and attackers; the same seed gives the same result."""

import io
import random
import re
import zipfile
from collections.abc import Callable

from exchange.files import Source

type Chance = random.Random

# Strings that parsers often mishandle: terminators, special characters, very large numbers, long text.
SPICE = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\r", b"\n" * 50, b" " * 500,
    b'"', b"'", b"\\", b"{", b"}" * 40, b"[" * 2_000, b"]", b"<", b"<!--", b"]]>", b"&#0;", b"&x;", b"%",
    b"$", b"@", b",", b";", b"\t", b"=", b"-1", b"0", b"9" * 400, b"1e999", b"NaN", b"null", b"true", b"[]",
    b"{}", b'""', b"9999-12-31T23:59:59+14:00", b"0001-01-01", b"25:61", b"P99999D", b"\\u0000", b"\\ud800",
    b"a" * 70_000, b"@" * 9_000, b" " * 70_000, b"a@" * 9_000, b"1," * 9_000, b"(" * 9_000, b" and " * 9_000,
)  # fmt: skip


def flipped(content: bytearray, chance: Chance) -> None:
    """Replace up to eight bytes with random ones."""
    for _ in range(chance.randint(1, 8)):
        content[chance.randrange(len(content))] = chance.randrange(256)


def cut(content: bytearray, chance: Chance) -> None:
    """Delete a random slice, often up to the end."""
    start = chance.randrange(len(content))
    end = len(content) if chance.random() < 0.3 else start + chance.randint(1, 200)
    del content[start:end]


def spiced(content: bytearray, chance: Chance) -> None:
    """Insert a string of SPICE, or replace a word or number with one."""
    words = [*re.finditer(rb"[\w.:+-]+", bytes(content))]
    if words and chance.random() < 0.6:
        word = chance.choice(words)
        content[word.start() : word.end()] = chance.choice(SPICE)
    else:
        place = chance.randrange(len(content) + 1)
        content[place:place] = chance.choice(SPICE)


def doubled(content: bytearray, chance: Chance) -> None:
    """Copy a random slice to a random place."""
    start = chance.randrange(len(content))
    piece = content[start : start + chance.randint(1, 400)]
    place = chance.randrange(len(content) + 1)
    content[place:place] = piece


def exchanged(content: bytearray, chance: Chance) -> None:
    """Exchange two words."""
    words = [*re.finditer(rb"[\w.:+-]+", bytes(content))]
    if len(words) > 1:
        first, second = sorted(chance.sample(words, 2), key=lambda word: word.start())
        content[second.start() : second.end()] = first[0]
        content[first.start() : first.end()] = second[0]


WAYS: tuple[Callable[[bytearray, Chance], None], ...] = (flipped, cut, spiced, spiced, doubled, exchanged)


def mutated(good: list[Source], seed: str) -> list[Source]:
    """Return the files with one of them corrupted; of a ZIP either the archive or one of its members."""
    chance = random.Random(seed)
    place = chance.randrange(len(good))
    spoilt = Source(good[place].name, _spoilt(good[place].content, chance))
    rest = good if chance.random() < 0.9 else good[:place]
    return [*rest[:place], spoilt, *rest[place + 1 :]]


def _spoilt(content: bytes, chance: Chance) -> bytes:
    if content.startswith(b"PK") and chance.random() < 0.8:
        return _repacked(content, chance)
    found = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        if found:
            chance.choice(WAYS)(found, chance)
    return bytes(found)


def _repacked(content: bytes, chance: Chance) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice([*members])
    members[name] = _spoilt(members[name], chance)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for one, inside in members.items():
            archive.writestr(one, inside)
    return packed.getvalue()
