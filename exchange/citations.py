"""Citations of papers made from records, and their text in APA style.

Titles and abstracts are in the authors' markup. Formats convert them to LaTeX or plain text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import markup
from exchange.files import CitationWriter, Context, OutputFile, Writer
from exchange.reading.values import tidy
from exchange.records import AuthorRecord, EditionRecord, PaperRecord, PersonRecord, Program, stated

SUFFIX = re.compile(r"(?P<family>.*\S),? (?P<suffix>(?:Jr|Sr)\.?|I{2,3}|IV)")


@dataclass(frozen=True, slots=True)
class Author:
    """A printed name, split into the parts that references need."""

    family: str
    given: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """Data for citing a paper. `key` is made of the edition and the paper's uid, so it never changes."""

    key: str
    title: str
    authors: tuple[Author, ...]
    conference: str
    event: str
    place: str
    year: int
    pages: str
    doi: str
    url: str
    abstract: str
    keywords: tuple[str, ...]
    proceedings: str
    series: str
    volume: str
    editors: tuple[Author, ...]
    publisher: str
    publisher_place: str
    isbn: str
    issn: str
    license: str

    @property
    def booktitle(self) -> str:
        """The title of the proceedings, or else the conference."""
        return self.proceedings or self.conference

    @property
    def first_and_last_page(self) -> tuple[str, str]:
        """The first and last page of "12-25" or "12–25". The last one is empty for a single page."""
        first, _, last = re.sub(r"\s*[-\u2013\u2014]+\s*", "-", self.pages).partition("-")
        return first, last


def citations(program: Program, context: Context) -> Iterator[Citation]:
    people = {person.ref.uid: person for person in program.people if person.ref.uid}
    for paper in program.papers:
        yield _citation(paper, people, program, context)


def citation_writer(entry: Callable[[Citation], str], gap: str) -> CitationWriter:
    """Return a writer of an entry for each paper, with a gap between entries."""

    def cite(programs: Iterable[tuple[Program, Context]]) -> Iterator[bytes]:
        all_citations = (
            citation for program, context in programs for citation in citations(program, context)
        )
        for index, citation in enumerate(all_citations):
            yield f"{gap if index else ''}{entry(citation)}".encode()

    return cite


def single_file_writer(cite: CitationWriter, extension: str) -> Writer:
    def write(program: Program, context: Context) -> Iterable[OutputFile]:
        yield OutputFile(f"{context.edition}.{extension}", cite([(program, context)]))

    return write


def citation_key(program: Program, context: Context, uid: str) -> str:
    """Return the key of a paper: "mlsys2021-cortex" if that is the uid already, else "mlsys2021.17".

    Only keys that are built from uids contain the dot, so that two papers never share a key.
    """
    edition = context.edition
    series = program.conference.slug if program.conference and edition.isdecimal() else ""
    return uid if uid.startswith(f"{series}{edition}-") else f"{series}{edition}.{uid}"


def _citation(
    paper: PaperRecord, people: dict[str, PersonRecord], program: Program, context: Context
) -> Citation:
    conference = program.conference
    edition = program.edition or EditionRecord(slug=context.edition)
    edition_name = stated(edition.name, "")
    conference_name = stated(conference.full_name, "") or stated(conference.name, "") if conference else ""
    city_and_country = (stated(edition.city, ""), stated(edition.country, ""))
    site_url = context.site_url.rstrip("/")
    return Citation(
        key=citation_key(program, context, paper.uid),
        title=stated(paper.title, ""),
        authors=tuple(_author(author, people, context) for author in stated(paper.authors, ())),
        conference=conference_name or edition_name,
        event=edition_name,
        place=", ".join(filter(None, city_and_country)),
        year=stated(edition.year, 0) or context.year,
        pages=stated(paper.pages, ""),
        doi=stated(paper.doi, ""),
        url=f"{site_url}/{context.edition}/papers/{paper.uid}/" if site_url else "",
        abstract=stated(paper.abstract, ""),
        keywords=stated(paper.keywords, ()),
        proceedings=stated(edition.proceedings_title, ""),
        series=stated(edition.proceedings_series, ""),
        volume=stated(edition.proceedings_volume, ""),
        editors=tuple(_split_name(editor, context) for editor in stated(edition.proceedings_editors, ())),
        publisher=stated(edition.publisher, ""),
        publisher_place=stated(edition.publisher_place, ""),
        isbn=stated(edition.isbn, ""),
        issn=stated(edition.issn, ""),
        license=stated(paper.license, "") or stated(edition.license, ""),
    )


