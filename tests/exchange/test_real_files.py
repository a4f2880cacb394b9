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
from tests.exchange.test_load import writes
from tests.factories import make_edition

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


def program_of(name: str, edition: Edition, *files: Path) -> Program:
    read = formats()[name].read
    assert read
    sources = [Source(file.name, file.read_bytes()) for file in files]
    return read(sources, Context(edition.slug, edition.year, edition.timezone))


def assert_second_import_writes_nothing(program: Program, slug: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        result = load(program, slug)

    assert result.run is None
    assert writes(queries) == []


def test_camp_of_frab_is_loaded_and_the_same_file_again_writes_nothing(shared: Path) -> None:
    edition = make_edition(2019, timezone="Europe/Berlin")
    program = program_of("frab_json", edition, shared / "data/frab/frab-camp2019.json")
    load(program, "2019")

    assert (Session.objects.count(), Presentation.objects.count(), Paper.objects.count()) == (79, 79, 79)
    assert_second_import_writes_nothing(program, "2019")


def test_mini_conf_site_is_loaded_and_the_same_files_again_write_nothing(shared: Path) -> None:
    edition = make_edition(2020, timezone="UTC")
    program = program_of("miniconf", edition, *sorted((shared / "data/miniconf-emnlp2020").iterdir()))
    # Two papers list a name twice; each is imported as one author.
    load(program, "2020")

    assert (Paper.objects.count(), Authorship.objects.count()) == (781, 3412)
    assert (Session.objects.count(), Presentation.objects.count()) == (128, 781)
    assert_second_import_writes_nothing(program, "2020")


SAMPLES = {
    # Number of papers, sessions, presentations, and people with a biography.
    "frab_json frab/pretalx-democon.json UTC": (36, 36, 36, 27),
    "frab_json frab/hub-schedule2.json Europe/Berlin": (2, 2, 2, 4),
    "miniconf miniconf-iclr2020 UTC": (687, 58, 4, 2),
    "miniconf miniconf-emnlp2023 Asia/Singapore": (1827, 453, 1827, 3),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_sample_is_loaded_whole_and_the_same_again_writes_nothing(shared: Path, sample: str) -> None:
    name, path, zone = sample.split()
    found = shared / "data" / path
    files = sorted(found.iterdir()) if found.is_dir() else [found]
    program = program_of(name, make_edition(2020, timezone=zone), *files)
    load(program, "2020")

    counts = [model.objects.count() for model in (Paper, Session, Presentation)]
    assert (*counts, Person.objects.exclude(biography="").count()) == SAMPLES[sample]
    assert_second_import_writes_nothing(program, "2020")
