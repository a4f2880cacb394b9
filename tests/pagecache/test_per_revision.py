"""Function results are cached per edition revision."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import models
from django.test import Client, RequestFactory
from django.utils import timezone

from conference.models import Edition
from conference.request_edition import published_editions
from pagecache.per_revision import DATED_LIFETIME_SECONDS, cached_per_revision
from tests import factories as make

pytestmark = pytest.mark.django_db


def addressed(year: int = 2021) -> Edition:
    return next(one for one in published_editions(RequestFactory().get("/")) if one.year == year)


def test_papers_of_a_session_are_read_once_for_all_of_them(
    client: Client, edition: Edition, django_assert_num_queries: Any
) -> None:
    hall = make.make_session(edition, kind="poster")
    papers = [make.make_paper(edition, ["Ada"], title=title) for title in ("One", "Two", "Three")]
    for paper in papers:
        make.make_presentation(hall, paper, kind="poster")
    client.get("/2021/papers/")

    for paper, queries in zip(papers, (10, 9, 9), strict=True):
        with django_assert_num_queries(queries):
            client.get(paper.get_absolute_url())


def counted(**options: bool) -> tuple[list[int], Any]:
    """Return the list of values for which the function was computed, and the cached function."""
    calls: list[int] = []

    @cached_per_revision(2, **options)
    def asked(edition: Edition, at: datetime, value: int) -> int:
        calls.append(value)
        return value

    return calls, asked


def test_one_entry_per_value_and_the_least_used_are_dropped(edition: Edition) -> None:
    make.make_paper(edition)
    calls, asked = counted()
    for value in (1, 1, 2, 1, 2):
        asked(addressed(), None, value)
    assert calls == [1, 2]

    make.make_paper(edition)
    for value in (1, 1, 2, 3, 1):
        asked(addressed(), None, value)
    assert calls == [1, 2, 1, 2, 3, 1]


def test_revision_read_before_a_change_has_its_own_result(edition: Edition) -> None:
    calls, asked = counted()
    begun = addressed()
    make.make_paper(edition)
    for found in (addressed(), begun, addressed()):
        asked(found, None, 1)

    assert calls == [1, 1, 1]


def test_same_revision_of_a_restored_database_is_another_state(edition: Edition) -> None:
    calls, asked = counted()
    before = addressed()
    make.make_room(edition)
    asked(addressed(), None, 1)
    stored = Edition.objects.filter(pk=edition.pk)
    models.QuerySet.update(stored, revision=before.revision)
    for name in ("B", "C"):
        make.make_room(edition, name)
    asked(addressed(), None, 1)

    assert calls == [1, 1]


def test_published_parts_and_time_zone_are_part_of_the_state(edition: Edition) -> None:
    opens = timezone.now() + timedelta(hours=1)
    Edition.objects.filter(pk=edition.pk).update(schedule_public_from=opens)
    calls, asked = counted()
    for at in (opens - timedelta(seconds=1), opens):
        asked(addressed(), at, 1)
    Edition.objects.filter(pk=edition.pk).update(timezone="Asia/Seoul")
    asked(addressed(), opens, 1)

    assert calls == [1, 1, 1]


def test_dated_results_are_discarded_after_a_minute(edition: Edition) -> None:
    calls, asked = counted(is_dated=True)
    now = timezone.now()
    for at in (now, now + timedelta(seconds=DATED_LIFETIME_SECONDS)):
        asked(addressed(), at, 1)

    assert calls == [1, 1]
