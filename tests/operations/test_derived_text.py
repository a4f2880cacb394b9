"""An upgrade that derives texts in another way derives the stored ones again."""

import pytest
from django.core.management import call_command
from django.db.models import QuerySet

from conference.models import Edition
from operations.derived_text import fingerprint
from operations.models import DerivedTextVersion
from papers.models import Paper
from tests import factories as make

pytestmark = pytest.mark.django_db

STALE = {"title_html": "stale", "abstract_html": "stale"}


@pytest.fixture
def paper(edition: Edition) -> Paper:
    paper: Paper = make.make_paper(edition, title="On *x*", abstract="**All** of it")
    QuerySet.update(Paper.objects.filter(pk=paper.pk), **STALE)
    return paper


def stored_texts(paper: Paper) -> list[str]:
    return [*Paper.objects.values_list("title_html", "abstract_html").get(pk=paper.pk)]


@pytest.mark.parametrize("earlier", ["of the version before", None])
def test_migrating_derives_stale_texts_once(paper: Paper, earlier: str | None) -> None:
    DerivedTextVersion.objects.all().delete()
    if earlier:
        DerivedTextVersion.objects.create(pk=1, fingerprint=earlier)
    call_command("migrate", verbosity=0)
    derived = stored_texts(paper)
    QuerySet.update(Paper.objects.filter(pk=paper.pk), **STALE)
    call_command("migrate", verbosity=0)

    assert derived == ["On <em>x</em>", "<p><strong>All</strong> of it</p>\n"]
    assert stored_texts(paper) == ["stale", "stale"]
    assert DerivedTextVersion.objects.get().fingerprint == fingerprint()


def test_emptying_the_tables_derives_nothing(paper: Paper) -> None:
    DerivedTextVersion.objects.all().delete()
    call_command("migrate", verbosity=0, plan=True)

    assert stored_texts(paper) == ["stale", "stale"]
