"""Documents of the search index by model: only public rows, with names as they are shown.

`operations.indexing.update` decides when to index them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from django.db.models import QuerySet

from conference.models import Edition, Page
from content.models import Content
from papers.models import Authorship, AwardGrant
from people.models import Person, PersonName
from people.querysets import appearance_relations, with_shown_names
from schedule.models import Presentation, Session, SessionRole, Speaker
from search.index import DocumentRecord, index_documents, remove_documents, replace_documents

type Groups[T] = dict[int, list[T]]
type Names = Groups[str]


def reindex(edition: Edition | None) -> int:
    """Index the public rows of an edition, or of the whole site (`None`); return the number of changes."""
    return replace_documents(edition.pk if edition else None, records(edition))


def reindex_papers(edition: Edition, uids: Collection[str]) -> int:
    """Index these papers, or remove those that are not public; return the number of changes."""
    keys = list(edition.papers.filter(uid__in=uids).values_list("pk", flat=True))
    documents = list(papers(edition, keys))
    return index_documents(documents) + remove_documents(
        "paper", {*keys} - {record.object_id for record in documents}
    )


def records(edition: Edition | None) -> list[DocumentRecord]:
    """Return the documents of an edition, or of the whole site (`None`)."""
    if edition is None:
        return [*people(), *pages(None)]
    return [*papers(edition), *sessions(edition), *talks(edition), *pages(edition)]


def papers(edition: Edition, keys: Collection[int] | None = None) -> Iterator[DocumentRecord]:
    """Yield documents of papers, with authors, topics, awards of all years, abstract and keywords.

    All of an edition, or those with these primary keys.
    """
    by_paper, by_key = ({}, {}) if keys is None else ({"paper__in": keys}, {"pk__in": keys})
    authors = Authorship.objects.published().filter(paper__edition=edition, **by_paper)
    names = shown_names(authors.order_by("paper", "position"), "paper_id")
    awarded = award_names("paper__edition", edition).filter(**by_paper)
    awards = grouped(awarded.values_list("paper_id", "award__name"))
    topics = topic_paths(edition)
    rows = edition.papers.published().filter(**by_key).order_by("pk")
    for paper in rows.only("uid", "title", "abstract", "keywords", "topic").iterator():
        yield DocumentRecord(
            "paper",
            paper.pk,
            paper.uid,
            paper.title,
            edition=edition.pk,
            year=edition.year,
            people=names[paper.pk],
            topic=" ".join(path := topics.get(paper.topic_id, [])),
            area=path[0] if path else "",
            awards=awards[paper.pk],
            body="\n\n".join([paper.abstract, *paper.keywords]),
        )


def people() -> Iterator[DocumentRecord]:
    """Yield documents of people, with all names that are not hidden, personal awards, and affiliation."""
    other_names = PersonName.objects.published().order_by("person", "name", "pk")
    names = grouped(other_names.values_list("person_id", "name"))
    awards = grouped(award_names("person__isnull", False).values_list("person_id", "award__name"))
    editions = grouped(shown_in())
    rows = Person.objects.published().order_by("pk")
    for person in rows.only("uid", "name", "native_name", "affiliation").iterator():
        yield DocumentRecord(
            "person",
            person.pk,
            person.uid,
            person.name,
            shown_in=editions[person.pk],
            people=[person.name, *filter(None, [person.native_name]), *names[person.pk]],
            awards=awards[person.pk],
            body=person.affiliation,
        )


def shown_in() -> Iterator[tuple[int, int]]:
    """Yield pairs of a person's key and the key of an edition that shows the person, sorted."""
    pairs: set[tuple[int, int]] = set()
    for model, _name in appearance_relations(Person):
        rows = model.objects.published().order_by()
        pairs.update(rows.values_list("person_id", model.edition_lookup).distinct())
    yield from sorted((person, edition) for person, edition in pairs if person)


def sessions(edition: Edition) -> Iterator[DocumentRecord]:
    roles = SessionRole.objects.published().filter(session__edition=edition).order_by("session", "position")
    return program_documents(
        "session", edition.sessions.published(), shown_names(roles, "session_id"), edition
    )


def talks(edition: Edition) -> Iterator[DocumentRecord]:
    speakers = Speaker.objects.published().filter(presentation__edition=edition)
    names = shown_names(speakers.order_by("presentation", "position"), "presentation_id")
    rows = Presentation.objects.published().filter(edition=edition, paper=None)
    return program_documents("talk", rows, names, edition)


def program_documents(
    kind: str, rows: QuerySet[Session] | QuerySet[Presentation], names: Names, edition: Edition
) -> Iterator[DocumentRecord]:
    for row in rows.order_by("pk").values("pk", "uid", "title", "abstract"):
        yield DocumentRecord(
            kind,
            row["pk"],
            row["uid"],
            row["title"],
            edition=edition.pk,
            year=edition.year,
            people=names[row["pk"]],
            body=row["abstract"],
        )


def pages(edition: Edition | None) -> Iterator[DocumentRecord]:
    year = edition.year if edition else None
    for page in Page.objects.published().filter(edition=edition).order_by("pk"):
        yield DocumentRecord(
            "page", page.pk, page.slug, page.title, edition=page.edition_id, year=year, body=page.body
        )


def shown_names(rows: QuerySet[Content], owner: str) -> Names:
    """Return the names as pages show them, by the key of their paper or session (`owner`)."""
    return grouped(with_shown_names(rows).values_list(owner, "shown_name"))


def award_names(lookup: str, value: object) -> QuerySet[AwardGrant]:
    """Return the public grants that `lookup` leads to, in the order of the awards."""
    return AwardGrant.objects.published().filter(**{lookup: value}).order_by("award__position", "award", "pk")


def topic_paths(edition: Edition) -> dict[int | None, list[str]]:
    """Return the names of each topic with those above it, the highest first."""
    rows = {
        key: (name, parent) for key, name, parent in edition.topics.values_list("pk", "name", "parent_id")
    }

    def path(key: int | None) -> list[str]:
        name, parent = rows.get(key, ("", None)) if key else ("", None)
        return [*path(parent), name] if name else []

    return {key: path(key) for key in rows}


def grouped[T](pairs: Iterable[tuple[int, T]]) -> Groups[T]:
    groups: Groups[T] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
