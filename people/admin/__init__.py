"""The admin of people, institutions, committees, duplicates and members."""

from people.admin import duplicates, members, namesakes, people

__all__ = ["duplicates", "members", "namesakes", "people"]
