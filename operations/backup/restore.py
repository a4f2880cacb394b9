"""An archive into the database and the store of files of this installation, whatever engine either is.

The tables are made in the shape that they had when the archive was written, filled, and brought to the
present shape by the ordinary migrations: an archive outlives the version of the program that wrote it.
"""

from itertools import batched
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import SuspiciousOperation
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from conference.models import Edition
from content.revision import SiteRevision
from operations.backup import media_files
from operations.backup.reader import Archive, BadArchiveError
from operations.backup.staging_database import built_anew
from operations.backup.tables import columns, tables

AT_ONCE = 500


def is_in_use() -> bool:
    """Whether the database holds a program, or an account."""
    try:
        rows: list[Any] = [Edition, SiteRevision, get_user_model()]
        return any(model._default_manager.exists() for model in rows)
    except DatabaseError:
        return False


def restore(archive: Archive) -> None:
    """Put everything of an archive in place of what is here. What is damaged or unknown is refused before."""
    archive.check()
    before = last_revision()
    # The database is exchanged first: until then every file is as it was.
    with media_files.arriving() as put, built_anew():
        apps = shaped(archive.targets)
        load(archive, apps)
        try:
            for name in archive.files:
                with archive.file(name) as content:
                    put(name, content)
        except (OSError, SuspiciousOperation) as error:
            raise BadArchiveError(f"The uploaded files cannot be stored: {error}") from error
        ContentType.objects.clear_cache()
        call_command("migrate", verbosity=0, interactive=False)
        outdate_kept_pages(before)
        call_command("rebuild_search", verbosity=0)


def shaped(targets: list[tuple[str, str]]) -> Any:
    """Make the tables as they were at these migrations; return the models of then."""
    executor = MigrationExecutor(connection)
    unknown = [f"{app}.{name}" for app, name in targets if (app, name) not in executor.loader.disk_migrations]
    if unknown:
        raise BadArchiveError(
            f"The backup was made by a newer version of the program, which knows {', '.join(unknown)}. "
            "Install that version or a later one."
        )
    state = executor.migrate(targets)
    return state.apps


@transaction.atomic
def load(archive: Archive, apps: Any) -> None:
    """Fill the tables, and let the database check every reference."""
    # On PostgreSQL some migrations end with every reference being checked at once: again only at the end.
    connection.check_constraints()
    models = {model._meta.label_lower: model for model in tables(apps)}
    if models.keys() != archive.tables.keys():
        apart = ", ".join(sorted(models.keys() ^ archive.tables.keys()))
        raise BadArchiveError(f"The backup does not fit its migrations: {apart}.")
    for model in models.values():
        # Migrations may have put rows in.
        model._base_manager.all()._raw_delete(connection.alias)
    for label, model in models.items():
        fill(archive, label, model)
    connection.check_constraints()
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [*models.values()]):
            cursor.execute(statement)


def fill(archive: Archive, label: str, model: Any) -> None:
    """Put in the rows of a table just as they were: no time of change is set anew."""
    fields, names = columns(model), archive.tables[label]["columns"]
    if {field.attname for field in fields} != {*names}:
        raise BadArchiveError(f"The columns of {label} do not fit its migrations.")
    for rows in batched(archive.rows(label), AT_ONCE, strict=False):
        made = [model(**dict(zip(names, row, strict=True))) for row in rows]
        model._base_manager.all()._insert(made, fields=fields, using=connection.alias, raw=True)
    if model._base_manager.count() != archive.tables[label]["rows"]:
        raise BadArchiveError(f"Not all rows of {label} came in.")


def last_revision() -> int:
    try:
        return SiteRevision.objects.values_list("revision", flat=True).first() or 0
    except DatabaseError:
        return 0


def outdate_kept_pages(before: int) -> None:
    """Advance the site's stamp beyond any under which a running process, or this past, kept a page."""
    site, _ = SiteRevision.objects.get_or_create(pk=1)
    site.revision = max(site.revision, before) + 1
    site.save()
