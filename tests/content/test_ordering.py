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
from tests.admin_forms import admin_url

pytestmark = pytest.mark.django_db

MAKERS: dict[type[Model], Any] = {Room: make.make_room, Sponsor: make.make_sponsor}


def make_three_rows(model: type[Model], edition: Edition) -> list[Any]:
    return [MAKERS[model](edition, name) for name in ("One", "Two", "Three")]


def list_positions(rows: Any) -> list[tuple[int, str]]:
    return list(rows.order_by("position", "pk").values_list("position", "name"))


def list_form_data(model: type[Model], numbers: dict[Any, Any]) -> dict[str, Any]:
    """Return the form data of a list with these positions."""
    data: dict[str, Any] = {"form-TOTAL_FORMS": len(numbers), "form-INITIAL_FORMS": len(numbers), "_save": 1}
    for index, (row, number) in enumerate(numbers.items()):
        data |= {f"form-{index}-id": row.pk, f"form-{index}-position": number}
    return data


@pytest.mark.parametrize("model", MAKERS)
def test_positions_are_renumbered_by_the_delete_page_and_the_action(model: Any, admin_client: Client) -> None:
    first, second, _three = make_three_rows(model, make.make_edition())
    admin_client.post(admin_url(first, "delete"), {"post": "yes"})
    after_page = list_positions(model.objects)
    data = {"action": "delete_selected", "_selected_action": [second.pk], "post": "yes"}
    admin_client.post(admin_url(model, "changelist"), data)

    assert after_page == [(1, "Two"), (2, "Three")]
    assert list_positions(model.objects) == [(1, "Three")]


def test_positions_are_renumbered_after_a_cascading_deletion(edition: Edition) -> None:
    session = make.make_session(edition)
    papers = [make.make_paper(edition) for _ in range(3)]
    for paper in papers:
        make.make_presentation(session, paper)
    papers[0].delete()

    assert list(session.presentations.values_list("position", "paper")) == [
        (1, papers[1].pk),
        (2, papers[2].pk),
    ]


def test_positions_are_renumbered_when_a_talk_moves_to_another_session() -> None:
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


def test_restored_row_gets_its_position_back(admin_client: Client) -> None:
    first, second, *_ = make_three_rows(Sponsor, make.make_edition())
    admin_client.post(admin_url(Sponsor, "changelist"), list_form_data(Sponsor, {first: 2, second: 1}))
    second.delete()
    deletion = RowChange.objects.deleted_directly().get()
    admin_client.post(reverse("admin:conference_sponsor_bring_back", args=[deletion.pk]))

    assert list_positions(Sponsor.objects) == [(1, "Two"), (2, "One"), (3, "Three")]


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
def test_positions_entered_in_a_list_reorder_the_rows(
    numbers: tuple[int, ...], expected: list[str], admin_client: Client
) -> None:
    rows = make_three_rows(Room, make.make_edition())
    admin_client.post(
        admin_url(Room, "changelist"), list_form_data(Room, dict(zip(rows, numbers, strict=True)))
    )

    assert list_positions(Room.objects) == list(enumerate(expected, start=1))
    assert ChangeSet.objects.latest("pk").get_origin_display() == "Form"


def test_list_reorders_each_edition_including_rows_not_listed(admin_client: Client) -> None:
    old, new = make_three_rows(Room, make.make_edition(2020)), make_three_rows(Room, make.make_edition(2021))
    numbers = {old[2]: 1, old[0]: 3, new[1]: 1}
    admin_client.post(admin_url(Room, "changelist"), list_form_data(Room, numbers))

    assert list_positions(Room.objects.filter(edition__year=2020)) == [(1, "Three"), (2, "Two"), (3, "One")]
    assert list_positions(Room.objects.filter(edition__year=2021)) == [(1, "Two"), (2, "One"), (3, "Three")]


def test_rows_can_be_dragged_only_in_a_list_of_one_edition_in_order(admin_client: Client) -> None:
    old, new = (make.make_edition(year) for year in (2020, 2021))
    for edition in (old, new):
        make.make_award(edition)
    page = admin_url(Award, "changelist")
    edition_filter = f"?edition__id__exact={old.pk}"
    pages = [
        admin_client.get(f"{page}{query}").text for query in (edition_filter, f"{edition_filter}&o=1", "")
    ]

    assert ["data-places" in text for text in pages] == [True, False, False]


def test_viewer_cannot_change_positions(client: Client) -> None:
    row = make.make_room(make.make_edition())
    viewer = get_user_model().objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(*permissions("view_room"))
    client.force_login(viewer)
    page = client.get(admin_url(Room, "changelist"))
    response = client.post(admin_url(Room, "changelist"), list_form_data(Room, {row: 5}))

    assert 'name="form-0-position"' not in page.text
    assert response.status_code == 403


def permissions(*names: str) -> Any:
    model: Any = get_user_model()._meta.get_field("user_permissions").related_model
    return model.objects.filter(codename__in=names)
