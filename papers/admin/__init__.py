"""The admin of papers, topics and awards."""

from papers.admin import papers

__all__ = ["papers"]
