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


def test_one_paper_comes_with_its_authors_alone() -> None:
    load(program_with_papers(5), "2021")
    edition = Edition.objects.get()
    whole, part = dump(edition), dump(edition, only={"paper": Q(uid="p3")})

    assert part.papers == tuple(one for one in whole.papers if one.uid == "p3")
    assert [one.ref.name for one in part.people] == ["Ann Author3", "Bob Writer3"]
    assert (part.conference, part.edition and part.edition.name) == (whole.conference, "MLSys 2021")
    assert (part.sessions, part.presentations, part.topics, part.institutions) == ((), (), (), ())


def test_all_kinds_asked_for_are_the_whole_program() -> None:
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
    whole = dump(edition)
    assert whole.edition is not None

    assert dump(edition, only=dict.fromkeys((*kinds, "presentation"), Q())) == replace(
        whole, edition=replace(whole.edition, menu=(), committee=())
    )


@pytest.mark.parametrize("count", [1, 30])
def test_query_count_does_not_grow_with_the_papers(count: int) -> None:
    load(program_with_papers(count), "2021")
    edition = Edition.objects.get()
    with CaptureQueriesContext(connection) as queries:
        dump(edition, only={"paper": Q()})

    assert len(queries) == 13


def test_trap_16_hidden_rows_stay_out_however_they_are_asked_for() -> None:
    shown = make_public_program()
    add_hidden_rows(shown["edition"], shown["paper"], shown["person"], shown["session"])
    kinds = ("paper", "session", "presentation", "room", "topic")
    part = dump(shown["edition"], only={kind: Q() for kind in kinds})

    assert part.papers == dump(shown["edition"]).papers
    assert "p1" in [one.uid for one in part.papers]
    assert MARKER.lower() not in str(part).lower()


def test_writers_are_told_what_the_apps_know_of_names() -> None:
    load(complete_program(), "2021")
    context = writing_context(Edition.objects.get())
    (citation,) = citations(dump(Edition.objects.get()), context)

    assert [(one.family, one.given) for one in citation.authors] == [("李", "雷"), ("Lovelace", "A.")]
