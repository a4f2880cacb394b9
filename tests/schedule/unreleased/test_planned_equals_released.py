"""Each page that shows the planned state shows it wholly: the same bytes as after a release."""

import pytest
from django.test import Client

from conference.models import Edition
from papers.models import Paper
from people.models import Person
from schedule.models import Session
from schedule.unreleased.releasing import release
from tests.schedule.unreleased import planned_program as program

pytestmark = pytest.mark.django_db

DAYS = ("2021-04-05", "2021-04-06", "2021-04-07")
PAGES = (
    "/2021/schedule/",
    "/2021/schedule/?view=week",
    *(f"/2021/schedule/{day}/" for day in DAYS),
    *(f"/2021/schedule/{day}/?view=grid" for day in DAYS),
)


@pytest.fixture
def waiting(edition: Edition) -> Edition:
    program.make_program(edition)
    program.let_changes_wait(edition)
    return edition


def test_planned_pages_equal_those_after_the_release(waiting: Edition, admin_client: Client) -> None:
    plan = waiting.release_plan
    program.make_edits(waiting)
    admin_client.get(f"/admin/conference/edition/{waiting.pk}/preview/")
    pages = list(PAGES)
    for model in (Session, Paper):
        pages += [row.get_absolute_url() for row in model.objects.select_related("edition")]
    pages += [person.get_absolute_url() for person in Person.objects.all()]
    before = {page: program.content_of(admin_client, page) for page in pages}
    release(plan, None, program.now())
    after = {page: program.content_of(admin_client, page) for page in pages}
    assert {page for page in pages if before[page] != after[page]} == set()
