"""Create the full-text indexes of SQLite or PostgreSQL, which the database itself maintains.

There are two over the same rows: `head`, without the body, is small, searched first and used for ranking.
`whole` contains all words. Both databases index the same words, as nothing is stemmed or left out. The letter
ж separates fields.
"""

from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

HEAD = "title, people, topic, awards, scope"
WHOLE = "title, people, topic, awards, body, scope"


def of(row: str, columns: str) -> str:
    return ", ".join(f"{row}.{column}" for column in columns.split(", "))


def add(table: str, columns: str) -> str:
    return f"INSERT INTO {table} (rowid, {columns}) VALUES (new.id, {of('new', columns)});"


def drop(table: str, columns: str) -> str:
    return f"INSERT INTO {table} ({table}, rowid, {columns}) VALUES ('delete', old.id, {of('old', columns)});"


def fts5(table: str, columns: str) -> str:
    return f"""
        CREATE VIRTUAL TABLE {table} USING fts5(
            {columns}, content='search_document', content_rowid='id',
            tokenize='unicode61 remove_diacritics 2', prefix='2 3'
        )"""


ADD = add("search_head", HEAD) + add("search_whole", WHOLE)
DROP = drop("search_head", HEAD) + drop("search_whole", WHOLE)

SQLITE = [
    fts5("search_head", HEAD),
    fts5("search_whole", WHOLE),
    f"CREATE TRIGGER search_added AFTER INSERT ON search_document BEGIN {ADD} END",
    f"CREATE TRIGGER search_removed AFTER DELETE ON search_document BEGIN {DROP} END",
    f"CREATE TRIGGER search_changed AFTER UPDATE ON search_document BEGIN {DROP} {ADD} END",
]
SQLITE_BACK = [
    "DROP TRIGGER search_added",
    "DROP TRIGGER search_removed",
    "DROP TRIGGER search_changed",
    "DROP TABLE search_head",
    "DROP TABLE search_whole",
]


def vector(text: str, weight: str) -> str:
    return f"setweight(to_tsvector('pg_catalog.simple', 'ж ' || {text}), '{weight}')"


HEAD_VECTOR = " || ".join(
    [
        vector("title", "A"),
        vector("people", "B"),
        vector("topic", "C"),
        vector("awards || ' ж ' || scope", "D"),
    ]
)
WHOLE_TEXT = WHOLE.replace(", ", " || ' ж ' || ")

POSTGRESQL = [
    f"""
        ALTER TABLE search_document
            ADD COLUMN head tsvector GENERATED ALWAYS AS ({HEAD_VECTOR}) STORED,
            ADD COLUMN whole tsvector GENERATED ALWAYS AS (to_tsvector('pg_catalog.simple', {WHOLE_TEXT})) STORED
    """,
    # Phrases are checked in the vectors themselves, so these stay in the table, and the texts move to TOAST.
    "ALTER TABLE search_document SET (toast_tuple_target = 4080)",
    "ALTER TABLE search_document ALTER COLUMN whole SET STORAGE MAIN",
    # New rows are added to a pending list, which `search.engine` empties after each change.
    "CREATE INDEX search_head ON search_document USING gin (head)",
    "CREATE INDEX search_whole ON search_document USING gin (whole)",
    # With this collation, a range of words contains those with a prefix, whatever the database's default is.
    """
        ALTER TABLE search_word
            ALTER COLUMN word TYPE varchar(64) COLLATE "C",
            ALTER COLUMN mirror TYPE varchar(64) COLLATE "C"
    """,
]
POSTGRESQL_BACK = ["ALTER TABLE search_document DROP COLUMN head, DROP COLUMN whole"]

FORWARDS = {"sqlite": SQLITE, "postgresql": POSTGRESQL}
BACKWARDS = {"sqlite": SQLITE_BACK, "postgresql": POSTGRESQL_BACK}


def make(apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    for statement in FORWARDS[editor.connection.vendor]:
        editor.execute(statement, params=None)


def unmake(apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    for statement in BACKWARDS[editor.connection.vendor]:
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("search", "0001_initial")]

    operations = [migrations.RunPython(make, unmake)]
