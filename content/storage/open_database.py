"""A connection that keeps a SQLite database open between requests, so that it can be read on a full disk."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from django.db import connection

_kept: list[sqlite3.Connection] = []


def keep_database_open() -> None:
    """Open the database for the life of this process, if it is SQLite and exists.

    When its last connection is closed, SQLite removes the files beside the database that hold the latest
    changes and their index. The next connection creates them, even to read. On a full disk it cannot: no page
    could be shown, and no form could come back with its values.
    """
    path = Path(str(connection.settings_dict["NAME"]))
    if connection.vendor != "sqlite" or not path.is_file():
        return
    # A damaged database is reported by the requests.
    with suppress(sqlite3.Error):
        kept = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)
        kept.execute("SELECT 1 FROM sqlite_schema").fetchone()
        _kept.append(kept)
