"""Admin of imports and conflicts, and file downloads of admin lists."""

from exchange.admin import conflicts, imports
from exchange.exports import list_files
from schedule.admin.working_pages import PAGES_WITH_OTHER_WRITES

# Decisions on these pages write to the rows.
PAGES_WITH_OTHER_WRITES.append(r"exchange_conflict_.*")

__all__ = ["conflicts", "imports", "list_files"]
