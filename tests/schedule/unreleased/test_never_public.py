"""No public address shows an unreleased value; reading the desk writes and locks no row of the program.

The statements are read on both databases, PostgreSQL's own counts of written rows over the whole desk.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from api.shapes import RESOURCES
from conference.models import Edition
from papers.models import Paper
from people.models import Person
from schedule.models import Presentation, Room, Session, UnreleasedChange
from tests.access.test_links import refused_links
from tests.schedule.unreleased import planned_program as program
from tests.schedule.unreleased.test_planned_equals_released import DAYS, PAGES, admin_pages
from tests.website.test_visibility import response_text

pytestmark = pytest.mark.django_db

# Texts of the edits that the program does not have before.
MARKERS = (
    *("Renamed", "The speaker is ill.", "Another title", "B17", "New session", "New talk", "New chair"),
    *("Added person", "Late paper"),
)
# Pages, feeds and files of the edition, and of its days, sessions, rooms, papers and people.
OF_EDITION = (
    *("", "papers/", "posters/", "talks/", "changes/", "search/", "downloads/", "committee/", "statistics/"),
    *("changes.atom", "papers.atom", "announcements.atom"),
    *("schedule.ics", "schedule.xml", "schedule.json", "downloads/program_json/2021.json"),
    *(f"sitemap-{section}-1.xml" for section in ("papers", "sessions", "pages")),
    *("papers.bib", "papers.csv", "papers.xlsx", "papers.ics"),
    *(f"schedule/{day}.ics" for day in DAYS),
)
OF_SITE = ("/", "/people/", "/search/feed?q=session", "/llms.txt", "/sitemap.xml", "/sitemap-people-1.xml")
# They have no filter by edition.
UNFILTERED = ("conferences", "editions")
# They follow the clock for some seconds after a change, and revisions, which new people advance.
AS_OF = re.compile(rb'"as_of":"[^"]*"|<lastmod>[^<]*</lastmod>')
# When an account was last seen, and when duplicates were last looked for.
BOOKKEEPING = {"accounts_accountsession", "people_comparison"}
WRITES = re.compile(r"^\s*(INSERT INTO|UPDATE|DELETE FROM) \"(\w+)\"", re.I)


@pytest.fixture
def waiting(edition: Edition) -> Edition:
    program.make_program(edition)
    program.let_changes_wait(edition)
    return edition


def public_paths() -> list[str]:
    """Return the addresses of all pages about the program, files, searches, and lists and rows of the API."""
    paths = [*OF_SITE, *(f"/2021/{name}" for name in OF_EDITION), *PAGES]
    models: tuple[Any, ...] = (Session, Paper)
    for model in models:
        for row in model.objects.select_related("edition"):
            paths += [row.get_absolute_url(), f"/2021/{model._meta.model_name}s/{row.uid}.ics"]
    for person in Person.objects.all():
        paths += [person.get_absolute_url(), f"/people/{person.uid}.ics"]
    paths += [f"/2021/presentations/{uid}.ics" for uid in Presentation.objects.values_list("uid", flat=True)]
    for slug in Room.objects.values_list("slug", flat=True):
        paths += [f"/2021/rooms/{slug}/", f"/2021/rooms/{slug}.ics"]
    for word in MARKERS:
        paths += [f"{page}?q={word}" for page in ("/search/", "/2021/search/", "/api/v1/papers/")]
        paths += [f"{page}?q={word[:4]}" for page in ("/search/suggest", "/2021/search/suggest")]
    paths += [f"/api/v1/{name}/{'' if name in UNFILTERED else '?edition=2021'}" for name in RESOURCES]
    for name, model in (("sessions", Session), ("presentations", Presentation), ("papers", Paper)):
        paths += [f"/api/v1/{name}/2021/{uid}/" for uid in model.objects.values_list("uid", flat=True)]
    return [*dict.fromkeys(paths)]


class Answer(NamedTuple):
    """What of a response may not change, and its version."""

    status: int
    text: str
    version: str


def answers(
    client: Client, paths: Iterable[str], versions: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Answer]:
    """Return the answers at these addresses, to requests for what is newer than these versions."""
    found = {}
    for path in paths:
        headers = {"If-None-Match": versions[path]} if versions.get(path) else None
        response: Any = client.get(path, headers=headers)
        body = AS_OF.sub(b"", program.NONCES.sub(b"", response.getvalue()))
        found[path] = Answer(response.status_code, response_text(body), response.headers.get("ETag", ""))
    return found


def test_public_answers_do_not_change_before_the_release(
    waiting: Edition, client: Client, admin_client: Client
) -> None:
    Paper.objects.filter(uid="late").update(title="Late paper")
    # Related papers come from the search index, which the first search brings up to date.
    client.get("/2021/search/?q=paper")
    before = answers(client, public_paths())
    program.make_edits(waiting)
    # The desk and previews show the unreleased values; nothing of that may stay behind.
    admin_client.get(f"/admin/conference/edition/{waiting.pk}/preview/")
    for page in (*PAGES, *admin_pages(waiting)[:6]):
        admin_client.get(page)
    after = answers(client, before)
    again = answers(client, before, {path: answer.version for path, answer in before.items()})
    new = answers(client, {*public_paths()} - before.keys())
    late_author = Person.objects.get(name="Late author").uid
    missing = {path for path, answer in before.items() if answer.status != 200}

    assert {path for path in missing if late_author not in path and "late" not in path} == set()
    assert {path for path in before if before[path][:2] != after[path][:2]} == set()
    assert {
        path
        for path, (status, text, _version) in again.items()
        if status != 304 and (status, text) != before[path][:2]
    } == set()
    assert {path: status for path, (status, *_) in new.items() if status not in (404, 410)} == {}
    assert [path for path, answer in new.items() if any(word in answer.text for word in MARKERS)] == []
    # Versions are compared: some answers say that nothing is newer.
    assert any(answer.status == 304 for answer in again.values())


def test_reading_the_desk_writes_and_locks_no_row(waiting: Edition, admin_client: Client) -> None:
    program.make_edits(waiting, User.objects.get(username="admin"))
    edition = f"?edition={waiting.pk}"
    pages = [
        *admin_pages(waiting),
        f"/admin/{edition}",
        f"/admin/schedule/release/working-copy/{edition}",
        "/admin/schedule/session/",
        "/admin/schedule/presentation/",
        "/admin/schedule/room/",
        "/admin/papers/paper/",
        f"/admin/papers/paper/{Paper.objects.get(uid='late').pk}/change/",
        f"/admin/conference/edition/{waiting.pk}/change/",
        "/admin/autocomplete/?app_label=schedule&model_name=presentation&field_name=session&term=s",
    ]
    # The index of the desk's search and the session of the account are brought up to date first.
    admin_client.get("/admin/search/?q=session")
    with CaptureQueriesContext(connection) as queries:
        statuses = {page: admin_client.get(page).status_code for page in pages}
    statements = [query["sql"] for query in queries]

    assert {page: status for page, status in statuses.items() if status != 200} == {}
    assert UnreleasedChange.objects.exists()
    written = {match[2] for sql in statements if (match := WRITES.match(sql))}
    assert written <= {"accounts_accountsession", "django_session"}
    assert [sql for sql in statements if "FOR UPDATE" in sql or "FOR NO KEY UPDATE" in sql] == []


def rows_written() -> dict[str, tuple[int, int, int]]:
    """Return how many rows were inserted, updated and deleted in each table, as PostgreSQL counts them."""
    with connection.cursor() as cursor:
        # The counts of this connection are passed on when it is idle, or now.
        cursor.execute("SELECT pg_stat_force_next_flush()")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute("SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables")
        return {name: counts for name, *counts in cursor.fetchall()}


@pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL counts written rows")
@pytest.mark.django_db(transaction=True)
def test_no_page_of_the_desk_writes_a_row_of_the_program(waiting: Edition, admin_client: Client) -> None:
    program.make_edits(waiting)
    for row in (*Session.objects.all(), *Presentation.objects.all()):
        program.change_attributes(row, title=f"{row.title} waits")
    assert UnreleasedChange.objects.count() >= 30
    # The first search brings its index up to date.
    admin_client.get("/admin/search/?q=session")
    before = rows_written()
    count, refused = refused_links(admin_client)
    after = rows_written()
    written = {name for name in after if after[name] != before.get(name)}

    assert (refused, count > 300) == ([], True)
    assert written <= BOOKKEEPING

    Session.objects.filter(uid="s4").update(abstract="Written")
    assert {name for name, counts in rows_written().items() if counts != after[name]} > {"schedule_session"}
