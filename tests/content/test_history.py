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
from tests.admin_forms import admin_url

pytestmark = pytest.mark.django_db


@pytest.fixture
def chair(client: Client) -> Client:
    client.force_login(get_user_model().objects.create_superuser("chair", "chair@example.org", "secret"))
    return client


def author_list(paper: Paper) -> list[tuple[int, str]]:
    return list(paper.authorships.order_by("position").values_list("position", "name"))


def page_text(response: Any) -> str:
    """Return the text of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def last_change_set() -> ChangeSet:
    return ChangeSet.objects.latest("pk")


def restore(chair: Client, row: Any, version: ChangeSet) -> Any:
    url_name = f"admin:{row._meta.app_label}_{row._meta.model_name}_restore"
    return chair.post(reverse(url_name, args=[row.pk, version.pk]))


def bring_back(chair: Client, model: Any) -> Any:
    deletion = RowChange.objects.deleted_directly().filter(model=model._meta.label_lower).latest("pk")
    url_name = f"admin:{model._meta.app_label}_{model._meta.model_name}_bring_back"
    return chair.post(reverse(url_name, args=[deletion.pk]))


# The history page


def test_timeline_shows_origin_and_changed_words(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe"], title="A first title that is long enough to be compared")
    user = get_user_model().objects.get()
    with recording(Origin.API, user, "Sync token"):
        paper.title = "A second title that is long enough to be compared"
        paper.save()
    zed, abe = paper.authorships.order_by("position").values_list("pk", flat=True)
    reorder(paper.authorships.all(), [abe, zed])
    html = chair.get(admin_url(paper, "history")).content.decode()

    assert "API: Sync token" in html
    assert "<del>first</del>" in html
    assert "<ins>second</ins>" in html
    assert "Author “Zed”" in html or "Authorship “Zed”" in html


def test_times_are_shown_in_the_edition_zone(chair: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    session.start -= timedelta(hours=1)
    session.save()
    html = chair.get(admin_url(session, "history")).content.decode()

    assert "2021-04-06 08:00 PDT" in html
    assert "2021-04-06 07:00 PDT" in html
    assert "America/Los_Angeles" in html


def test_history_needs_permission_to_view_the_row(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    version = last_change_set()
    make.make_paper(edition).delete()
    deletion = RowChange.objects.deleted_directly().get()
    urls = [
        admin_url(paper, "history"),
        reverse("admin:papers_paper_restore", args=[paper.pk, version.pk]),
        reverse("admin:papers_paper_deleted"),
        reverse("admin:papers_paper_bring_back", args=[deletion.pk]),
    ]
    assert [client.get(url).status_code for url in urls] == [302] * 4
    client.force_login(get_user_model().objects.create_user("guest", is_staff=True))
    assert [client.post(url).status_code for url in urls] == [403] * 4


def test_hidden_name_in_the_history_is_not_public(client: Client, edition: Edition) -> None:
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


def test_query_count_is_the_same_for_1_and_3_changes(chair: Client, edition: Edition) -> None:
    counts = []
    for change_count in (1, 3):
        paper = make.make_paper(edition)
        for n in range(change_count):
            make.add_author(paper, f"Ada {n}")
            paper.title = f"Title {n}"
            paper.topic = make.make_topic(edition)
            paper.save()
        with CaptureQueriesContext(connection) as queries:
            chair.get(admin_url(paper, "history"))
        counts.append(len(queries))

    assert counts == [11, 11]


# Restoring versions


def test_version_is_restored_with_its_authors_in_order(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe", "Mia"], title="One")
    version = last_change_set()
    zed, abe, mia = paper.authorships.order_by("position")
    reorder(paper.authorships.all(), [mia.pk, abe.pk, zed.pk])
    abe.delete()
    make.add_author(paper, "Newcomer")
    Paper.objects.update(title="Two")
    response = restore(chair, paper, version)

    assert response.status_code == 302
    paper.refresh_from_db()
    assert (paper.title, paper.title_html) == ("One", "One")
    assert author_list(paper) == [(1, "Zed"), (2, "Abe"), (3, "Mia")]
    assert (last_change_set().origin, last_change_set().user_name) == ("restore", "chair")


def test_restoring_a_version_can_be_undone(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe"], title="One")
    old_version = last_change_set()
    paper.title = "Two"
    paper.save()
    paper.authorships.get(name="Zed").delete()
    new_version = last_change_set()
    restore(chair, paper, old_version)
    restore(chair, paper, new_version)

    paper.refresh_from_db()
    assert (paper.title, [name for _, name in author_list(paper)]) == ("Two", ["Abe"])


def test_restore_preview_shows_the_changes_and_changes_nothing(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="One")
    version = last_change_set()
    Paper.objects.update(title="Two")
    response = chair.get(reverse("admin:papers_paper_restore", args=[paper.pk, version.pk]))

    assert page_text(response).count("Title Two One") == 1
    assert Paper.objects.get().title == "Two"


def test_version_with_a_deleted_topic_is_not_restored(chair: Client, edition: Edition) -> None:
    topic = make.make_topic(edition)
    paper = make.make_paper(edition, topic=topic, title="One")
    version = last_change_set()
    paper.topic, paper.title = None, "Two"
    paper.save()
    topic.delete()
    response = restore(chair, paper, version)

    assert "Nothing was reverted" in response.content.decode()
    assert Paper.objects.get().title == "Two"


def test_session_is_restored_with_its_presentations(chair: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    talk, other_talk = (make.make_presentation(session, title=title) for title in ("A", "B"))
    version = last_change_set()
    other_session = make.make_session(edition)
    Presentation.objects.filter(pk=talk.pk).update(session=other_session)
    Presentation.objects.filter(pk=other_talk.pk).update(position=1)
    Session.objects.filter(pk=session.pk).update(title="Changed")
    restore(chair, session, version)

    assert [presentation.title for presentation in session.presentations.order_by("position")] == ["A", "B"]
    assert Session.objects.get(pk=session.pk).title == session.title


# Restoring deleted rows


def test_deleted_paper_is_restored_with_its_related_rows(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Zed", "Abe"], title="Back", keywords=["a", "b"])
    author = paper.authorships.get(name="Abe")
    author.institutions.add(make.make_institution())
    make.make_material(paper)
    make.make_award(edition, [paper])
    poster = make.make_presentation(make.make_session(edition), paper, kind="poster")
    key = paper.pk
    chair.post(admin_url(paper, "delete"), {"post": "yes"})
    assert not Paper.objects.exists()
    response = bring_back(chair, Paper)

    assert response.headers["Location"] == admin_url(Paper(pk=key), "change")
    restored = Paper.objects.get(pk=key)
    assert (restored.title, restored.uid, restored.keywords) == ("Back", paper.uid, ["a", "b"])
    assert author_list(restored) == [(1, "Zed"), (2, "Abe")]
    assert restored.authorships.get(name="Abe").institutions.count() == 1
    assert [restored.materials.count(), restored.grants.count()] == [1, 1]
    assert restored.presentations.get().uid == poster.uid


def test_history_of_a_deleted_row_redirects_to_restoring_it(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    url = admin_url(paper, "history")
    paper.delete()
    deletion = RowChange.objects.deleted_directly().get()

    assert chair.get(url).headers["Location"] == reverse("admin:papers_paper_bring_back", args=[deletion.pk])


def test_restored_room_is_assigned_to_its_sessions_again(chair: Client, edition: Edition) -> None:
    room = make.make_room(edition)
    session = make.make_session(edition, room=room)
    key = room.pk
    room.delete()
    bring_back(chair, type(room))

    session.refresh_from_db()
    assert session.room_id == key


def test_deleted_rows_are_listed_once(chair: Client, edition: Edition) -> None:
    make.make_paper(edition, ["Ada"], title="Gone for now").delete()
    text = page_text(chair.get(reverse("admin:papers_paper_deleted")))
    assert text.count("Gone for now") == 1
    assert "Ada" not in page_text(chair.get(reverse("admin:papers_authorship_deleted")))
    bring_back(chair, Paper)
    assert "Restored." in page_text(chair.get(reverse("admin:papers_paper_deleted")))
