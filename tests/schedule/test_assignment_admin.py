"""Tests of the page that assigns papers to sessions: plan, clashes, one change set, revert."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from content.history import ChangeSet
from content.revision import lock
from papers.models import Paper
from schedule.admin.assignment import plan
from schedule.models import Presentation, Session
from tests.admin_forms import run_action
from tests.factories import (
    MORNING,
    add_author,
    add_role,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
    make_topic,
)
from tests.schedule.form_data import fields_of, resolve_conflicts

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
PAGE = "/admin/schedule/session/assign/"


@pytest.fixture
def oral(edition: Edition) -> Session:
    """Create a session of an hour for four talks, with one talk."""
    oral = make_session(edition, title="Orals")
    make_presentation(oral, make_paper(edition, title="There"))
    return oral


@pytest.fixture
def papers(edition: Edition, oral: Session) -> list[Paper]:
    return [make_paper(edition, title=f"Paper {name}") for name in "ABC"]


def press_button(client: Client, page: Any, button: str, value: object = "1", **more: Any) -> Any:
    """Submit the page's form with a button, otherwise unchanged."""
    return client.post(PAGE, {**fields_of(page, "assign"), button: value, **more}, follow=True)


def plan_papers(client: Client, session: Session, papers: list[Paper], page: Any = None, **more: Any) -> Any:
    paper_ids = [paper.pk for paper in papers]
    return press_button(client, page or client.get(PAGE), "_put", session.pk, pick=paper_ids, **more)


def stored_talks(session: Session) -> list[tuple[str, str, int]]:
    rows = session.presentations.select_related("paper").order_by("position")
    return [(str(row), row.kind, row.position) for row in rows]


def listed_papers(page: Any) -> list[str]:
    return [str(row["paper"]) for row in page.context["rows"]]


def test_planned_papers_are_saved_as_one_change_set_and_reverted(
    admin_client: Client, oral: Session, papers: list[Paper]
) -> None:
    unscheduled = make_presentation(paper=papers[0], kind="spotlight", start=MORNING, end=MORNING)
    make_paper(oral.edition, title="Withdrawn", status="withdrawn")
    page = admin_client.get(PAGE)
    assert listed_papers(page) == ["Paper A", "Paper B", "Paper C"]
    page = plan_papers(admin_client, oral, papers[:2], page)
    assert listed_papers(page) == ["Paper C"]
    assert "45 of 60 minutes used" in page.text
    for paper in papers[:2]:
        assert f'name="_drop" value="{paper.pk}" aria-label="Take back {paper}"' in page.text
    # Plan a paper with the select in its own row.
    page = press_button(admin_client, page, "_plan", **{f"m{papers[2].pk}": oral.pk})
    page = press_button(admin_client, page, "_drop", papers[1].pk)
    assert stored_talks(oral) == [("There", "oral", 1)]
    change_set_count = ChangeSet.objects.count()
    saved = press_button(admin_client, page, "_save")
    assert "2 papers are in their sessions." in saved.text
    assert stored_talks(oral) == [("There", "oral", 1), ("Paper A", "spotlight", 2), ("Paper C", "oral", 3)]
    assert ChangeSet.objects.count() == change_set_count + 1
    unscheduled.refresh_from_db()
    assert (unscheduled.start, unscheduled.end) == (None, None)
    admin_client.post(saved.context["saved"]["undo"])
    assert stored_talks(oral) == [("There", "oral", 1)]
    assert Presentation.objects.get(paper=papers[0]).start == MORNING


def test_filters_narrow_papers_and_sessions(admin_client: Client, oral: Session, papers: list[Paper]) -> None:
    vision = make_topic(oral.edition, "Vision")
    Paper.objects.filter(pk=papers[0].pk).update(topic=make_topic(oral.edition, "Depth", parent=vision))
    Paper.objects.filter(pk=papers[1].pk).update(decision="Accept (poster)")
    add_author(papers[2], "Émilie")
    make_session(oral.edition, kind="break", title="Coffee")
    hall = make_session(oral.edition, kind="poster", title="Hall", start=MORNING + HOUR)

    def listed(**filters: Any) -> tuple[list[str], list[str]]:
        page = admin_client.get(PAGE, filters)
        return listed_papers(page), [str(card.session) for card in page.context["cards"]]

    all_papers, both_sessions = ["Paper A", "Paper B", "Paper C"], ["Orals", "Hall"]
    assert listed() == (all_papers, both_sessions)
    assert listed(topic=vision.pk) == (["Paper A"], both_sessions)
    assert listed(topic="none", decision="Accept (poster)") == (["Paper B"], both_sessions)
    assert listed(q="emilie", kinds="poster") == (["Paper C"], ["Hall"])
    assert listed(show="without", kind="poster") == ([*all_papers, "There"], both_sessions)
    assert listed(kinds="break", day="2021-04-06") == (all_papers, ["Coffee"])
    invalid_filters = {"topic": "x", "day": "never", "page": "-3", "minutes": "0", "kinds": "\0"}
    assert listed(**invalid_filters)[0] == all_papers
    page = plan_papers(admin_client, hall, papers, admin_client.get(PAGE, {"kind": "demo"}))
    press_button(admin_client, page, "_save")
    assert stored_talks(hall)[0] == ("Paper A", "demo", 1)


