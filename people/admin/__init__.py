"""The admin of people, institutions, committees, duplicates and members."""

from people.admin import desk, duplicates, members, people

__all__ = ["desk", "duplicates", "members", "people"]
