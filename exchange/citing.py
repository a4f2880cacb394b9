"""How to cite papers: those of the database as references, in every format for citations."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext

from conference.models import Edition
from conference.paging import BadParameter
from exchange.apa import apa
from exchange.citations import citation_key, citations
from exchange.dump import dump, writing_context
from exchange.files import Context, Format
from exchange.formats import bibtex, csl_json, ris
from exchange.records import (
    AuthorRecord,
    ConferenceRecord,
    EditionRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    Program,
)
from papers.models import Paper

MAX_WORDS = 100

type Parts = Iterable[tuple[Program, Context]]
type Citing = Callable[[Parts], Iterator[bytes]]


def _joined(entries: Callable[[Program, Context], Iterator[bytes]], gap: bytes) -> Citing:
    def written(parts: Parts) -> Iterator[bytes]:
        is_first = True
        for program, context in parts:
            for index, entry in enumerate(entries(program, context)):
                yield gap + entry if not (index or is_first) else entry
                is_first = False

    return written


# The formats that papers are cited in, and how each writes the papers of several editions as one file.
FORMATS: dict[str, tuple[Format, Citing]] = {
    "bib": (bibtex.FORMAT, _joined(bibtex.entries, b"\n")),
    "ris": (ris.FORMAT, _joined(ris.entries, b"\r\n")),
    "csl.json": (csl_json.FORMAT, csl_json.listed),
}


def cited(edition: Edition, papers: Q) -> tuple[Program, Context]:
    """Return the published papers of an edition that meet a condition, ready to be cited."""
    return dump(edition, only={"paper": papers}), writing_context(edition)


def asked_for(edition: Edition, parameters: Mapping[str, str]) -> Q:
    """Return the condition that `q`, `topic` and `track` set, as on the list of papers."""
    rows = papers = edition.papers.published().order_by()
    given = {name: parameters.get(name, "") for name in ("q", "topic", "track")}
    if not any(given.values()):
        return Q()
    if given["topic"]:
        topic = edition.topics.published().filter(slug=given["topic"]).first()
        if topic is None:
            raise BadParameter("topic", given["topic"], gettext("No topic with papers has this name."))
        rows = rows.below(topic)
    if given["track"]:
        if not papers.filter(track=given["track"]).exists():
            raise BadParameter("track", given["track"], gettext("No track with papers has this name."))
        rows = rows.filter(track=given["track"])
    if "\0" in given["q"] or len(given["q"]) > MAX_WORDS:
        raise BadParameter(
            "q",
            given["q"],
            gettext("At most %(count)d characters can be searched for.") % {"count": MAX_WORDS},
        )
    return Q(pk__in=rows.matching(given["q"]).values("pk"))


def citation_of(paper: Paper, edition: Edition) -> dict[str, str]:
    """Return a paper that was fetched `with_authors()` as key, BibTeX and a line in APA style. No query."""
    program, context = _program(paper, edition), writing_context(edition)
    (citation,) = citations(program, context)
    return {
        "key": citation_key(program, context, paper.uid),
        "bibtex": bibtex.entry(citation, context),
        "apa": apa(citation, context),
    }


def _program(paper: Paper, edition: Edition) -> Program:
    """Return the records of one paper as a dump would hold them, as far as citations need them."""
    authors: list[Any] = paper.shown_authors
    people = {one.person.uid: one.person for one in authors}
    conference = edition.conference
    return Program(
        conference=ConferenceRecord(
            slug=conference.slug, name=conference.name, full_name=conference.full_name
        ),
        edition=EditionRecord(
            slug=edition.slug,
            year=edition.year,
            name=edition.name,
            city=edition.city,
            country=edition.country,
        ),
        people=tuple(
            PersonRecord(ref=PersonRef(name=one.name, uid=uid), given=one.given, family=one.family)
            for uid, one in people.items()
        ),
        papers=(
            PaperRecord(
                uid=paper.uid,
                title=paper.title,
                abstract=paper.abstract,
                keywords=tuple(paper.keywords),
                doi=paper.doi,
                pages=paper.pages,
                authors=tuple(
                    AuthorRecord(person=PersonRef(name=one.shown_name, uid=one.person.uid)) for one in authors
                ),
            ),
        ),
    )
