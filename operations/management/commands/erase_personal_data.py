"""`manage.py erase_personal_data`: take one person out, everywhere; papers stay."""

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial

from django.core.management.base import BaseCommand, CommandError

from operations.privacy.erasure import erase_account, erase_person
from operations.privacy.subjects import find_account, find_person, mentions


class Command(BaseCommand):
    help = (
        "Make a person anonymous in the program, its history and the memory of imports, or close an account."
        " This cannot be undone. Backups and source files still hold the data: see docs/privacy.md."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--person", help="identifier or e-mail address of a person of the program")
        whose.add_argument("--account", help="user name or e-mail address of an account")
        parser.add_argument("--yes", action="store_true", help="do it; else only say what would be done")

    def handle(
        self, *args: object, person: str | None, account: str | None, yes: bool, **options: object
    ) -> None:
        subject = find_person(person) if person else None
        user = find_account(account) if account else None
        erase: Callable[[], None]
        if subject is not None:
            name, words, erase = subject.people[0].name, subject.words, partial(erase_person, subject)
        elif user is not None:
            name, erase = user.get_username(), partial(erase_account, user)
            words = {user.email, user.get_full_name(), name}
        else:
            raise CommandError(f"There is nobody called “{person or account}” here.")
        if not yes:
            self.stdout.write(f"{name} would be made anonymous for good. To do it, add --yes.")
            return
        erase()
        self.stdout.write(f"{name} is anonymous now.")
        # The same words may name somebody else.
        if left := [*mentions(words)]:
            self.stdout.write("The same words still stand here; look whether this person is meant:")
            self.stdout.write("".join(f"    {line}\n" for line in left))
