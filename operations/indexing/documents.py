"""Documents of the search index by model: only public rows, with names as they are shown.

`operations.indexing.changes` tells which of them a change affects.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import batched
from typing import Any

from django.db.models import F, QuerySet

from conference.models import Edition, Page
from content.models import Content
from papers.models import Authorship, AwardGrant, Paper, Topic
from people.models import Person, PersonName
from people.querysets import appearance_relations, with_shown_names
from schedule.models import Presentation, Session, SessionRole, Speaker
from search.index import DocumentRecord, index_documents, remove_documents, replace_documents

type Groups[T] = dict[int, list[T]]
type Names = Groups[str]
# Primary keys of the rows; `None` for all of an edition.
type Keys = Collection[int] | None
# The number of rows that are indexed together by their keys.
BATCH_ROWS = 500


def reindex(edition: Edition | None) -> int:
    """Index the public rows of an edition, or of the whole site (`None`); return the number of changes."""
    return replace_documents(edition.pk if edition else None, records(edition))


def reindex_rows(keys_by_kind: Mapping[str, Collection[int]]) -> int:
    """Index these rows, or remove those that are not public; return the number of changes."""
    changed = 0
    for kind, keys in sorted(keys_by_kind.items()):
        for batch in batched(sorted(keys), BATCH_ROWS, strict=False):
            documents = list(BY_KIND[kind](None, batch))
            removed = {*batch} - {record.object_id for record in documents}
            changed += index_documents(documents) if documents else 0
            changed += remove_documents(kind, removed) if removed else 0
    return changed


def records(edition: Edition | None) -> list[DocumentRecord]:
    """Return the documents of an edition, or of the whole site (`None`)."""
    if edition is None:
        return [*people(), *pages(None)]
    return [*papers(edition), *sessions(edition), *talks(edition), *pages(edition)]


def those(edition: Edition | None, keys: Keys, path: str = "") -> dict[str, object]:
    """Return the filter for rows of an edition or, if `keys` are given, for rows with these primary keys.

    `path` leads to the row that has a document.
    """
    if keys is not None:
        return {f"{path}__in" if path else "pk__in": keys}
    return {f"{path}__edition" if path else "edition": edition}


def papers(edition: Edition | None, keys: Keys = None) -> Iterator[DocumentRecord]:
    """Yield documents of papers, with authors, topics, awards of all years, abstract and keywords.

    All of an edition, or those with these primary keys.
    """
    of_papers = those(edition, keys, "paper")
    authors = Authorship.objects.published().filter(**of_papers)
    names = shown_names(authors.order_by("paper", "position"), "paper_id")
    awards = grouped(award_names().filter(**of_papers).values_list("paper_id", "award__name"))
    topics = topic_paths([edition.pk] if edition else Paper.objects.filter(pk__in=keys or ()))
    rows = Paper.objects.published().filter(**those(edition, keys)).order_by("pk")
    columns = ("uid", "title", "abstract", "keywords", "topic", "edition")
    for paper in rows.only(*columns).annotate(year=F("edition__year")).iterator():
        yield DocumentRecord(
            "paper",
            paper.pk,
            paper.uid,
            paper.title,
            edition=paper.edition_id,
            year=paper.year,
            people=names[paper.pk],
            topic=" ".join(path := topics.get(paper.topic_id, [])),
            area=path[0] if path else "",
            awards=awards[paper.pk],
            body="\n\n".join([paper.abstract, *paper.keywords]),
        )


def people(edition: None = None, keys: Keys = None) -> Iterator[DocumentRecord]:
    """Yield documents of people, with all names that are not hidden, personal awards, and affiliation."""
    named = {} if keys is None else {"person__in": keys}
    # Those of people who are not public are not used.
    other_names = PersonName.objects.shown().filter(**named).order_by("person", "name", "pk")
    names = grouped(other_names.values_list("person_id", "name"))
    awarded = award_names().filter(person__isnull=False, **named)
    awards = grouped(awarded.values_list("person_id", "award__name"))
    editions = grouped(shown_in(keys))
    # People are public where they appear; `published()` would ask for their appearances once more.
    rows = Person.objects.published() if keys is None else Person.objects.filter(merged_into=None)
    rows = rows.filter(**({"pk__in": editions.keys() & {*keys}} if keys is not None else {})).order_by("pk")
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


def shown_in(keys: Keys = None) -> Iterator[tuple[int, int]]:
    """Yield pairs of a person's key and the key of an edition that shows the person, sorted."""
    pairs: set[tuple[int, int]] = set()
    for model, _name in appearance_relations(Person):
        rows = model.objects.published().order_by()
        rows = rows if keys is None else rows.filter(person__in=keys)
        pairs.update(rows.values_list("person_id", model.edition_lookup).distinct())
    yield from sorted((person, edition) for person, edition in pairs if person)


