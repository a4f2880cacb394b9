"""Tests of the import and export commands: output, files, errors; an import that is killed."""

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from conference.models import Edition
from exchange.files import Context, OutputFile, Source
from exchange.formats import program_json
from exchange.imports.load import load
from exchange.management.commands.export_program import write_outputs
from exchange.management.commands.import_program import read_sources
from papers.models import Paper
from schedule.models import Presentation
from tests.exchange.programs import complete_program, program_with_papers
from tests.factories import make_edition, make_room
from tests.processes import DATABASE, make_tables, start

pytestmark = pytest.mark.django_db


def write_program_file(folder: Path, size: int = 3) -> Path:
    (file,) = program_json.write(program_with_papers(size), Context("2021", 2021, "UTC"))
    path = folder / "program.json"
    path.write_bytes(b"".join(file.chunks))
    return path


def run_import(*args: str, **options: object) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("import_program", *args, edition="2021", stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def import_errors(*args: str, edition: str = "2021") -> list[str]:
    err = StringIO()
    with pytest.raises(CommandError, match=r"Nothing was imported\.") as error:
        call_command("import_program", *args, edition=edition, no_progress=True, stderr=err)
    assert error.value.returncode == 1
    return err.getvalue().splitlines()


def test_import_prints_a_table_of_counts(tmp_path: Path) -> None:
    out, _ = run_import("program_json", str(write_program_file(tmp_path)), no_progress=True)

    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["new", "changed", "kept", "conflicting", "skipped"]
    assert ["papers", "3", "0", "0", "0", "0"] in lines
    assert ["total", "18", "0", "0", "0", "0"] in lines
    assert Paper.objects.count() == 3


def test_similar_notes_are_grouped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text("id,title,authors\n1,On Tea,Plato\n2,On Milk,Sappho\n3,On Milk,Ann Abe\n")
    make_edition(2021)

    out, _ = run_import("spreadsheet", str(path), no_progress=True)
    verbose_out, _ = run_import("spreadsheet", str(path), no_progress=True, verbosity=2, dry_run=True)

    lines = out.splitlines()
    assert lines[lines.index("To check: 1") + 1].endswith(
        "“On Milk” is the title of 2 papers: 2, 3. Is one there twice?"
    )
    assert lines[lines.index("Unusual names: 2") + 1].endswith(
        "Check the name “Plato”. It is a single word. (and 1 more like this)"
    )
    assert "Unusual names" not in verbose_out


def test_command_prints_what_columns_were_taken_for(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text("id,title,Author count\n1,On Tea,3\n")
    make_edition(2021)
    lines = [
        "Columns of papers.csv:",
        "  One row for each paper",
        "  “id”: Paper ID",
        "  “title”: Title",
        "  “Author count”: left out",
    ]

    out, _ = run_import("spreadsheet", str(path), no_progress=True)
    silent_out, _ = run_import("spreadsheet", str(path), no_progress=True, verbosity=0)

    assert out.splitlines()[:5] == lines
    assert silent_out == ""

    path.write_text("id,title,Author count\n1,,3\n")
    printed = StringIO()
    with pytest.raises(CommandError):
        call_command(
            "import_program", "spreadsheet", str(path), edition="2021", stdout=printed, stderr=StringIO()
        )
    assert printed.getvalue().splitlines() == lines


def test_second_import_reports_that_nothing_has_changed(tmp_path: Path) -> None:
    run_import("program_json", str(write_program_file(tmp_path)), no_progress=True)

    out, _ = run_import("program_json", str(tmp_path), no_progress=True)

    assert out.splitlines()[-1] == "Nothing has changed."


def test_dry_run_shows_the_counts_and_writes_nothing(tmp_path: Path) -> None:
    out, _ = run_import("program_json", str(write_program_file(tmp_path)), no_progress=True, dry_run=True)

    assert ["papers", "3", "0", "0", "0", "0"] in [line.split() for line in out.splitlines()]
    assert out.splitlines()[-1] == "This was a preview: nothing was written."
    assert Paper.objects.count() == 0


def test_conflicts_are_listed(tmp_path: Path) -> None:
    load(program_with_papers(3), "2021")
    Paper.objects.filter(uid="p1").update(title="By hand")
    path = write_program_file(tmp_path)
    path.write_text(path.read_text().replace("On p1", "Newer"))

    out, _ = run_import("program_json", str(path), no_progress=True)

    assert out.splitlines()[-2] == (
        'conflict: paper By hand, title: kept "By hand"; the file says "Newer"; last imported: "On p1"'
    )


def test_conflict_names_sessions_and_rooms(tmp_path: Path) -> None:
    load(complete_program(), "2021")
    edition = Edition.objects.get()
    other = make_room(edition, "Aula", slug="x9")
    Presentation.objects.filter(uid="x1").update(room=other, session=None)
    path = write_program_file(tmp_path)
    path.write_text(json.dumps(changed_rooms()))

    out, _ = run_import("program_json", str(path), no_progress=True)

    assert 'room: kept "Aula"; the file says "A"; last imported: "B"' in out


def changed_rooms() -> dict[str, object]:
    """Return a file in which a presentation moves to room A."""
    presentation = {"uid": "x1", "kind": "oral", "paper": "p-1.x", "room": "a"}
    return {"format": "plenary-program", "version": 1, "presentations": [presentation]}


def test_unknown_format_error_lists_existing_formats() -> None:
    (line,) = import_errors("word", "x.doc")
    assert line.startswith("There is no format “word” to read. There are: ")
    assert "program_json" in line


def test_files_in_folders_below_are_read_by_path_and_hidden_ones_are_not(tmp_path: Path) -> None:
    for name in ("b/papers.csv", "papers.csv", ".git/x.csv", "b/.hidden.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")

    sources = read_sources([str(tmp_path)])

    assert [source.name for source in sources] == ["b/papers.csv", "papers.csv"]


def test_missing_file_and_empty_folder_are_reported(tmp_path: Path) -> None:
    assert import_errors("program_json", "/nowhere/x.json") == [
        "/nowhere/x.json: There is no such file or folder."
    ]
    assert import_errors("program_json", str(tmp_path)) == [f"{tmp_path}: The folder holds no files."]


def test_error_of_an_unreadable_file_names_it(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xff\xfe nonsense" * 1000)

    assert [line.split(":")[0] for line in import_errors("program_json", str(path))] == ["x.json"]


def test_file_over_500_mb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with path.open("wb") as file:
        file.truncate(600_000_000)

    (line,) = import_errors("program_json", str(path))
    assert line.startswith("The files hold 600 MB; at most 500 MB are read.")


def test_problem_in_a_row_names_file_row_and_field(tmp_path: Path) -> None:
    path = write_program_file(tmp_path)
    path.write_text(path.read_text().replace('"topic": "systems"', '"topic": "x"', 1))

    assert import_errors("program_json", str(path)) == [
        (
            "program.json, papers[0] (p0), topic: There is no topic “x” in this file or in edition 2021. "
            "Correct it, or add the topic."
        )
    ]
    assert Paper.objects.count() == 0


# Export


def test_export_writes_one_file_to_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    load(complete_program(), "2021")
    output = BytesIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(output))

    call_command("export_program", "program_json", edition="2021")

    exported = program_json.read([Source("x.json", output.getvalue())], Context("2021", 2021, "UTC"))
    assert exported == complete_program()


def test_export_to_a_file_leaves_no_temporary_file(tmp_path: Path) -> None:
    load(complete_program(), "2021")
    target = tmp_path / "out" / "x.json"

    call_command("export_program", "program_json", edition="2021", output=str(target), stderr=StringIO())

    exported = program_json.read([Source("x.json", target.read_bytes())], Context("2021", 2021, "UTC"))
    assert exported == complete_program()
    assert list(target.parent.iterdir()) == [target]


def test_export_names_several_files_after_the_output_path(tmp_path: Path) -> None:
    load(complete_program(), "2021")
    target = tmp_path / "x.json"

    call_command("export_program", "orals_posters", edition="2021", output=str(target), stderr=StringIO())

    assert sorted(path.name for path in tmp_path.iterdir()) == ["x-abstracts.json", "x.json"]


def test_export_of_several_files_into_a_folder(tmp_path: Path) -> None:
    load(complete_program(), "2021")

    call_command(
        "export_program", "orals_posters", edition="2021", output=f"{tmp_path}/new/", stderr=StringIO()
    )

    assert len(list((tmp_path / "new").iterdir())) == 2


def test_failed_export_leaves_existing_files_unchanged(tmp_path: Path) -> None:
    def failing_chunks() -> Iterator[bytes]:
        yield b"["
        raise OSError(28, "No space left on device")

    (tmp_path / "a.json").write_bytes(b"old")
    with pytest.raises(OSError, match="No space left"):
        write_outputs([OutputFile("a.json", [b"new"]), OutputFile("b.json", failing_chunks())], tmp_path)

    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.json", b"old")]


@pytest.mark.parametrize(
    ("fmt", "edition", "message"),
    [
        ("word", "2021", "There is no format “word” to write. There are: "),
        ("program_json", "1999", "There is no edition “1999”. Existing: 2021."),
        ("program_json", "2021", "Edition 2021 is not public. Use --drafts for a copy of everything."),
        ("orals_posters", "2021", "This format writes several files ("),
    ],
)
def test_export_error_is_one_line(fmt: str, edition: str, message: str) -> None:
    make_edition(2021, **({} if fmt == "orals_posters" else {"public_from": None}))
    err = StringIO()

    with pytest.raises(CommandError, match=r"Nothing was exported\."):
        call_command("export_program", fmt, edition=edition, stderr=err)

    assert err.getvalue().startswith(message)
    assert len(err.getvalue().splitlines()) == 1


# An import that is killed

SLOW_IMPORT = """
from exchange.imports import load
def slow(plan, run):
    print("written", flush=True)
    import time; time.sleep(60)
load.write_last_imports = slow
from django.core.management import call_command
call_command("import_program", "program_json", {path!r}, edition="2021", no_progress=True)
"""


def test_killed_import_leaves_the_database_unchanged(tmp_path: Path) -> None:
    make_tables(tmp_path)
    with start(tmp_path, SLOW_IMPORT.format(path=str(write_program_file(tmp_path, 20)))) as process:
        assert process.stdout
        assert process.stdout.readline() == "written\n"
        process.kill()

    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        tables = ("conference_edition", "people_person", "papers_paper", "exchange_importrun")
        counts = [connection.execute(f"select count(*) from {table}").fetchone() for table in tables]  # noqa: S608
    assert counts == [(0,)] * len(tables)


# Editions that do not exist

NEW_EDITION = ["--start", "2027-05-10", "--end", "2027-05-14", "--timezone", "Asia/Seoul"]


@pytest.fixture
def papers_table(tmp_path: Path) -> Path:
    path = tmp_path / "papers.csv"
    path.write_text("Title,Authors\nA Paper,Ada Lovelace\n")
    return path


def import_table(path: Path, *words: str) -> str:
    """Import a table into a missing edition; return what standard error says."""
    err = StringIO()
    with suppress(CommandError):
        arguments = ["spreadsheet", str(path), "--edition", "2027", *words]
        call_command("import_program", *arguments, stdout=StringIO(), stderr=err)
    return err.getvalue()


@pytest.mark.django_db
def test_missing_edition_is_reported_before_files_are_read(
    papers_table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise AssertionError("The files were read.")

    make_edition(2021)
    monkeypatch.setattr("exchange.management.commands.import_program.read_sources", fail)
    message = import_table(papers_table)

    assert "There is no edition “2027”, and files of spreadsheet do not hold one. Existing: 2021." in message
    assert "add --create --start DATE --end DATE --timezone ZONE" in message


@pytest.mark.django_db
def test_missing_edition_is_created(papers_table: Path) -> None:
    make_edition(2021)

    assert "needs --start, --end, --timezone" in import_table(papers_table, "--create")
    import_table(papers_table, "--create", *NEW_EDITION, "--dry-run")
    assert not Edition.objects.filter(slug="2027").exists()
    assert import_table(papers_table, "--create", *NEW_EDITION, "--no-progress") == ""
    assert [paper.title for paper in Edition.objects.get(slug="2027").papers.all()] == ["A Paper"]


@pytest.mark.django_db
def test_edition_of_a_refused_file_does_not_stay(tmp_path: Path) -> None:
    make_edition(2021)
    path = tmp_path / "papers.csv"
    path.write_text("x\n")

    assert import_table(path, "--create", *NEW_EDITION)
    assert not Edition.objects.filter(slug="2027").exists()
