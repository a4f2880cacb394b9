"""Publishing an edition: a preview of the effects, now or at a scheduled time, and its undo."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Membership
from conference.models import Edition
from conference.publishing import PUBLISH_SCOPES, PUBLISHED_ROWS, published_counts, rows_of_scope
from content.models import ChangeSet, RowChange
from papers.models import Paper
from schedule.models import Session
from tests import factories as make

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def edition() -> Edition:
    """Create an edition in Berlin that is not public: two papers, a draft, and a session with one paper."""
    edition = make.make_edition(2026, timezone="Europe/Berlin", **make.CLOSED)
    papers = [make.make_paper(edition, title=f"Paper {n}") for n in (1, 2)]
    make.make_paper(edition, title="Unfinished", status="draft")
    make.make_presentation(make.make_session(edition, start=NOON), papers[0])
    return edition


def address(edition: Edition, part: str = "everything") -> str:
    return f"/admin/conference/edition/{edition.pk}/publish/?part={part}"


def post(client: Client, edition: Edition, part: str = "everything", **fields: Any) -> Any:
    """Post the form of the page with these fields changed; return the page that follows."""
    was = re.findall(r'name="was" value="([^"]*)"', client.get(address(edition, part)).text)[0]
    values = {"when": "now", "moment_0": "", "moment_1": "", "was": was}
    answer = client.post(address(edition, part), {**values, **fields}, follow=True)
    edition.refresh_from_db()
    return answer


def gates(edition: Edition) -> list[datetime | None]:
    return [edition.public_from, edition.papers_public_from, edition.schedule_public_from]


def seen(page: str) -> list[str]:
    found = re.findall(r'<ul class="publish-seen">(.*?)</ul>', page, re.DOTALL)
    return re.findall(r"<li>([^<]+)</li>", found[0]) if found else []


@time_machine.travel(NOON, tick=False)
def test_page_says_what_becomes_visible_and_what_to_look_at(admin_client: Client, edition: Edition) -> None:
    everything, papers, schedule = (
        admin_client.get(address(edition, part)).text for part in ("everything", "papers", "schedule")
    )
    listed = f"/admin/papers/paper/?edition__id__exact={edition.pk}&amp;status__exact=draft"

    assert seen(everything) == ["2 papers", "1 session", "1 presentation"]
    assert seen(papers) == ["2 papers"]
    assert seen(schedule) == ["1 session"]
    assert "1 more appears only when the other parts are public, too." in schedule
    assert f'<a href="{listed}">1 paper</a>: still a draft' in everything
    assert "3 papers without PDF</a>" in everything
    assert "Now (Sun 1 Mar 2026, 13:00 CET)" in everything


@time_machine.travel(NOON, tick=False)
def test_everything_goes_public_by_a_button(admin_client: Client, client: Client, edition: Edition) -> None:
    before = client.get("/2026/").status_code
    page = post(admin_client, edition)

    assert (before, client.get("/2026/papers/").status_code) == (404, 200)
    assert gates(edition) == [NOON] * 3
    assert "MLSys 2026: Everything, public since Sun 1 Mar 2026, 13:00 CET." in page.text
    assert page.redirect_chain == [(f"/admin/?edition={edition.pk}", 302)]
    assert Paper.objects.filter(status="draft").count() == 1


def test_everything_goes_public_at_a_set_time_in_the_editions_zone(
    admin_client: Client, client: Client, edition: Edition
) -> None:
    with time_machine.travel(NOON, tick=False):
        page = post(admin_client, edition, when="later", moment_0="2026-03-02", moment_1="09:00")
        before = client.get("/2026/papers/").status_code
    with time_machine.travel(datetime(2026, 3, 2, 8, 0, 1, tzinfo=UTC), tick=False):
        after = client.get("/2026/papers/").status_code

    assert gates(edition) == [datetime(2026, 3, 2, 8, tzinfo=UTC)] * 3
    assert (before, after) == (404, 200)
    assert "public from Mon 2 Mar 2026, 09:00 CET." in page.text


@pytest.mark.parametrize(
    ("day", "time", "said"),
    [
        ("2026-03-29", "02:30", "and skip 02:30"),
        ("2026-10-25", "02:30", "occurs twice"),
        ("", "", "Enter a date and a time."),
        ("tomorrow", "09:00", "Enter a valid date."),
    ],
)
def test_moment_that_cannot_be_is_refused_in_words(
    day: str, time: str, said: str, admin_client: Client, edition: Edition
) -> None:
    page = post(admin_client, edition, when="later", moment_0=day, moment_1=time)

    assert said in page.text
    assert gates(edition) == [None] * 3


@time_machine.travel(NOON, tick=False)
def test_papers_alone_wait_for_the_site_or_take_it_along(admin_client: Client, edition: Edition) -> None:
    post(admin_client, edition, "papers")
    alone = gates(edition)
    page = admin_client.get(address(edition, "papers")).text
    post(admin_client, edition, "papers", site="on")

    assert alone == [None, NOON, None]
    assert 'name="site"' in page
    assert gates(edition) == [NOON, NOON, None]
    assert 'name="site"' not in admin_client.get(address(edition, "papers")).text


@time_machine.travel(NOON, tick=False)
def test_drafts_go_along_if_asked(admin_client: Client, edition: Edition) -> None:
    make.make_session(edition, start=NOON, status="draft")
    make.make_paper(make.make_edition(2020), status="draft")
    before = Edition.objects.get(pk=edition.pk).revision
    page = post(admin_client, edition, drafts="on")
    latest = ChangeSet.objects.order_by("-pk").values("pk")[:1]

    assert "2 drafts were published." in page.text
    assert [*Paper.objects.filter(status="draft").values_list("edition__year", flat=True)] == [2020]
    assert not Session.objects.filter(status="draft").exists()
    assert Edition.objects.get(pk=edition.pk).revision == before + 1
    assert sorted(RowChange.objects.filter(change_set__in=latest).values_list("model", flat=True)) == [
        "conference.edition",
        "papers.paper",
        "schedule.session",
    ]


@time_machine.travel(NOON, tick=False)
def test_part_is_taken_back(admin_client: Client, client: Client, edition: Edition) -> None:
    post(admin_client, edition)
    page = admin_client.get(address(edition, "papers")).text
    taken = post(admin_client, edition, "papers", take_back="Take back")

    assert "What visitors see" in page
    assert "Unpublish the papers" in page
    assert gates(edition) == [NOON, None, NOON]
    assert "MLSys 2026: Papers, no longer public." in taken.text
    assert "Paper 1" not in client.get("/2026/papers/").text


def test_second_chair_sees_what_the_first_one_did(admin_client: Client, edition: Edition) -> None:
    was = re.findall(r'name="was" value="([^"]*)"', admin_client.get(address(edition)).text)[0]
    Edition.objects.filter(pk=edition.pk).update(papers_public_from=NOON)
    page = admin_client.post(address(edition), {"when": "now", "was": was}, follow=True)
    edition.refresh_from_db()

    assert "Someone changed this after you opened the page." in page.text
    assert gates(edition) == [None, NOON, None]


def test_desk_and_form_lead_to_publishing(admin_client: Client, edition: Edition) -> None:
    page = f"/admin/conference/edition/{edition.pk}/publish/"
    desk = admin_client.get("/admin/").text
    form = admin_client.get(f"/admin/conference/edition/{edition.pk}/change/").text

    assert f'href="{page}?part=papers"' in desk
    assert f'href="/admin/schedule/release/add/?edition={edition.pk}">Announce a release</a>' in desk
    assert f'<a href="{page}">Publish</a>' in form


def test_publishing_asks_for_the_right_to_change(client: Client, edition: Edition) -> None:
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_edition"))
    client.force_login(user)

    assert client.get(address(edition)).status_code == 403
    assert client.post(address(edition), {"when": "now"}).status_code == 403
    assert "/publish/" not in client.get("/admin/").text
    assert gates(Edition.objects.get(pk=edition.pk)) == [None] * 3


def test_drafts_of_what_one_may_not_change_stay(client: Client, edition: Edition) -> None:
    user = User.objects.create_user("secretary", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="change_edition"))
    client.force_login(user)
    post(client, edition, drafts="on")

    assert Paper.objects.filter(status="draft").count() == 1


def test_drafts_stay_that_one_may_change_in_another_edition_alone(client: Client, edition: Edition) -> None:
    user = User.objects.create_user("secretary", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="change_edition"))
    Membership.objects.create(user=user, edition=edition, role="viewer")
    Membership.objects.create(user=user, edition=make.make_edition(2020), role="editor")
    client.force_login(user)
    page = client.get(address(edition)).text
    post(client, edition, drafts="on")

    assert "1 paper" not in page.partition("Publish these drafts too")[2]
    assert Paper.objects.filter(status="draft").count() == 1


def test_session_chair_is_not_told_what_waits_in_the_edition(client: Client, edition: Edition) -> None:
    make.make_presentation(paper=make.make_paper(edition, status="published"))
    user = User.objects.create_user("secretary", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="change_edition"))
    Membership.objects.create(user=user, edition=edition, role="session_chair")
    client.force_login(user)
    superuser, their = Client(), client.get(address(edition)).context["outlook"]["waiting"]
    superuser.force_login(User.objects.create_superuser("root"))

    assert superuser.get(address(edition)).context["outlook"]["waiting"] != []
    assert their == []


@pytest.mark.parametrize("part", ["nonsense", "Papers"])
def test_unknown_part_is_not_found(part: str, admin_client: Client, edition: Edition) -> None:
    assert admin_client.get(address(edition, part)).status_code == 404


def test_count_is_what_the_public_gets_then(edition: Edition) -> None:
    make.make_award(edition, [Paper.objects.get(title="Unfinished")])
    make.make_announcement(edition, published_at=NOON + timedelta(days=1))
    shown = rows_of_scope(PUBLISH_SCOPES["everything"])
    forecast = [
        count for _, count in published_counts(edition, shown, NOON, PUBLISH_SCOPES["everything"].gates)
    ]
    Edition.objects.update(public_from=NOON, papers_public_from=NOON, schedule_public_from=NOON)

    assert forecast == [one.public(edition, NOON).count() for one in shown] == [2, 1, 1, 1, 0, 0, 0, 0, 0]
    assert len(shown) == len(PUBLISHED_ROWS)


def test_page_asks_as_much_for_one_as_for_three(admin_client: Client, edition: Edition) -> None:
    asked = []
    for _ in range(3):
        make.make_presentation(make.make_session(edition), make.make_paper(edition, status="draft"))
        admin_client.get(address(edition))
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(address(edition))
        asked.append(len(queries))

    assert asked == [37] * 3
