"""Tests of dumps: they contain all public data and no other, and can be imported without loss."""

from dataclasses import replace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conference.models import Conference, Edition
from exchange.exports.dump import dump
from exchange.files import Context, Source
from exchange.formats import program_json
from exchange.imports.load import load
from exchange.models import ImportRun, Provenance
from exchange.records import Program, stated
from papers.models import Paper
from people.models import Person, PersonName
from tests import factories as make
from tests.exchange.programs import author, complete_program, edition, paper, program, program_with_papers

pytestmark = pytest.mark.django_db


def dump_edition(**options: Any) -> Program:
    return dump(Edition.objects.get(), **options)


def delete_everything() -> None:
    for label in ("exchange", "schedule", "papers", "people", "conference"):
        for model in reversed(list(apps.get_app_config(label).get_models())):
            model._base_manager.all().delete()
    assert (Conference.objects.count(), Person.objects.count(), Provenance.objects.count()) == (0, 0, 0)


def write_and_read(exported: Program) -> Program:
    context = Context("2021", 2021, "UTC")
    (file,) = program_json.write(exported, context)
    return program_json.read([Source(file.name, b"".join(file.chunks))], context)


def test_round_trip_of_every_field_is_exact() -> None:
    load(complete_program(), "2021")
    first_dump = dump_edition()
    delete_everything()

    load(write_and_read(first_dump), "2021")

    assert dump_edition() == first_dump
    assert first_dump == complete_program()


def test_import_of_an_own_dump_changes_nothing() -> None:
    load(complete_program(), "2021")

    assert load(dump_edition(), "2021").run is None
    assert ImportRun.objects.count() == 1


@pytest.fixture
def edition_with_hidden_rows() -> Edition:
    """Create an edition in which everything named "Marker" is hidden in some way."""
    new_edition = make.make_edition(2021)
    public_session, draft_session = (
        make.make_session(new_edition, title="Shown"),
        make.make_session(new_edition, title="Marker", status="draft"),
    )
    paper = make.make_paper(new_edition, ["Ada Lovelace"], title="Shown")
    draft_paper = make.make_paper(new_edition, ["Marker One"], title="Marker", status="draft")
    make.make_material(paper, url="https://example.org/Marker", visible=False)
    make.make_award(new_edition, [paper, draft_paper], name="Shown")
    make.make_award(new_edition, [paper], name="Marker", status="draft")
    make.make_presentation(public_session, draft_paper, board="Marker")
    make.make_presentation(draft_session, paper, board="Marker")
    make.make_presentation(public_session, speakers=["Marker Two"], title="Marker", status="draft")
    make.add_role(draft_session, "Marker Three")
    make.make_menu_item(
        new_edition,
        page=make.make_page(new_edition, slug="marker", title="Marker", status="draft"),
        label="Marker",
    )
    make.make_sponsor(new_edition, name="Marker", status="draft")
    make.add_author(paper, make.make_person("Grace Hopper", email="marker@example.org"), name="Grace Marker")
    PersonName.objects.create(
        person=Person.objects.get(name="Grace Hopper"), name="Grace Marker", hidden=True
    )
    return new_edition


def test_dump_contains_only_public_rows(edition_with_hidden_rows: Edition) -> None:
    dumped = dump(edition_with_hidden_rows)

    assert "marker" not in repr(dumped).lower()
    assert [paper.title for paper in dumped.papers] == ["Shown"]
    assert [record.ref.name for record in dumped.people] == ["Grace Hopper", "Ada Lovelace"]


def test_dump_with_drafts_has_no_email_or_hidden_name(edition_with_hidden_rows: Edition) -> None:
    dumped = dump(edition_with_hidden_rows, drafts=True)

    assert (len(dumped.papers), len(dumped.sessions), len(dumped.presentations), len(dumped.awards)) == (
        2,
        2,
        3,
        2,
    )
    assert "marker@" not in repr(dumped)
    assert "Grace Marker" not in repr(dumped)


def test_dump_of_a_hidden_edition_is_empty() -> None:
    hidden_edition = make.make_edition(2021, public_from=None)
    make.make_committee_role(hidden_edition, make.make_person())

    assert dump(hidden_edition) == Program()
    assert dump(hidden_edition, drafts=True).edition is not None


def test_uploaded_material_is_dumped_as_its_url(settings: Any) -> None:
    settings.SITE_URL = "https://plenary.test"
    load(program(paper("p1", author("Zed Zu", "zed"))), "2021")
    Paper.objects.get().materials.create(kind="pdf", file="material/x.pdf")

    (material,) = stated(dump_edition().papers[0].materials, ())

    assert material.url == "https://plenary.test/media/material/x.pdf"
    assert load(dump_edition(), "2021").total["changed"] == 0


def test_query_count_is_the_same_for_10_and_200_papers() -> None:
    counts = []
    for slug, size in (("a", 10), ("b", 200)):
        load(replace(program_with_papers(size), edition=edition(slug=slug)), slug)
        loaded_edition = Edition.objects.get(slug=slug)
        with CaptureQueriesContext(connection) as queries:
            dump(loaded_edition)
        counts.append(len(queries))
    assert counts[0] == counts[1]
