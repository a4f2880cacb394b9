"""The search index follows each change in its transaction, or in a task if the change is large."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from conference.models import Edition, Page
from content import revision
from content.history import changed_rows
from content.history.recording import recording
from operations.indexing import documents, update
from operations.indexing.changes import affected_documents
from operations.indexing.states import read_states
from operations.indexing.update import refresh
from operations.verify import search_index_errors
from papers.models import Authorship, Award, AwardGrant, Paper, Topic
from people.models import CommitteeRole, Person, PersonName
from schedule.models import Presentation, Session, SessionRole, Speaker
from search.models import Document, Indexed
from tests import factories as make
from tests.connections import run_over_another_connection, wait_for_a_lock

pytestmark = [pytest.mark.django_db, pytest.mark.index_follows]


def make_program() -> Edition:
    first, edition = make.make_edition(2020), make.make_edition(2021)
    topic = make.make_topic(edition, "Systems", slug="systems")
    sub = make.make_topic(edition, "Compilers", slug="compilers", parent=topic)
    ada = make.make_person("Ada Lovelace", uid="ada")
    paper = make.make_paper(edition, [ada, "Bob"], uid="p1", title="Engines", topic=sub)
    make.make_paper(edition, ["Cy"], uid="p2", title="Looms")
    old = make.make_paper(first, [ada], uid="p1", title="Old engines")
    make.make_paper(edition, ["Dan"], uid="p3", title="Draft", status="draft")
    make.make_award(edition, [paper, old], uid="best", name="Best paper")
    outer = make.make_session(edition, uid="outer", title="Workshop")
    session = make.make_session(edition, uid="s1", title="Steam", parent=outer)
    make.add_role(session, "Charles Babbage")
    make.make_presentation(session, title="Pistons", speakers=["Grace Hopper"], uid="t1")
    make.make_presentation(session, paper, speakers=["Eve"], uid="t2")
    make.make_page(edition, slug="visit", title="Visit", body="By tram")
    make.make_page(None, slug="conduct", title="Conduct")
    refresh()
    return edition


def one(model: Any, **filters: object) -> Any:
    return model.objects.get(**filters)


def save(model: Any, changes: dict[str, object], **filters: object) -> Callable[[], object]:
    def change() -> None:
        row = one(model, **filters)
        for name, value in changes.items():
            setattr(row, name, value)
        row.save()

    return change


def swap_author() -> None:
    row = one(Authorship, paper__uid="p2")
    row.person = one(Person, uid="ada")
    row.name = "Ada Lovelace"
    row.save()


def several_at_once() -> None:
    with revision.lock():
        save(Paper, {"title": "Cranks"}, uid="p2")()
        with recording("command"):
            save(Session, {"title": "Power"}, uid="s1")()
        save(Person, {"name": "A. Lovelace"}, uid="ada")()


CHANGES: dict[str, Callable[[], object]] = {
    "title": save(Paper, {"title": "Cranks"}, uid="p2"),
    "withdrawn paper": save(Paper, {"status": "withdrawn"}, uid="p1", edition__slug="2021"),
    "published paper": save(Paper, {"status": "published"}, uid="p3"),
    "paper in bulk": lambda: Paper.objects.filter(edition__slug="2021").update(status="draft"),
    "deleted paper": lambda: one(Paper, uid="p2").delete(),
    "new paper": lambda: make.make_paper(one(Edition, slug="2021"), ["New", "Ada Lovelace"], title="New"),
    "new author": lambda: make.add_author(one(Paper, uid="p2"), "Zed"),
    "other author": swap_author,
    "no authors": lambda: Authorship.objects.all().delete(),
    "order of authors": lambda: Authorship.objects.filter(paper__uid="p1", position=2).update(position=9),
    "renamed person": save(Person, {"name": "Augusta King"}, uid="ada"),
    "person with a hidden name": lambda: (
        CHANGES["hidden name"](),
        save(Person, {"name": "Augusta King"}, names__hidden=True)(),
    ),
    "affiliation": save(Person, {"affiliation": "King's College"}, uid="ada"),
    "other name": lambda: PersonName.objects.create(person=one(Person, uid="ada"), name="A. A. King"),
    "hidden name": lambda: PersonName.objects.create(
        person=one(Person, uid="ada"), name="Ada Lovelace", hidden=True
    ),
    "topic": save(Topic, {"name": "Machines"}, slug="systems"),
    "moved topic": save(Topic, {"parent": None}, slug="compilers"),
    "deleted topic": lambda: one(Topic, slug="compilers").delete(),
    "award": save(Award, {"name": "Oldest paper"}, uid="best"),
    "draft of an award": save(Award, {"status": "draft"}, uid="best"),
    "no award": lambda: AwardGrant.objects.all().delete(),
    "award of a person": lambda: AwardGrant.objects.create(
        award=one(Award, uid="best"), person=make.make_person("Prize Winner")
    ),
    "session": save(Session, {"title": "Power"}, uid="s1"),
    "draft of a session": save(Session, {"status": "draft"}, uid="outer"),
    "deleted session": lambda: one(Session, uid="s1").delete(),
    "moved session": save(Session, {"start": make.MORNING - timedelta(hours=1)}, uid="outer"),
    "role": lambda: SessionRole.objects.all().delete(),
    "talk": save(Presentation, {"title": "Valves"}, uid="t1"),
    "draft of a talk": save(Presentation, {"status": "draft"}, uid="t1"),
    "talk of a paper": save(Presentation, {"paper_id": None, "title": "Alone"}, uid="t2"),
    "board": save(Presentation, {"board": "9"}, uid="t2"),
    "speaker": lambda: Speaker.objects.all().delete(),
    "new speaker": lambda: Speaker.objects.create(
        presentation=one(Presentation, uid="t1"), person=make.make_person("Zoe Zed"), name="Zoe Zed"
    ),
    "page": save(Page, {"body": "By train"}, slug="visit"),
    "page of all years": save(Page, {"title": "Rules"}, slug="conduct"),
    "committee": lambda: CommitteeRole.objects.create(
        edition=one(Edition, slug="2021"), person=make.make_person("Chair Person"), role="Chair"
    ),
    "closed edition": save(Edition, {"public_from": None}, slug="2021"),
    "embargo": save(Edition, {"papers_public_from": timezone.now() + timedelta(days=1)}, slug="2021"),
    "name of an edition": save(Edition, {"name": "Another"}, slug="2021"),
    "new edition": lambda: make.make_paper(make.make_edition(2022), ["Ada Lovelace"], title="Newest"),
    "several": several_at_once,
}


def editions() -> list[int]:
    return list(Edition.objects.order_by("pk").values_list("pk", flat=True))


@pytest.fixture(scope="module")
def edition(made_once: Callable[..., Any]) -> Any:
    return made_once(make_program)


@pytest.mark.parametrize("name", CHANGES)
def test_index_is_current_and_right_after_each_change(edition: Edition, name: str) -> None:
    assert read_states().stale() == []

    with mock.patch.object(update, "refresh", side_effect=AssertionError("by a reader")):
        CHANGES[name]()

    assert read_states().stale() == []
    assert [*search_index_errors()] == []


def test_change_of_a_row_that_is_not_searched_writes_no_document(edition: Edition) -> None:
    with mock.patch.object(update, "reindex_rows", wraps=documents.reindex_rows) as reindex:
        make.make_sponsor(edition)
        CHANGES["board"]()
        CHANGES["moved session"]()

    assert [keys for (keys,), _ in reindex.call_args_list] == [{}, {}, {}]
    assert read_states().stale() == []


def test_index_is_right_after_a_rollback(edition: Edition) -> None:
    try:
        with transaction.atomic():
            CHANGES["title"]()
            raise DatabaseError
    except DatabaseError:
        pass

    assert (read_states().stale(), [*search_index_errors()]) == ([], [])
    CHANGES["session"]()
    assert (read_states().stale(), [*search_index_errors()]) == ([], [])


def test_change_past_the_models_leaves_the_index_to_a_comparison(edition: Edition) -> None:
    revision.advance([edition.pk])
    CHANGES["title"]()
    assert read_states().stale() == [0, *editions()]
    assert Document.objects.filter(title="cranks").exists()

    assert refresh()

    assert [*search_index_errors()] == []


@pytest.fixture
def worker(settings: Settings) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}


@pytest.mark.usefixtures("worker")
def test_large_change_is_indexed_by_a_task(
    edition: Edition,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr(update, "MAX_DOCUMENTS_IN_TRANSACTION", 3)
    with django_capture_on_commit_callbacks(execute=True):
        CHANGES["paper in bulk"]()
    assert read_states().stale() == [0, *editions()]
    (queued,) = DBTaskResult.objects.all()
    assert queued.task_path == "operations.indexing.update.refresh_index"

    update.refresh_index.call()

    assert (read_states().stale(), [*search_index_errors()]) == ([], [])


@pytest.mark.usefixtures("worker")
def test_dates_of_publication_are_followed_by_a_task(
    edition: Edition, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        CHANGES["embargo"]()
        CHANGES["title"]()

    assert DBTaskResult.objects.exists()
    assert read_states().stale() == [0, edition.pk]


def test_reader_of_a_stale_index_neither_writes_nor_waits(
    edition: Edition, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    monkeypatch.setattr(threading.Thread, "start", lambda thread: threads.append(thread.name))
    monkeypatch.setattr(update, "_tried_at", float("-inf"))
    Paper.objects.filter(uid="p2").update(status="withdrawn")
    Indexed.objects.update(state="1 x")
    Document.objects.filter(kind="paper").update(title="looms")

    with CaptureQueriesContext(connection) as queries:
        responses = [client.get("/2021/search/?q=looms") for _ in range(2)]

    assert {query["sql"].lstrip("(").split()[0] for query in queries.captured_queries} == {"SELECT"}
    # Once in a while, a thread compares the index; the response is not stored for others.
    assert threads == ["search-index"]
    for response in responses:
        assert "/2021/papers/p2/" not in response.content.decode()
        assert "private" in response.headers["Cache-Control"]


@pytest.mark.usefixtures("worker")
def test_where_a_worker_runs_a_reader_starts_nothing(
    edition: Edition, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading.Thread, "start", lambda thread: pytest.fail(thread.name))
    Indexed.objects.update(state="1 x")

    assert client.get("/2021/search/?q=looms").status_code == 200


# Of a changed title: the lock, its document, the states. PostgreSQL merges its index.
QUERIES = {"sqlite": 16, "postgresql": 18}


@pytest.mark.parametrize("number", [1, 3])
def test_number_of_queries_to_follow_a_title_does_not_grow(
    edition: Edition, number: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for index in range(number):
        make.make_paper(edition, ["Cy"], title=f"Levers {index}")
    paper = Paper.objects.get(uid="p2")
    changes = changed_rows.Changes({"papers.paper": {paper.pk: changed_rows.ChangedRow({"title"}, {})}}, {})
    with mock.patch.object(changed_rows, "FOLLOWERS", []):
        paper.title = "Cranks"
        paper.save()
    # An award ties the other edition to this one.
    changes.revisions = {row.pk: {row.revision} for row in Edition.objects.all()}

    with django_assert_num_queries(QUERIES[connection.vendor]):
        update.follow(changes)

    assert (read_states().stale(), [*search_index_errors()]) == ([], [])


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
def test_two_changes_of_one_document_at_once_are_both_indexed() -> None:
    make_program()
    PersonName.objects.create(person=one(Person, uid="ada"), name="Ada Lovelace", hidden=True)
    with transaction.atomic():
        save(Person, {"name": "Augusta King"}, names__hidden=True)()
        retitle = save(Paper, {"title": "Cranks"}, uid="p1", edition__slug="2021")
        thread, errors = run_over_another_connection(retitle)
        wait_for_a_lock(thread)
    thread.join()

    assert errors == []
    assert (read_states().stale(), [*search_index_errors()]) == ([], [])
    (document,) = Document.objects.filter(title="cranks")
    assert document.people.startswith("augusta king")


def test_changes_of_more_rows_than_a_query_has_parameters_are_followed() -> None:
    edition = make.make_edition(2031)
    make.make_presentation(make.make_session(edition), make.make_paper(edition, ["Ada Lovelace"]))
    # SQLite takes at most 250,000 parameters, and may be built for 32,766.
    keys = range(1, 300_001)
    authorships = {key: changed_rows.ChangedRow(None, {}) for key in keys}
    sessions = {key: changed_rows.ChangedRow({"status"}, {}) for key in keys}

    found = affected_documents({"papers.authorship": authorships})
    found_by_sessions = affected_documents({"schedule.session": sessions})

    rows = Authorship.objects.order_by()
    assert found == {name: {*rows.values_list(name, flat=True)} for name in ("paper", "person")}
    assert found_by_sessions["session"] == {*keys}
    assert found_by_sessions["talk"] == {*Presentation.objects.values_list("pk", flat=True)}
