"""Tests of dumps: they contain all public data and no other, and restore an equal program."""

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


def dumped(**options: Any) -> Program:
    return dump(Edition.objects.get(), **options)


def empty() -> None:
    for label in ("exchange", "schedule", "papers", "people", "conference"):
        for model in reversed(list(apps.get_app_config(label).get_models())):
            model._base_manager.all().delete()
    assert (Conference.objects.count(), Person.objects.count(), Provenance.objects.count()) == (0, 0, 0)


def through_file(made: Program) -> Program:
    context = Context("2021", 2021, "UTC")
    (file,) = program_json.write(made, context)
    return program_json.read([Source(file.name, b"".join(file.chunks))], context)


def test_round_trip_of_every_field_is_exact() -> None:
    load(complete_program(), "2021")
    first = dumped()
    empty()

    load(through_file(first), "2021")

    assert dumped() == first
    assert first == complete_program()


def test_import_of_the_own_dump_changes_nothing() -> None:
    load(complete_program(), "2021")

    assert load(dumped(), "2021").run is None
    assert ImportRun.objects.count() == 1


@pytest.fixture
def drafts() -> Edition:
    """Create an edition in which everything named "Marker" is hidden in some way."""
    made = make.make_edition(2021)
    shown, hidden = (
        make.make_session(made, title="Shown"),
        make.make_session(made, title="Marker", status="draft"),
    )
    paper = make.make_paper(made, ["Ada Lovelace"], title="Shown")
    draft = make.make_paper(made, ["Marker One"], title="Marker", status="draft")
    make.make_material(paper, url="https://example.org/Marker", visible=False)
    make.make_award(made, [paper, draft], name="Shown")
    make.make_award(made, [paper], name="Marker", status="draft")
    make.make_presentation(shown, draft, board="Marker")
    make.make_presentation(hidden, paper, board="Marker")
    make.make_presentation(shown, speakers=["Marker Two"], title="Marker", status="draft")
    make.add_role(hidden, "Marker Three")
    make.make_menu_item(
        made, page=make.make_page(made, slug="marker", title="Marker", status="draft"), label="Marker"
    )
    make.make_sponsor(made, name="Marker", status="draft")
    make.add_author(paper, make.make_person("Grace Hopper", email="marker@example.org"), name="Grace Marker")
    PersonName.objects.create(
        person=Person.objects.get(name="Grace Hopper"), name="Grace Marker", hidden=True
    )
    return made


def test_dump_holds_nothing_that_is_not_public(drafts: Edition) -> None:
    made = dump(drafts)

    assert "marker" not in repr(made).lower()
    assert [paper.title for paper in made.papers] == ["Shown"]
    assert [ref.ref.name for ref in made.people] == ["Grace Hopper", "Ada Lovelace"]


def test_dump_with_drafts_holds_them_but_no_address_and_no_hidden_name(drafts: Edition) -> None:
    made = dump(drafts, drafts=True)

    assert (len(made.papers), len(made.sessions), len(made.presentations), len(made.awards)) == (2, 2, 3, 2)
    assert "marker@" not in repr(made)
    assert "Grace Marker" not in repr(made)


def test_dump_of_an_edition_that_is_not_public_is_empty() -> None:
    made = make.make_edition(2021, public_from=None)
    make.make_committee_role(made, make.make_person())

    assert dump(made) == Program()
    assert dump(made, drafts=True).edition is not None


def test_uploaded_material_travels_as_its_address(settings: Any) -> None:
    settings.SITE_URL = "https://plenary.test"
    load(program(paper("p1", author("Zed Zu", "zed"))), "2021")
    Paper.objects.get().materials.create(kind="pdf", file="material/x.pdf")

    (material,) = stated(dumped().papers[0].materials, ())

    assert material.url == "https://plenary.test/media/material/x.pdf"
    assert load(dumped(), "2021").total["changed"] == 0


def test_query_count_does_not_grow_with_the_papers() -> None:
    counts = []
    for slug, size in (("a", 10), ("b", 200)):
        load(replace(program_with_papers(size), edition=edition(slug=slug)), slug)
        made = Edition.objects.get(slug=slug)
        with CaptureQueriesContext(connection) as queries:
            dump(made)
        counts.append(len(queries))
    assert counts[0] == counts[1]
