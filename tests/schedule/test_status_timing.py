"""Tests of when a new status takes effect while changes of the schedule wait for a release.

What becomes public waits; what is hidden is hidden at once. Whoever may release can choose otherwise.
"""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from conference.models import Edition
from content.history import RowChange
from papers.models import Paper
from schedule.models import ReleasePlan, Session
from schedule.unreleased.releasing import publish_at_once
from tests import factories as make
from tests.access.world import add_member
from tests.admin_forms import admin_url
from tests.api.writing import Writer, make_token
from tests.schedule.form_data import fields_of
from tests.schedule.unreleased.waiting import open_plan, planned_rows, release_all, waiting_fields

pytestmark = pytest.mark.django_db


@pytest.fixture
def release_plan(edition: Edition) -> ReleasePlan:
    """Let changes wait of a program with a public and a draft paper, and a public and a draft session."""
    for number, status in enumerate(("published", "draft"), start=1):
        make.make_paper(edition, ["Ada Lovelace"], title=f"Paper {number}", status=status)
        make.make_session(edition, uid=f"s{number}", title=f"Session {number}", status=status)
    return open_plan(edition)


def client_of(edition: Edition, role: str) -> Client:
    client = Client()
    client.force_login(add_member(role, edition, role))
    return client


def save(client: Client, row: Any, **fields: str) -> None:
    path = admin_url(row, "change")
    data = fields_of(client.get(path), f"{row._meta.model_name}_form")
    response = client.post(path, {**data, **fields})
    assert response.status_code == 302, response.context["errors"]


def statuses() -> list[str]:
    """Return the public statuses of paper 1 and 2, session 1 and 2."""
    return [
        *Paper.objects.order_by("title").values_list("status", flat=True),
        *Session.objects.order_by("uid").values_list("status", flat=True),
    ]


def waiting_statuses() -> list[str]:
    edition = Edition.objects.get(slug="2021")
    papers = sorted(planned_rows(edition, Paper), key=lambda paper: paper.title)
    sessions = sorted(planned_rows(edition, Session), key=lambda session: session.uid)
    return [row.status for row in (*papers, *sessions)]


def save_all(client: Client, *new_statuses: str, **fields: str) -> None:
    rows = [*Paper.objects.order_by("title"), *Session.objects.order_by("uid")]
    for row, status in zip(rows, new_statuses, strict=True):
        save(client, row, status=status, **fields)


@pytest.mark.parametrize("role", ["chair", "editor"])
def test_rows_are_hidden_at_once_and_shown_with_the_release(release_plan: ReleasePlan, role: str) -> None:
    save_all(client_of(release_plan.edition, role), "withdrawn", "published", "draft", "published")
    public, waiting = statuses(), waiting_statuses()
    release_all(release_plan.edition)

    assert public == ["withdrawn", "draft", "draft", "draft"]
    assert waiting == ["withdrawn", "published", "draft", "published"]
    assert statuses() == waiting


def test_chair_hides_with_the_release(release_plan: ReleasePlan) -> None:
    chair = client_of(release_plan.edition, "chair")
    save_all(chair, "draft", "published", "draft", "published", _status_timing="release")

    assert statuses() == ["published", "draft", "published", "draft"]
    assert waiting_statuses() == ["draft", "published", "draft", "published"]


def test_chair_publishes_at_once(release_plan: ReleasePlan) -> None:
    chair = client_of(release_plan.edition, "chair")
    save_all(chair, "draft", "published", "draft", "published", _status_timing="now")

    assert statuses() == waiting_statuses() == ["draft", "published", "draft", "published"]
    assert waiting_fields() == []
    changes = RowChange.objects.filter(values__has_key="status").order_by("pk")
    assert [change.change_set.user_name for change in changes] == ["chair"] * 4


@pytest.mark.parametrize("timing", ["now", "release"])
def test_editor_has_no_choice(release_plan: ReleasePlan, timing: str) -> None:
    editor = client_of(release_plan.edition, "editor")
    page = editor.get(admin_url(Paper.objects.earliest("pk"), "change")).text
    save_all(editor, "draft", "published", "draft", "published", _status_timing=timing)

    assert "_status_timing" not in page
    assert statuses() == ["draft", "draft", "draft", "draft"]


def test_other_fields_of_a_hidden_session_are_saved_with_it(release_plan: ReleasePlan) -> None:
    chair = client_of(release_plan.edition, "chair")
    session = Session.objects.get(uid="s1")
    save(chair, session, title="New title", status="draft")
    session.refresh_from_db()

    assert (session.title, session.status) == ("New title", "draft")
    assert waiting_fields() == []


def test_row_is_hidden_at_once_although_another_status_waits(release_plan: ReleasePlan) -> None:
    chair = client_of(release_plan.edition, "chair")
    session = Session.objects.get(uid="s1")
    save(chair, session, status="cancelled")
    save(chair, session, status="draft")

    assert statuses()[2] == waiting_statuses()[2] == "draft"
    assert waiting_fields() == []
    publish_at_once(release_plan)


