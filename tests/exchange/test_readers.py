"""Tests of every reader: a second import changes nothing, and files of other formats are refused."""

import pytest

from conference.models import Edition
from exchange.files import Source
from exchange.formats import readable
from exchange.imports.load import load
from exchange.models import ImportRun, Provenance
from exchange.problems import ProgramError
from exchange.records import Program
from papers.models import Paper
from tests.exchange.programs import program
from tests.exchange.samples import CONTEXT, sample_files

NAMES = sorted(readable())
# Pairs of formats that share valid files, such as a table of papers.
AMBIGUOUS_PAIRS = {
    frozenset(("tables", "xlsx")),
    frozenset(("spreadsheet", "tables")),
    frozenset(("spreadsheet", "miniconf")),
}


def read_files(name: str, sources: list[Source]) -> Program:
    fmt = readable()[name]
    assert fmt.read
    return fmt.read(sources, CONTEXT)


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_second_import_of_a_format_changes_nothing(name: str) -> None:
    load(program(), "2021")
    Edition.objects.update(slug=CONTEXT.edition)
    files = [Source(file.name, file.content.replace(b"2020-04", b"2021-04")) for file in sample_files(name)]
    parsed = read_files(name, files)

    preview = load(parsed, "2021", dry_run=True)
    assert (Paper.objects.count(), ImportRun.objects.count()) == (0, 1)
    first = load(parsed, "2021", format_name=name)
    stored_count = Provenance.objects.filter(kind="paper").count()
    second = load(parsed, "2021", format_name=name)

    assert first.run
    assert preview.total == first.total
    assert stored_count == Paper.objects.count() > 0
    assert second.run is None
    assert (second.total["new"], second.total["changed"], second.total["conflicting"]) == (0, 0, 0)


@pytest.mark.parametrize("name", NAMES)
def test_reader_refuses_files_of_other_formats(name: str) -> None:
    accepted = []
    for other in NAMES:
        if other == name or frozenset((name, other)) in AMBIGUOUS_PAIRS:
            continue
        try:
            read_files(name, sample_files(other))
        except ProgramError:
            continue
        accepted.append(other)
    assert accepted == []
