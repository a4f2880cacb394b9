"""`manage.py release_working_copies`: the former name of `release_planned`."""

from schedule.management.commands.release_planned import Command

__all__ = ["Command"]
