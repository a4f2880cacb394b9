"""What is kept while some kinds of rows stand reads no others: it names each table that it asks."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conference.models import Edition
from pagecache.per_revision import DATES
from papers import day_talks, facetrows
from schedule import questions
from tests import factories as make
from website import menu

pytestmark = pytest.mark.django_db

# What all years share is no kind of an edition: menus hang on the site's stamp besides, and of institutions
# a catalogue has only what never changes.
SHARED = {"people.person", "people.institution"}
# The edition itself is asked with each request, a link between rows goes with the row that has it.
ALWAYS = {"conference.edition", "papers.authorship_institutions"}


def read_by(asked: Callable[[], object]) -> set[str]:
    """The kinds of rows that are asked for in any part of a statement."""
    tables = {
        model._meta.db_table: model._meta.label_lower for model in apps.get_models(include_auto_created=True)
    }
    with CaptureQueriesContext(connection) as queries:
        asked()
    assert queries.captured_queries
    names = {name for query in queries for name in re.findall(r'"(\w+)"', query["sql"])}
    return {tables[name] for name in names & tables.keys()}


def wanted(kinds: frozenset[str]) -> set[str]:
    return {kind.removeprefix("*") for kind in kinds if kind.startswith("*")}


@pytest.fixture
def edition() -> Edition:
    """An edition with one of each."""
    edition = make.make_edition()
    paper = make.make_paper(edition, ["Ada"])
    make.make_presentation(make.make_session(edition), paper)
    paper.authorships.get().institutions.add(make.make_institution())
    return Edition.objects.get()


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        (facetrows.titles, facetrows.TITLES),
        (facetrows.topics, facetrows.TOPICS),
        (facetrows.awards, facetrows.AWARDS),
        (facetrows.institutions, facetrows.AUTHORS | {"*papers.paper"}),
        (facetrows.materials, facetrows.MATERIALS | {"*papers.paper"}),
        (facetrows.talks, facetrows.TALKS),
        (questions.used, questions.SESSIONS),
    ],
    ids=["titles", "topics", "awards", "institutions", "materials", "talks", "used"],
)
def test_only_named_kinds_are_read(edition: Edition, asked: Any, kinds: frozenset[str]) -> None:
    found = read_by(lambda: asked.__wrapped__(edition, timezone.now()))
    assert found - SHARED - ALWAYS == wanted(kinds)


def test_only_named_kinds_are_read_around_a_paper(edition: Edition) -> None:
    span = make.MORNING, make.MORNING + timedelta(days=1)
    found = read_by(lambda: day_talks.around.__wrapped__(edition, timezone.now(), *span))  # type: ignore[attr-defined]
    assert found - ALWAYS == wanted(day_talks.KINDS)


def test_menus_read_only_named_kinds(edition: Edition) -> None:
    found = read_by(lambda: menu.edition_menu(edition, timezone.now()))
    make.make_menu_item(edition)
    found |= read_by(lambda: menu.edition_menu(edition, timezone.now()))
    assert found - SHARED - ALWAYS == wanted(menu.KINDS)
    assert DATES in menu.KINDS
