"""Cache lifetimes of pages without times: an hour, or five minutes before content with a future date."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from conference.cache_lifetimes import LIFETIME, LIFETIME_OF_STEADY, SETTLED, read_cache_states
from conference.models import Edition
from pagecache.middleware import PageCache
from schedule.models import Release
from tests import factories as make
from tests.pagecache.wsgi_site import Site, fetch

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def steady_lifetimes(at: datetime) -> dict[str, float]:
    """Return the lifetime of pages without times, in seconds, by edition; "" is for pages of several."""
    return {slug: state.steady for slug, state in read_cache_states(at).items()}


@pytest.fixture
def now() -> datetime:
    make.make_edition(2021)
    make.make_edition(2022)
    return timezone.now()


def test_lifetime_is_long_without_future_dates(now: datetime) -> None:
    make.make_announcement(Edition.objects.get(slug="2021"))

    assert steady_lifetimes(now) == dict.fromkeys(("2021", "2022", ""), LIFETIME_OF_STEADY)


@pytest.mark.parametrize("kind", ["news", "release"])
def test_lifetime_is_short_until_a_future_row_is_settled(now: datetime, kind: str) -> None:
    edition, published_at = Edition.objects.get(slug="2022"), now + timedelta(minutes=50)
    if kind == "news":
        make.make_announcement(edition, published_at=published_at)
    else:
        Release.objects.create(edition=edition, number=1, published_at=published_at)
    short = {"2021": LIFETIME_OF_STEADY, "2022": LIFETIME, "": LIFETIME}
    settled = published_at + SETTLED

    for at in (now, published_at, settled - MINUTE):
        assert steady_lifetimes(at) == short
    assert steady_lifetimes(settled + MINUTE) == dict.fromkeys(short, LIFETIME_OF_STEADY)


def test_lifetime_is_short_for_all_editions_when_a_gate_opens(now: datetime) -> None:
    opens = now + timedelta(hours=2)
    Edition.objects.filter(slug="2022").update(papers_public_from=opens)
    slugs = ("2021", "2022", "")
    short, long = dict.fromkeys(slugs, LIFETIME), dict.fromkeys(slugs, LIFETIME_OF_STEADY)

    assert steady_lifetimes(now) == steady_lifetimes(opens + SETTLED + MINUTE) == long
    assert steady_lifetimes(opens - MINUTE) == steady_lifetimes(opens) == short


def test_lifetime_is_short_when_an_edition_ends(now: datetime) -> None:
    end = datetime(2021, 4, 9, 12, tzinfo=UTC)
    Edition.objects.filter(slug="2021").update(end_date=end.date())
    lifetimes = {day: steady_lifetimes(end + timedelta(days=day))["2022"] for day in (-1, 0, 1, 2)}

    assert lifetimes == {-1: LIFETIME_OF_STEADY, 0: LIFETIME, 1: LIFETIME, 2: LIFETIME_OF_STEADY}


def test_page_without_times_is_cached_longer_than_a_day_page(monkeypatch: pytest.MonkeyPatch) -> None:
    make.make_edition()
    monkeypatch.setattr("conference.cache_lifetimes.LIFETIME", 0.0)
    site = Site()
    cache = PageCache(site)
    for path in ("/2021/papers/1/title/", "/2021/schedule/2021-04-05/") * 2:
        fetch(cache, path)

    assert site.requested_paths == ["/2021/papers/1/title/", *["/2021/schedule/2021-04-05/"] * 2]
