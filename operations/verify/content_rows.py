"""Checks of the rows of content models, their files, and the database itself."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from django.apps import apps
from django.core.files.storage import default_storage
from django.db import DatabaseError, IntegrityError, connection
from django.db.models import CharField, F, Q
from django.db.models.functions import Length

from content import recording, revision
from content.file_fields import file_fields
from content.models import Content, Ordered
from content.ordering import close_gaps
from people.merged_rows import final_rows
from people.models import Institution, Person
from people.querysets import appearances

if TYPE_CHECKING:
    from django.db.models import Model


def content_models() -> Iterator[type[Content]]:
    """Walk the models of the program."""
    yield from (model for model in apps.get_models() if issubclass(model, Content))


def named(model: "type[Model] | None", key: int) -> str:
    return f"{model._meta.verbose_name if model else 'row'} {key}"


EDITION = "edition"


def database_errors() -> Iterator[str]:
    """Foreign keys that lead nowhere, and on SQLite damage of the file."""
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
    """Rows of one edition that point at a row of another."""
    for model in filter(has_edition, content_models()):
        for field in model._meta.concrete_fields:
            if field.is_relation and field.name != EDITION and has_edition(field.related_model):
                far = f"{field.name}__{EDITION}"
                # What belongs to no edition belongs to all.
                apart = ~Q(**{far: F(EDITION)}) & Q(**{f"{far}__isnull": False})
                for key in model._base_manager.filter(apart).order_by("pk").values_list("pk", flat=True):
                    yield f"{named(model, key)}: “{field.verbose_name}” is of another edition"


def texts_too_long() -> Iterator[str]:
    """Texts beyond what their column holds: SQLite takes them, PostgreSQL does not."""
    if connection.vendor != "sqlite":
        return
    for model in apps.get_models():
        columns = [field for field in model._meta.concrete_fields if isinstance(field, CharField)]
        for field in columns:
            longer = model._base_manager.annotate(length=Length(field.name)).filter(
                length__gt=field.max_length
            )
            for key in longer.order_by("pk").values_list("pk", flat=True):
                yield f"{named(model, key)}: “{field.verbose_name}” is over {field.max_length} characters"


PARENT = "parent"


def is_numbered(places: Iterable[int]) -> bool:
    """Whether the positions are 1 to n, each once."""
    taken = sorted(places)
    return taken == [*range(1, len(taken) + 1)]


def is_ordered(rows: list[tuple[int, int | None]]) -> bool:
    """Whether pairs of position and parent count from 1: all together, or each level by itself."""
    levels: dict[int | None, list[int]] = defaultdict(list)
    for place, parent in rows:
        levels[parent].append(place)
    return is_numbered(place for place, _ in rows) or all(map(is_numbered, levels.values()))


def rows_with_gaps() -> dict[type[Ordered], set[int]]:
    """Return the owners whose rows are not numbered from 1, by model. One query per model."""
    found: dict[type[Ordered], set[int]] = {}
    for model in apps.get_models():
        if not issubclass(model, Ordered):
            continue
        owner = f"{model.siblings_of}_id"
        nested = any(field.name == PARENT for field in model._meta.concrete_fields)
        places: dict[int, list[tuple[int, int | None]]] = defaultdict(list)
        rows = model._base_manager.exclude(**{owner: None}).order_by()
        columns = (owner, "position", f"{PARENT}_id" if nested else owner)
        for key, place, parent in rows.values_list(*columns):
            places[key].append((place, parent))
        wrong = {key for key, siblings in places.items() if not is_ordered(siblings)}
        if wrong:
            found[model] = wrong
    return found


def position_gaps() -> Iterator[str]:
    for model, owners in rows_with_gaps().items():
        above = model._meta.get_field(model.siblings_of).related_model
        for key in sorted(owners):
            yield f"{named(above, key)}: the order of {model._meta.verbose_name_plural} has gaps or doubles"


def repair_positions() -> None:
    close_gaps(rows_with_gaps())


CHUNK_ROWS = 500


def rows_with_stale_fields() -> Iterator[tuple[Content, dict[str, object]]]:
    """Walk the rows whose derived fields are not what they would be now, with what these would be."""
    for model in content_models():
        fields = model.derived_fields
        if not fields:
            continue
        for row in model._base_manager.order_by("pk").iterator(CHUNK_ROWS):
            stored = {name: getattr(row, name) for name in fields}
            row.derive()
            derived = {name: getattr(row, name) for name in fields}
            if stored != derived:
                yield row, {name: value for name, value in derived.items() if stored[name] != value}


def stale_fields() -> Iterator[str]:
    for row, values in rows_with_stale_fields():
        yield f"{named(type(row), row.pk)}: {', '.join(values)}"


def repair_stale_fields() -> None:
    with recording.together(), revision.lock():
        for row, values in [*rows_with_stale_fields()]:
            type(row)._default_manager.filter(pk=row.pk).update(**values)


def rows_of_merged() -> Iterator[str]:
    models: list[type[Content]] = [Person, Institution]
    for model in models:
        yield from _merge_cycles(model)
        for rows, name in appearances(model):
            left = rows._base_manager.filter(**{f"{name}__merged_into__isnull": False}).order_by("pk")
            for key, gone in left.values_list("pk", name):
                what = model._meta.verbose_name
                yield f"{rows._meta.verbose_name} {key}: is of {what} {gone}, who was merged into another"


def _merge_cycles(model: "type[Model]") -> Iterator[str]:
    merged = model._base_manager.filter(merged_into__isnull=False)
    successors = dict(merged.values_list("pk", "merged_into_id"))
    for key, end in sorted(final_rows(successors).items()):
        if end in successors:
            yield f"{model._meta.verbose_name} {key}: is merged in a circle"


def missing_files() -> Iterator[str]:
    for model, field in file_fields():
        rows = model._base_manager.exclude(**{field.name: ""}).order_by("pk")
        for key, path in rows.values_list("pk", field.name):
            if path and not default_storage.exists(path):
                yield f"{named(model, key)}: the file {path} is not there"
