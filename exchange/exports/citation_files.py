"""Papers of the database as references, in every format for citations."""

from django.db.models import Q
from django.http import QueryDict

from conference.models import Edition
from exchange.citations import apa, citation_key, citations
from exchange.exports.dump import dump, record_of, writing_context
from exchange.files import Context
from exchange.formats import bibtex, citation_formats
from exchange.imports.kinds import CONFERENCE, EDITION, PAPER
from exchange.records import AuthorRecord, PersonRecord, PersonRef, Program
from papers.models import Authorship, Paper
from papers.paper_search import PaperSearch

# The fields of a paper that citations are made of.
CITED_FIELDS = ("title", "abstract", "keywords", "doi", "pages", "license", "authors")
FORMATS = citation_formats()


def dump_for_citation(edition: Edition, papers: Q) -> tuple[Program, Context]:
    """Return the published papers of an edition that meet a condition, for `cite` of a format."""
    return dump(edition, only={"paper": papers}, fields={"paper": CITED_FIELDS}), writing_context(edition)


def search_condition(edition: Edition, parameters: QueryDict) -> Q:
    """Return the condition for a search of papers with these parameters: words and facets."""
    search = PaperSearch(parameters, edition)
    if not search.is_narrowed:
        return Q()
    search.look_up()
    return Q(pk__in=search.keys)


def citation_of(paper: Paper, edition: Edition) -> dict[str, str]:
    """Return key, BibTeX and APA style of a paper fetched `with_authors()`. Makes no queries."""
    program, context = _program(paper, edition), writing_context(edition)
    (citation,) = citations(program, context)
    return {
        "key": citation_key(program, context, paper.uid),
        "bibtex": bibtex.entry(citation),
        "apa": apa(citation),
    }


def _program(paper: Paper, edition: Edition) -> Program:
    """Return the records of one paper like a dump, with the fields that citations need."""
    authors = paper.shown_authors
    people = {authorship.person.uid: authorship.person for authorship in authors}
    conference = edition.conference
    return Program(
        conference=record_of(CONFERENCE, conference),
        edition=record_of(EDITION, edition, conference=conference.slug),
        people=tuple(
            PersonRecord(ref=PersonRef(name=person.name, uid=uid), given=person.given, family=person.family)
            for uid, person in people.items()
        ),
        papers=(record_of(PAPER, paper, authors=tuple(map(_author, authors))),),
    )


def _author(authorship: Authorship) -> AuthorRecord:
    return AuthorRecord(person=PersonRef(name=authorship.shown_name, uid=authorship.person.uid))
