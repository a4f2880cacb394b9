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
from tests.posted import address, post_action, run_action

pytestmark = pytest.mark.django_db


def page_text(page: str) -> str:
    """Return the text of a page, with single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def undo_address(page: str) -> str:
    """Return the URL in the message by which the action can be undone."""
    found = re.search(r'href="(/admin/[^"]+/take-back/)"', page)
    assert found
    return found[1]


def statuses() -> list[str]:
    return list(Paper.objects.order_by("pk").values_list("status", flat=True))


def test_page_says_what_would_change_and_nothing_is_done(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition, status=one) for one in ("draft", "draft", "withdrawn", "published")]
    page = page_text(post_action(admin_client, "publish", papers))

    assert "2 Draft → Published" in page
    assert "Withdrawn → Published" in page
    assert "1 was already published." in page
    assert "Publish 3 papers" in page
    assert statuses() == ["draft", "draft", "withdrawn", "published"]


def test_all_that_match_the_filter_are_meant(admin_client: Client, edition: Edition) -> None:
    drafts = [make.make_paper(edition, status="draft") for _ in range(60)]
    make.make_paper(make.make_edition(2020), status="draft")
    path = f"{address(Paper, 'changelist')}?edition__id__exact={edition.pk}&status__exact=draft"
    sent = {"action": "publish", "select_across": "1", "_selected_action": drafts[0].pk}
    page = admin_client.post(path, {**sent, "index": "0"}).text
    digest = re.search(r'name="_confirmed" value="(\w+)"', page)
    assert digest
    done = admin_client.post(path, {**sent, "_confirmed": digest[1]}, follow=True).text

    assert "60 papers published." in done
    assert Paper.objects.filter(status="draft").count() == 1


def test_plan_that_changed_meanwhile_is_shown_again(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition, status="draft") for _ in range(2)]
    page = post_action(admin_client, "publish", papers)
    digest = re.search(r'name="_confirmed" value="(\w+)"', page)
    assert digest
    Paper.objects.filter(pk=papers[0].pk).update(status="withdrawn")
    page = post_action(admin_client, "publish", papers, _confirmed=digest[1])

    assert "Nothing was changed, because the data is different from what you reviewed." in page
    assert statuses() == ["withdrawn", "draft"]


def test_action_is_one_act_and_one_link_takes_it_back(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition, status=one) for one in ("draft", "withdrawn", "draft")]
    sets = ChangeSet.objects.count()
    back = undo_address(run_action(admin_client, "publish", papers))
    assert (ChangeSet.objects.count(), statuses()) == (sets + 1, ["published"] * 3)
    papers[2].status = "withdrawn"
    papers[2].save()
    asked = page_text(admin_client.get(back).text)
    done = admin_client.post(back, follow=True).text

    assert "2 papers reverted" in asked
    assert "1 It has been changed since." in asked
    assert "2 rows reverted. 1 stays unchanged." in done
    assert statuses() == ["draft", "withdrawn", "withdrawn"]
    admin_client.post(undo_address(done))
    assert statuses() == ["published", "published", "withdrawn"]


def test_rows_of_another_edition_are_left_alone_with_the_reason(
    admin_client: Client, edition: Edition
) -> None:
    topic = make.make_topic(edition, "Compilers")
    mine, other = make.make_paper(edition), make.make_paper(make.make_edition(2020), title="Old one")
    page = page_text(post_action(admin_client, "set_topic", [mine, other], topic=topic.pk))
    run_action(admin_client, "set_topic", [mine, other], topic=topic.pk)

    assert "– → Compilers" in page
    assert "Old one : The topic belongs to another edition." in page
    assert [paper.topic for paper in Paper.objects.order_by("pk")] == [topic, None]


def test_rows_that_the_user_may_not_change_are_left_alone(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [make.make_paper(edition, status="draft") for _ in range(2)]
    desk = admin.site.get_model_admin(Paper)
    monkeypatch.setattr(
        desk, "has_change_permission", lambda request, obj=None: obj is None or obj.pk == papers[0].pk
    )
    page = page_text(run_action(admin_client, "publish", papers))

    assert "1 paper published. 1 was left unchanged." in page
    assert statuses() == ["published", "draft"]


def test_cancelling_gives_all_one_reason_and_goes_back_whole(admin_client: Client, edition: Edition) -> None:
    whole = make.make_session(edition, kind="workshop", room=make.make_room(edition))
    sessions = [make.make_session(edition, parent=whole) for _ in range(3)]
    back = undo_address(run_action(admin_client, "cancel", sessions, reason="Storm."))
    cancelled = Session.objects.filter(parent=whole).values_list("status", "cancellation_reason")
    assert [*cancelled] == [("cancelled", "Storm.")] * 3
    admin_client.post(back)

    assert [*cancelled.all()] == [("published", "")] * 3


@pytest.mark.parametrize(
    ("model", "action", "given"),
    [
        (Paper, "publish", {}),
        (Paper, "set_track", {"track": "Systems"}),
        (Session, "back_to_draft", {}),
        (Session, "set_room", {"room": ""}),
        (Presentation, "set_room", {"room": ""}),
    ],
)
def test_action_asks_as_much_for_one_row_as_for_three(
    model: Any, action: str, given: dict[str, str], admin_client: Client, edition: Edition
) -> None:
    whole = make.make_session(edition, kind="workshop")
    asked = []
    for number in (1, 1, 3):
        rows: list[Any] = []
        for _ in range(number):
            room = make.make_room(edition)
            session = make.make_session(edition, room=room, parent=whole)
            paper = make.make_paper(edition, status="draft")
            found = {Paper: paper, Session: session}
            rows.append(found.get(model) or make.make_presentation(session, paper, room=room))
        with CaptureQueriesContext(connection) as queries:
            run_action(admin_client, action, rows, **given)
        asked.append(len(queries))

    assert asked[1] == asked[2]


def test_every_action_of_ours_has_a_page_for_those_who_may_change(admin_client: Client) -> None:
    actions = {
        (desk.model, action)
        for desk in admin.site._registry.values()
        for action in desk.actions or ()
        if isinstance(action, BulkAction)
    }
    row = make.make_session(make.make_edition())
    known = {action.__name__ for _model, action in actions}

    assert known >= {"publish", "withdraw", "cancel", "set_topic", "set_track", "set_decision", "set_room"}
    assert known >= {"set_session", "grant_award", "add_material", "put_in_session", "back_to_draft"}
    assert "Set room of selected sessions" in post_action(admin_client, "set_room", [row])


def test_every_action_of_every_list_is_answered(admin_client: Client) -> None:
    """Run each action of each list on one row; it must return a page, a file or a redirect."""
    models, wrong = set(), []
    for label, row in make_world().rows.items():
        if type(row) not in admin.site._registry:
            continue
        form = admin_client.get(address(type(row), "changelist")).context.get("action_form")
        for action, _label in form.fields["action"].choices if form else ():
            if action:
                sent = {"action": action, "_selected_action": [row.pk]}
                answer = admin_client.post(address(type(row), "changelist"), sent)
                wrong += [(label, action)] if answer.status_code not in (200, 302) else []
                models.add(label)

    assert wrong == []
    assert {"papers.paper", "schedule.session", "people.person", "exchange.conflict"} <= models


@pytest.mark.parametrize("count", [1, 3])
def test_take_back_reads_each_row_once(client: Client, edition: Edition, count: int) -> None:
    client.force_login(add_member("editor", edition, "editor"))
    run_action(client, "withdraw", [make.make_paper(edition, ["Ada"]) for _ in range(count)])
    back = reverse("admin:take_back", args=[ChangeSet.objects.latest("pk").pk])
    with CaptureQueriesContext(connection) as queries:
        client.get(back)

    read = [one["sql"] for one in queries if '"papers_paper"."title"' in one["sql"]]
    assert (len(queries), len(read)) == (13, 1)


@pytest.mark.parametrize("count", [1, 3])
def test_people_are_judged_together(client: Client, edition: Edition, count: int) -> None:
    client.force_login(add_member("editor", edition, "editor"))
    make.make_paper(edition, people := [make.make_person() for _ in range(count)])
    with recording(Origin.ACTION, detail="Homepages"):
        type(people[0]).objects.update(homepage="https://example.org/")
    back = reverse("admin:take_back", args=[ChangeSet.objects.latest("pk").pk])
    with CaptureQueriesContext(connection) as queries:
        page = page_text(client.get(back).text)

    assert "reverted" in page
    assert len(queries) == 13


def test_deleted_rows_come_back_at_their_places(admin_client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe", "Mia", "Lea"])
    zed, abe, *_others = authors = list(paper.authorships.order_by("position"))
    abe.institutions.add(make.make_institution())
    post_action(admin_client, "delete_selected", [zed, abe], post="yes")
    back = reverse("admin:take_back", args=[ChangeSet.objects.latest("pk").pk])
    asked, done = page_text(admin_client.get(back).text), admin_client.post(back, follow=True).text

    assert "2 authorships restored" in asked
    assert "2 authorships reverted" in asked
    assert "4 rows reverted." in done
    assert list(paper.authorships.order_by("position")) == authors
    assert (abe.institutions.count(), paper.authorships.get(pk=abe.pk).position) == (1, 2)
    admin_client.post(undo_address(done))
    assert list(paper.authorships.order_by("position").values_list("position", "name")) == [
        (1, "Mia"), (2, "Lea"),
    ]  # fmt: skip


def test_deleted_papers_come_back_with_what_hung_on_them(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition, ["Zed", "Abe"], title=f"*One* {n}") for n in range(2)]
    post_action(admin_client, "delete_selected", papers, post="yes")
    assert Paper.objects.exists() is False
    admin_client.post(reverse("admin:take_back", args=[ChangeSet.objects.latest("pk").pk]))

    assert [paper.title_html for paper in Paper.objects.all()] == ["<em>One</em> 0", "<em>One</em> 1"]
    assert [paper.authorships.count() for paper in papers] == [2, 2]


def test_place_that_somebody_took_meanwhile_is_given_back(admin_client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe"])
    zed, abe = paper.authorships.order_by("position")
    with recording(Origin.ACTION, detail="Swap"):
        reorder(paper.authorships.all(), [abe.pk, zed.pk])
    swapped = ChangeSet.objects.latest("pk").pk
    mia = make.add_author(paper, "Mia")
    reorder(paper.authorships.all(), [mia.pk, abe.pk, zed.pk])
    admin_client.post(reverse("admin:take_back", args=[swapped]))

    assert list(paper.authorships.order_by("position")) == [zed, mia, abe]


def test_what_cannot_come_back_is_said(admin_client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed"])
    post_action(admin_client, "delete_selected", [paper], post="yes")
    back = reverse("admin:take_back", args=[ChangeSet.objects.latest("pk").pk])
    make.make_paper(edition, uid=paper.uid)
    page = page_text(admin_client.post(back).text)

    assert "Nothing was reverted:" in page
    assert "already exists" in page
    assert Paper.objects.count() == 1


@pytest.mark.parametrize(("action", "sent"), [("withdraw", {}), ("delete_selected", {"post": "yes"})])
def test_only_who_keeps_the_rows_takes_an_action_back(
    admin_client: Client, client: Client, edition: Edition, action: str, sent: dict[str, str]
) -> None:
    run_action(admin_client, action, [make.make_paper(edition, title="Secret draft")], **sent)
    back = reverse("admin:take_back", args=[ChangeSet.objects.latest("pk").pk])
    beside = make.make_edition(2020)
    found = {}
    for role, where in (
        ("editor", beside),
        ("viewer", edition),
        ("session_chair", edition),
        ("editor", edition),
    ):
        client.force_login(add_member(f"{role} {where}", where, role))
        answer = client.get(back)
        found[role, where.slug] = (answer.status_code, "Secret draft" in answer.text)

    assert found == {
        ("editor", "2020"): (403, False),
        ("viewer", "2021"): (403, False),
        ("session_chair", "2021"): (403, False),
        ("editor", "2021"): (200, True),
    }
