"""The admin of papers, topics and awards."""

from papers.admin import desk, papers

__all__ = ["desk", "papers"]
