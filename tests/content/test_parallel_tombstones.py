"""Tombstones of several writers at the same time, each over its own connection to PostgreSQL."""

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from content.history import Origin
from content.history.recording import recording
from content.models import Tombstone
from content.publicity.rules import identified_models
from content.write_conflicts import retry_conflicts
from papers.models import Authorship, Paper
from people.models import Person
from schedule.models import Presentation, Session
from tests import factories as make
from tests.content.test_parallel_positions import run_at_once

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer"),
]

WRITERS, EDITS = 8, 12


def public_addresses() -> set[tuple[str, str, str]]:
    """Return the addresses of all public rows."""
    found = set()
    for model in identified_models():
        manager: Any = model._default_manager
        slug = [f"{model.edition_lookup}__slug"] if model.edition_lookup else []
        for key, *edition in manager.published(timezone.now()).values_list(model.identity, *slug):
            found.add((model._meta.label_lower, edition[0] if edition else "", str(key)))
    return found


def buried_addresses() -> set[tuple[str, str, str]]:
    return {(*tombstone.address,) for tombstone in Tombstone.objects.filter(part="")}


def test_person_whose_papers_two_take_back_at_once_is_gone() -> None:
    edition = make.make_edition()
    person = make.make_person("Ada", uid="ada")
    papers = [make.make_paper(edition, [person], uid=f"p{number}") for number in range(2)]
    both_wrote = threading.Barrier(2)

    def take_back(paper: Paper) -> Callable[[], None]:
        def write() -> None:
            with recording(Origin.CODE):
                paper.status = "draft"
                paper.save()
                both_wrote.wait(20)

        return write

    assert run_at_once(*map(take_back, papers)) == []
    assert buried_addresses() == {
        ("papers.paper", "2021", "p0"),
        ("papers.paper", "2021", "p1"),
        ("people.person", "", "ada"),
    }


def test_talk_whose_session_and_paper_two_publish_at_once_is_back() -> None:
    edition = make.make_edition()
    session = make.make_session(edition, uid="s0", room=make.make_room(edition))
    paper = make.make_paper(edition, uid="p0")
    make.make_presentation(session, paper, uid="t0")
    for row in (session, paper):
        row.status = "draft"
        row.save()
    both_wrote = threading.Barrier(2)

    def publish(row: Session | Paper) -> Callable[[], None]:
        def write() -> None:
            with recording(Origin.CODE):
                row.status = "published"
                row.save()
                # The second one waits for the first one's commit.
                with suppress(threading.BrokenBarrierError):
                    both_wrote.wait(0.5)

        return write

    assert ("schedule.presentation", "2021", "t0") in buried_addresses()
    assert run_at_once(publish(session), publish(paper)) == []
    assert ("schedule.presentation", "2021", "t0") in public_addresses()
    assert buried_addresses() == set()


def test_what_a_gate_shows_while_it_is_taken_back_is_buried() -> None:
    edition = make.make_edition(schedule_public_from=None)
    role = make.add_role(make.make_session(edition), make.make_person("Ada", uid="ada"))
    has_deleted, seen = threading.Event(), set[tuple[str, str, str]]()

    def take_back() -> None:
        with recording(Origin.CODE):
            role.delete()
            has_deleted.set()
            # The other one waits for the commit.
            has_opened.wait(0.5)

    has_opened = threading.Event()

    def open_gate() -> None:
        assert has_deleted.wait(20)
        edition.schedule_public_from = make.PAST
        edition.save()
        seen.update(public_addresses())
        has_opened.set()

    assert run_at_once(take_back, open_gate) == []
    assert ("schedule.session", "2021", edition.sessions.get().uid) in seen
    assert seen - public_addresses() <= buried_addresses()


def test_person_who_is_gone_for_a_moment_has_changed() -> None:
    edition = make.make_edition()
    person = make.make_person("Ada", uid="ada")
    shown = make.make_paper(edition, [person], uid="p0")
    draft = make.make_paper(edition, [person], uid="p1", status="draft")
    has_saved, is_hidden = threading.Event(), threading.Event()
    person.refresh_from_db()
    changed_at = person.changed_at

    def publish() -> None:
        with recording(Origin.CODE):
            draft.status = "published"
            draft.save()
            has_saved.set()
            assert is_hidden.wait(20)

    def take_back() -> None:
        assert has_saved.wait(20)
        shown.status = "draft"
        shown.save()
        assert ("people.person", "", "ada") in buried_addresses()
        is_hidden.set()

    assert run_at_once(publish, take_back) == []
    person.refresh_from_db()
    assert ("people.person", "", "ada") in public_addresses() - buried_addresses()
    # A copy that deleted the person reads it again.
    assert person.changed_at > changed_at


def test_institution_that_is_added_while_its_paper_is_taken_back_is_buried() -> None:
    edition = make.make_edition()
    paper = make.make_paper(edition, [make.make_person("Ada", uid="ada")], uid="p0")
    author, institution = paper.authorships.get(), make.make_institution("Lab", slug="lab")
    has_saved, has_linked = threading.Event(), threading.Event()
    seen = set[tuple[str, str, str]]()

    def take_back() -> None:
        with recording(Origin.CODE):
            paper.status = "draft"
            paper.save()
            has_saved.set()
            has_linked.wait(0.5)

    def link() -> None:
        assert has_saved.wait(20)
        author.institutions.add(institution)
        seen.update(public_addresses())
        has_linked.set()

    assert run_at_once(take_back, link) == []
    assert seen - public_addresses() <= buried_addresses()


def random_edit(chance: random.Random) -> None:
    """Edit a row of one of the kinds that several writers share."""
    number = chance.randrange(6)
    talks, papers = Presentation.objects.filter(uid=f"t{number}"), Paper.objects.filter(uid=f"p{number}")
    shown = chance.choice(("published", "draft"))
    match chance.randrange(6):
        case 0:
            papers.update(status=chance.choice(("published", "draft", "withdrawn")))
        case 1:
            Session.objects.filter(uid=f"s{number}").update(status=shown)
        case 2:
            talks.update(status=shown)
        case 3:
            Authorship.objects.filter(paper__uid=f"p{number}").delete()
        case 4:
            Authorship.objects.get_or_create(
                paper=papers.get(), person=Person.objects.order_by("pk")[number % 3]
            )
        case _:
            talks.delete()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_after_edits_by_eight_writers_each_former_row_has_a_tombstone(seed: int) -> None:
    edition = make.make_edition()
    people = [make.make_person(f"Person {number}", uid=f"a{number}") for number in range(3)]
    for number in range(6):
        paper = make.make_paper(edition, [people[number % 3]], uid=f"p{number}")
        session = make.make_session(
            edition, uid=f"s{number}", room=make.make_room(edition, slug=f"r{number}")
        )
        make.make_presentation(session, paper, uid=f"t{number}")
    before = public_addresses()

    def write(writer: int) -> Callable[[], None]:
        def write_all() -> None:
            chance = random.Random(seed * 100 + writer)  # no secret
            for _number in range(EDITS):
                # Two add an author at once, and a third one deletes the row.
                with suppress(IntegrityError):
                    retry_conflicts(random_edit)(chance)

        return write_all

    assert run_at_once(*map(write, range(WRITERS))) == []
    after = public_addresses()
    assert before - after <= buried_addresses()
    assert not after & buried_addresses()
    assert buried_addresses() <= before
