"""`manage.py warm`: request the most requested pages from the running site, which renders them."""

import sys
import time
from argparse import ArgumentParser
from http import HTTPStatus
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from conference.models import Edition
from conference.request_edition import current_edition
from exchange.terminal_progress import TerminalProgress
from website.warming import MAX_PAGES, first_pages

TIMEOUT_SECONDS = 60


class Command(BaseCommand):
    help = (
        "Request the most requested pages from the running site, so that it has rendered them. New "
        "processes do this themselves with the first ones; this is for more of them, or for another edition."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--edition", metavar="SLUG", help="default: the one that is on, or next")
        parser.add_argument("--pages", type=int, default=MAX_PAGES, help=f"how many (default: {MAX_PAGES})")
        parser.add_argument(
            "--address", default=settings.SITE_URL, help="of one process, such as http://127.0.0.1:8000"
        )

    def handle(
        self, *args: object, edition: str | None, pages: int, address: str, verbosity: int, **options: object
    ) -> None:
        if urlsplit(address).scheme not in {"http", "https"}:
            raise CommandError(f"“{address}” is no address: write it as http://127.0.0.1:8000.")
        if pages < 1:
            raise CommandError("--pages: say 1 or more.")
        start, paths = time.monotonic(), first_pages(chosen_edition(edition), pages)
        failed = []
        with TerminalProgress(sys.stderr, is_shown=bool(verbosity)) as progress:
            for number, path in enumerate(paths, 1):
                if (status := request(address.rstrip("/"), path)) != HTTPStatus.OK:
                    failed.append(f"{path}: {status}")
                progress("Pages", number, len(paths))
        if failed:
            raise CommandError("\n".join([f"{len(failed)} pages were not rendered:", *failed[:10]]))
        if verbosity:
            self.stdout.write(f"{len(paths)} pages in {time.monotonic() - start:.1f} seconds.")


def chosen_edition(slug: str | None) -> Edition:
    """Return the public edition with this slug, or the current one. Raises `CommandError` for none."""
    editions = [*Edition.objects.published().select_related("conference")]
    if slug:
        editions = [edition for edition in editions if edition.slug == slug]
    edition = current_edition(editions)
    if edition is None:
        raise CommandError(f"There is no public edition “{slug}”." if slug else "No edition is public.")
    return edition


def request(address: str, path: str) -> int:
    """Return the status of a page. Raises `CommandError` if the site does not answer."""
    headers = {"Host": urlsplit(settings.SITE_URL).netloc}
    if settings.BEHIND_PROXY:
        headers["X-Forwarded-Proto"] = urlsplit(settings.SITE_URL).scheme
    try:
        with urlopen(Request(f"{address}{path}", headers=headers), timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            response.read()
            return int(response.status)
    except HTTPError as error:
        return error.code
    except OSError as error:
        raise CommandError(f"{address} does not answer: {error}") from error
