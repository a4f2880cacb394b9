"""`manage.py import_program FORMAT FILE… --edition SLUG`: import a program from files or from a site."""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from conference.management.commands.create_edition import (
    REQUIRED,
    EditionError,
    add_edition_arguments,
    create_edition,
)
from conference.models import Edition
from exchange.fewer_collections import fewer_collections
from exchange.files import MAX_BYTES, MEGABYTE, Context, Format, Reader, Source
from exchange.formats import readable
from exchange.imports.compare import OUTCOMES, ImportPlan
from exchange.imports.distant_dates import describe_distant_dates
from exchange.imports.kinds import KINDS
from exchange.imports.known_rows import reading_context
from exchange.imports.load import Report, load
from exchange.imports.publication import Publication, waits_for_release
from exchange.imports.publication_counts import describe_publication
from exchange.imports.rows import EditionRows
from exchange.jobs.fetch import FetchPolicy, fetch
from exchange.jobs.photos import fetch_photos
from exchange.models import Conflict
from exchange.problems import Note, Problem, ProgramError, Where, note_sections, program_error, short
from exchange.reading.foreign_files import describe_all_foreign
from exchange.records import Program
from exchange.terminal_progress import TerminalProgress

MAX_NOTES = 20
MAX_VALUE_CHARS = 60


def count_lines(report: Report) -> Iterator[str]:
    """Yield the counts per kind and in total as lines of a table."""
    yield "".join([" " * 14, *(f"{outcome:>13}" for outcome in OUTCOMES)])
    rows = [(KINDS[name].plural or name, tally) for name, tally in report.tallies.items()]
    for name, tally in [*rows, ("total", report.total)]:
        yield "".join([f"{name:<14}", *(f"{tally[outcome]:>13}" for outcome in OUTCOMES)])


def remark_lines(report: Report, *, everything: bool = False) -> Iterator[str]:
    """Yield notes and conflicts as lines: the first of them, or all."""
    for section in note_sections(report.notes):
        yield f"{section.title}: {section.count}"
        lines = [line for notes in section.groups for line in _group_lines(notes, everything=everything)]
        yield from _limit_lines(lines, everything=everything)
    rows = report.plan.rows
    conflicts = [
        f"conflict: {conflict.provenance.kind} {conflict.label}, {conflict.field}: "
        f"kept {_shown(conflict, conflict.ours, rows)}; "
        f"the file says {_shown(conflict, conflict.theirs, rows)}; "
        f"last imported: {_shown(conflict, conflict.base, rows)}"
        for conflict in report.conflicts
    ]
    yield from _limit_lines(conflicts, everything=everything)


def _group_lines(notes: list[Note], *, everything: bool) -> list[str]:
    """Return the first of similar notes with the number of the others, or all notes."""
    lines = ["  " + ": ".join(filter(None, (str(note.where), note.message))) for note in notes]
    if everything or len(lines) == 1:
        return lines
    return [f"{lines[0]} (and {len(lines) - 1} more like this)"]


def _limit_lines(lines: list[str], *, everything: bool) -> Iterator[str]:
    limit = len(lines) if everything else MAX_NOTES
    yield from lines[:limit]
    if len(lines) > limit:
        yield f"and {len(lines) - limit} more (--verbosity 2 shows all)"


def _shown(conflict: Conflict, value: object, rows: EditionRows) -> str:
    """Return a value as JSON; of a reference to another row, its name."""
    target = KINDS[conflict.provenance.kind].references.get(conflict.field)
    if target and value:
        value = str(rows.row(target, str(value)) or value)
    return short(json.dumps(value, ensure_ascii=False), MAX_VALUE_CHARS)


