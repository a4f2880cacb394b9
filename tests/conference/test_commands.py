"""`create_edition` and `publish`: an edition is created and made public from a terminal."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from conference.models import Conference, Edition
from papers.models import Paper
from tests import factories as make

pytestmark = pytest.mark.django_db

NEW = ["--conference", "mlsys", "--conference-name", "MLSys"]
DATES = ["--start", "2027-05-10", "--end", "2027-05-14", "--timezone", "Asia/Seoul"]


def create(*words: str, slug: str = "2027") -> None:
    call_command("create_edition", slug, *words, verbosity=0)


def test_first_edition_and_its_conference_are_created(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("create_edition", "2027", *DATES, "--conference", "mlsys", "--conference-name", "MLSys")
    edition = Edition.objects.get()

    assert capsys.readouterr().out == "MLSys 2027 was made. Nothing of it is public.\n"
    assert (edition.slug, edition.name, edition.year, edition.timezone) == (
        "2027",
        "MLSys 2027",
        2027,
        "Asia/Seoul",
    )
    assert (edition.start_date, edition.end_date) == (date(2027, 5, 10), date(2027, 5, 14))
    assert (edition.conference.slug, edition.conference.name) == ("mlsys", "MLSys")
    assert client.get("/2027/").status_code == 404


def test_next_edition_belongs_to_the_only_conference() -> None:
    earlier = make.make_edition(2021)
    create(*DATES, "--name", "The Next One", "--city", "Seoul")
    edition = Edition.objects.get(slug="2027")

    assert (edition.conference, edition.name, edition.city) == (earlier.conference, "The Next One", "Seoul")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (DATES[:2], "Edition “2027” needs --end, --timezone."),
        (DATES, "Name the series of the edition with --conference SLUG"),
        ([*DATES, "--conference", "other"], "also give --conference-name NAME. Existing: none."),
        ([*DATES[:4], "--timezone", "Mars/Base", *NEW], "timezone: "),
        ([*DATES[:2], "--end", "2027-05-01", *DATES[4:], *NEW], "end_date: The end date is before"),
    ],
)  # fmt: skip
def test_refused_edition_leaves_nothing(words: list[str], message: str) -> None:
    with pytest.raises(CommandError) as error:
        create(*words)

    assert message in str(error.value)
    assert (Edition.objects.count(), Conference.objects.count()) == (0, 0)


def test_existing_edition_is_not_created_again() -> None:
    make.make_edition(2027)
    with pytest.raises(CommandError, match="There is an edition “2027” already"):
        create(*DATES)


# Publishing

HIDDEN: dict[str, Any] = {"public_from": None, "papers_public_from": None, "schedule_public_from": None}


def test_everything_is_published(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    edition = make.make_edition(2021, **HIDDEN)
    make.make_paper(edition, title="A Public Paper")
    make.make_paper(edition, title="A Draft", status="draft")
    call_command("publish", "2021")
    output = capsys.readouterr().out
    page = client.get("/2021/papers/").text

    assert output.startswith("MLSys 2021: Everything, public since ")
    assert "  1 paper\n" in output
    assert ("A Public Paper" in page, "A Draft" in page) == (True, False)
    call_command("publish", "2021", "--drafts", verbosity=0)
    assert not Paper.objects.filter(status="draft").exists()
    call_command("publish", "2021", "--take-back", verbosity=0)
    assert client.get("/2021/").status_code == 404


def test_part_is_published_at_a_moment_of_the_venue() -> None:
    edition = make.make_edition(2021, papers_public_from=None, schedule_public_from=None)
    call_command("publish", "2021", "papers", "--at", "2041-03-01T09:00", verbosity=0)
    edition.refresh_from_db()

    # Nine o'clock in Los Angeles.
    assert edition.papers_public_from == datetime(2041, 3, 1, 17, tzinfo=UTC)
    assert edition.schedule_public_from is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["2099"], "There is no edition “2099”. Existing: 2021."),
        (["2021", "papers"], "The site is not public: publish “site” first, or everything."),
        (["2021", "--at", "soon"], "“soon” is no moment: write it as 2027-03-01T09:00."),
        (["2021", "--take-back", "--drafts"], "--take-back goes with neither --at nor --drafts."),
    ],
)
def test_refused_publication_changes_nothing(words: list[str], message: str) -> None:
    edition = make.make_edition(2021, **HIDDEN)
    with pytest.raises(CommandError) as error:
        call_command("publish", *words)
    edition.refresh_from_db()

    assert str(error.value) == message
    assert (edition.public_from, edition.papers_public_from) == (None, None)
