"""Function results are cached per edition revision."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import models
from django.test import Client, RequestFactory
from django.utils import timezone

from conference.models import Edition
from conference.request_edition import published_editions
from pagecache.per_revision import DATED_LIFETIME_SECONDS, cached_per_revision
from papers.models import Paper
from tests import factories as make

pytestmark = pytest.mark.django_db


def request_edition(year: int = 2021) -> Edition:
    return next(row for row in published_editions(RequestFactory().get("/")) if row.year == year)


def test_papers_of_a_session_are_fetched_once_for_all_paper_pages(
    client: Client, edition: Edition, django_assert_num_queries: Any
) -> None:
    session = make.make_session(edition, kind="poster")
    papers = [make.make_paper(edition, ["Ada"], title=title) for title in ("One", "Two", "Three")]
    for paper in papers:
        make.make_presentation(session, paper, kind="poster")
    client.get("/2021/papers/")

    for paper, queries in zip(papers, (10, 9, 9), strict=True):
        with django_assert_num_queries(queries):
            client.get(paper.get_absolute_url())


def make_counted_function(**options: bool) -> tuple[list[int], Any]:
    """Return the list of values for which the function was computed, and the cached function.

    It reads how many papers there are.
    """
    calls: list[int] = []

    @cached_per_revision(2, **options)
    def cached_function(edition: Edition, at: datetime, value: int) -> int:
        calls.append(value)
        edition.papers.count()
        return value

    return calls, cached_function


def test_each_value_has_an_entry_and_the_least_recently_used_is_dropped(edition: Edition) -> None:
    make.make_paper(edition)
    calls, cached_function = make_counted_function()
    for value in (1, 1, 2, 1, 2):
        cached_function(request_edition(), None, value)
    assert calls == [1, 2]

    make.make_paper(edition)
    for value in (1, 1, 2, 3, 1):
        cached_function(request_edition(), None, value)
    assert calls == [1, 2, 1, 2, 3, 1]


def test_revisions_do_not_share_a_result(edition: Edition) -> None:
    calls, cached_function = make_counted_function()
    old_revision = request_edition()
    make.make_paper(edition)
    for row in (request_edition(), old_revision, request_edition()):
        cached_function(row, None, 1)

    assert calls == [1, 1, 1]


def test_same_revision_of_a_restored_database_has_its_own_result(edition: Edition) -> None:
    calls, cached_function = make_counted_function()
    before = request_edition()
    make.make_paper(edition)
    cached_function(request_edition(), None, 1)
    stored = Edition.objects.filter(pk=edition.pk)
    models.QuerySet.update(stored, revision=before.revision)
    for title in ("B", "C"):
        make.make_paper(edition, title=title)
    cached_function(request_edition(), None, 1)

    assert calls == [1, 1]


def test_publication_and_time_zone_have_their_own_results(edition: Edition) -> None:
    opening = timezone.now() + timedelta(hours=1)
    Edition.objects.filter(pk=edition.pk).update(schedule_public_from=opening)
    calls, cached_function = make_counted_function()
    for at in (opening - timedelta(seconds=1), opening):
        cached_function(request_edition(), at, 1)
    Edition.objects.filter(pk=edition.pk).update(timezone="Asia/Seoul")
    cached_function(request_edition(), opening, 1)

    assert calls == [1, 1, 1]


def test_dated_results_are_discarded_after_a_minute(edition: Edition) -> None:
    calls, cached_function = make_counted_function(is_dated=True)
    now = timezone.now()
    for at in (now, now + timedelta(seconds=DATED_LIFETIME_SECONDS)):
        cached_function(request_edition(), at, 1)

    assert calls == [1, 1]


def test_values_are_kept_while_only_texts_of_papers_change(
    edition: Edition, django_assert_num_queries: Any
) -> None:
    paper = make.make_paper(edition)
    calls, cached_function = make_counted_function()
    cached_function(request_edition(), None, 1)
    for title in ("B", "C"):
        paper.title = title
        paper.save()
        new = request_edition()
        with django_assert_num_queries(2):
            assert cached_function(new, None, 1) == 1
        with django_assert_num_queries(0):
            cached_function(new, None, 1)
    assert calls == [1]

    make.make_paper(edition, title="D")
    cached_function(request_edition(), None, 1)
    assert calls == [1, 1]


def make_reading_function(read: Callable[[Edition], Any]) -> Callable[[], Any]:
    """Return a cached function of the current revision that returns what `read` returns, as a list."""

    @cached_per_revision(2)
    def cached_function(edition: Edition, at: datetime) -> list[Any]:
        return [*read(edition)]

    return lambda: cached_function(request_edition(), None)


def test_values_are_kept_while_only_other_columns_and_tables_change(edition: Edition) -> None:
    paper, room = make.make_paper(edition, ["Ada"]), make.make_room(edition)
    tracks = make_reading_function(lambda edition: edition.papers.values_list("track", flat=True))
    first = tracks()
    paper.doi = "10.1000/1"
    paper.save()
    Paper.objects.update(pages="1--9")
    room.delete()
    make.make_topic(edition)
    assert tracks() is first

    paper.track = "Demo"
    paper.save()
    assert tracks() == ["Demo"]
    Paper.objects.update(track="Main")
    assert tracks() == ["Main"]
    paper.delete()
    assert tracks() == []


def test_values_follow_derived_columns_links_and_values_that_they_read(edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"], title="B")
    author = paper.authorships.get()
    sort_titles = make_reading_function(lambda edition: edition.papers.values_list("sort_title", flat=True))
    outer = make_reading_function(lambda edition: sort_titles())
    links = make_reading_function(
        lambda edition: edition.papers.values_list("authorships__institutions__name", flat=True)
    )
    assert (sort_titles(), outer(), links()) == (["b"], ["b"], [None])

    paper.title = "C"
    paper.save()
    assert outer() == ["c"]
    author.institutions.add(make.make_institution("ETH"))
    assert links() == ["ETH"]


def test_values_that_read_what_is_not_noted_are_discarded_by_every_change(edition: Edition) -> None:
    make.make_paper(edition)
    moments = make_reading_function(lambda edition: edition.papers.values_list("changed_at"))
    first = moments()
    assert moments() is first
    make.make_room(edition)
    assert moments() is not first


def test_dated_values_live_for_a_minute_although_texts_change(edition: Edition) -> None:
    paper = make.make_paper(edition)
    calls, cached_function = make_counted_function(is_dated=True)
    start = request_edition().changed_at
    lifetime = timedelta(seconds=DATED_LIFETIME_SECONDS)
    for number, at in enumerate([start, start + 0.5 * lifetime, start + 1.1 * lifetime]):
        cached_function(request_edition(), at, 1)
        paper.title = f"Title {number}"
        paper.save()
    assert calls == [1, 1]
