"""Every way of writing moves the times of the rows that change and of those that show them, of no others."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest
from django.apps import apps
from django.db import models
from django.utils import timezone

from content.changed.dated import is_dated
from content.history.recording import recording, single_change_set, touch
from content.ordering import reorder
from papers.models import Authorship, Award, Paper, Topic
from people.merging.merge import merge
from people.models import Person
from schedule.models import Session
from tests import factories as make

pytestmark = pytest.mark.django_db


def moved(action: Callable[[], object]) -> set[str]:
    """Return the rows with an address whose time an action moves, all to the same moment."""
    since = timezone.now()
    action()
    rows, times = set(), set()
    for model in apps.get_models():
        content: Any = model
        if is_dated(model) and content.identity:
            changed = model._base_manager.filter(**{f"{model.changed_column}__gte": since})
            for row in changed:
                rows.add(f"{model._meta.model_name} {getattr(row, 'uid', getattr(row, 'slug', row.pk))}")
                times.add(getattr(row, model.changed_column))
    assert len(times) <= 1
    return rows


@pytest.fixture
def paper() -> Paper:
    edition = make.make_edition()
    people = [make.make_person(name, uid=name.lower()) for name in ("Ada", "Bo")]
    paper = make.make_paper(edition, people, uid="p", topic=make.make_topic(edition, slug="t"))
    session = make.make_session(edition, uid="s", room=make.make_room(edition, slug="r"))
    make.make_presentation(session, paper, uid="talk")
    make.add_role(session, make.make_person("Chair", uid="chair"))
    make.make_paper(edition, uid="other")
    return paper


def test_update_moves_the_rows_that_differ(paper: Paper) -> None:
    other = Paper.objects.get(uid="other")
    Paper.objects.filter(pk=other.pk).update(track="A")

    assert moved(lambda: Paper.objects.update(track="A")) == {"paper p"}
    assert moved(lambda: Paper.objects.update(track="A")) == set()
    assert moved(lambda: Paper.objects.filter(pk=paper.pk).update(track=models.F("uid"))) == {"paper p"}


def test_bulk_methods_move_rows(paper: Paper) -> None:
    paper.title = "New"
    papers = [paper, Paper.objects.get(uid="other")]
    assert moved(lambda: Paper.objects.bulk_update(papers, ["title"])) == {"paper p", "presentation talk"}
    author = Authorship(paper=papers[1], person=Person.objects.get(uid="ada"), name="Ada", position=1)
    assert moved(lambda: Authorship.objects.bulk_create([author])) == {"paper other"}
    topic = Topic(edition=paper.edition, slug="new", name="New", position=2)
    assert moved(lambda: Topic.objects.bulk_create([topic])) == {"topic new"}
    assert topic.created_at == topic.changed_at


def test_old_instance_leaves_the_stored_times(paper: Paper) -> None:
    old = Paper.objects.get(pk=paper.pk)
    paper.track = "A"
    paper.save()
    stored = Paper.objects.get(pk=paper.pk)
    old.track = "A"
    assert moved(old.save) == set()

    row = Paper.objects.get(pk=paper.pk)
    assert (row.created_at, row.changed_at) == (stored.created_at, stored.changed_at)
    assert old.changed_at == stored.changed_at > stored.created_at


def test_change_that_is_taken_back_moves_nothing_else(paper: Paper) -> None:
    def change_order_and_back() -> None:
        with single_change_set():
            keys = [row.pk for row in paper.authorships.all()]
            reorder(paper.authorships.all(), keys[::-1])
            reorder(paper.authorships.all(), keys)

    assert moved(change_order_and_back) == set()


def test_parts_that_go_or_move_change_both_owners(paper: Paper) -> None:
    author, other = paper.authorships.get(name="Ada"), Paper.objects.get(uid="other")
    author.paper, author.position = other, 0
    assert moved(author.save) == {"paper p", "paper other"}
    assert moved(lambda: Authorship.objects.filter(paper=other).delete()) == {"paper other"}
    session = Session.objects.get(uid="s")
    assert moved(session.roles.get().delete) == {"session s"}


def test_links_and_lost_relations_move_rows(paper: Paper) -> None:
    institution = make.make_institution(slug="i")
    author = paper.authorships.get(name="Ada")
    # The institution becomes public.
    assert moved(lambda: author.institutions.add(institution)) == {"paper p", "institution i"}
    assert moved(lambda: paper.edition.rooms.get().delete()) == {"session s", "presentation talk"}
    assert moved(lambda: Topic.objects.get(slug="t").delete()) == {"paper p"}


def test_only_public_grants_move_papers_and_awards(paper: Paper) -> None:
    award = make.make_award(paper.edition, uid="a", status="draft")
    draft = make.make_paper(paper.edition, uid="draft", status="draft")
    assert moved(lambda: award.grants.create(paper=paper)) == set()
    assert moved(lambda: Award.objects.filter(pk=award.pk).update(status="published")) == {
        "award a",
        "paper p",
    }
    assert moved(lambda: award.grants.create(paper=draft)) == set()
    assert moved(lambda: Paper.objects.filter(pk=draft.pk).update(status="published")) == {
        *("award a", "paper draft"),
    }
    assert moved(lambda: award.grants.get(paper=paper).delete()) >= {"award a", "paper p"}
    assert moved(award.delete) == {"paper draft"}


def test_award_that_is_created_with_its_winner_moves_the_older_paper(paper: Paper) -> None:
    def create() -> None:
        with single_change_set():
            make.make_award(make.make_edition(2022), [paper], uid="time")

    assert "paper p" in moved(create)


def test_merge_moves_the_papers(paper: Paper) -> None:
    ada, bo = Person.objects.get(uid="ada"), Person.objects.get(uid="bo")
    other = Paper.objects.get(uid="other")
    other.authorships.create(person=bo, name="Bo", position=1)
    paper.authorships.filter(person=bo).delete()

    assert moved(lambda: merge(ada, [bo])) >= {"paper other", "person ada", "person bo"}


def test_failed_part_of_a_change_set_moves_nothing(paper: Paper) -> None:
    def fail_and_go_on() -> None:
        with recording("code"):
            with suppress(ZeroDivisionError), single_change_set():
                Paper.objects.filter(pk=paper.pk).update(track="Failed")
                raise ZeroDivisionError
            Paper.objects.filter(uid="other").update(track="A")

    assert moved(fail_and_go_on) == {"paper other"}


def test_touch_moves_rows_or_who_shows_them(paper: Paper) -> None:
    ada, author = Person.objects.get(uid="ada"), paper.authorships.get(name="Ada")

    assert moved(lambda: touch(Person, [ada.pk])) == {"person ada"}
    assert moved(lambda: touch(Authorship, [author.pk])) == {"paper p"}


def test_edition_keeps_when_its_parts_were_set_and_moves_no_rows(
    paper: Paper, django_assert_num_queries: Any
) -> None:
    edition = paper.edition
    edition.license = "CC0-1.0"
    assert moved(edition.save) == {"edition 2021"}
    edition.refresh_from_db()
    assert isinstance(edition.license_set_at, datetime)
    assert edition.license_set_at == edition.edited_at
    edition.papers_public_from = make.PAST
    edited_at = edition.edited_at
    type(edition).objects.filter(pk=edition.pk).update(schedule_public_from=timezone.now())
    edition.refresh_from_db()
    assert edition.schedule_public_from_set_at is not None
    assert edition.edited_at == edited_at
