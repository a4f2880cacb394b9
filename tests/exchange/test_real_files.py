"""Tests of real programs of other sites: everything is imported, and a second import writes nothing."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from exchange.files import Context, Source
from exchange.formats import formats
from exchange.imports.load import load
from exchange.records import Program
from papers.models import Authorship, Paper
from people.models import Person
from schedule.models import Presentation, Session
from tests.exchange.test_load import write_statements
from tests.factories import make_edition

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


def read_program(name: str, edition: Edition, *files: Path) -> Program:
    read = formats()[name].read
    assert read
    sources = [Source(file.name, file.read_bytes()) for file in files]
    return read(sources, Context(edition.slug, edition.year, edition.timezone))


def assert_second_import_writes_nothing(program: Program, slug: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        report = load(program, slug)

    assert report.run is None
    assert write_statements(queries) == []


def test_frab_camp_is_imported_and_a_second_import_writes_nothing(shared: Path) -> None:
    edition = make_edition(2019, timezone="Europe/Berlin")
    program = read_program("frab_json", edition, shared / "data/frab/frab-camp2019.json")
    load(program, "2019")

    assert (Session.objects.count(), Presentation.objects.count(), Paper.objects.count()) == (79, 79, 79)
    assert_second_import_writes_nothing(program, "2019")


def test_miniconf_site_is_imported_and_a_second_import_writes_nothing(shared: Path) -> None:
    edition = make_edition(2020, timezone="UTC")
    program = read_program("miniconf", edition, *sorted((shared / "data/miniconf-emnlp2020").iterdir()))
    # Two papers list a name twice: they have two authors of this name.
    load(program, "2020")

    assert (Paper.objects.count(), Authorship.objects.count()) == (781, 3414)
    assert (Session.objects.count(), Presentation.objects.count()) == (128, 781)
    assert_second_import_writes_nothing(program, "2020")


SAMPLES = {
    # Number of papers, sessions, presentations, and people with a biography.
    "frab_json frab/pretalx-democon.json UTC": (36, 36, 36, 27),
    "frab_json frab/hub-schedule2.json Europe/Berlin": (2, 2, 2, 4),
    "miniconf miniconf-iclr2020 UTC": (687, 58, 4, 2),
    "miniconf miniconf-emnlp2023 Asia/Singapore": (1827, 453, 1827, 3),
    "miniconf miniconf-acl2020 America/Los_Angeles": (907, 145, 2519, 2),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_sample_is_imported_and_a_second_import_writes_nothing(shared: Path, sample: str) -> None:
    name, path, zone = sample.split()
    source = shared / "data" / path
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    program = read_program(name, make_edition(2020, timezone=zone), *files)
    load(program, "2020")

    counts = [model.objects.count() for model in (Paper, Session, Presentation)]
    assert (*counts, Person.objects.exclude(biography="").count()) == SAMPLES[sample]
    assert_second_import_writes_nothing(program, "2020")
