"""The admin of people, institutions, committees, duplicates and members."""

from people.admin import duplicates, members, people

__all__ = ["duplicates", "members", "people"]
