"""The outer shape of a file format: what a reader is given, what a writer makes, and its registry row."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from exchange.records import Program


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read: its name for messages, and its bytes."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Context:
    """What a reader or writer must know: the edition's slug, year, IANA zone, and the site's address."""

    edition: str
    year: int
    timezone: str
    site_url: str = ""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file that a writer makes: a plain file name, and its bytes in pieces."""

    name: str
    chunks: Iterable[bytes]


type Reader = Callable[[Sequence[Source], Context], Program]
type Writer = Callable[[Program, Context], Iterable[OutputFile]]


@dataclass(frozen=True, slots=True)
class Format:
    """One entry of the registry: a file format that can be read, written, or both."""

    name: str
    label: str
    description: str
    extensions: tuple[str, ...]
    read: Reader | None = None
    write: Writer | None = None
