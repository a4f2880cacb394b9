"""`manage.py erase_personal_data`: erase the data of a person or an account; papers remain."""

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial

from django.core.management.base import BaseCommand

from operations.privacy.erasure import erase_account, erase_person
from operations.privacy.subjects import DataSubject, add_arguments, find_mentions, find_subject


class Command(BaseCommand):
    help = (
        "Make a person anonymous in the program, its history and the memory of imports, or close an account."
        " This cannot be undone. Backups and source files still hold the data: see docs/privacy.md."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)
        parser.add_argument("--yes", action="store_true", help="do it; else only say what would be done")

    def handle(
        self, *args: object, person: str | None, account: str | None, yes: bool, **options: object
    ) -> None:
        subject = find_subject(person, account)
        erase: Callable[[], None]
        if isinstance(subject, DataSubject):
            name, words, erase = subject.people[0].name, subject.words, partial(erase_person, subject)
        else:
            name, erase = subject.get_username(), partial(erase_account, subject)
            words = {subject.email, subject.get_full_name(), name}
        if not yes:
            self.stdout.write(f"{name} would be made anonymous for good. To do it, add --yes.")
            return
        erase()
        self.stdout.write(f"{name} is anonymous now.")
        # List remaining texts with the same words, which may be about other people.
        if mentions := [*find_mentions(words)]:
            self.stdout.write("The same words still stand here; look whether this person is meant:")
            self.stdout.write("".join(f"    {line}\n" for line in mentions))
