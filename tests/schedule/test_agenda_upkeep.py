"""Limits on new agendas per address and network, and the removal of agendas that nobody uses."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from redis.exceptions import RedisError

from conference.models import Edition
from schedule.agenda import upkeep
from schedule.agenda.agendas import create_agenda, find_agenda
from schedule.following import Agenda, AgendaStar
from tests import factories as make

pytestmark = pytest.mark.django_db
STARS = "/2021/agenda/stars/"
# The beginning of a minute.
NOW = 1_900_000_020.0


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(2021)


def create(address: str, now: float = NOW) -> bool:
    return upkeep.may_create(RequestFactory().post(STARS, REMOTE_ADDR=address), now)


def test_each_address_may_create_sixty_agendas_a_minute() -> None:
    allowed = [create("198.51.100.7") for _ in range(61)]
    others = [create("198.51.100.8"), create("2001:db8::1"), create("198.51.100.7", NOW + 60)]

    assert allowed == [True] * 60 + [False]
    assert others == [True] * 3


@pytest.mark.parametrize(
    ("addresses", "neighbor", "stranger"),
    [
        ([f"203.0.113.{number}" for number in range(1, 11)], "203.0.113.200", "203.0.114.1"),
        ([f"2001:db8:0:1::{number}" for number in range(1, 11)], "2001:db8:0:1::ffff", "2001:db8:0:2::1"),
    ],
)
def test_each_network_may_create_six_hundred(addresses: list[str], neighbor: str, stranger: str) -> None:
    allowed = [create(address) for address, _ in product(addresses, range(60))]

    assert allowed == [True] * 600
    assert (create(neighbor), create(stranger)) == (False, True)


def test_refused_client_stops_nobody_else() -> None:
    refused = [create("198.51.100.7") for _ in range(700)].count(False)

    # What is refused for one address is not counted for its network.
    assert (refused, create("198.51.100.8")) == (640, True)


def test_site_may_create_twenty_thousand(monkeypatch: pytest.MonkeyPatch) -> None:
    assert upkeep.MAX_ON_SITE == 20_000
    monkeypatch.setattr(upkeep, "MAX_ON_SITE", 3)

    assert [create(f"10.0.{number}.1") for number in range(4)] == [True, True, True, False]


def test_agendas_are_created_without_the_cache_server(settings: Settings) -> None:
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": "redis://127.0.0.1:1/0"}}
    settings.CACHE_ERRORS = (RedisError,)

    assert create("198.51.100.7")
    upkeep.remove_if_due(timezone.now())


def test_visitor_beyond_the_limit_is_told(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "MAX_PER_ADDRESS", 1)
    first, second = client.post(STARS), Client().post(STARS)
    # Those who have an agenda are not limited.
    again = client.post(STARS)
    other = Client(REMOTE_ADDR="198.51.100.9").post(STARS)

    assert [response.status_code for response in (first, second, again, other)] == [303, 429, 303, 303]
    assert second.headers["Retry-After"] == "60"
    assert Agenda.objects.count() == 2


DAY = timedelta(days=1)
AT = datetime(2031, 5, 1, tzinfo=UTC)


def make_agenda(edition: Edition, used_at: datetime, star: bool = True, removed: bool = False) -> Agenda:
    agenda = create_agenda(edition, used_at).agenda
    if star:
        session = make.make_session(edition)
        AgendaStar.objects.create(agenda=agenda, session=session, removed_at=used_at if removed else None)
    return agenda


def test_empty_and_unused_agendas_are_removed(edition: Edition) -> None:
    kept = [
        make_agenda(edition, AT - 364 * DAY),
        make_agenda(edition, AT - DAY / 2, star=False),
        make_agenda(edition, AT - DAY / 2, removed=True),
    ]
    make_agenda(edition, AT - 366 * DAY)
    make_agenda(edition, AT - 2 * DAY, star=False)
    make_agenda(edition, AT - 2 * DAY, removed=True)

    assert upkeep.remove_unused(AT) == 3
    assert [*Agenda.objects.order_by("pk")] == kept


def test_new_agenda_removes_unused_ones_once_an_hour(edition: Edition) -> None:
    create_agenda(edition, AT - 3 * DAY)
    create_agenda(edition, AT - 2 * DAY)
    within_the_hour = Agenda.objects.count()
    cache.clear()
    create_agenda(edition, AT)

    assert (within_the_hour, Agenda.objects.count()) == (2, 1)


def test_command_removes_them_too(edition: Edition, capsys: pytest.CaptureFixture[str]) -> None:
    make_agenda(edition, timezone.now() - 2 * DAY, star=False)
    call_command("remove_unused_agendas")

    assert (capsys.readouterr().out, Agenda.objects.count()) == ("1 removed.\n", 0)


def test_opening_an_agenda_is_recorded_twice_a_day(
    edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    saved = create_agenda(edition, timezone.now())
    with django_assert_num_queries(1):
        find_agenda(edition, saved.token)
    Agenda.objects.update(used_at=timezone.now() - DAY)
    with django_assert_num_queries(2):
        find_agenda(edition, saved.reading_token)
    saved.agenda.refresh_from_db()

    assert timezone.now() - saved.agenda.used_at < DAY / 2
