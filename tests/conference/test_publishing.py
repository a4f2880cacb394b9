"""Publishing an edition: a preview of the effects, now or at a scheduled time, and its undo."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
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
from tests.api.writing import make_staff

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


def publish_url(edition: Edition, part: str = "everything") -> str:
    return f"/admin/conference/edition/{edition.pk}/publish/?part={part}"


def post_form(client: Client, edition: Edition, part: str = "everything", **fields: Any) -> Any:
    """Post the form of the page with these fields changed; return the page that follows."""
    was = re.findall(r'name="was" value="([^"]*)"', client.get(publish_url(edition, part)).text)[0]
    values = {"when": "now", "moment_0": "", "moment_1": "", "was": was}
    response = client.post(publish_url(edition, part), {**values, **fields}, follow=True)
    edition.refresh_from_db()
    return response


def sign_in(client: Client, permission: str) -> User:
    """Sign in a member of staff with this permission; return the account."""
    user = make_staff(permission)
    client.force_login(user)
    return user


def gate_times(edition: Edition) -> list[datetime | None]:
    return [edition.public_from, edition.papers_public_from, edition.schedule_public_from]


def visible_rows(page: str) -> list[str]:
    lists = re.findall(r'<ul class="publish-seen">(.*?)</ul>', page, re.DOTALL)
    return re.findall(r"<li>([^<]+)</li>", lists[0]) if lists else []


@time_machine.travel(NOON, tick=False)
def test_page_counts_what_becomes_visible_and_lists_open_issues(
    admin_client: Client, edition: Edition
) -> None:
    everything, papers, schedule = (
        admin_client.get(publish_url(edition, part)).text for part in ("everything", "papers", "schedule")
    )
    draft_list = f"/admin/papers/paper/?edition__id__exact={edition.pk}&amp;status__exact=draft"

    assert visible_rows(everything) == ["2 papers", "1 session", "1 presentation"]
    assert visible_rows(papers) == ["2 papers"]
    assert visible_rows(schedule) == ["1 session"]
    assert "1 more appears only when the other parts are public, too." in schedule
    assert f'<a href="{draft_list}">1 paper</a>: still a draft' in everything
    assert "3 papers without PDF</a>" in everything
    assert "Now (Sun 1 Mar 2026, 13:00 CET)" in everything


@pytest.mark.parametrize("fields", [{"when": "now"}, {"when": "now", "drafts": "on"}, {"take_back": "1"}])
def test_invalid_edition_is_not_changed_but_its_errors_are_shown(
    admin_client: Client, edition: Edition, fields: dict[str, str]
) -> None:
    # An earlier version accepted it.
    Edition.objects.update(second_timezone="Europe/Berlin", public_from=NOON)
    page = post_form(admin_client, edition, **fields)
    (error,) = re.findall(r'<li class="error">(.*?)</li>', page.text, re.DOTALL)

    assert page.status_code == 200
    assert error == (
        "Nothing was changed, because the edition has errors. Correct them and try again. "
        f'<a href="/admin/conference/edition/{edition.pk}/change/">MLSys 2026</a>: '
        "Second time zone: This is already the venue&#x27;s time zone. Choose another one, or leave it empty."
    )
    assert gate_times(edition) == [NOON, None, None]
    assert Paper.objects.filter(status="draft").count() == 1


@time_machine.travel(NOON, tick=False)
def test_everything_is_published_now(admin_client: Client, client: Client, edition: Edition) -> None:
    before = client.get("/2026/").status_code
    page = post_form(admin_client, edition)

    assert (before, client.get("/2026/papers/").status_code) == (404, 200)
    assert gate_times(edition) == [NOON] * 3
    assert "MLSys 2026: Everything, public since Sun 1 Mar 2026, 13:00 CET." in page.text
    assert page.redirect_chain == [(f"/admin/?edition={edition.pk}", 302)]
    assert Paper.objects.filter(status="draft").count() == 1


def test_everything_is_published_at_a_time_in_the_edition_time_zone(
    admin_client: Client, client: Client, edition: Edition
) -> None:
    with time_machine.travel(NOON, tick=False):
        page = post_form(admin_client, edition, when="later", moment_0="2026-03-02", moment_1="09:00")
        before = client.get("/2026/papers/").status_code
    with time_machine.travel(datetime(2026, 3, 2, 8, 0, 1, tzinfo=UTC), tick=False):
        after = client.get("/2026/papers/").status_code

    assert gate_times(edition) == [datetime(2026, 3, 2, 8, tzinfo=UTC)] * 3
    assert (before, after) == (404, 200)
    assert "public from Mon 2 Mar 2026, 09:00 CET." in page.text


@pytest.mark.parametrize(
    ("day", "time", "message"),
    [
        ("2026-03-29", "02:30", "and skip 02:30"),
        ("2026-10-25", "02:30", "occurs twice"),
        ("", "", "Enter a date and a time."),
        ("tomorrow", "09:00", "Enter a valid date."),
        ("0001-01-01", "00:00", "The year must be between 1900 and 2200."),
        ("9999-12-31", "23:00", "The year must be between 1900 and 2200."),
    ],
)
def test_invalid_publication_time_is_refused_with_a_message(
    day: str, time: str, message: str, admin_client: Client, edition: Edition
) -> None:
    page = post_form(admin_client, edition, when="later", moment_0=day, moment_1=time)

    assert message in page.text
    assert gate_times(edition) == [None] * 3


@time_machine.travel(NOON, tick=False)
def test_publishing_papers_opens_the_site_only_if_selected(admin_client: Client, edition: Edition) -> None:
    post_form(admin_client, edition, "papers")
    without_site = gate_times(edition)
    page = admin_client.get(publish_url(edition, "papers")).text
    post_form(admin_client, edition, "papers", site="on")

    assert without_site == [None, NOON, None]
    assert 'name="site"' in page
    assert gate_times(edition) == [NOON, NOON, None]
    assert 'name="site"' not in admin_client.get(publish_url(edition, "papers")).text


@time_machine.travel(NOON, tick=False)
def test_drafts_are_published_if_selected(admin_client: Client, edition: Edition) -> None:
    make.make_session(edition, start=NOON, status="draft")
    make.make_paper(make.make_edition(2020), status="draft")
    before = Edition.objects.get(pk=edition.pk).revision
    page = post_form(admin_client, edition, drafts="on")
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
def test_part_can_be_unpublished(admin_client: Client, client: Client, edition: Edition) -> None:
    post_form(admin_client, edition)
    page = admin_client.get(publish_url(edition, "papers")).text
    response = post_form(admin_client, edition, "papers", take_back="Take back")

    assert "What visitors see" in page
    assert "Unpublish the papers" in page
    assert gate_times(edition) == [NOON, None, NOON]
    assert "MLSys 2026: Papers, no longer public." in response.text
    assert "Paper 1" not in client.get("/2026/papers/").text


def test_form_opened_before_another_change_is_refused(admin_client: Client, edition: Edition) -> None:
    was = re.findall(r'name="was" value="([^"]*)"', admin_client.get(publish_url(edition)).text)[0]
    Edition.objects.filter(pk=edition.pk).update(papers_public_from=NOON)
    page = admin_client.post(publish_url(edition), {"when": "now", "was": was}, follow=True)
    edition.refresh_from_db()

    assert "Someone changed this after you opened the page." in page.text
    assert gate_times(edition) == [None, NOON, None]


def test_admin_index_and_edition_form_link_to_publishing(admin_client: Client, edition: Edition) -> None:
    page = f"/admin/conference/edition/{edition.pk}/publish/"
    index = admin_client.get("/admin/").text
    form = admin_client.get(f"/admin/conference/edition/{edition.pk}/change/").text

    assert f'href="{page}?part=papers"' in index
    assert f'href="/admin/schedule/release/add/?edition={edition.pk}">Announce a release</a>' in index
    assert f'<a href="{page}">Publish</a>' in form


def test_publishing_requires_permission_to_change_the_edition(client: Client, edition: Edition) -> None:
    sign_in(client, "view_edition")

    assert client.get(publish_url(edition)).status_code == 403
    assert client.post(publish_url(edition), {"when": "now"}).status_code == 403
    assert "/publish/" not in client.get("/admin/").text
    assert gate_times(Edition.objects.get(pk=edition.pk)) == [None] * 3


def test_drafts_are_not_published_without_permission_to_change_papers(
    client: Client, edition: Edition
) -> None:
    sign_in(client, "change_edition")
    post_form(client, edition, drafts="on")

    assert Paper.objects.filter(status="draft").count() == 1


def test_drafts_are_not_published_with_permission_in_another_edition_only(
    client: Client, edition: Edition
) -> None:
    user = sign_in(client, "change_edition")
    Membership.objects.create(user=user, edition=edition, role="viewer")
    Membership.objects.create(user=user, edition=make.make_edition(2020), role="editor")
    page = client.get(publish_url(edition)).text
    post_form(client, edition, drafts="on")

    assert "1 paper" not in page.partition("Publish these drafts too")[2]
    assert Paper.objects.filter(status="draft").count() == 1


def test_session_chair_does_not_see_what_waits_for_publication(
    admin_client: Client, client: Client, edition: Edition
) -> None:
    make.make_presentation(paper=make.make_paper(edition, status="published"))
    user = sign_in(client, "change_edition")
    Membership.objects.create(user=user, edition=edition, role="session_chair")
    waiting = client.get(publish_url(edition)).context["outlook"]["open_checks"]

    assert waiting == []
    assert admin_client.get(publish_url(edition)).context["outlook"]["open_checks"] != []


@pytest.mark.parametrize("part", ["nonsense", "Papers"])
def test_unknown_part_is_not_found(part: str, admin_client: Client, edition: Edition) -> None:
    assert admin_client.get(publish_url(edition, part)).status_code == 404


def test_forecast_matches_the_rows_that_become_public(edition: Edition) -> None:
    make.make_award(edition, [Paper.objects.get(title="Unfinished")])
    make.make_announcement(edition, published_at=NOON + timedelta(days=1))
    scope = PUBLISH_SCOPES["everything"]
    scope_rows = rows_of_scope(scope)
    forecast = [count for _, count in published_counts(edition, scope_rows, NOON, scope.gates)]
    Edition.objects.update(public_from=NOON, papers_public_from=NOON, schedule_public_from=NOON)

    counts = [rows.public(edition, NOON).count() for rows in scope_rows]
    assert forecast == counts == [2, 1, 1, 1, 0, 0, 0, 0, 0]
    assert len(scope_rows) == len(PUBLISHED_ROWS)


def test_query_count_is_the_same_for_1_to_3_presentations(admin_client: Client, edition: Edition) -> None:
    query_counts = []
    for _ in range(3):
        make.make_presentation(make.make_session(edition), make.make_paper(edition, status="draft"))
        admin_client.get(publish_url(edition))
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(publish_url(edition))
        query_counts.append(len(queries))

    assert query_counts == [39] * 3