class Command(BaseCommand):
    help = (
        "Import a program from files. It is taken whole or not at all; edits made here survive; the same "
        "file twice changes nothing. A row that is changed in one field and kept or conflicting in another "
        "counts in both columns of the table."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("format", help=f"one of: {', '.join(readable())}")
        parser.add_argument("file", nargs="*", help="the files, or folders that hold them")
        parser.add_argument("--from-url", metavar="URL", help="fetch the program from this address instead")
        parser.add_argument("--token-file", metavar="FILE", help="a file that holds the token for --from-url")
        parser.add_argument("--edition", required=True, metavar="SLUG", help="the edition, such as 2027")
        parser.add_argument(
            "--dry-run", "--preview", action="store_true", help="show what would change; write nothing"
        )
        parser.add_argument(
            "--publish",
            default="",
            choices=Publication.values,
            help=(
                "when the rows become public that the file publishes: with-release while changes of the "
                "schedule wait for one, else now, unless you say otherwise"
            ),
        )
        parser.add_argument(
            "--allow-distant-dates",
            action="store_true",
            help="import sessions that lie far outside the days of the edition",
        )
        parser.add_argument("--no-progress", action="store_true", help="show no progress")
        parser.add_argument(
            "--create",
            action="store_true",
            help="create the edition if it does not exist, as create_edition does",
        )
        add_edition_arguments(parser)

    def handle(self, *args: object, **options: object) -> None:
        is_shown = not options["no_progress"]
        try:
            with TerminalProgress(sys.stderr, is_shown=is_shown) as progress, _creating(options):
                report = self._load(options, progress)
        except ProgramError as error:
            for problem in error.problems:
                self.stderr.write(str(problem))
            raise CommandError("Nothing was imported.", returncode=1) from None
        if options["verbosity"]:
            self._print_report(report, options)

    def _print_report(self, report: Report, options: dict[str, Any]) -> None:
        for line in (*count_lines(report), *remark_lines(report, everything=options["verbosity"] > 1)):
            self.stdout.write(line)
        for line in filter(None, (report.question, *describe_publication(report.publications))):
            self.stdout.write(line)
        if options["dry_run"]:
            self.stdout.write("This was a preview: nothing was written.")
        elif report.run is None:
            self.stdout.write("Nothing has changed.")

    @fewer_collections()
    def _load(self, options: dict[str, Any], progress: TerminalProgress) -> Report:
        fmt = readable().get(options["format"])
        if fmt is None or fmt.read is None:
            raise program_error(
                f"There is no format “{options['format']}” to read. There are: {', '.join(readable())}."
            )
        slug = options["edition"]
        edition = find_or_create_edition(slug, fmt, options)
        sources = _sources(fmt, options, progress)
        if options["publish"] == Publication.WITH_RELEASE and not waits_for_release(edition):
            raise program_error("No changes of this edition wait for a release. Choose now or drafts.")
        context = reading_context(edition, slug)
        if options["verbosity"]:
            context = replace(context, show_columns=self._print_columns)

        def check_dates(plan: ImportPlan) -> None:
            question = describe_distant_dates(plan)
            if question and not (options["dry_run"] or options["allow_distant_dates"]):
                raise program_error(f"{question} To import it as it is, add --allow-distant-dates.")

        program, photos = fetch_photos(_read(fmt.read, sources, context), dry_run=options["dry_run"])
        return load(
            program,
            slug,
            dry_run=options["dry_run"],
            photos=photos,
            publication=options["publish"],
            check=check_dates,
            format_name=fmt.name,
            files=[Path(source.name).name for source in sources],
            progress=progress,
        )

    def _print_columns(self, table: str, lines: Sequence[str]) -> None:
        self.stdout.write(f"Columns of {table}:")
        for line in lines:
            self.stdout.write(f"  {line}")


def _read(read: Reader, sources: list[Source], context: Context) -> Program:
    """Read the files. If that fails for files of another program, the error says what they are."""
    try:
        return read(sources, context)
    except ProgramError as error:
        foreign = [Problem(Where(), "", message) for message in describe_all_foreign(sources)]
        raise ProgramError(foreign or error.problems) from error


@contextmanager
def _creating(options: dict[str, Any]) -> Iterator[None]:
    """Undo the creation of an edition for a preview or a file that is refused."""
    if not options["create"]:
        yield
        return
    with transaction.atomic():
        yield
        transaction.set_rollback(bool(options["dry_run"]))


def find_or_create_edition(slug: str, fmt: Format, options: dict[str, Any]) -> Edition | None:
    """Return the edition; `None` if the files may hold it. Raises `ProgramError` if there is none."""
    edition: Edition | None = Edition.objects.filter(slug=slug).first()
    has_values = all(options[name] for name in REQUIRED)
    if edition or (fmt.holds_edition and not (options["create"] and has_values)):
        return edition
    if not options["create"]:
        existing = ", ".join(Edition.objects.order_by("slug").values_list("slug", flat=True)) or "none"
        raise program_error(
            f"There is no edition “{slug}”, and files of {fmt.name} do not hold one. Existing: {existing}. "
            "To create it, add --create --start DATE --end DATE --timezone ZONE, or run “create_edition”."
        )
    try:
        return create_edition(slug, options)
    except EditionError as error:
        raise program_error(str(error)) from None


def _sources(fmt: Format, options: dict[str, Any], progress: TerminalProgress) -> list[Source]:
    """Read the files, or fetch them from the address. Raises `ProgramError` unless exactly one is given."""
    url = options["from_url"]
    if bool(url) == bool(options["file"]):
        raise program_error("Give files, or an address with --from-url: one of them.")
    if not url:
        return read_sources(options["file"])
    if fmt.pages is None:
        raise program_error(f"{fmt.name} cannot be fetched. Save the file and give its name.")
    policy = FetchPolicy(
        frozenset(settings.IMPORT_HOSTS), token=_token(fmt.pages.token, options["token_file"])
    )
    return fetch(url, fmt.pages, policy, progress)


def read_sources(paths: Sequence[str]) -> list[Source]:
    """Read files, including those in given folders and below. Raises `ProgramError` for unreadable ones.

    The name of a file in a folder is its path in the folder.
    """
    files = [pair for path in paths for pair in _files(Path(path))]
    total = sum(file.stat().st_size for _, file in files)
    if total > MAX_BYTES:
        raise program_error(
            f"The files hold {total // MEGABYTE} MB; at most {MAX_BYTES // MEGABYTE} MB are read. "
            "Is this a conference program?"
        )
    return [_source(name, file) for name, file in files]


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield name and path of each file, without hidden ones."""
    if path.is_dir():
        names = sorted(file.relative_to(path) for file in path.rglob("*") if file.is_file())
        names = [name for name in names if not any(part.startswith(".") for part in name.parts)]
        if not names:
            raise program_error("The folder holds no files.", str(path))
        yield from ((name.as_posix(), path / name) for name in names)
    elif path.is_file():
        yield path.name, path
    else:
        raise program_error("There is no such file or folder.", str(path))


def _source(name: str, file: Path) -> Source:
    try:
        return Source(name, file.read_bytes())
    except OSError as error:
        raise program_error(f"The file cannot be read: {error.strerror}.", str(file)) from error


def _token(variable: str, file: str | None) -> str:
    """Return the token from the file or the environment. It is no option, as others can see command lines."""
    token = (
        read_sources([file])[0].content.decode("ascii", "replace") if file else os.environ.get(variable, "")
    )
    if not token.strip().isascii() or len(token.split()) > 1:
        raise program_error("This does not look like a token: it must be one word.", file or variable)
    return token.strip()
