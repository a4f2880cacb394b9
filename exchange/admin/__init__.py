"""The admin of imports and their conflicts; and the files that lists of the admin are written as."""

from exchange.admin import conflicts, imports
from exchange.exports import list_files

__all__ = ["conflicts", "imports", "list_files"]
