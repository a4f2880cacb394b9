"""`manage.py create_edition SLUG --start … --end … --timezone …`: create an edition that is not public."""

from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from conference.models import Conference, Edition
from content import revision

# What an edition needs besides its slug.
REQUIRED = ("start", "end", "timezone")


class EditionError(CommandError):
    """Raised if an edition cannot be created, with the reasons as lines."""


def add_edition_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--name", metavar="NAME", help="such as “MLSys 2027” (default: conference and year)")
    parser.add_argument("--start", type=date.fromisoformat, metavar="DATE", help="first day, as 2027-05-10")
    parser.add_argument("--end", type=date.fromisoformat, metavar="DATE", help="last day")
    parser.add_argument("--timezone", metavar="ZONE", help="that of the venue, such as Asia/Seoul")
    parser.add_argument("--city", default="", help="where it takes place")
    parser.add_argument("--country", default="", help="in which country")
    parser.add_argument(
        "--conference", metavar="SLUG", help="its series, if there are several, or a new one with its name"
    )
    parser.add_argument("--conference-name", metavar="NAME", help="the name of a new series, such as MLSys")


@transaction.atomic
def create_edition(slug: str, options: dict[str, Any]) -> Edition:
    """Create an edition, and its series if that is new. Raises `EditionError`."""
    if missing := [f"--{name}" for name in REQUIRED if not options[name]]:
        raise EditionError(f"Edition “{slug}” needs {', '.join(missing)}.")
    if Edition.objects.filter(slug=slug).exists():
        raise EditionError(f"There is an edition “{slug}” already.")
    with revision.lock():
        conference = find_conference(options["conference"], options["conference_name"])
        year = options["start"].year
        edition = Edition(
            slug=slug,
            conference=conference,
            year=year,
            name=options["name"] or f"{conference.name} {year}",
            start_date=options["start"],
            end_date=options["end"],
            timezone=options["timezone"],
            city=options["city"],
            country=options["country"],
        )
        save_valid(edition)
    return edition


def find_conference(slug: str | None, name: str | None) -> Conference:
    """Return the series with a slug, a new one, or the only one there is."""
    conferences = Conference.objects.all()
    found: Conference | None = conferences.filter(slug=slug).first() if slug else None
    if found:
        return found
    if not slug and not name and len(only := list(conferences[:2])) == 1:
        return only[0]
    if slug and name:
        conference = Conference(slug=slug, name=name)
        save_valid(conference)
        return conference
    existing = ", ".join(conferences.order_by("slug").values_list("slug", flat=True)) or "none"
    raise EditionError(
        "Name the series of the edition with --conference SLUG; for a new one, also give --conference-name "
        f"NAME. Existing: {existing}."
    )


def save_valid(row: Conference | Edition) -> None:
    try:
        row.full_clean()
    except ValidationError as error:
        lines = (
            text if field == NON_FIELD_ERRORS else f"{field}: {text}"
            for field, texts in error.message_dict.items()
            for text in texts
        )
        raise EditionError("\n".join(lines)) from None
    row.save()


class Command(BaseCommand):
    help = "Create an edition. Nothing of it is public until “manage.py publish” or a chair says so."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="first part of every address, such as 2027 or mlsys-2027")
        add_edition_arguments(parser)

    def handle(self, *args: object, slug: str, **options: Any) -> None:
        edition = create_edition(slug, options)
        if options["verbosity"]:
            self.stdout.write(f"{edition.name} was made. Nothing of it is public.")
