"""The history in the admin: its entries, restoring versions, restoring deleted rows."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conference.models import Edition
from content.history import ChangeSet, Origin, RowChange
from content.history.recording import recording
from content.ordering import reorder
from papers.models import Paper
from schedule.models import Presentation, Session
from tests import factories as make
from tests.posted import address

pytestmark = pytest.mark.django_db


@pytest.fixture
def chair(client: Client) -> Client:
    client.force_login(get_user_model().objects.create_superuser("chair", "chair@example.org", "secret"))
    return client


def names(paper: Paper) -> list[tuple[int, str]]:
    return list(paper.authorships.order_by("position").values_list("position", "name"))


def said(answer: Any) -> str:
    """Return the text of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def last_set() -> ChangeSet:
    return ChangeSet.objects.latest("pk")


def restore(chair: Client, row: Any, version: ChangeSet) -> Any:
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_restore"
    return chair.post(reverse(name, args=[row.pk, version.pk]))


def bring_back(chair: Client, model: Any) -> Any:
    gone = RowChange.objects.deleted_directly().filter(model=model._meta.label_lower).latest("pk")
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_bring_back"
    return chair.post(reverse(name, args=[gone.pk]))


# Entries


def test_timeline_tells_who_how_and_what(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe"], title="A first title that is long enough to be compared")
    user = get_user_model().objects.get()
    with recording(Origin.API, user, "Sync token"):
        paper.title = "A second title that is long enough to be compared"
        paper.save()
    zed, abe = paper.authorships.order_by("position").values_list("pk", flat=True)
    reorder(paper.authorships.all(), [abe, zed])
    html = chair.get(address(paper, "history")).content.decode()

    assert "API: Sync token" in html
    assert "<del>first</del>" in html
    assert "<ins>second</ins>" in html
    assert "Author “Zed”" in html or "Authorship “Zed”" in html


def test_times_are_told_in_the_zone_of_the_edition(chair: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    session.start -= timedelta(hours=1)
    session.save()
    html = chair.get(address(session, "history")).content.decode()

    assert "2021-04-06 08:00 PDT" in html
    assert "2021-04-06 07:00 PDT" in html
    assert "America/Los_Angeles" in html


def test_history_is_for_staff_who_may_see_the_row(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    first = last_set()
    make.make_paper(edition).delete()
    gone = RowChange.objects.deleted_directly().get()
    addresses = [
        address(paper, "history"),
        reverse("admin:papers_paper_restore", args=[paper.pk, first.pk]),
        reverse("admin:papers_paper_deleted"),
        reverse("admin:papers_paper_bring_back", args=[gone.pk]),
    ]
    assert [client.get(path).status_code for path in addresses] == [302] * 4
    client.force_login(get_user_model().objects.create_user("guest", is_staff=True))
    assert [client.post(path).status_code for path in addresses] == [403] * 4


def test_hidden_name_of_the_history_is_nowhere_public(client: Client, edition: Edition) -> None:
    person = make.make_person("Deadname Former")
    make.make_paper(edition, [person])
    person.name, person.given, person.family = "Newname Chosen", "Newname", "Chosen"
    person.save()
    person.authorships.update(name="Newname Chosen")
    person.names.create(name="Deadname Former", hidden=True)
    paths = ["/2021/papers/", person.get_absolute_url(), "/search/?q=Deadname", "/people/", "/2021/changes/"]
    pages = [client.get(path).content.decode() for path in paths]

    assert ["Former" in page for page in pages] == [False] * 5
    assert RowChange.objects.filter(values__name__0="Deadname Former").count() == 2


def test_timeline_asks_as_much_for_three_as_for_one(chair: Client, edition: Edition) -> None:
    counts = []
    for rows in (1, 3):
        paper = make.make_paper(edition, ["Ada"] * 0)
        for n in range(rows):
            make.add_author(paper, f"Ada {n}")
            paper.title = f"Title {n}"
            paper.topic = make.make_topic(edition)
            paper.save()
        with CaptureQueriesContext(connection) as queries:
            chair.get(address(paper, "history"))
        counts.append(len(queries))

    assert counts == [10, 10]


# Restoring versions


def test_version_comes_back_with_its_authors_in_order(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe", "Mia"], title="One")
    good = last_set()
    zed, abe, mia = paper.authorships.order_by("position")
    reorder(paper.authorships.all(), [mia.pk, abe.pk, zed.pk])
    abe.delete()
    make.add_author(paper, "Newcomer")
    Paper.objects.update(title="Two")
    answer = restore(chair, paper, good)

    assert answer.status_code == 302
    paper.refresh_from_db()
    assert (paper.title, paper.title_html) == ("One", "One")
    assert names(paper) == [(1, "Zed"), (2, "Abe"), (3, "Mia")]
    assert (last_set().origin, last_set().user_name) == ("restore", "chair")


def test_restoring_can_be_taken_back(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe"], title="One")
    good = last_set()
    paper.title = "Two"
    paper.save()
    paper.authorships.get(name="Zed").delete()
    better = last_set()
    restore(chair, paper, good)
    restore(chair, paper, better)

    paper.refresh_from_db()
    assert (paper.title, [name for _, name in names(paper)]) == ("Two", ["Abe"])


def test_preview_says_what_would_change_and_changes_nothing(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="One")
    good = last_set()
    Paper.objects.update(title="Two")
    answer = chair.get(reverse("admin:papers_paper_restore", args=[paper.pk, good.pk]))

    assert said(answer).count("Title Two One") == 1
    assert Paper.objects.get().title == "Two"


def test_version_that_breaks_a_rule_is_refused_whole(chair: Client, edition: Edition) -> None:
    topic = make.make_topic(edition)
    paper = make.make_paper(edition, topic=topic, title="One")
    good = last_set()
    paper.topic, paper.title = None, "Two"
    paper.save()
    topic.delete()
    answer = restore(chair, paper, good)

    assert "Nothing was reverted" in answer.content.decode()
    assert Paper.objects.get().title == "Two"


def test_schedule_of_a_session_comes_back(chair: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    talk, other = (make.make_presentation(session, title=t) for t in ("A", "B"))
    good = last_set()
    elsewhere = make.make_session(edition)
    Presentation.objects.filter(pk=talk.pk).update(session=elsewhere)
    Presentation.objects.filter(pk=other.pk).update(position=1)
    Session.objects.filter(pk=session.pk).update(title="Changed")
    restore(chair, session, good)

    assert [p.title for p in session.presentations.order_by("position")] == ["A", "B"]
    assert Session.objects.get(pk=session.pk).title == session.title


# Restoring deleted rows


def test_deleted_paper_comes_back_with_everything_that_hung_on_it(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe"], title="Back", keywords=["a", "b"])
    author = paper.authorships.get(name="Abe")
    author.institutions.add(make.make_institution())
    make.make_material(paper)
    make.make_award(edition, [paper])
    poster = make.make_presentation(make.make_session(edition), paper, kind="poster")
    key = paper.pk
    chair.post(address(paper, "delete"), {"post": "yes"})
    assert not Paper.objects.exists()
    answer = bring_back(chair, Paper)

    assert answer.headers["Location"] == address(Paper(pk=key), "change")
    back = Paper.objects.get(pk=key)
    assert (back.title, back.uid, back.keywords) == ("Back", paper.uid, ["a", "b"])
    assert names(back) == [(1, "Zed"), (2, "Abe")]
    assert back.authorships.get(name="Abe").institutions.count() == 1
    assert [back.materials.count(), back.grants.count()] == [1, 1]
    assert back.presentations.get().uid == poster.uid


def test_history_of_what_was_deleted_leads_to_its_return(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    path = address(paper, "history")
    paper.delete()
    gone = RowChange.objects.deleted_directly().get()

    assert chair.get(path).headers["Location"] == reverse("admin:papers_paper_bring_back", args=[gone.pk])


def test_deleted_room_takes_its_sessions_back(chair: Client, edition: Edition) -> None:
    room = make.make_room(edition)
    session = make.make_session(edition, room=room)
    key = room.pk
    room.delete()
    bring_back(chair, type(room))

    session.refresh_from_db()
    assert session.room_id == key


def test_deleted_rows_are_listed_once(chair: Client, edition: Edition) -> None:
    make.make_paper(edition, ["Ada"], title="Gone for now").delete()
    html = said(chair.get(reverse("admin:papers_paper_deleted")))
    assert html.count("Gone for now") == 1
    assert "Ada" not in said(chair.get(reverse("admin:papers_authorship_deleted")))
    bring_back(chair, Paper)
    assert "Restored." in said(chair.get(reverse("admin:papers_paper_deleted")))