def sessions(edition: Edition | None, keys: Keys = None) -> Iterator[DocumentRecord]:
    roles = SessionRole.objects.published().filter(**those(edition, keys, "session"))
    names = shown_names(roles.order_by("session", "position"), "session_id")
    return program_documents("session", Session.objects.published().filter(**those(edition, keys)), names)


def talks(edition: Edition | None, keys: Keys = None) -> Iterator[DocumentRecord]:
    speakers = Speaker.objects.published().filter(**those(edition, keys, "presentation"))
    names = shown_names(speakers.order_by("presentation", "position"), "presentation_id")
    rows = Presentation.objects.published().filter(paper=None, **those(edition, keys))
    return program_documents("talk", rows, names)


def program_documents(
    kind: str, rows: QuerySet[Session] | QuerySet[Presentation], names: Names
) -> Iterator[DocumentRecord]:
    columns = ("pk", "uid", "title", "abstract", "edition", "edition__year")
    for row in rows.order_by("pk").values(*columns):
        yield DocumentRecord(
            kind,
            row["pk"],
            row["uid"],
            row["title"],
            edition=row["edition"],
            year=row["edition__year"],
            people=names[row["pk"]],
            body=row["abstract"],
        )


def pages(edition: Edition | None, keys: Keys = None) -> Iterator[DocumentRecord]:
    rows = Page.objects.published().filter(**those(edition, keys)).annotate(year=F("edition__year"))
    for page in rows.order_by("pk"):
        yield DocumentRecord(
            "page", page.pk, page.slug, page.title, edition=page.edition_id, year=page.year, body=page.body
        )


# The documents of an edition, or those of the rows with these keys.
BY_KIND: dict[str, Callable[[None, Keys], Iterator[DocumentRecord]]] = {
    "paper": papers,
    "person": people,
    "session": sessions,
    "talk": talks,
    "page": pages,
}


def shown_names(rows: QuerySet[Content], owner: str) -> Names:
    """Return the names as pages show them, by the key of their paper or session (`owner`)."""
    return grouped(with_shown_names(rows).values_list(owner, "shown_name"))


def award_names() -> QuerySet[AwardGrant]:
    """Return the public grants in the order of the awards."""
    return AwardGrant.objects.published().order_by("award__position", "award", "pk")


def topic_paths(editions: Collection[int] | QuerySet[Paper]) -> dict[int | None, list[str]]:
    """Return the names of each topic of these editions, or those of these papers, with those above it.

    The highest topic comes first.
    """
    keys: Any = editions.order_by().values("edition") if isinstance(editions, QuerySet) else editions
    columns = Topic.objects.filter(edition__in=keys).order_by().values_list("pk", "name", "parent_id")
    rows = {key: (name, parent) for key, name, parent in columns}

    def path(key: int | None) -> list[str]:
        name, parent = rows.get(key, ("", None)) if key else ("", None)
        return [*path(parent), name] if name else []

    return {key: path(key) for key in rows}


def grouped[T](pairs: Iterable[tuple[int, T]]) -> Groups[T]:
    groups: Groups[T] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
