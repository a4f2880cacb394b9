"""`manage.py export_personal_data`: everything that is stored about one person, as JSON."""

import json
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from operations.privacy.subjects import find_account, find_person, of_account, of_person


class Command(BaseCommand):
    help = "Write everything that is stored about one person, or one account, as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--person", help="identifier or e-mail address of a person of the program")
        whose.add_argument("--account", help="user name or e-mail address of an account")
        parser.add_argument("-o", "--output", type=Path, help="the file to write (default: standard output)")

    def handle(
        self, *args: object, person: str | None, account: str | None, output: Path | None, **options: object
    ) -> None:
        subject = find_person(person) if person else None
        user = find_account(account) if account else None
        if subject:
            found = of_person(subject)
        elif user:
            found = of_account(user)
        else:
            raise CommandError(f"There is nobody called “{person or account}” here.")
        text = json.dumps(found, cls=DjangoJSONEncoder, indent=1, ensure_ascii=False)
        if output is None:
            self.stdout.write(text)
            return
        output.touch(mode=0o600)
        output.write_text(f"{text}\n")
