"""The interface of a file format: the input of readers, the output of writers, the registry entry."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.utils.functional import Promise

from exchange.records import AuthorRecord, Program

MEGABYTE = 1_000_000
# The largest program that is read.
MAX_BYTES = 500 * MEGABYTE


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read: its name for messages, and its bytes."""

    name: str
    content: bytes


def total_size(sources: Sequence[Source]) -> int:
    """Return how many bytes the files have together."""
    return sum(len(source.content) for source in sources)


def split_last_word(name: str) -> tuple[str, str]:
    """Split a name into given and family names at its last space."""
    given, _, family = name.rpartition(" ")
    return given, family


@dataclass(frozen=True, slots=True)
class KnownRow:
    """An existing row: its key and name. The name of a presentation is the uid of its paper.

    Sessions also have the kind, times and the room's key; presentations have the kind and the session's key.
    """

    key: str
    name: str
    kind: str = ""
    start: datetime | None = None
    end: datetime | None = None
    room: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """Data for readers and writers: the edition's slug, year, IANA zone, the site's address, and functions.

    `day_start_hour` is the hour at which program days begin; `None` for an edition that does not exist yet.

    Formats import no app, so the context has functions that access names and rows. `name_parts` returns
    (given, family) of a printed name, and `version` the name of the last release. `uids` returns the uids of
    all sessions or presentations, including drafts, oldest first: numbers made of uids depend on that.
    `own_kind` takes "session" or "presentation" and a kind, and returns (name, built-in kind that it counts
    as); the name of a built-in kind is empty. `paper_titles` returns titles by edition and uid, also of
    other editions. `is_unusual_name` returns whether a name of a person looks wrong. `show_columns` takes the
    name of a table, and lines that say what its columns were taken for.
    """

    edition: str
    year: int
    timezone: str
    site_url: str = ""
    name_parts: Callable[[str], tuple[str, str]] = split_last_word
    version: Callable[[], str] = str
    day_start_hour: int | None = None
    uids: Callable[[str], Iterable[str]] = lambda kind: ()
    own_kind: Callable[[str, str], tuple[str, str]] = lambda applies_to, kind: ("", kind)
    paper_titles: Callable[[Collection[tuple[str, str]]], Mapping[tuple[str, str], str]] = lambda keys: {}
    days: tuple[date, date] | None = None
    known: Callable[[str], Iterable[KnownRow]] = lambda kind: ()
    authors: Callable[[Collection[str]], Mapping[str, tuple[AuthorRecord, ...]]] = lambda papers: {}
    is_unusual_name: Callable[[str], bool] = lambda name: False
    show_columns: Callable[[str, Sequence[str]], None] = lambda table, lines: None


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file that a writer makes: a plain file name, and its bytes in pieces."""

    name: str
    chunks: Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Page:
    """Counts of one page of a program on another site: its rows, and all rows if the page states them."""

    rows: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Pages:
    """Pagination of a program on another site, for formats that can be fetched.

    `address(url, offset)` returns the URL of the page that begins at a row. `page(content)` counts its rows,
    or raises `ValueError`. `token` names the environment variable with the access token for unpublished data.
    """

    address: Callable[[str, int], str]
    page: Callable[[bytes], Page]
    token: str


class Rows[R]:
    """Records that are read again on each iteration.

    `read` takes the fields to read besides the key that identifies a record, or `None` for all.
    """

    def __init__(self, read: Callable[[Collection[str] | None], Iterator[R]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[R]:
        return self._read(None)

    def __bool__(self) -> bool:
        return next(self._read(()), None) is not None

    def with_fields(self, names: Collection[str]) -> Iterator[R]:
        """Return the records with only these fields. The others are not read, and are `UNSTATED`."""
        return self._read(names)


type Reader = Callable[[Sequence[Source], Context], Program]
# Detects a possible format from the beginnings of files.
type Recognizer = Callable[[Sequence[Source]], bool]
type Writer = Callable[[Program, Context], Iterable[OutputFile]]
# Writes the papers of several editions as references, in one file.
type CitationWriter = Callable[[Iterable[tuple[Program, Context]]], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Format:
    """One entry of the registry: a file format that can be read, written, or both.

    `takes_stream`: the writer only iterates over the lists of a program and tests them for emptiness, so that
    they can be read while writing. `recognizes` returns whether files look like this format, by their names
    and first kilobytes. A format with `cite` is offered wherever papers are cited, under its `short_label`,
    sorted by `citation_place`. `holds_edition`: its files may hold the edition with its dates and time zone.
    """

    name: str
    label: str | Promise
    description: str | Promise
    extensions: tuple[str, ...]
    media_type: str = "application/octet-stream"
    read: Reader | None = None
    write: Writer | None = None
    cite: CitationWriter | None = None
    short_label: str = ""
    citation_place: int = 100
    pages: Pages | None = None
    takes_stream: bool = False
    holds_edition: bool = False
    recognizes: Recognizer | None = None

    def outputs(self, program: Program, context: Context) -> Iterable[OutputFile]:
        """Return the files that it makes of a program, or none if it is read only."""
        return self.write(program, context) if self.write else ()