def test_overfull_session_needs_a_confirmation(
    admin_client: Client, oral: Session, papers: list[Paper]
) -> None:
    hall = make_session(oral.edition, kind="poster", room=make_room(oral.edition, poster_boards="1-2"))
    page = plan_papers(admin_client, hall, papers)
    assert "3 of 2 boards used" in page.text
    assert "Over-full by 1 board" in page.text
    refused = press_button(admin_client, page, "_save")
    assert "is too full (Over-full by 1 board)" in refused.text
    assert stored_talks(hall) == []
    press_button(admin_client, refused, "_save", over=hall.pk)
    assert len(stored_talks(hall)) == 3


def test_clashes_of_the_plan_are_shown_before_saving(
    admin_client: Client, oral: Session, papers: list[Paper]
) -> None:
    ada = make_person("Ada")
    add_role(make_session(oral.edition, title="Elsewhere"), ada, "chair")
    add_author(papers[0], ada, presenting=True)
    page = plan_papers(admin_client, oral, papers[:1])
    assert "1 new clash" in page.text
    assert f'<a href="/admin/papers/paper/{papers[0].pk}/change/">' in page.text


def test_only_accepted_suggestions_are_planned(
    admin_client: Client, oral: Session, papers: list[Paper]
) -> None:
    vision = make_topic(oral.edition, "Vision")
    Paper.objects.exclude(pk=papers[2].pk).update(topic=vision)
    page = press_button(admin_client, admin_client.get(PAGE), "_suggest")
    suggestions = page.context["suggestions"]
    assert [(str(row["paper"]), str(row["session"])) for row in suggestions] == [
        ("Paper A", "Orals"),
        ("Paper B", "Orals"),
    ]
    assert "1 paper on Vision there" in page.text
    assert "No session is suggested for 1 paper" in page.text
    accepted = press_button(admin_client, page, "_take", take=[suggestions[1]["value"]])
    press_button(admin_client, accepted, "_save")
    assert stored_talks(oral)[1:] == [("Paper B", "oral", 2)]


@pytest.mark.parametrize(("choice", "title"), [("theirs", "Other"), ("mine", "Orals")])
def test_concurrent_assignment_offers_both_sessions(
    admin_client: Client, oral: Session, papers: list[Paper], choice: str, title: str
) -> None:
    other = make_session(oral.edition, title="Other")
    page = plan_papers(admin_client, oral, papers[:2])
    make_presentation(other, papers[0])
    refused = press_button(admin_client, page, "_save")
    assert refused.status_code == 409
    (difference,) = refused.context["differences"]
    assert (difference["theirs"], difference["mine"]) == ("Other", "Orals")
    admin_client.post(PAGE, resolve_conflicts(refused, **{f"m{papers[0].pk}": choice}))
    assert [str(row.session) for row in Presentation.objects.filter(paper=papers[0])] == [title]
    assert ("Paper B", "oral") in [(row_title, kind) for row_title, kind, _position in stored_talks(oral)]


def test_papers_of_all_pages_are_put_into_one_session(admin_client: Client, oral: Session) -> None:
    with lock():
        for number in range(103):
            make_paper(oral.edition, title=f"Paper {number}")
    hall = make_session(oral.edition, kind="poster")
    page = press_button(admin_client, admin_client.get(PAGE), "_put", hall.pk, all="1")
    assert "103 papers planned" in page.text
    press_button(admin_client, page, "_save")
    assert hall.presentations.count() == 103


def test_too_many_papers_are_refused_and_invalid_fields_are_ignored(
    admin_client: Client, oral: Session, papers: list[Paper], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = admin_client.get(PAGE)
    invalid_fields = {
        "planned": f"x 1:2 {papers[0].pk}:99999: 1:{oral.pk}:\0",
        "_drop": "٣",
        "pick": "9" * 40,
        "at": "x",
    }
    response = press_button(
        admin_client, page, "_put", "9" * 30, **invalid_fields, **{f"m{'9' * 40}": "1", "take": "1:1"}
    )
    assert response.status_code == 200
    assert response.context["plan"].rows == []
    monkeypatch.setattr("schedule.admin.assignment.page.MAX_PLANNED", 2)
    monkeypatch.setattr(plan, "MAX_PLANNED", 2)
    response = plan_papers(admin_client, oral, papers, page)
    assert "At most 2 papers can be planned at once." in response.text
    assert response.context["plan"].rows == []


def test_query_counts_are_the_same_for_1_and_3_papers(
    admin_client: Client, oral: Session, papers: list[Paper]
) -> None:
    make_paper(oral.edition, title="Not planned")
    counts = []
    for planned in (papers[:1], papers):
        page = plan_papers(admin_client, oral, planned)
        with CaptureQueriesContext(connection) as plan_queries:
            press_button(admin_client, page, "_plan")
        with CaptureQueriesContext(connection) as save_queries:
            press_button(admin_client, page, "_save", over=oral.pk)
        counts.append((len(plan_queries), len(save_queries)))
        Presentation.objects.filter(paper__in=papers).delete()
    assert counts[0] == counts[1]
    assert counts[0][0] <= 30


def test_bulk_actions_set_topic_and_kind(admin_client: Client, edition: Edition) -> None:
    paper = make_paper(edition)
    topic = make_topic(edition, "Vision")
    assert "Topic set for 1 paper." in run_action(admin_client, "set_topic", [paper], topic=topic.pk)
    talk = make_presentation(paper=paper)
    assert "Kind set for 1 presentation." in run_action(admin_client, "set_kind", [talk], kind="poster")


def test_page_without_editions_says_so(admin_client: Client) -> None:
    assert "Enter one first." in admin_client.get(PAGE).text
