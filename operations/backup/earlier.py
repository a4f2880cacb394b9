"""Backups from before 0.1.0, when the tables of `accounts` and `content` belonged to `conference`."""

from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.migrations.loader import MigrationLoader

from operations.backup.reader import Archive

# The last migration of `conference` that such a backup names.
LAST_MIGRATION = ("conference", "0008_touched")
MOVED_TABLES = {
    "conference.changeset": "content.changeset",
    "conference.membership": "accounts.membership",
    "conference.rowchange": "content.rowchange",
    "conference.siterevision": "content.siterevision",
}
NEW_TABLES = {"content.invalidation": ["id", "edition_key", "revision", "tag", "at"]}
DROPPED_COLUMNS = {"conference.edition": {"touched"}}
CONTENT_TYPES = "contenttypes.contenttype"
PROJECT_APPS = frozenset(
    ("accounts", "api", "conference", "content", "exchange", "papers", "people", "schedule", "search")
)


class EarlierArchive(Archive):
    """An archive from before 0.1.0, read as one of the first migrations of each app."""

    @property
    def targets(self) -> list[tuple[str, str]]:
        leaves = MigrationLoader(connection).graph.leaf_nodes()
        others = [(app, name) for app, name in super().targets if app not in PROJECT_APPS]
        return [*others, *((app, name) for app, name in leaves if app in PROJECT_APPS)]

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        found = {label: {"columns": names, "rows": 0} for label, names in NEW_TABLES.items()}
        for label, table in super().tables.items():
            dropped = DROPPED_COLUMNS.get(label, set())
            columns = [name for name in table["columns"] if name not in dropped]
            found[MOVED_TABLES.get(label, label)] = {**table, "columns": columns}
        return found

    def check(self) -> None:
        Archive(self.path).check()

    def rows(self, label: str) -> Iterator[list[Any]]:
        if label in NEW_TABLES:
            return
        before = {new: old for old, new in MOVED_TABLES.items()}.get(label, label)
        columns = super().tables[before]["columns"]
        dropped = DROPPED_COLUMNS.get(before, set())
        for row in super().rows(before):
            values = [value for name, value in zip(columns, row, strict=True) if name not in dropped]
            yield moved_content_type(columns, values) if label == CONTENT_TYPES else values


def moved_content_type(columns: list[str], values: list[Any]) -> list[Any]:
    """Return a content type under the app to which its table belongs now."""
    row = dict(zip(columns, values, strict=True))
    moved = MOVED_TABLES.get(f"{row['app_label']}.{row['model']}", "")
    if moved:
        row["app_label"] = moved.partition(".")[0]
    return [row[name] for name in columns]


def opened(archive: Archive) -> Archive:
    """Return the archive, or what reads it as one of today where it is from before 0.1.0."""
    if LAST_MIGRATION not in archive.targets:
        return archive
    archive.zip.close()
    return EarlierArchive(archive.path)
