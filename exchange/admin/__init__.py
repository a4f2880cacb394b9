"""The admin of imports and their conflicts; and the files that lists of the admin are written as."""

from exchange.admin import conflicts, imports
from exchange.exports import list_files
from schedule.admin.working_pages import KEEPING_PAGES

# What is decided there is written to the rows, and remembered.
KEEPING_PAGES.append(r"exchange_conflict_.*")

__all__ = ["conflicts", "imports", "list_files"]
