"""Cache lifetimes of pages without times: an hour, or five minutes before content with a future date."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from conference.cache_lifetimes import LIFETIME, LIFETIME_OF_STEADY, SETTLED, read_cache_states
from conference.models import Edition
from pagecache.middleware import PageCache
from schedule.models import Release
from tests import factories as make
from tests.pagecache.site import Site, ask

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def steady(at: datetime) -> dict[str, float]:
    """Return the lifetime of pages without times, in seconds, by edition; "" is for pages of several."""
    return {slug: state.steady for slug, state in read_cache_states(at).items()}


@pytest.fixture
def now() -> datetime:
    make.make_edition(2021)
    make.make_edition(2022)
    return timezone.now()


def test_nothing_is_dated_ahead(now: datetime) -> None:
    make.make_announcement(Edition.objects.get(slug="2021"))

    assert steady(now) == dict.fromkeys(("2021", "2022", ""), LIFETIME_OF_STEADY)


@pytest.mark.parametrize("kind", ["news", "release"])
def test_what_is_dated_ahead_is_soon_seen(now: datetime, kind: str) -> None:
    edition, comes = Edition.objects.get(slug="2022"), now + timedelta(minutes=50)
    if kind == "news":
        make.make_announcement(edition, published_at=comes)
    else:
        Release.objects.create(edition=edition, number=1, published_at=comes)
    soon = {"2021": LIFETIME_OF_STEADY, "2022": LIFETIME, "": LIFETIME}

    assert steady(now) == steady(comes) == steady(comes + SETTLED - MINUTE) == soon
    assert steady(comes + SETTLED + MINUTE) == dict.fromkeys(soon, LIFETIME_OF_STEADY)


def test_gate_that_opens_soon_is_soon_seen_on_all_pages(now: datetime) -> None:
    opens = now + timedelta(hours=2)
    Edition.objects.filter(slug="2022").update(papers_public_from=opens)
    short, long = (dict.fromkeys(("2021", "2022", ""), one) for one in (LIFETIME, LIFETIME_OF_STEADY))

    assert steady(now) == steady(opens + SETTLED + MINUTE) == long
    assert steady(opens - MINUTE) == steady(opens) == short


def test_end_of_an_edition_is_soon_seen(now: datetime) -> None:
    end = datetime(2021, 4, 9, 12, tzinfo=UTC)
    Edition.objects.filter(slug="2021").update(end_date=end.date())
    days = {day: steady(end + timedelta(days=day))["2022"] for day in (-1, 0, 1, 2)}

    assert days == {-1: LIFETIME_OF_STEADY, 0: LIFETIME, 1: LIFETIME, 2: LIFETIME_OF_STEADY}


def test_page_that_tells_no_time_outlives_one_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    make.make_edition()
    monkeypatch.setattr("conference.cache_lifetimes.LIFETIME", 0.0)
    site = Site()
    cache = PageCache(site)
    for path in ("/2021/papers/1/title/", "/2021/schedule/2021-04-05/") * 2:
        ask(cache, path)

    assert site.asked == ["/2021/papers/1/title/", *["/2021/schedule/2021-04-05/"] * 2]
