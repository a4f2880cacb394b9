"""The admin of imports: jobs, runs, conflicts; and the files that lists of the admin are written as."""

from exchange.admin import conflicts, jobs, runs
from exchange.exports import list_files

__all__ = ["conflicts", "jobs", "list_files", "runs"]
