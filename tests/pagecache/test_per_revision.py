"""What is worked out once for each state of an edition."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import models
from django.test import Client, RequestFactory
from django.utils import timezone

from conference.models import Edition
from conference.request_edition import published_editions
from pagecache.per_revision import DATES, LIFETIME, kept_while_it_stands
from tests import factories as make

pytestmark = pytest.mark.django_db


def addressed(year: int = 2021) -> Edition:
    return next(one for one in published_editions(RequestFactory().get("/")) if one.year == year)


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(2021)


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


# What hangs on some kinds of rows


KINDS = frozenset(["*papers.paper"])


def kept_of(kinds: frozenset[str]) -> tuple[list[int], Any]:
    calls: list[int] = []

    @kept_while_it_stands(2, of=kinds)
    def asked(edition: Edition, at: datetime, value: int) -> int:
        calls.append(value)
        return value

    return calls, asked


def test_of_each_value_the_last_state_is_kept_and_so_many_in_all(edition: Edition) -> None:
    make.make_paper(edition)
    calls, asked = kept_of(KINDS)
    for value in (1, 1, 2, 1, 2):
        asked(addressed(), None, value)
    assert calls == [1, 2]

    make.make_paper(edition)
    for value in (1, 1, 2, 3, 1):
        asked(addressed(), None, value)
    assert calls == [1, 2, 1, 2, 3, 1]


def test_page_that_was_begun_before_a_change_has_a_state_of_its_own(edition: Edition) -> None:
    calls, asked = kept_of(KINDS)
    begun = addressed()
    make.make_paper(edition)
    for found in (addressed(), begun, addressed()):
        asked(found, None, 1)

    assert calls == [1, 1, 1]


def test_database_that_was_restored_counts_on_from_another_past(edition: Edition) -> None:
    calls, asked = kept_of(KINDS)
    before = addressed()
    make.make_room(edition)
    asked(addressed(), None, 1)
    stored = Edition.objects.filter(pk=edition.pk)
    models.QuerySet.update(stored, revision=before.revision)
    for name in ("B", "C"):
        make.make_room(edition, name)
    asked(addressed(), None, 1)

    assert calls == [1, 1]


def test_gates_and_clocks_make_a_state_whatever_the_kinds(edition: Edition) -> None:
    opens = timezone.now() + timedelta(hours=1)
    Edition.objects.filter(pk=edition.pk).update(schedule_public_from=opens)
    calls, asked = kept_of(KINDS)
    for at in (opens - timedelta(seconds=1), opens):
        asked(addressed(), at, 1)
    Edition.objects.filter(pk=edition.pk).update(timezone="Asia/Seoul")
    asked(addressed(), opens, 1)

    assert calls == [1, 1, 1]


def test_what_is_dated_ahead_is_asked_again_after_a_minute_if_it_is_named(edition: Edition) -> None:
    calls, asked = kept_of(KINDS | {DATES})
    now = timezone.now()
    for at in (now, now + timedelta(seconds=LIFETIME)):
        asked(addressed(), at, 1)

    assert calls == [1, 1]


def test_where_values_do_not_count_the_last_alone_are_kept(edition: Edition) -> None:
    calls: list[int] = []

    @kept_while_it_stands(2, of=KINDS, by_value=False)
    def asked(edition: Edition, at: datetime, value: int) -> int:
        calls.append(value)
        return value

    other = make.make_edition(2020)
    found = [asked(one, None, value) for one, value in ((edition, 1), (other, 1), (edition, 2), (edition, 1))]
    assert found == [1, 1, 2, 1]
    assert asked(other, None, 1) == 1
    assert calls == [1, 1, 2, 1]
