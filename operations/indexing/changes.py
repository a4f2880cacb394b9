"""The documents of the search index that changed rows affect.

A document of a row that follows another one, such as a talk that is public with its session, follows the
changes of both.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.apps import apps
from django.db.models import Q

from content.array_lookup import AnyOf
from content.history.changed_rows import ChangedRow
from content.models import Content
from papers.models import Authorship, AwardGrant, Paper
from papers.querysets import TOPIC_PATHS
from people.models import Person
from people.querysets import appearance_relations
from schedule.models import Presentation, Session, SessionRole, Speaker

type ChangedRows = Mapping[str, Mapping[int, ChangedRow]]
# Primary keys by kind.
type Documents = dict[str, set[int]]

# Whether and in which edition a row is public.
PUBLICATION = frozenset(("status", "on_release", "edition", "parent", "session", "paper"))
TEXTS = frozenset(("title", "abstract"))
# The kind of a model's document, and the fields that it depends on.
OWN_DOCUMENTS: Mapping[str, tuple[str, frozenset[str]]] = {
    "papers.paper": ("paper", PUBLICATION | TEXTS | {"keywords", "topic", "uid"}),
    "people.person": ("person", frozenset(("name", "native_name", "affiliation", "merged_into", "uid"))),
    "schedule.session": ("session", PUBLICATION | TEXTS | {"uid"}),
    "schedule.presentation": ("talk", PUBLICATION | TEXTS | {"uid"}),
    "conference.page": ("page", PUBLICATION | {"title", "body", "slug"}),
}
# The fields of rows that connect others of which documents depend.
LINK_FIELDS = frozenset((*PUBLICATION, "person", "presentation", "award", "name", "position", "hidden"))
# The kinds of the documents that rows contribute to by their foreign keys.
TARGETS = {"paper": "paper", "person": "person", "session": "session", "presentation": "talk"}


def affected_documents(rows: ChangedRows) -> Documents:
    """Return the documents that changes of these rows affect, by kind. A few queries for each model."""
    found: Documents = defaultdict(set)
    for label, (kind, fields) in OWN_DOCUMENTS.items():
        found[kind].update(changed_keys(rows, label, fields))
    for label in {*linking_models()} & rows.keys():
        keys = changed_keys(rows, label, LINK_FIELDS)
        _add_targets(found, label, {key: rows[label][key] for key in keys})
    _add_renamed(found, rows)
    _add_published(found, rows)
    awards = changed_keys(rows, "papers.award", {"name", "status", "position", "edition"})
    _add_rows(found, AwardGrant, "award", awards)
    if topics := changed_keys(rows, "papers.topic", {"name", "parent"}):
        in_topics = Q.create([(f"{path}__in", topics) for path in TOPIC_PATHS], connector=Q.OR)
        found["paper"].update(Paper.objects.filter(in_topics).order_by().values_list("pk", flat=True))
    return {kind: keys for kind, keys in found.items() if keys}


def changed_keys(rows: ChangedRows, label: str, fields: Iterable[str]) -> set[int]:
    """Return the keys of rows of a model that are new or deleted, or of which one of the fields changed."""
    return {
        key
        for key, row in rows.get(label, {}).items()
        if row.fields is None or not row.fields.isdisjoint(fields)
    }


def edited_keys(rows: ChangedRows, label: str, fields: Collection[str]) -> set[int]:
    """Return the keys of rows of a model of which one of the fields changed, without new and deleted ones."""
    return {
        key
        for key, row in rows.get(label, {}).items()
        if row.fields is not None and not row.fields.isdisjoint(fields)
    }


def linking_models() -> dict[str, type[Content]]:
    """Return the models by label whose rows connect others, of which one at least has a document."""
    models: list[Any] = [AwardGrant, apps.get_model("people", "PersonName")]
    models += (model for model, _name in appearance_relations(Person))
    return {model._meta.label_lower: model for model in models}


def _add_targets(found: Documents, label: str, rows: Mapping[int, ChangedRow]) -> None:
    """Add the documents that these rows refer to, and those that they referred to before."""
    model = linking_models()[label]
    _add_rows(found, model, "pk", [*rows])
    for row in rows.values():
        for name, key in row.old_keys.items():
            if name in TARGETS:
                found[TARGETS[name]].add(key)


def _add_rows(found: Documents, model: type[Content], lookup: str, keys: Collection[int]) -> None:
    """Add the documents that rows of a connecting model refer to. One query, or none without keys."""
    names = [field.name for field in model._meta.concrete_fields if field.name in TARGETS]
    rows = model._base_manager.filter(AnyOf(lookup, keys)).order_by()
    for row in rows.values_list(*names):
        for name, key in zip(names, row, strict=True):
            if key:
                found[TARGETS[name]].add(key)


def _add_renamed(found: Documents, rows: ChangedRows) -> None:
    """Add what shows a person by another name than before."""
    people = edited_keys(rows, "people.person", {"name"})
    if "people.personname" in rows:
        people |= found["person"]
    for model in (Authorship, SessionRole, Speaker):
        _add_rows(found, model, "person", people)


def _add_published(found: Documents, rows: ChangedRows) -> None:
    """Add what is public with a paper, session or talk whose publication changed.

    Rows that are new, or deleted with theirs, are themselves among the changes.
    """
    papers, sessions, talks = (
        edited_keys(rows, label, PUBLICATION)
        for label in ("papers.paper", "schedule.session", "schedule.presentation")
    )
    if sessions:
        sessions |= {*Session._base_manager.filter(AnyOf("parent", sessions)).values_list("pk", flat=True)}
        found["session"] |= sessions
    of_these = Q(AnyOf("session", sessions)) | Q(AnyOf("paper", papers))
    if sessions or papers:
        talks |= {*Presentation._base_manager.filter(of_these).values_list("pk", flat=True)}
        found["talk"] |= talks
    _add_rows(found, Authorship, "paper", papers)
    _add_rows(found, AwardGrant, "paper", papers)
    _add_rows(found, SessionRole, "session", sessions)
    _add_rows(found, Speaker, "presentation", talks)
