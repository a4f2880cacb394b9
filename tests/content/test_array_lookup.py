"""Lookups of thousands of primary keys as one parameter."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from content.array_lookup import AnyOf
from papers.models import Authorship, Paper
from tests import factories as make

pytestmark = pytest.mark.django_db
NAMES = ("Ada", "Ben", "Cleo")


@pytest.fixture
def papers() -> list[Paper]:
    edition: Edition = make.make_edition(2021)
    return [make.make_paper(edition, [name], uid=uid) for uid, name in zip("abc", NAMES, strict=True)]


def test_rows_are_found_by_primary_keys(papers: list[Paper]) -> None:
    keys = [papers[0].pk, papers[2].pk, 0]

    assert [row.uid for row in Paper.objects.filter(AnyOf("pk", keys)).order_by("uid")] == ["a", "c"]
    assert [row.uid for row in Paper.objects.exclude(AnyOf("pk", keys))] == ["b"]
    assert not Paper.objects.filter(AnyOf("pk", [])).exists()


def test_rows_are_found_by_foreign_keys(papers: list[Paper]) -> None:
    authorships = Authorship.objects.filter(AnyOf("paper_id", iter([papers[1].pk])))

    assert [row.person.name for row in authorships] == ["Ben"]


def test_100000_keys_take_one_query(papers: list[Paper]) -> None:
    with CaptureQueriesContext(connection) as queries:
        count = Paper.objects.filter(AnyOf("pk", range(1_000_000, 1_100_000))).count()

    assert (count, len(queries)) == (0, 1)
