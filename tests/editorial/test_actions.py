"""Bulk actions: preview, one change set, revert, permissions, constant queries."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conference.models import Edition
from content.history import ChangeSet, Origin
from content.history.recording import recording
from content.ordering import reorder
from editorial.actions import BulkAction
from papers.models import Paper
from schedule.models import Presentation, Session
from tests import factories as make
from tests.access.world import add_member, make_world
from tests.admin_forms import admin_url, confirmation_digest, post_action, run_action

pytestmark = pytest.mark.django_db


def page_text(page: str) -> str:
    """Return the text of a page, with single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def find_undo_url(page: str) -> str:
    """Return the URL in the message by which the action can be undone."""
    link = re.search(r'href="(/admin/[^"]+/take-back/)"', page)
    assert link
    return link[1]


def last_undo_url() -> str:
    """Return the URL by which the last change set can be undone."""
    return reverse("admin:take_back", args=[ChangeSet.objects.latest("pk").pk])


def statuses() -> list[str]:
    return list(Paper.objects.order_by("pk").values_list("status", flat=True))


def test_preview_shows_the_changes_and_changes_nothing(admin_client: Client, edition: Edition) -> None:
    papers = [
        make.make_paper(edition, status=status) for status in ("draft", "draft", "withdrawn", "published")
    ]
    page = page_text(post_action(admin_client, "publish", papers))

    assert "2 Draft → Published" in page
    assert "Withdrawn → Published" in page
    assert "1 was already published." in page
    assert "Publish 3 papers" in page
    assert statuses() == ["draft", "draft", "withdrawn", "published"]


def test_select_across_applies_to_all_rows_of_the_filter(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin.site.get_model_admin(Paper), "list_per_page", 2)
    drafts = [make.make_paper(edition, status="draft") for _ in range(3)]
    make.make_paper(make.make_edition(2020), status="draft")
    path = f"{admin_url(Paper, 'changelist')}?edition__id__exact={edition.pk}&status__exact=draft"
    data = {"action": "publish", "select_across": "1", "_selected_action": drafts[0].pk}
    preview = admin_client.post(path, {**data, "index": "0"}).text
    result = admin_client.post(path, {**data, "_confirmed": confirmation_digest(preview)}, follow=True).text

    assert "3 papers published." in result
    assert Paper.objects.filter(status="draft").count() == 1


def test_action_is_rejected_if_a_row_changed_since_the_preview(
    admin_client: Client, edition: Edition
) -> None:
    papers = [make.make_paper(edition, status="draft") for _ in range(2)]
    page = post_action(admin_client, "publish", papers)
    Paper.objects.filter(pk=papers[0].pk).update(status="withdrawn")
    page = post_action(admin_client, "publish", papers, _confirmed=confirmation_digest(page))

    assert "Nothing was changed, because the data is different from what you reviewed." in page
    assert statuses() == ["withdrawn", "draft"]


def test_action_is_one_change_set_that_can_be_undone(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition, status=status) for status in ("draft", "withdrawn", "draft")]
    change_set_count = ChangeSet.objects.count()
    undo_url = find_undo_url(run_action(admin_client, "publish", papers))
    assert (ChangeSet.objects.count(), statuses()) == (change_set_count + 1, ["published"] * 3)
    papers[2].status = "withdrawn"
    papers[2].save()
    preview = page_text(admin_client.get(undo_url).text)
    result = admin_client.post(undo_url, follow=True).text

    assert "2 papers reverted" in preview
    assert "1 It has been changed since." in preview
    assert "2 rows reverted. 1 stays unchanged." in result
    assert statuses() == ["draft", "withdrawn", "withdrawn"]
    admin_client.post(find_undo_url(result))
    assert statuses() == ["published", "published", "withdrawn"]


def test_rows_of_another_edition_are_skipped_with_a_reason(admin_client: Client, edition: Edition) -> None:
    topic = make.make_topic(edition, "Compilers")
    own_paper, other_paper = (
        make.make_paper(edition),
        make.make_paper(make.make_edition(2020), title="Old one"),
    )
    page = page_text(post_action(admin_client, "set_topic", [own_paper, other_paper], topic=topic.pk))
    run_action(admin_client, "set_topic", [own_paper, other_paper], topic=topic.pk)

    assert "– → Compilers" in page
    assert "Old one : The topic belongs to another edition." in page
    assert [paper.topic for paper in Paper.objects.order_by("pk")] == [topic, None]


