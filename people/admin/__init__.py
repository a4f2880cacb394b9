"""The admin of people, institutions, committees, duplicates and members."""

from people.admin import desk, distinctions, duplicates, members, people

__all__ = ["desk", "distinctions", "duplicates", "members", "people"]
