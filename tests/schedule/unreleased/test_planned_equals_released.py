"""Each page that shows the planned state shows it wholly: the same bytes as after a release."""

import pytest
from django.test import Client

from conference.models import Edition
from exchange.exports.dump import dump
from exchange.imports.load import load
from papers.models import Paper
from people.models import Person
from schedule.models import Presentation, Session
from schedule.releases import announce
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


def admin_pages(edition: Edition) -> list[str]:
    """Return the pages of the desk that show the planned state."""
    sessions = [*Session.objects.exclude(on_release="removed").order_by("pk")]
    talks = [*Presentation.objects.exclude(on_release="removed").order_by("pk")]
    day_pages = [f"timetable/?edition={edition.pk}&day={day}" for day in DAYS]
    return [
        *(f"/admin/schedule/session/{page}" for page in day_pages),
        f"/admin/schedule/session/clashes/?edition={edition.pk}",
        f"/admin/schedule/session/assign/?edition={edition.pk}",
        f"/admin/schedule/session/posters/?edition={edition.pk}",
        *(f"/admin/schedule/session/{row.pk}/talks/" for row in sessions),
        *(f"/admin/schedule/session/{row.pk}/boards/" for row in sessions if row.uid == "posters"),
        *(f"/admin/schedule/session/{row.pk}/boards/labels/" for row in sessions if row.uid == "posters"),
        *(f"/admin/schedule/session/{row.pk}/change/" for row in sessions),
        *(f"/admin/schedule/session/{row.pk}/preview/" for row in sessions),
        *(f"/admin/schedule/presentation/{row.pk}/change/" for row in talks),
        *(f"/admin/papers/paper/{row.pk}/change/" for row in Paper.objects.order_by("pk")),
    ]


def test_planned_pages_of_the_desk_equal_those_after_the_release(
    waiting: Edition, admin_client: Client
) -> None:
    plan = waiting.release_plan
    program.make_edits(waiting)
    pages = admin_pages(waiting)
    before = {page: program.content_of(admin_client, page) for page in pages}
    release(plan, None, program.now())
    after = {page: program.content_of(admin_client, page) for page in pages}
    assert {page for page in pages if before[page] != after[page]} == set()


def test_imports_compare_with_the_planned_program(waiting: Edition) -> None:
    file = dump(waiting)
    for edit in program.EDITS:
        # A row that is to be removed is in the way of a new one; after the release none is.
        if edit not in (program.remove_session, program.remove_talk):
            edit(waiting)
    before = load(file, "2021", dry_run=True)
    release(waiting.release_plan, None, program.now())
    after = load(file, "2021", dry_run=True)

    # Both differ from the file in many rows, and by hand.
    assert before.counts["presentation"]["conflicting"] > 10
    assert before.counts == after.counts


def test_page_of_unreleased_changes_announces_what_is_announced_after_the_release(
    waiting: Edition, admin_client: Client
) -> None:
    announce(waiting, program.now(), title="First")
    plan = waiting.release_plan
    program.make_edits(waiting)
    clashes = f"/admin/schedule/session/clashes/?edition={waiting.pk}"
    page = admin_client.get(f"/admin/schedule/release/working-copy/?edition={waiting.pk}")
    planned_clashes = admin_client.get(clashes).context["total"]
    release(plan, None, program.now())
    announcement = admin_client.get(f"/admin/schedule/release/add/?edition={waiting.pk}")
    lines = [response.context["form"].fields["lines"].widget.choices for response in (page, announcement)]

    assert lines[0] == lines[1] != []
    assert page.context["new_clash_count"] == 0
    assert admin_client.get(clashes).context["total"] == planned_clashes
