"""`manage.py check_schedule [EDITION]`: print the clashes of a timetable, also for CI."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from conference.models import Edition
from schedule import clashes
from schedule.clashes import Clash


class Command(BaseCommand):
    help = (
        "List what clashes in the timetable of an edition, drafts included. The exit code is 0 without "
        "clashes and 1 with some; 2 says that there is no such edition."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("edition", nargs="?", help="its short name, such as 2027; without it the newest")
        parser.add_argument("--format", choices=["text", "json"], default="text", help="how to list them")
        parser.add_argument("--serious", action="store_true", help="leave out what may be meant")

    def handle(self, *args: object, **options: Any) -> None:
        edition = get_edition(options["edition"])
        selected = [
            clash for clash in clashes.find_clashes(edition).all if clash.is_serious or not options["serious"]
        ]
        if options["format"] == "json":
            report = {"edition": edition.slug, "clashes": [as_json(clash) for clash in selected]}
            self.stdout.write(json.dumps(report, ensure_ascii=False, indent=1))
        else:
            for clash in selected:
                self.stdout.write(f"{clash.when}: {clash.kind.label}. {clash.message}")
            self.stdout.write(
                f"{edition}: {len(selected) or 'no'} {'clash' if len(selected) == 1 else 'clashes'}."
            )
        if selected:
            sys.exit(1)


def get_edition(slug: str | None) -> Edition:
    """Return the edition of this slug, or the newest. Raises `CommandError` with the existing ones."""
    edition = Edition.objects.filter(slug=slug).first() if slug else Edition.objects.first()
    if edition is None:
        slugs = ", ".join(Edition.objects.values_list("slug", flat=True)) or "none"
        problem = f"There is no edition “{slug}”." if slug else "There are no editions yet."
        raise CommandError(f"{problem} Existing: {slugs}.", returncode=2)
    return edition


def as_json(clash: Clash) -> dict[str, object]:
    rows = [{"model": row.model, "uid": row.uid, "name": str(row)} for row in clash.subjects]
    return {
        "kind": clash.kind.value,
        "severity": clash.severity.value,
        "message": clash.message,
        "start": clash.start.astimezone(clash.zone).isoformat(),
        "end": clash.end.astimezone(clash.zone).isoformat(),
        "rows": rows,
    }
