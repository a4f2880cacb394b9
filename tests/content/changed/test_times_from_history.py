"""The migration that fills the times of creation and change from the history."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone

from conference.models import Edition
from content.changed.dated import is_dated
from content.history import ChangeSet, RowChange
from content.history.recording import single_change_set
from papers.models import Material, Paper
from people.models import Person
from schedule.migrations._times_of_history import RULES, TimesOfHistory
from schedule.models import Presentation, Session
from tests import factories as make

pytestmark = pytest.mark.django_db
FORGOTTEN = datetime(2000, 1, 1, tzinfo=UTC)


def times() -> dict[str, Any]:
    """Return the times of all rows by model and key."""
    found = {}
    for model in apps.get_models():
        if is_dated(model):
            columns = ("pk", *model.date_columns())
            found[model._meta.label] = sorted(model._base_manager.values_list(*columns))
    return found


def fill() -> None:
    for model in apps.get_models():
        if is_dated(model):
            model._base_manager.update(**{"created_at": FORGOTTEN, model.changed_column: FORGOTTEN})
    Edition._base_manager.update(license_set_at=None, clock_set_at=None, papers_public_from_set_at=None)
    TimesOfHistory(apps, timezone.now()).fill()


def edit(row: Any, **values: object) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save()


def test_times_are_those_that_were_kept(django_assert_max_num_queries: Any) -> None:
    # What becomes public with others has no entry of its own in the history.
    with single_change_set():
        edition = make.make_edition()
        person, chair = make.make_person("Ada"), make.make_person("Bo")
        paper = make.make_paper(edition, [person])
        make.make_material(paper)
        session = make.make_session(edition, room=make.make_room(edition))
        make.add_role(session, chair)
    make.make_presentation(session, paper)
    make.make_committee_role(edition, chair)
    make.make_page(edition)
    edit(edition, license="CC0-1.0")
    edit(edition, papers_public_from=make.PAST)
    edit(person, name="Ada New")
    edit(chair, email="bo@example.org")
    edit(session, title="New")
    edit(paper, announced_at=timezone.now())
    kept = times()
    with django_assert_max_num_queries(150):
        fill()

    assert times() == kept
    assert {rule.model for rule in RULES} == {
        model._meta.label_lower for model in apps.get_models() if is_dated(model)
    }


def test_rows_that_the_history_does_not_know_get_the_first_time_of_their_edition() -> None:
    edition = make.make_edition()
    paper, other = make.make_paper(edition), make.make_paper(edition)
    make.make_material(paper)
    make.make_presentation(make.make_session(edition), other)
    person = make.make_person("Ada")
    known = RowChange.objects.filter(model="conference.edition").latest("pk").change_set
    RowChange.objects.exclude(change_set=known).delete()
    ChangeSet.objects.filter(pk=known.pk).update(at=known.at - timedelta(days=9))
    before = timezone.now()
    fill()

    first = known.at - timedelta(days=9)
    for model in (Paper, Material, Session, Presentation):
        assert {*model._base_manager.values_list("created_at", "changed_at")} == {(first, first)}, model
    person = Person.objects.get(pk=person.pk)
    assert before <= person.created_at == person.changed_at <= timezone.now()
