"""Tests of partial dumps: the requested public rows, in a constant number of queries."""

from dataclasses import replace

import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from exchange.citations import citations
from exchange.exports.dump import dump, writing_context
from exchange.imports.load import load
from tests.exchange.programs import complete_program, program_with_papers
from tests.website.sample_program import MARKER, add_hidden_rows, make_public_program

pytestmark = pytest.mark.django_db


def test_dump_of_one_paper_has_only_its_authors() -> None:
    load(program_with_papers(5), "2021")
    edition = Edition.objects.get()
    full, part = dump(edition), dump(edition, only={"paper": Q(uid="p3")})

    assert part.papers == tuple(record for record in full.papers if record.uid == "p3")
    assert [record.ref.name for record in part.people] == ["Ann Author3", "Bob Writer3"]
    assert (part.conference, part.edition and part.edition.name) == (full.conference, "MLSys 2021")
    assert (part.sessions, part.presentations, part.topics, part.institutions) == ((), (), (), ())


def test_dump_of_all_kinds_has_all_rows_of_the_full_dump() -> None:
    load(complete_program(), "2021")
    edition = Edition.objects.get()
    kinds = (
        "institution",
        "page",
        "sponsor",
        "announcement",
        "key_date",
        "topic",
        "room",
        "paper",
        "award",
        "session",
    )
    full = dump(edition)
    assert full.edition is not None

    assert dump(edition, only=dict.fromkeys((*kinds, "presentation"), Q())) == replace(
        full, edition=replace(full.edition, menu=(), committee=())
    )


@pytest.mark.parametrize("count", [1, 30])
def test_query_count_is_the_same_for_1_and_30_papers(count: int) -> None:
    load(program_with_papers(count), "2021")
    edition = Edition.objects.get()
    with CaptureQueriesContext(connection) as queries:
        dump(edition, only={"paper": Q()})

    assert len(queries) == 13


def test_trap_16_hidden_rows_are_not_in_a_partial_dump() -> None:
    program = make_public_program()
    add_hidden_rows(program["edition"], program["paper"], program["person"], program["session"])
    kinds = ("paper", "session", "presentation", "room", "topic")
    part = dump(program["edition"], only={kind: Q() for kind in kinds})

    assert part.papers == dump(program["edition"]).papers
    assert "p1" in [paper.uid for paper in part.papers]
    assert MARKER.lower() not in str(part).lower()


def test_citations_use_the_stored_parts_of_names() -> None:
    load(complete_program(), "2021")
    context = writing_context(Edition.objects.get())
    (citation,) = citations(dump(Edition.objects.get()), context)

    assert [(author.family, author.given) for author in citation.authors] == [
        ("李", "雷"),
        ("Lovelace", "A."),
    ]
