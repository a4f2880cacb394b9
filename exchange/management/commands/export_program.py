"""`manage.py export_program FORMAT --edition SLUG`: write a program to files."""

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from conference.models import Edition
from exchange.exports.dump import dump_for_format, writing_context
from exchange.files import OutputFile
from exchange.formats import writable
from exchange.problems import ProgramError, program_error
from exchange.terminal_progress import Progress, TerminalProgress, no_progress


class Command(BaseCommand):
    help = (
        "Export what is public of an edition. One file goes to standard output, or where -o says. Several "
        "files need -o: a folder that exists or ends in /, or the first file's name, after which the others "
        "are named: -o x.json writes x.json and x-abstracts.json."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("format", help=f"one of: {', '.join(writable())}")
        parser.add_argument("--edition", required=True, metavar="SLUG", help="the edition, such as 2027")
        parser.add_argument("-o", "--output", metavar="FILE", help="file or folder to write")
        parser.add_argument("--drafts", action="store_true", help="staff's own copy, with what is not public")

    def handle(self, *args: object, **options: object) -> None:
        try:
            self._export(options)
        except ProgramError as error:
            for problem in error.problems:
                self.stderr.write(str(problem))
            raise CommandError("Nothing was exported.", returncode=1) from None
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.", returncode=1) from None

    def _export(self, options: dict[str, Any]) -> None:
        fmt = writable().get(options["format"])
        if fmt is None or fmt.write is None:
            raise program_error(
                f"There is no format “{options['format']}” to write. There are: {', '.join(writable())}."
            )
        edition = _find_edition(options["edition"])
        program = dump_for_format(fmt, edition, drafts=options["drafts"])
        if program.edition is None:
            raise program_error(
                f"Edition {edition.slug} is not public. Use --drafts for a copy of everything."
            )
        is_shown = bool(options["output"] and options["verbosity"])
        with TerminalProgress(sys.stderr, is_shown=is_shown) as progress:
            self._write(list(fmt.write(program, writing_context(edition))), options["output"], progress)

    def _write(self, files: list[OutputFile], output: str | None, progress: TerminalProgress) -> None:
        if output:
            target = Path(output)
            if output.endswith("/"):
                target.mkdir(parents=True, exist_ok=True)
            for path in write_outputs(files, target, progress):
                self.stderr.write(f"{path} written")
        elif len(files) > 1:
            names = ", ".join(file.name for file in files)
            raise program_error(f"This format writes several files ({names}). Name a folder with -o.")
        else:
            for file in files:
                sys.stdout.buffer.writelines(file.chunks)


def _find_edition(slug: str) -> Edition:
    edition: Edition | None = Edition.objects.filter(slug=slug).first()
    if edition is None:
        existing_slugs = ", ".join(Edition.objects.values_list("slug", flat=True)) or "none"
        raise program_error(f"There is no edition “{slug}”. Existing: {existing_slugs}.")
    return edition


def write_outputs(files: Sequence[OutputFile], target: Path, progress: Progress = no_progress) -> list[Path]:
    """Write the files of a writer. `target` is a folder, or else the name of the first file.

    If `target` is a name, several files share its stem: x.json, x-abstracts.json.
    All files are written to a temporary folder first, so that partial files are never visible.
    """
    if target.is_dir():
        paths = [target / output.name for output in files]
    elif len(files) == 1:
        paths = [target]
    else:
        paths = _rename_outputs(files, target)
    folder = paths[0].parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=folder) as name:
        temporary_paths = [Path(name) / path.name for path in paths]
        for number, (temporary_path, output) in enumerate(zip(temporary_paths, files, strict=True), 1):
            with temporary_path.open("wb") as file:
                file.writelines(output.chunks)
            progress("Files", number, len(files))
        for temporary_path, path in zip(temporary_paths, paths, strict=True):
            temporary_path.replace(path)
    return paths


def _rename_outputs(files: Sequence[OutputFile], target: Path) -> list[Path]:
    """Replace the common start of the names by the requested name."""
    stems = [Path(output.name).stem for output in files]
    split_stems = [stem.split("-") for stem in stems]
    common = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*split_stems, strict=False)))
    endings = ["-".join(parts[common:]) for parts in split_stems]
    names = [f"-{ending}" if ending and index else "" for index, ending in enumerate(endings)]
    return [
        target.with_name(f"{target.stem}{name}{Path(output.name).suffix if index else target.suffix}")
        for index, (name, output) in enumerate(zip(names, files, strict=True))
    ]
