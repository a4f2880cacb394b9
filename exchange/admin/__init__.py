"""Admin of imports and conflicts, and file downloads of admin lists."""

from exchange.admin import conflicts, imports
from exchange.exports import list_files

__all__ = ["conflicts", "imports", "list_files"]
