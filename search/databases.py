"""Which engine answers: that of the database that holds the index."""

from django.db import connections

from search.engine import Engine
from search.models import Document
from search.postgresql import PostgreSQL
from search.sqlite import SQLite


def engine() -> Engine:
    connection = connections[Document.objects.db]
    return PostgreSQL(connection) if connection.vendor == "postgresql" else SQLite(connection)
