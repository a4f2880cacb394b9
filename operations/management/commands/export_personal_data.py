"""`manage.py export_personal_data`: export all data about one person or account as JSON."""

import json
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand
from django.core.serializers.json import DjangoJSONEncoder

from operations.privacy.subjects import (
    DataSubject,
    add_arguments,
    export_account,
    export_person,
    find_subject,
)


class Command(BaseCommand):
    help = "Write everything that is stored about one person, or one account, as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)
        parser.add_argument("-o", "--output", type=Path, help="the file to write (default: standard output)")

    def handle(
        self, *args: object, person: str | None, account: str | None, output: Path | None, **options: object
    ) -> None:
        subject = find_subject(person, account)
        data = export_person(subject) if isinstance(subject, DataSubject) else export_account(subject)
        text = json.dumps(data, cls=DjangoJSONEncoder, indent=1, ensure_ascii=False)
        if output is None:
            self.stdout.write(text)
            return
        output.touch(mode=0o600)
        output.write_text(f"{text}\n")
