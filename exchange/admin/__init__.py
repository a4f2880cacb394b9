"""The admin of imports: jobs, runs, conflicts."""

from exchange.admin import runs

__all__ = ["runs"]
