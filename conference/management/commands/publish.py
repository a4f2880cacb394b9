"""`manage.py publish SLUG [PART]`: make an edition, or a part of it, public, or take it back."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from conference.models import Edition
from conference.publishing import PUBLISH_SCOPES, SITE, published_counts, rows_of_scope, set_gates


class Command(BaseCommand):
    help = (
        "Make an edition public from now on, or from a moment in its time zone, and print what visitors see "
        "then. Papers and the schedule need the site, too."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("edition", metavar="SLUG", help="the edition, such as 2027")
        parser.add_argument("part", nargs="?", default="everything", choices=[*PUBLISH_SCOPES])
        parser.add_argument(
            "--at", metavar="MOMENT", help="such as 2027-03-01T09:00, in the edition's time zone"
        )
        parser.add_argument("--drafts", action="store_true", help="publish drafts of papers and pages, too")
        parser.add_argument("--take-back", action="store_true", help="make the part invisible instead")

    def handle(self, *args: object, **options: Any) -> None:
        slug, scope = options["edition"], PUBLISH_SCOPES[options["part"]]
        edition: Edition | None = Edition.objects.filter(slug=slug).first()
        if edition is None:
            existing = ", ".join(Edition.objects.order_by("slug").values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no edition “{slug}”. Existing: {existing}.")
        if options["take_back"] and (options["at"] or options["drafts"]):
            raise CommandError("--take-back goes with neither --at nor --drafts.")
        now = timezone.now()
        at = None if options["take_back"] else parse_moment(options["at"], edition) or now
        if at and SITE not in scope.gates and edition.public_from is None:
            raise CommandError("The site is not public: publish “site” first, or everything.")
        kinds = rows_of_scope(scope)
        drafts = [
            kind.drafts(kind.model._default_manager.all(), edition) for kind in kinds if kind.has_drafts
        ]
        try:
            count = set_gates(edition, scope.gates, at, drafts if options["drafts"] else [])
        except ValidationError as error:
            raise CommandError("\n".join(error.messages)) from None
        if not options["verbosity"]:
            return
        if at is None:
            self.stdout.write(f"{edition.name}: {scope.label}, no longer public.")
            return
        word = "public since" if at <= now else "public from"
        self.stdout.write(
            f"{edition.name}: {scope.label}, {word} {at.astimezone(edition.zone):%Y-%m-%d %H:%M %Z}."
        )
        if count:
            self.stdout.write(f"{count} drafts were published.")
        for kind, number in published_counts(edition, kinds, max(at, now), scope.gates):
            self.stdout.write(f"  {kind.describe(number)}")


def parse_moment(text: str | None, edition: Edition) -> datetime | None:
    """Return a moment; without an offset, it is in the edition's time zone."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"“{text}” is no moment: write it as 2027-03-01T09:00.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=edition.zone)
