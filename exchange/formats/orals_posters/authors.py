"""Authors as `orals-posters.json` lists them, made of a paper's authorships."""

from collections.abc import Iterator, Mapping

from exchange.files import Context
from exchange.formats.orals_posters.numbers import is_number, number
from exchange.formats.orals_posters.papers import distinct, split_affiliations
from exchange.formats.orals_posters.rows import EventAuthor, encoded, tidy
from exchange.records import AuthorRecord, PaperRecord, PersonRef, stated


def author_rows(
    paper: PaperRecord, institutions: Mapping[str, str], context: Context
) -> list[dict[str, object]]:
    """Return the paper's authors in order, each once, with public addresses only."""
    kept, _ = distinct(_authors(paper, institutions, context))
    return [
        {
            "id": author.id,
            "fullname": encoded(author.name),
            "url": author.url or None,
            "institution": encoded(author.institution) or None,
        }
        for author in kept
    ]


def _authors(paper: PaperRecord, institutions: Mapping[str, str], context: Context) -> Iterator[EventAuthor]:
    site = context.site_url.rstrip("/")
    for author in stated(paper.authors, ()):
        person, name = author.person, tidy(author.person.name)
        url = f"{site}/people/{person.uid}/" if site and person.uid else ""
        if name:
            yield EventAuthor(name, _number(person), url, _institution(author, institutions))


def _number(person: PersonRef) -> int | None:
    """Return a number for joining: of the person here, else the one that the author came with."""
    if person.uid:
        return number("", "person", person.uid)
    return next((int(value) for _, value in person.ids if is_number(value)), None)


def _institution(author: AuthorRecord, institutions: Mapping[str, str]) -> str:
    printed = author.affiliations or [institutions.get(key, "") for key in author.institutions]
    return "; ".join(split_affiliations(";".join(printed)))
