"""Positions in the admin: changed in lists, renumbered after deletions, and restored with a row."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from conference.models import Edition, Sponsor
from content.history import ChangeSet, RowChange
from papers.models import Award
from schedule.models import Presentation, Room
from tests import factories as make
from tests.posted import address

pytestmark = pytest.mark.django_db

MAKERS: dict[type[Model], Any] = {Room: make.make_room, Sponsor: make.make_sponsor}


def three(model: type[Model], edition: Edition) -> list[Any]:
    return [MAKERS[model](edition, name) for name in ("One", "Two", "Three")]


def order(rows: Any) -> list[tuple[int, str]]:
    return list(rows.order_by("position", "pk").values_list("position", "name"))


def listed(model: type[Model], numbers: dict[Any, Any]) -> dict[str, Any]:
    """Return the form data of a list with these positions."""
    sent: dict[str, Any] = {"form-TOTAL_FORMS": len(numbers), "form-INITIAL_FORMS": len(numbers), "_save": 1}
    for index, (row, number) in enumerate(numbers.items()):
        sent |= {f"form-{index}-id": row.pk, f"form-{index}-position": number}
    return sent


@pytest.mark.parametrize("model", MAKERS)
def test_gap_is_closed_by_the_delete_page_and_by_the_action(model: Any, admin_client: Client) -> None:
    one, two, _three = three(model, make.make_edition())
    admin_client.post(address(one, "delete"), {"post": "yes"})
    after_page = order(model.objects)
    chosen = {"action": "delete_selected", "_selected_action": [two.pk], "post": "yes"}
    admin_client.post(address(model, "changelist"), chosen)

    assert after_page == [(1, "Two"), (2, "Three")]
    assert order(model.objects) == [(1, "Three")]


def test_gap_is_closed_where_something_else_takes_the_row_along(edition: Edition) -> None:
    session = make.make_session(edition)
    papers = [make.make_paper(edition) for _ in range(3)]
    for paper in papers:
        make.make_presentation(session, paper)
    papers[0].delete()

    assert list(session.presentations.values_list("position", "paper")) == [
        (1, papers[1].pk),
        (2, papers[2].pk),
    ]


def test_gap_is_closed_behind_a_talk_that_goes_to_another_session() -> None:
    old, new = (make.make_session(make.make_edition(year)) for year in (2020, 2021))
    new.edition = old.edition
    new.save()
    talks = [make.make_presentation(old) for _ in range(3)]
    talks[0].session, talks[0].position = new, 0
    talks[0].save()

    assert [(talk.session_id, talk.position) for talk in Presentation.objects.order_by("pk")] == [
        (new.pk, 1),
        (old.pk, 1),
        (old.pk, 2),
    ]


def test_row_that_is_brought_back_gets_its_place_again(admin_client: Client) -> None:
    first, second, *_ = three(Sponsor, make.make_edition())
    admin_client.post(address(Sponsor, "changelist"), listed(Sponsor, {first: 2, second: 1}))
    second.delete()
    gone = RowChange.objects.deleted_directly().get()
    admin_client.post(reverse("admin:conference_sponsor_bring_back", args=[gone.pk]))

    assert order(Sponsor.objects) == [(1, "Two"), (2, "One"), (3, "Three")]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((2, 3, 1), ["Three", "One", "Two"]),
        ((3, 2, 1), ["Three", "Two", "One"]),
        ((3, 2, 3), ["Two", "Three", "One"]),
        ((9, 2, 3), ["Two", "Three", "One"]),
        ((0, 2, 3), ["Two", "Three", "One"]),
    ],
)
def test_numbers_of_a_list_are_the_places_that_rows_get(
    numbers: tuple[int, ...], expected: list[str], admin_client: Client
) -> None:
    rows = three(Room, make.make_edition())
    admin_client.post(address(Room, "changelist"), listed(Room, dict(zip(rows, numbers, strict=True))))

    assert order(Room.objects) == list(enumerate(expected, start=1))
    assert ChangeSet.objects.latest("pk").get_origin_display() == "Form"


def test_list_orders_each_edition_by_itself_with_rows_it_does_not_show(admin_client: Client) -> None:
    old, new = three(Room, make.make_edition(2020)), three(Room, make.make_edition(2021))
    numbers = {old[2]: 1, old[0]: 3, new[1]: 1}
    admin_client.post(address(Room, "changelist"), listed(Room, numbers))

    assert order(Room.objects.filter(edition__year=2020)) == [(1, "Three"), (2, "Two"), (3, "One")]
    assert order(Room.objects.filter(edition__year=2021)) == [(1, "Two"), (2, "One"), (3, "Three")]


def test_rows_can_be_moved_where_a_list_shows_one_edition_in_order(admin_client: Client) -> None:
    old, new = (make.make_edition(year) for year in (2020, 2021))
    for edition in (old, new):
        make.make_award(edition)
    page = address(Award, "changelist")
    narrowed = f"?edition__id__exact={old.pk}"
    pages = [admin_client.get(f"{page}{asked}").text for asked in (narrowed, f"{narrowed}&o=1", "")]

    assert ["data-places" in text for text in pages] == [True, False, False]


def test_somebody_who_may_only_look_gets_no_numbers_to_change(client: Client) -> None:
    row = make.make_room(make.make_edition())
    viewer = get_user_model().objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(*permissions("view_room"))
    client.force_login(viewer)
    page = client.get(address(Room, "changelist"))
    answer = client.post(address(Room, "changelist"), listed(Room, {row: 5}))

    assert 'name="form-0-position"' not in page.text
    assert answer.status_code == 403


def permissions(*names: str) -> Any:
    model: Any = get_user_model()._meta.get_field("user_permissions").related_model
    return model.objects.filter(codename__in=names)
