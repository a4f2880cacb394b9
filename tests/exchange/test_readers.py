"""Tests of every reader: a second import changes nothing, and files of other formats are refused."""

import pytest

from conference.models import Edition
from exchange.files import Source
from exchange.formats import readable
from exchange.imports.load import load
from exchange.models import ImportRun, Provenance
from exchange.problems import ProgramError
from papers.models import Paper
from tests.exchange.programs import program
from tests.exchange.samples import CONTEXT, sample_files

NAMES = sorted(readable())
# A table of papers is valid in three formats, because its columns do not distinguish them.
ALIKE = {
    frozenset(("tables", "xlsx")),
    frozenset(("spreadsheet", "tables")),
    frozenset(("spreadsheet", "miniconf")),
}


def read(name: str, sources: list[Source]) -> object:
    fmt = readable()[name]
    assert fmt.read
    return fmt.read(sources, CONTEXT)


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_second_import_of_a_format_changes_nothing(name: str) -> None:
    load(program(), "2021")
    fmt = readable()[name]
    assert fmt.read
    Edition.objects.update(slug=CONTEXT.edition)
    made = fmt.read(
        [Source(one.name, one.content.replace(b"2020-04", b"2021-04")) for one in sample_files(name)], CONTEXT
    )

    preview = load(made, "2021", dry_run=True)
    assert (Paper.objects.count(), ImportRun.objects.count()) == (0, 1)
    first = load(made, "2021", format_name=name)
    remembered = Provenance.objects.filter(kind="paper").count()
    second = load(made, "2021", format_name=name)

    assert first.run
    assert preview.total == first.total
    assert remembered == Paper.objects.count() > 0
    assert second.run is None
    assert (second.total["new"], second.total["changed"], second.total["conflicting"]) == (0, 0, 0)


@pytest.mark.parametrize("name", NAMES)
def test_no_reader_takes_the_file_of_another_format(name: str) -> None:
    taken = []
    for other in NAMES:
        if other == name or frozenset((name, other)) in ALIKE:
            continue
        try:
            read(name, sample_files(other))
        except ProgramError:
            continue
        taken.append(other)
    assert taken == []
