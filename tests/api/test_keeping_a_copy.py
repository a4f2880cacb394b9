"""A client that reads only changed and deleted rows has what a full read has, whatever is edited meanwhile.

On PostgreSQL eight writers edit at the same time, while the client reads; SQLite has one writer.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Thread
from typing import Any

import pytest
from django.db import IntegrityError, connection, connections
from django.test import Client
from django.utils import timezone

from api.resources import RESOURCES
from conference.models import Announcement, Edition, KeyDate, Page, Sponsor
from content.history import Origin
from content.history.recording import recording
from content.models import Content, Tombstone
from content.write_conflicts import retry_conflicts
from operations.privacy.erasure import erase_person
from operations.privacy.subjects import DataSubject, find_subject
from papers.models import Authorship, Award, Material, Paper, Topic
from people.merging.merge import CannotMergeError, merge
from people.models import Institution, Person
from schedule.models import Presentation, Room, Session, SessionRole
from tests import factories as make
from tests.api.reading import get
from tests.connections import keep_connections_open

pytestmark = pytest.mark.django_db(transaction=True)

EDITS, WRITERS = 500, 8
HIDDEN = "Neverpublic"
type Rows = dict[str, dict[str, dict[str, Any]]]


def all_pages(client: Client, name: str, **parameters: Any) -> Iterator[dict[str, Any]]:
    """Yield the pages of a list."""
    page = get(client, f"{name}/", page_size=200, **parameters)
    yield page
    while page["next"]:
        page = client.get(page["next"]).json()
        yield page


class Copy:
    """A client's copy of all rows, kept as docs/api.md says."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.rows: Rows = {name: {} for name in RESOURCES}
        self.as_of: dict[str, str] = {}

    def update(self) -> None:
        for name, rows in self.rows.items():
            since = {"changed_since": self.as_of[name]} if name in self.as_of else {}
            pages = list(all_pages(self.client, name, **since))
            rows |= {row["url"]: row for page in pages for row in page["results"]}
            if since:
                for page in all_pages(self.client, name, deleted="true", **since):
                    for row in page["results"]:
                        self.delete(name, row)
            self.as_of[name] = pages[0]["as_of"]

    def delete(self, name: str, gone: dict[str, Any]) -> None:
        rows, deleted_at = self.rows[name], datetime.fromisoformat(gone["deleted_at"])
        prefix = gone["url"].partition("?")[0]
        editions = {gone["url"].partition("edition=")[2]} if gone["id"] is None else set()
        for url in [*rows]:
            is_concerned = rows[url].get("edition", {}).get("id") in editions if editions else url == prefix
            if is_concerned and datetime.fromisoformat(rows[url]["changed_at"]) < deleted_at:
                del rows[url]


def full_read(client: Client) -> Rows:
    return {
        name: {row["url"]: row for page in all_pages(client, name) for row in page["results"]}
        for name in RESOURCES
    }


