#!/usr/bin/env python
"""Run a management command: `uv run manage.py demo` makes everything ready and serves the demo."""

import os
import sys


def main() -> None:
    """Hand the command line to Django."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")
    from django.core.management import execute_from_command_line

    from conference.environment import settings_or_exit
    from content.actor import acting_as

    settings_or_exit()

    # The history records the changes of a command under its name.
    with acting_as("command", detail=" ".join(sys.argv[1:2])):
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