def test_draft_that_would_have_been_published_is_one_again(release_plan: ReleasePlan) -> None:
    chair = client_of(release_plan.edition, "chair")
    paper = Paper.objects.get(title="Paper 2")
    save(chair, paper, status="published")
    save(chair, paper, status="draft")

    assert statuses()[1] == waiting_statuses()[1] == "draft"
    assert waiting_fields() == []


def add_paper(client: Client, edition: Edition, **fields: str) -> Paper:
    path = admin_url(Paper, "add")
    data = fields_of(client.get(path), "paper_form")
    values = {"edition": str(edition.pk), "title": "Late paper", "status": "published", **fields}
    response = client.post(path, {**data, **values})
    assert response.status_code == 302, response.context["errors"]
    return Paper.objects.get(title="Late paper")


def test_new_paper_waits_for_the_release(release_plan: ReleasePlan) -> None:
    paper = add_paper(client_of(release_plan.edition, "chair"), release_plan.edition)
    public = [paper.status, Paper.objects.published().filter(pk=paper.pk).exists()]
    release_all(release_plan.edition)
    paper.refresh_from_db()

    assert public == ["draft", False]
    assert paper.status == "published"
    change = RowChange.objects.filter(model="papers.paper", object_id=paper.pk).earliest("pk")
    assert (change.kind, change.change_set.user_name) == ("created", "chair")


def test_chair_adds_a_public_paper_and_session_at_once(release_plan: ReleasePlan) -> None:
    chair = client_of(release_plan.edition, "chair")
    paper = add_paper(chair, release_plan.edition, _status_timing="now")

    assert paper.status == "published"
    assert waiting_fields() == []


def test_bulk_action_hides_at_once_and_can_be_reverted(release_plan: ReleasePlan) -> None:
    chair = client_of(release_plan.edition, "chair")
    address, keys = admin_url(Paper, "changelist"), [str(Paper.objects.get(title="Paper 1").pk)]
    choice = {"action": "withdraw", "_selected_action": keys}
    page = chair.post(address, choice)
    plan = page.context["plan"]
    chair.post(address, {**choice, "_confirmed": plan.digest})
    hidden = statuses()[0]
    change_set = RowChange.objects.filter(values__has_key="status").latest("pk").change_set_id
    chair.post(f"/admin/acts/{change_set}/take-back/")

    assert "_status_timing" in page.text
    assert (hidden, statuses()[0]) == ("withdrawn", "published")


def run_action(client: Client, row: Any, action: str, **fields: str) -> None:
    address = admin_url(type(row), "changelist")
    choice = {"action": action, "_selected_action": [str(row.pk)], **fields}
    plan = client.post(address, choice).context["plan"]
    assert client.post(address, {**choice, "_confirmed": plan.digest}).status_code == 302


@pytest.mark.parametrize(
    ("timing", "public", "waiting"),
    [
        ("usual", ["draft", "draft"] * 2, ["draft", "published"] * 2),
        ("now", ["draft", "published"] * 2, ["draft", "published"] * 2),
        ("release", ["published", "draft"] * 2, ["draft", "published"] * 2),
    ],
)
def test_bulk_actions_hide_and_publish_when_the_chair_says(
    release_plan: ReleasePlan, timing: str, public: list[str], waiting: list[str]
) -> None:
    chair = client_of(release_plan.edition, "chair")
    for first, second in (Paper.objects.order_by("title"), Session.objects.order_by("uid")):
        run_action(chair, first, "back_to_draft", _status_timing=timing)
        run_action(chair, second, "publish", _status_timing=timing)
    before, planned = statuses(), waiting_statuses()
    if waiting_fields():
        release_all(release_plan.edition)

    assert (before, planned) == (public, waiting)
    assert statuses() == waiting


@pytest.mark.parametrize("role", ["chair", "editor"])
def test_api_hides_at_once_and_publishes_with_the_release(release_plan: ReleasePlan, role: str) -> None:
    writer = Writer(make_token(add_member(role, release_plan.edition, role)))
    rows = [*Paper.objects.order_by("title"), *Session.objects.order_by("uid")]
    for row, (status, code) in zip(rows, [("draft", 200), ("published", 202)] * 2, strict=True):
        writer.patch(f"{row._meta.model_name}s/2021/{row.uid}/", code, status=status)
    public, waiting = statuses(), waiting_statuses()

    assert public == ["draft", "draft"] * 2
    assert waiting == ["draft", "published"] * 2


def test_account_of_another_edition_cannot_publish_at_once(release_plan: ReleasePlan) -> None:
    other = make.make_edition(2022)
    open_plan(other)
    user: User = add_member("editor", release_plan.edition, "editor")
    user.memberships.create(edition=other, role="chair")
    client = Client()
    client.force_login(user)
    save(client, Paper.objects.get(title="Paper 2"), status="published", _status_timing="now")

    assert statuses()[1] == "draft"
