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
from tests.posted import run_action
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
    picks = [paper.pk for paper in papers]
    return press_button(client, page or client.get(PAGE), "_put", session.pk, pick=picks, **more)


def stored_talks(session: Session) -> list[tuple[str, str, int]]:
    rows = session.presentations.select_related("paper").order_by("position")
    return [(str(row), row.kind, row.position) for row in rows]


def listed_papers(page: Any) -> list[str]:
    return [str(row["paper"]) for row in page.context["rows"]]


def test_papers_are_planned_saved_as_one_change_and_taken_back(
    admin_client: Client, oral: Session, papers: list[Paper]
) -> None:
    waiting = make_presentation(paper=papers[0], kind="spotlight", start=MORNING, end=MORNING)
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
    sets = ChangeSet.objects.count()
    saved = press_button(admin_client, page, "_save")
    assert "2 papers are in their sessions." in saved.text
    assert stored_talks(oral) == [("There", "oral", 1), ("Paper A", "spotlight", 2), ("Paper C", "oral", 3)]
    assert ChangeSet.objects.count() == sets + 1
    waiting.refresh_from_db()
    assert (waiting.start, waiting.end) == (None, None)
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

    def shown(**narrow: Any) -> tuple[list[str], list[str]]:
        page = admin_client.get(PAGE, narrow)
        return listed_papers(page), [str(card.session) for card in page.context["cards"]]

    everything, both = ["Paper A", "Paper B", "Paper C"], ["Orals", "Hall"]
    assert shown() == (everything, both)
    assert shown(topic=vision.pk) == (["Paper A"], both)
    assert shown(topic="none", decision="Accept (poster)") == (["Paper B"], both)
    assert shown(q="emilie", kinds="poster") == (["Paper C"], ["Hall"])
    assert shown(show="without", kind="poster") == ([*everything, "There"], both)
    assert shown(kinds="break", day="2021-04-06") == (everything, ["Coffee"])
    bad = admin_client.get(PAGE, {"topic": "x", "day": "never", "page": "-3", "minutes": "0", "kinds": "\0"})
    assert listed_papers(bad) == everything
    page = plan_papers(admin_client, hall, papers, admin_client.get(PAGE, {"kind": "demo"}))
    press_button(admin_client, page, "_save")
    assert stored_talks(hall)[0] == ("Paper A", "demo", 1)


def test_overfull_session_is_said_and_confirmed(
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


def test_suggestions_are_taken_or_not(admin_client: Client, oral: Session, papers: list[Paper]) -> None:
    vision = make_topic(oral.edition, "Vision")
    Paper.objects.exclude(pk=papers[2].pk).update(topic=vision)
    page = press_button(admin_client, admin_client.get(PAGE), "_suggest")
    found = page.context["suggestions"]
    assert [(str(one["paper"]), str(one["session"])) for one in found] == [
        ("Paper A", "Orals"),
        ("Paper B", "Orals"),
    ]
    assert "1 paper on Vision there" in page.text
    assert "No session is suggested for 1 paper" in page.text
    taken = press_button(admin_client, page, "_take", take=[found[1]["value"]])
    press_button(admin_client, taken, "_save")
    assert stored_talks(oral)[1:] == [("Paper B", "oral", 2)]


@pytest.mark.parametrize(("choice", "place"), [("theirs", "Other"), ("mine", "Orals")])
def test_second_chair_is_shown_both_sessions(
    admin_client: Client, oral: Session, papers: list[Paper], choice: str, place: str
) -> None:
    other = make_session(oral.edition, title="Other")
    page = plan_papers(admin_client, oral, papers[:2])
    make_presentation(other, papers[0])
    refused = press_button(admin_client, page, "_save")
    assert refused.status_code == 409
    assert [(one["theirs"], one["mine"]) for one in refused.context["differences"]] == [("Other", "Orals")]
    admin_client.post(PAGE, resolve_conflicts(refused, **{f"m{papers[0].pk}": choice}))
    assert [str(row.session) for row in Presentation.objects.filter(paper=papers[0])] == [place]
    assert ("Paper B", "oral") in [(title, kind) for title, kind, _position in stored_talks(oral)]


def test_all_papers_of_all_pages_go_into_one_session(admin_client: Client, oral: Session) -> None:
    with lock():
        for number in range(103):
            make_paper(oral.edition, title=f"Paper {number}")
    hall = make_session(oral.edition, kind="poster")
    page = press_button(admin_client, admin_client.get(PAGE), "_put", hall.pk, all="1")
    assert "103 papers planned" in page.text
    press_button(admin_client, page, "_save")
    assert hall.presentations.count() == 103


def test_too_many_are_refused_and_bad_fields_ignored(
    admin_client: Client, oral: Session, papers: list[Paper], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = admin_client.get(PAGE)
    bad = {
        "planned": f"x 1:2 {papers[0].pk}:99999: 1:{oral.pk}:\0",
        "_drop": "٣",
        "pick": "9" * 40,
        "at": "x",
    }
    answer = press_button(admin_client, page, "_put", "9" * 30, **bad, **{f"m{'9' * 40}": "1", "take": "1:1"})
    assert answer.status_code == 200
    assert answer.context["plan"].rows == []
    monkeypatch.setattr("schedule.admin.assignment.page.MAX_PLANNED", 2)
    monkeypatch.setattr(plan, "MAX_PLANNED", 2)
    answer = plan_papers(admin_client, oral, papers, page)
    assert "At most 2 papers can be planned at once." in answer.text
    assert answer.context["plan"].rows == []


def test_number_of_queries_does_not_depend_on_rows(
    admin_client: Client, oral: Session, papers: list[Paper]
) -> None:
    make_paper(oral.edition, title="Not planned")
    counts = []
    for chosen in (papers[:1], papers):
        shown = plan_papers(admin_client, oral, chosen)
        with CaptureQueriesContext(connection) as queries:
            press_button(admin_client, shown, "_plan")
        with CaptureQueriesContext(connection) as saving:
            press_button(admin_client, shown, "_save", over=oral.pk)
        counts.append((len(queries), len(saving)))
        Presentation.objects.filter(paper__in=papers).delete()
    assert counts[0] == counts[1]
    assert counts[0][0] <= 30


def test_page_without_edition_and_bulk_actions(admin_client: Client, edition: Edition) -> None:
    paper = make_paper(edition)
    topic = make_topic(edition, "Vision")
    assert "Topic set for 1 paper." in run_action(admin_client, "set_topic", [paper], topic=topic.pk)
    talk = make_presentation(paper=paper)
    assert "Kind set for 1 presentation." in run_action(admin_client, "set_kind", [talk], kind="poster")
    Edition.objects.all().delete()
    assert "Enter one first." in admin_client.get(PAGE).text
