"""Primary keys in requests: an invalid one matches no row and causes no error."""

from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from content.request_keys import parse_key
from editorial.current_edition import LIST_FILTER
from schedule.models import ReleasePlan
from tests import factories as make
from tests.admin_forms import admin_url, formset

pytestmark = pytest.mark.django_db

# Too long for `int()`, too long for a database, and characters that `str.isdecimal()` accepts.
INVALID_KEYS = ["9" * 5_000, "9" * 20, "-1", "٣", "x", "1 "]
# URLs of the admin that contain primary keys.
URLS = [
    "?edition=%s",
    "papers/paper/?edition__id__exact=%s",
    "papers/paper/?id__exact=%s",
    "papers/paper/add/?edition=%s",
    "papers/paper/add/?_changelist_filters=edition__id__exact%%3D%s",
    "autocomplete/?app_label=papers&model_name=paper&field_name=topic&edition=%s",
    "papers/paper/%s/change/",
    "papers/paper/%s/history/",
    "people/person/%s/change/",
    "people/person/compare/?id=%s&id=1",
    "schedule/session/?edition__id__exact=%s",
    "schedule/session/timetable/?edition=%s",
    "schedule/session/timetable/?saved=%s",
    "schedule/session/assign/?edition=%s",
    "schedule/session/clashes/?edition=%s",
    "schedule/programinvitation/prepare/?session=%s&presentation=%s",
    "schedule/release/working-copy/?edition=%s",
]


@pytest.mark.parametrize("text", ["1", "9" * 18])
def test_number_that_a_database_can_hold_is_a_key(text: str) -> None:
    assert parse_key(text) == int(text)


@pytest.mark.parametrize("text", [*INVALID_KEYS, "", "0", "01", "9" * 19, "1.0", "+1", "1\n", 1, ["1"], None])
def test_anything_else_is_parsed_as_0(text: object) -> None:
    assert parse_key(text) == 0


@pytest.mark.parametrize("url", URLS)
def test_invalid_key_in_a_url_is_no_server_error(url: str, admin_client: Client, edition: Edition) -> None:
    paths = {text: f"/admin/{url.replace('%s', text).replace('%%', '%')}" for text in INVALID_KEYS}
    statuses = {text: admin_client.get(path).status_code for text, path in paths.items()}

    assert {text: status for text, status in statuses.items() if status not in {200, 302, 403, 404}} == {}


@pytest.mark.parametrize("text", INVALID_KEYS)
def test_invalid_key_in_a_form_is_no_server_error(text: str, admin_client: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    paper = make.make_paper(edition)
    ReleasePlan.objects.create(edition=edition)
    rows = formset("presentations", [], [{"kind": "oral", "paper": text, "status": "published"}])
    posts: list[tuple[str, dict[str, Any]]] = [
        (admin_url(session, "change"), {"title": "A", "edition": text, **formset("roles"), **rows}),
        (admin_url(paper, "change"), {"topic": text, **formset("authorships"), **formset("materials")}),
        ("/admin/papers/paper/", {"action": "publish", "_selected_action": [text]}),
        ("/admin/schedule/session/assign/", {"edition": edition.pk, "pick": text, "_put": text}),
        (
            "/admin/schedule/release/working-copy/",
            {"edition": edition.pk, "act": "release", "seen_version": text, "row": f"paper:{text}"},
        ),
    ]

    statuses = {path: admin_client.post(path, data).status_code for path, data in posts}

    assert {path: status for path, status in statuses.items() if status >= 500} == {}


def test_add_form_takes_its_edition_from_the_list_filter(admin_client: Client) -> None:
    first, second = make.make_edition(2020), make.make_edition(2021)

    for edition in (first, second):
        page = admin_client.get(f"/admin/papers/paper/add/?_changelist_filters={LIST_FILTER}%3D{edition.pk}")
        assert page.context["adminform"].form.initial["edition"] == edition.pk