def test_rows_without_change_permission_are_skipped(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [make.make_paper(edition, status="draft") for _ in range(2)]
    model_admin = admin.site.get_model_admin(Paper)
    monkeypatch.setattr(
        model_admin, "has_change_permission", lambda request, obj=None: obj is None or obj.pk == papers[0].pk
    )
    page = page_text(run_action(admin_client, "publish", papers))

    assert "1 paper published. 1 was left unchanged." in page
    assert statuses() == ["published", "draft"]


def test_cancel_sets_one_reason_and_can_be_undone(admin_client: Client, edition: Edition) -> None:
    workshop = make.make_session(edition, kind="workshop", room=make.make_room(edition))
    sessions = [make.make_session(edition, parent=workshop) for _ in range(3)]
    undo_url = find_undo_url(run_action(admin_client, "cancel", sessions, reason="Storm."))
    cancelled = Session.objects.filter(parent=workshop).values_list("status", "cancellation_reason")
    assert [*cancelled] == [("cancelled", "Storm.")] * 3
    admin_client.post(undo_url)

    assert [*cancelled.all()] == [("published", "")] * 3


@pytest.mark.parametrize(
    ("model", "action", "fields"),
    [
        (Paper, "publish", {}),
        (Paper, "set_track", {"track": "Systems"}),
        (Session, "back_to_draft", {}),
        (Session, "set_room", {"room": ""}),
        (Presentation, "set_room", {"room": ""}),
    ],
)
def test_query_count_is_the_same_for_1_and_3_rows(
    model: Any, action: str, fields: dict[str, str], admin_client: Client, edition: Edition
) -> None:
    workshop = make.make_session(edition, kind="workshop")
    query_counts = []
    for row_count in (1, 1, 3):
        rows: list[Any] = []
        for _ in range(row_count):
            room = make.make_room(edition)
            session = make.make_session(edition, room=room, parent=workshop)
            paper = make.make_paper(edition, status="draft")
            row_by_model = {Paper: paper, Session: session}
            rows.append(row_by_model.get(model) or make.make_presentation(session, paper, room=room))
        with CaptureQueriesContext(connection) as queries:
            run_action(admin_client, action, rows, **fields)
        query_counts.append(len(queries))

    assert query_counts[1] == query_counts[2]


def test_bulk_actions_are_registered_and_have_a_page(admin_client: Client) -> None:
    actions = {
        (model_admin.model, action)
        for model_admin in admin.site._registry.values()
        for action in model_admin.actions or ()
        if isinstance(action, BulkAction)
    }
    row = make.make_session(make.make_edition())
    names = {action.__name__ for _model, action in actions}

    assert names >= {"publish", "withdraw", "cancel", "set_topic", "set_track", "set_decision", "set_room"}
    assert names >= {"set_session", "grant_award", "add_material", "put_in_session", "back_to_draft"}
    assert "Set room of selected sessions" in post_action(admin_client, "set_room", [row])


def test_every_action_of_every_list_responds(admin_client: Client) -> None:
    """Run each action of each list on one row; it must return a page, a file or a redirect."""
    models, failures = set(), []
    for label, row in make_world().rows.items():
        if type(row) not in admin.site._registry:
            continue
        form = admin_client.get(admin_url(type(row), "changelist")).context.get("action_form")
        for action, _label in form.fields["action"].choices if form else ():
            if action:
                data = {"action": action, "_selected_action": [row.pk]}
                response = admin_client.post(admin_url(type(row), "changelist"), data)
                failures += [(label, action)] if response.status_code not in (200, 302) else []
                models.add(label)

    assert failures == []
    assert {"papers.paper", "schedule.session", "people.person", "exchange.conflict"} <= models


@pytest.mark.parametrize("count", [1, 3])
def test_undo_page_reads_each_row_once(client: Client, edition: Edition, count: int) -> None:
    client.force_login(add_member("editor", edition, "editor"))
    run_action(client, "withdraw", [make.make_paper(edition, ["Ada"]) for _ in range(count)])
    undo_url = last_undo_url()
    with CaptureQueriesContext(connection) as queries:
        client.get(undo_url)

    title_queries = [query["sql"] for query in queries if '"papers_paper"."title"' in query["sql"]]
    assert (len(queries), len(title_queries)) == (16, 1)


@pytest.mark.parametrize("count", [1, 3])
def test_undo_query_count_is_the_same_for_1_and_3_people(
    client: Client, edition: Edition, count: int
) -> None:
    client.force_login(add_member("editor", edition, "editor"))
    make.make_paper(edition, people := [make.make_person() for _ in range(count)])
    with recording(Origin.ACTION, detail="Homepages"):
        type(people[0]).objects.update(homepage="https://example.org/")
    undo_url = last_undo_url()
    with CaptureQueriesContext(connection) as queries:
        page = page_text(client.get(undo_url).text)

    assert "reverted" in page
    assert len(queries) == 15


def test_revert_of_one_row_is_in_the_singular(admin_client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, status="draft")
    undo_url = find_undo_url(run_action(admin_client, "publish", [paper]))

    assert "1 paper reverted" in page_text(admin_client.get(undo_url).text)


def test_undo_restores_deleted_rows_at_their_positions(admin_client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe", "Mia", "Lea"])
    zed, abe, *_others = authors = list(paper.authorships.order_by("position"))
    abe.institutions.add(make.make_institution())
    post_action(admin_client, "delete_selected", [zed, abe], post="yes")
    undo_url = last_undo_url()
    preview, result = (
        page_text(admin_client.get(undo_url).text),
        admin_client.post(undo_url, follow=True).text,
    )

    assert "2 authorships restored" in preview
    assert "2 authorships reverted" in preview
    assert "4 rows reverted." in result
    assert list(paper.authorships.order_by("position")) == authors
    assert (abe.institutions.count(), paper.authorships.get(pk=abe.pk).position) == (1, 2)
    admin_client.post(find_undo_url(result))
    assert list(paper.authorships.order_by("position").values_list("position", "name")) == [
        (1, "Mia"), (2, "Lea"),
    ]  # fmt: skip


def test_undo_restores_deleted_papers_with_their_authors(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition, ["Zed", "Abe"], title=f"*One* {n}") for n in range(2)]
    post_action(admin_client, "delete_selected", papers, post="yes")
    assert Paper.objects.exists() is False
    admin_client.post(last_undo_url())

    assert [paper.title_html for paper in Paper.objects.all()] == ["<em>One</em> 0", "<em>One</em> 1"]
    assert [paper.authorships.count() for paper in papers] == [2, 2]


def test_undo_of_a_reorder_keeps_an_author_added_since(admin_client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe"])
    zed, abe = paper.authorships.order_by("position")
    with recording(Origin.ACTION, detail="Swap"):
        reorder(paper.authorships.all(), [abe.pk, zed.pk])
    change_set_id = ChangeSet.objects.latest("pk").pk
    mia = make.add_author(paper, "Mia")
    reorder(paper.authorships.all(), [mia.pk, abe.pk, zed.pk])
    admin_client.post(reverse("admin:take_back", args=[change_set_id]))

    assert list(paper.authorships.order_by("position")) == [zed, mia, abe]


def test_undo_that_violates_a_constraint_restores_nothing(admin_client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed"])
    post_action(admin_client, "delete_selected", [paper], post="yes")
    undo_url = last_undo_url()
    make.make_paper(edition, uid=paper.uid)
    page = page_text(admin_client.post(undo_url).text)

    assert "Nothing was reverted:" in page
    assert "already exists" in page
    assert Paper.objects.count() == 1


@pytest.mark.parametrize(("action", "fields"), [("withdraw", {}), ("delete_selected", {"post": "yes"})])
def test_undo_page_needs_permission_to_change_the_rows(
    admin_client: Client, client: Client, edition: Edition, action: str, fields: dict[str, str]
) -> None:
    run_action(admin_client, action, [make.make_paper(edition, title="Secret draft")], **fields)
    undo_url = last_undo_url()
    other_edition = make.make_edition(2020)
    results = {}
    for role, role_edition in (
        ("editor", other_edition),
        ("viewer", edition),
        ("session_chair", edition),
        ("editor", edition),
    ):
        client.force_login(add_member(f"{role} {role_edition}", role_edition, role))
        response = client.get(undo_url)
        results[role, role_edition.slug] = (response.status_code, "Secret draft" in response.text)

    assert results == {
        ("editor", "2020"): (403, False),
        ("viewer", "2021"): (403, False),
        ("session_chair", "2021"): (403, False),
        ("editor", "2021"): (200, True),
    }
