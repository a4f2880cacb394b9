"""The admin of imports and their conflicts; and the files that lists of the admin are written as."""

from exchange.admin import conflicts, imports
from exchange.exports import list_files
from schedule.admin.working_pages import PAGES_WITH_OTHER_WRITES

# What is decided there is written to the rows, and remembered.
PAGES_WITH_OTHER_WRITES.append(r"exchange_conflict_.*")

__all__ = ["conflicts", "imports", "list_files"]