def _author(author: AuthorRecord, people: dict[str, PersonRecord], context: Context) -> Author:
    """Split the printed name. Use the person's stored parts if they match it."""
    printed_name, person = author.person.name, people.get(author.person.uid)
    family = stated(person.family, "") if person else ""
    if person and family and printed_name == person.ref.name:
        return _with_suffix(family, stated(person.given, ""))
    given, last_words = printed_name[: -len(family)], printed_name[-len(family) :]
    if family and given.endswith(" ") and last_words.casefold() == family.casefold():
        return _with_suffix(last_words, given.strip())
    return _split_name(printed_name, context)


def _split_name(name: str, context: Context) -> Author:
    given, family = context.name_parts(name)
    return _with_suffix(family, given)


def _with_suffix(family: str, given: str) -> Author:
    match = SUFFIX.fullmatch(family)
    return Author(match["family"], given, match["suffix"]) if match else Author(family, given)


# A longer list of authors is shortened to the first ones and the last.
MAX_AUTHORS = 20


def apa(citation: Citation) -> str:
    """Return such as "Fegade, P., & Chen, T. (2021). Cortex. In Conference on Systems (pp. 1-9). https://…".

    Proceedings are cited with editors before the title, series and volume before the pages, and publisher.
    """
    title = tidy(markup.plain(citation.title))
    names = _join_names([_inverted_name(author) for author in citation.authors])
    first, last = citation.first_and_last_page
    pages = f"pp. {first}\u2013{last}" if last else f"p. {first}" if first else ""
    volume = " ".join(filter(None, (citation.series, citation.volume and f"Vol. {citation.volume}")))
    volume_and_pages = ", ".join(filter(None, (volume, pages)))
    address = f"https://doi.org/{citation.doi}" if citation.doi else citation.url
    year = f"({citation.year})."
    opening = (
        f"{_with_period(names)} {year} {_with_period(title)}" if names else f"{_with_period(title)} {year}"
    )
    book = f"{citation.booktitle} ({volume_and_pages})" if volume_and_pages else citation.booktitle
    container = f"{_editors(citation.editors)}{book}."
    publisher = citation.publisher and _with_period(citation.publisher)
    return " ".join(filter(None, (opening, f"In {container}", publisher, address)))


def _editors(editors: Sequence[Author]) -> str:
    """Return "M. Zed & A. Abe (Eds.), ": initials come first, and no comma separates two names."""
    names = [
        " ".join(filter(None, (initials(editor.given), editor.family, editor.suffix))) for editor in editors
    ]
    abbreviation = "Eds." if len(names) > 1 else "Ed."
    joined_names = " & ".join(names) if len(names) == 2 else _join_names(names)
    return f"{joined_names} ({abbreviation}), " if names else ""


def _inverted_name(author: Author) -> str:
    parts = (author.family, initials(author.given), author.suffix)
    return ", ".join(filter(None, parts))


def initials(given: str) -> str:
    """Return "J.-L. M." for "Jean-Luc Marie". Names in a script without capitals are not shortened."""
    words = given.split()
    return " ".join("-".join(filter(None, map(_initial, word.split("-")))) for word in words)


def _initial(name: str) -> str:
    first = name[:1]
    return f"{first.upper()}." if first.upper() != first.lower() else name


def _join_names(names: list[str]) -> str:
    if len(names) > MAX_AUTHORS:
        return f"{', '.join(names[: MAX_AUTHORS - 1])}, \u2026 {names[-1]}"
    return ", & ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _with_period(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