def contents(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the rows without `changed_at`: who appears in an edition no longer does not change with it."""
    return {url: {**row, "changed_at": ""} for url, row in rows.items()}


def make_program() -> None:
    """Create an edition that is public, and three with embargoes that pass soon."""
    conference = make.make_conference()
    for number in range(4):
        soon = timezone.now() + timedelta(seconds=5 * number)
        opened = {"papers_public_from": soon, "schedule_public_from": soon} if number else {}
        edition = make.make_edition(2021 + number, conference=conference, **opened)
        topics = [make.make_topic(edition, slug=f"topic-{index}") for index in range(3)]
        for index in range(6):
            person = make.make_person(f"Person {number} {index}", uid=f"author{number}{index}")
            paper = make.make_paper(edition, [person], uid=f"paper-{index}", topic=topics[index % 3])
            author = paper.authorships.get()
            author.institutions.add(
                make.make_institution(f"Lab {number} {index}", slug=f"lab-{number}-{index}")
            )
            make.make_material(paper)
            make.make_award(edition, [paper] if index % 2 else [], uid=f"award-{index}")
            room = make.make_room(edition, slug=f"room-{index}")
            session = make.make_session(edition, uid=f"session-{index}", room=room)
            make.add_role(
                session, make.make_person(f"Chair {number} {index}", uid=f"moderator{number}{index}")
            )
            make.make_presentation(session, paper, uid=f"talk-{index}")
            make.make_page(edition, slug=f"venue-{index}")
            make.make_sponsor(edition, slug=f"sponsor-{index}")
            make.make_key_date(edition, uid=f"date-{index}")
            make.make_announcement(edition, uid=f"news-{index}")
        # What is never public.
        make.make_paper(edition, uid="never", title=HIDDEN, status="draft")


def any_row(chance: random.Random, model: Any) -> Any:
    keys = [*model._base_manager.order_by("pk").values_list("pk", flat=True)]
    return model._base_manager.get(pk=chance.choice(keys))


def save(row: Content, **values: object) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save()


def publish_or_hide(chance: random.Random) -> None:
    model = chance.choice([Paper, Session, Presentation, Award, Page, Sponsor, KeyDate, Announcement])
    statuses = ["published", "published", "draft"]
    if model in (Paper, Session, Presentation):
        statuses.append("withdrawn" if model is Paper else "cancelled")
    row = any_row(chance, model)
    if getattr(row, "uid", "") != "never":
        save(row, status=chance.choice(statuses))


def change_text(chance: random.Random) -> None:
    model = chance.choice([Paper, Session, Person, Room, Topic, Award, Institution, Page])
    name = "title" if model in (Paper, Session, Page) else "name"
    save(any_row(chance, model), **{name: f"New {chance.random()}"})


def move(chance: random.Random) -> None:
    talk = any_row(chance, Presentation)
    sessions = [*Session.objects.filter(edition=talk.session.edition_id).order_by("pk")]
    save(talk, session=chance.choice(sessions), position=0)
    session = any_row(chance, Session)
    rooms = [*Room.objects.filter(edition=session.edition_id).order_by("pk"), None]
    session.start += timedelta(minutes=chance.choice([-15, 15]))
    save(session, end=session.start + timedelta(hours=1), room=chance.choice(rooms))


def link(chance: random.Random) -> None:
    paper, person = any_row(chance, Paper), any_row(chance, Person)
    if person.merged_into_id is None and not paper.authorships.filter(person=person).exists():
        make.add_author(paper, person)
    author = any_row(chance, Authorship)
    author.institutions.add(any_row(chance, Institution))
    save(paper, topic=chance.choice([*paper.edition.topics.order_by("pk"), None]))
    SessionRole.objects.filter(session=any_row(chance, Session)).delete()


def remove(chance: random.Random) -> None:
    model = chance.choice([Paper, Presentation, Material, Authorship, Award, Room, Topic])
    if model._base_manager.count() > 8:
        any_row(chance, model).delete()


def add(chance: random.Random) -> None:
    edition = any_row(chance, Edition)
    make.make_paper(edition, [f"Added {chance.random()}"])
    make.make_material(any_row(chance, Paper), visible=chance.choice([True, False]))


def close_or_open(chance: random.Random) -> None:
    edition = Edition.objects.get(year=2021)
    gate = chance.choice(["papers_public_from", "schedule_public_from"])
    save(edition, **{gate: None if getattr(edition, gate) else make.PAST})


def merge_people(chance: random.Random) -> None:
    rows = [*Person.objects.filter(merged_into=None).order_by("pk")]
    survivor, other = chance.sample(rows, 2)
    merge(survivor, [other])


def erase(chance: random.Random) -> None:
    person = chance.choice([*Person.objects.filter(merged_into=None).order_by("pk")])
    subject = find_subject(person.uid, "")
    assert isinstance(subject, DataSubject)
    erase_person(subject)


KINDS: list[tuple[Callable[[random.Random], None], int]] = [
    *((publish_or_hide, 30), (change_text, 20), (move, 12), (link, 12), (remove, 8), (add, 8)),
    *((close_or_open, 4), (merge_people, 4), (erase, 1)),
]


def edit_at_random(chance: random.Random, count: int) -> None:
    """Make edits of all kinds. What another writer deleted or took meanwhile is left alone."""
    kinds, weights = zip(*KINDS, strict=True)
    for kind in chance.choices(kinds, weights, k=count):
        try:
            retry_conflicts(in_one_change_set(kind))(chance)
        except (CannotMergeError, IntegrityError):
            continue
        except Exception as error:
            if not isinstance(error, LookupError) and "DoesNotExist" not in type(error).__name__:
                raise


def in_one_change_set(edit: Callable[[random.Random], None]) -> Callable[[random.Random], None]:
    """Return the edit as one transaction, as a request makes it."""
    if edit is erase:
        return edit

    def run(chance: random.Random) -> None:
        with recording(Origin.CODE):
            edit(chance)

    return run


@contextmanager
def writers(seed: int) -> Iterator[list[Thread]]:
    """Let eight threads edit over connections of their own."""
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            edit_at_random(random.Random(seed + number), EDITS // WRITERS)
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=[number]) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        for thread in threads:
            thread.join(300)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []


def test_copy_equals_a_full_read_after_edits_of_all_kinds(client: Client) -> None:
    make_program()
    copy = Copy(client)
    with keep_connections_open():
        copy.update()
        if connection.vendor == "sqlite":
            for part in range(WRITERS):
                edit_at_random(random.Random(part), EDITS // WRITERS)
                copy.update()
        else:
            with writers(seed=1) as threads:
                while any(thread.is_alive() for thread in threads):
                    copy.update()
        while Edition.objects.filter(papers_public_from__gt=timezone.now()).exists():
            time.sleep(0.1)
        copy.update()
        full = full_read(client)

        assert {name for name, rows in full.items() if not rows} <= {"releases"}
        for name in RESOURCES:
            assert contents(copy.rows[name]) == contents(full[name]), name
    assert HIDDEN not in str(copy.rows)
    assert not Tombstone.objects.filter(uid="never").exists()
    assert not Tombstone.objects.filter(title__contains=HIDDEN).exists()
