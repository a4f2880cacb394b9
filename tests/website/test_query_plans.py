"""Query plans of public pages: they use indexes, and never scan a large table."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from tests import factories as make

pytestmark = pytest.mark.django_db

LARGE_TABLES = {
    "papers_authorship", "papers_authorship_institutions", "papers_awardgrant", "papers_material",
    "papers_paper", "people_institution", "people_person", "people_personname", "schedule_presentation",
    "schedule_session", "schedule_sessionrole", "schedule_speaker", "search_document", "search_word",
}  # fmt: skip
PAGES = (
    "", "schedule/?view=list", "schedule/?view=week", "schedule/2021-04-06/", "papers/", "papers/?has=pdf",
    "schedule/2021-04-06/?view=grid", "topics/compilers/", "awards/", "talks/", "posters/", "recordings/",
    "changes/", "committee/", "statistics/", "downloads/",
)  # fmt: skip


@pytest.fixture
def edition() -> Edition:
    """Create an edition with one row of each model that pages show."""
    edition = make.make_edition()
    topic, hall = make.make_topic(edition, slug="compilers"), make.make_room(edition, slug="hall")
    text = {"topic": topic, "keywords": ["TPU"], "abstract": "sparse attention"}
    for number in range(3):
        paper = make.make_paper(edition, ["Ada Lovelace", "Bob"], uid=f"p{number}", **text)
        make.make_material(paper)
        session = make.make_session(edition, room=hall, uid=f"s{number}", kind="poster")
        make.make_presentation(session, paper, kind="poster", board="7", uid=f"t{number}")
        make.add_role(session, "Cy", "chair")
        make.make_award(edition, [paper])
    return edition


def page_urls(edition: Edition) -> list[str]:
    paper, session = edition.papers.get(uid="p1"), edition.sessions.get(uid="s1")
    person = paper.authorships.get(position=1).person
    edition_pages = [f"{edition.get_absolute_url()}{page}" for page in PAGES]
    return [
        *edition_pages,
        *(row.get_absolute_url() for row in (paper, session, person)),
        "/search/?q=lovelace",
    ]


def select_queries(client: Client, url: str) -> list[str]:
    """Return the SELECT queries of a page after a first request has filled the caches."""
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200, url
    return [query["sql"] for query in queries if query["sql"].startswith("SELECT")]


def scanned_tables(statement: str) -> Iterator[str]:
    """Yield the tables that the database scans to run a statement."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}".replace("%", "%%"))
            names = aliases(statement)
            steps = [row[3].split() for row in cursor.fetchall()]
            yield from (names.get(step[1], step[1]) for step in steps if step[0] == "SCAN")
        else:
            # PostgreSQL scans small tables by default; without this, it scans only if no index helps.
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(f"EXPLAIN {statement}".replace("%", "%%"))
            plan = "\n".join(row[0] for row in cursor.fetchall())
            yield from re.findall(r"Seq Scan on (\w+)", plan)


def aliases(statement: str) -> dict[str, str]:
    """Return the table of each alias such as U0."""
    return {alias: table for table, alias in re.findall(r'"(\w+)" (?:AS )?"?([A-Z]\d+)"?', statement)}


def test_public_pages_do_not_scan_large_tables(client: Client, edition: Edition) -> None:
    scans: dict[str, Any] = {}
    # Fill the search index, in which pages of papers find similar ones.
    client.get("/search/?q=sparse")
    for url in page_urls(edition):
        for statement in select_queries(client, url):
            if tables := LARGE_TABLES.intersection(scanned_tables(statement)):
                scans[url] = (tables, statement)

    assert scans == {}


def test_scan_of_a_table_is_detected(edition: Edition) -> None:
    statement = str(edition.papers.model.objects.filter(abstract__contains="x").query)

    assert [*scanned_tables(statement.replace("LIKE %x%", "LIKE 'x'"))][:1] == ["papers_paper"]
