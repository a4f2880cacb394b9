"""Invariants of the stored data that database constraints cannot express, checked by `manage.py verify`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import batched
from typing import TYPE_CHECKING

from django.apps import apps
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import CharField, F, Max, Q
from django.db.models.functions import Length
from django.utils import timezone

from conference.models import Edition
from content import revision
from content.fields import file_fields
from content.history import ChangeSet, RowChange, recording
from content.models import Content, Ordered
from content.ordering import close_gaps
from content.revision import SiteRevision
from exchange.imports.kinds import KINDS
from exchange.models import Provenance
from operations.indexing.documents import records
from operations.indexing.states import SITE, read_states
from people.models import Institution, Person
from people.querysets import appearance_relations, resolve_links
from search.models import Document, Word

if TYPE_CHECKING:
    from django.db.models import Model

EDITION = "edition"
PARENT = "parent"
BATCH_ROWS = 500
# A long import sets the revision long before the end of its transaction, when the history is written.
MAX_DELAY = timedelta(minutes=30)

# Rows of content models, their files, and the database itself


def content_models() -> Iterator[type[Content]]:
    yield from (model for model in apps.get_models() if issubclass(model, Content))


def row_label(model: "type[Model] | None", key: int) -> str:
    return f"{model._meta.verbose_name if model else 'row'} {key}"


def database_errors() -> Iterator[str]:
    """Yield broken foreign keys, and on SQLite damage of the file."""
    try:
        connection.check_constraints()
    except (DatabaseError, IntegrityError) as error:
        yield str(error)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA integrity_check")
            yield from (str(line) for (line,) in cursor.fetchall() if line != "ok")


def has_edition(model: "type[Model] | None") -> bool:
    return model is not None and any(field.name == EDITION for field in model._meta.concrete_fields)


def rows_pointing_at_other_editions() -> Iterator[str]:
    """Yield rows that refer to a row of another edition."""
    for model in filter(has_edition, content_models()):
        for field in model._meta.concrete_fields:
            if field.is_relation and field.name != EDITION and has_edition(field.related_model):
                lookup = f"{field.name}__{EDITION}"
                # References to rows without an edition, which belong to the whole site, are valid.
                in_other_edition = ~Q(**{lookup: F(EDITION)}) & Q(**{f"{lookup}__isnull": False})
                rows = model._base_manager.filter(in_other_edition).order_by("pk")
                for key in rows.values_list("pk", flat=True):
                    yield f"{row_label(model, key)}: “{field.verbose_name}” is of another edition"


def texts_too_long() -> Iterator[str]:
    """Yield texts that are longer than `max_length`, which SQLite does not enforce."""
    if connection.vendor != "sqlite":
        return
    for model in apps.get_models():
        columns = [field for field in model._meta.concrete_fields if isinstance(field, CharField)]
        for field in columns:
            longer = model._base_manager.annotate(length=Length(field.name)).filter(
                length__gt=field.max_length
            )
            for key in longer.order_by("pk").values_list("pk", flat=True):
                yield f"{row_label(model, key)}: “{field.verbose_name}” is over {field.max_length} characters"


def is_numbered(positions: Iterable[int]) -> bool:
    ordered = sorted(positions)
    return ordered == [*range(1, len(ordered) + 1)]


def is_ordered(rows: list[tuple[int, int | None]]) -> bool:
    """Return whether positions count from 1, either across all pairs of (position, parent) or per parent."""
    levels: dict[int | None, list[int]] = defaultdict(list)
    for position, parent in rows:
        levels[parent].append(position)
    return is_numbered(position for position, _ in rows) or all(map(is_numbered, levels.values()))


def rows_with_gaps() -> dict[type[Ordered], set[int]]:
    """Return the owners whose rows are not numbered from 1, by model. One query per model."""
    owners_by_model: dict[type[Ordered], set[int]] = {}
    for model in apps.get_models():
        if not issubclass(model, Ordered):
            continue
        owner = f"{model.siblings_of}_id"
        nested = any(field.name == PARENT for field in model._meta.concrete_fields)
        positions: dict[int, list[tuple[int, int | None]]] = defaultdict(list)
        rows = model._base_manager.exclude(**{owner: None}).order_by()
        columns = (owner, "position", f"{PARENT}_id" if nested else owner)
        for key, position, parent in rows.values_list(*columns):
            positions[key].append((position, parent))
        wrong = {key for key, siblings in positions.items() if not is_ordered(siblings)}
        if wrong:
            owners_by_model[model] = wrong
    return owners_by_model


def position_gaps() -> Iterator[str]:
    for model, owners in rows_with_gaps().items():
        owner_model = model._meta.get_field(model.siblings_of).related_model
        for key in sorted(owners):
            names = model._meta.verbose_name_plural
            yield f"{row_label(owner_model, key)}: the order of {names} has gaps or doubles"


def rows_with_stale_fields() -> Iterator[tuple[Content, dict[str, object]]]:
    """Yield the rows whose derived fields are out of date, with the current values of these fields."""
    for model in content_models():
        fields = model.derived_fields
        if not fields:
            continue
        for row in model._base_manager.order_by("pk").iterator(BATCH_ROWS):
            stored = {name: getattr(row, name) for name in fields}
            row.derive()
            derived = {name: getattr(row, name) for name in fields}
            if stored != derived:
                yield row, {name: value for name, value in derived.items() if stored[name] != value}


def stale_fields() -> Iterator[str]:
    for row, values in rows_with_stale_fields():
        yield f"{row_label(type(row), row.pk)}: {', '.join(values)}"


def repair_stale_fields() -> None:
    with recording.single_change_set(), revision.lock():
        for row, values in [*rows_with_stale_fields()]:
            type(row)._default_manager.filter(pk=row.pk).update(**values)


def rows_of_merged() -> Iterator[str]:
    models: list[type[Content]] = [Person, Institution]
    for model in models:
        yield from _merge_cycles(model)
        for rows, name in appearance_relations(model):
            remaining = rows._base_manager.filter(**{f"{name}__merged_into__isnull": False}).order_by("pk")
            for key, merged_key in remaining.values_list("pk", name):
                merged = row_label(model, merged_key)
                yield f"{row_label(rows, key)}: is of {merged}, who was merged into another"


def _merge_cycles(model: "type[Model]") -> Iterator[str]:
    merged = model._base_manager.filter(merged_into__isnull=False)
    successors = dict(merged.values_list("pk", "merged_into_id"))
    for key, end in sorted(resolve_links(successors).items()):
        if end in successors:
            yield f"{row_label(model, key)}: is merged in a circle"


def missing_files() -> Iterator[str]:
    for model, field in file_fields():
        rows = model._base_manager.exclude(**{field.name: ""}).order_by("pk")
        for key, path in rows.values_list("pk", field.name):
            if path and not default_storage.exists(path):
                yield f"{row_label(model, key)}: the file {path} is not there"


# Data about content: import provenance, revisions, the search index


def _orphaned_rows() -> Iterator[Provenance]:
    """Yield provenance of rows that do not exist and are not in the history as deleted (so cannot return)."""
    for kind in KINDS.values():
        existing = kind.model._base_manager.order_by().values("pk")
        orphaned = Provenance.objects.filter(kind=kind.name).exclude(object_id__in=existing).order_by("pk")
        deletions = RowChange.objects.filter(model=kind.model._meta.label_lower, kind=RowChange.Kind.DELETED)
        yield from orphaned.exclude(object_id__in=deletions.order_by().values("object_id"))


def orphaned_provenance() -> Iterator[str]:
    for provenance in _orphaned_rows():
        yield f"{provenance}: no such row, nor was one deleted"


def repair_provenance() -> None:
    for keys in batched([provenance.pk for provenance in _orphaned_rows()], BATCH_ROWS, strict=False):
        Provenance.objects.filter(pk__in=keys).delete()


def _outdated_revisions() -> list[tuple[int | None, str]]:
    """Return the key (`None`: the site) and a message for each revision that is outdated or in the future."""
    outdated: list[tuple[int | None, str]] = []
    latest = timezone.now() + MAX_DELAY
    changes = ChangeSet.objects.order_by().values_list("rows__edition_key").annotate(last=Max("at"))
    last = {key: at for key, at in changes if at is not None}
    revisions: list[tuple[int | None, str, datetime | None]] = [
        (edition.pk, str(edition), edition.changed_at) for edition in Edition.objects.order_by("pk")
    ]
    site = SiteRevision.objects.filter(pk=1).first()
    revisions.append((None, "the site", site.changed_at if site else None))
    for key, name, at in revisions:
        if at is None:
            outdated += [(key, f"{name}: has no revision")] if last else []
        elif at > latest:
            outdated.append((key, f"{name}: its revision is in the future"))
        elif key in last and last[key] > at + MAX_DELAY:
            outdated.append((key, f"{name}: changed after its revision"))
    return outdated


def outdated_revisions() -> Iterator[str]:
    yield from (message for _, message in _outdated_revisions())


def repair_revisions() -> None:
    revision.advance(key for key, _ in _outdated_revisions())


def search_index_errors() -> Iterator[str]:
    states = read_states()
    for key in sorted(states.current.keys() - states.stale()):
        edition = Edition.objects.get(pk=key) if key else None
        yield from _document_errors(edition, "the site" if key == SITE else str(edition))
    yield from _vocabulary_errors()
    yield from _full_text_errors()


def _document_errors(edition: Edition | None, name: str) -> Iterator[str]:
    expected = {(record.kind, record.object_id): record.fingerprint for record in records(edition)}
    rows = Document.objects.filter(edition=edition.pk if edition else None).order_by()
    stored = {
        (kind, key): fingerprint
        for kind, key, fingerprint in rows.values_list("kind", "object_id", "fingerprint")
    }
    for verb, keys in (
        ("is missing", expected.keys() - stored.keys()),
        ("is not public", stored.keys() - expected.keys()),
        ("is out of date", {key for key in expected.keys() & stored.keys() if expected[key] != stored[key]}),
    ):
        yield from (f"{name}: {kind} {key} {verb}" for kind, key in sorted(keys))


def _vocabulary_errors() -> Iterator[str]:
    counts: Counter[str] = Counter()
    for document in Document.objects.order_by("pk").iterator():
        counts.update(document.vocabulary())
    stored = dict(Word.objects.filter(documents__gt=0).values_list("word", "documents"))
    wrong = {word for word in counts.keys() | stored.keys() if counts[word] != stored.get(word, 0)}
    if wrong:
        yield f"{len(wrong)} words of the vocabulary have a wrong count, such as “{min(wrong)}”"


def _full_text_errors() -> Iterator[str]:
    if connection.vendor != "sqlite":
        return
    for table in ("search_head", "search_whole"):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
        except DatabaseError as error:
            yield f"{table}: {error}"


def repair_search_index() -> None:
    call_command("rebuild_search", verbosity=0)


@dataclass(frozen=True, slots=True)
class Check:
    """An invariant. `find` yields its violations; `repair` fixes them, if that can be done automatically."""

    title: str
    find: Callable[[], Iterable[str]]
    repair: Callable[[], object] | None = None


# Later checks rely on earlier ones.
CHECKS = [
    Check("the database is whole", database_errors),
    Check("related rows belong to the same edition", rows_pointing_at_other_editions),
    Check("texts fit their columns", texts_too_long),
    Check("positions count from 1 without gaps", position_gaps, lambda: close_gaps(rows_with_gaps())),
    Check("links, sort keys and rendered text are up to date", stale_fields, repair_stale_fields),
    Check("import provenance refers to rows that exist", orphaned_provenance, repair_provenance),
    Check("nothing refers to merged people or institutions", rows_of_merged),
    Check("uploaded files exist", missing_files),
    Check("revisions are no older than the last change", outdated_revisions, repair_revisions),
    Check(
        "the search index holds what is public, and nothing else", search_index_errors, repair_search_index
    ),
]
