"""Tests of clashes on forms, after saving, on their page and in the command `check_schedule`."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from conference.models import Edition
from schedule.models import Session
from tests.factories import MORNING, add_role, make_edition, make_person, make_presentation, make_session
from tests.posted import address, date_and_time, formset

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(edition: Edition) -> tuple[Session, Session]:
    """Create two sessions at the same time with the same chair."""
    ada = make_person("Ada & Co.", uid="ada")
    first, second = (make_session(edition, title=title, uid=title) for title in ("First", "Second"))
    for one in (first, second):
        add_role(one, ada, "chair")
    return first, second


def test_form_shows_what_its_row_gets_in_the_way_of(admin_client: Client, pair: Any) -> None:
    page = admin_client.get(address(pair[0], "change")).text
    person, first, second = (
        f'<a href="{address(row, "change")}">' for row in (pair[0].roles.get().person, *pair)
    )

    assert "1 clash</h2>" in page
    assert (
        f"<p>{person}Ada &amp; Co.</a>: in two places at once: {first}Oral session “First”</a>, "
        f"and {second}Oral session “Second”</a>.</p>"
    ) in page


def test_form_of_a_session_shows_the_clashes_of_its_presentations(
    admin_client: Client, pair: tuple[Session, Session]
) -> None:
    outside = make_presentation(pair[1], title="Late", start=MORNING + timedelta(hours=2))
    for row in (pair[1], outside):
        assert "is outside its session" in admin_client.get(address(row, "change")).text


def test_form_without_clashes_says_nothing_of_them(admin_client: Client, edition: Edition) -> None:
    assert "clash" not in admin_client.get(address(make_session(edition), "change")).text
    assert "clash" not in admin_client.get(address(Session, "add")).text


def test_saving_warns_and_is_not_held_up(admin_client: Client, pair: tuple[Session, Session]) -> None:
    values = {"kind": "oral", "status": "published", "title": "First", "uid": "First"}
    values |= date_and_time("start", "2021-04-06", "08:30") | date_and_time("end", "2021-04-06", "09:30")
    role = pair[0].roles.get()
    row = {"id": role.pk, "session": pair[0].pk, "role": "chair", "person": role.person_id, "position": 1}
    values |= formset("roles", [row]) | formset("presentations")
    page = admin_client.post(address(pair[0], "change"), values, follow=True)
    pair[0].refresh_from_db()

    assert pair[0].start == MORNING + timedelta(minutes=30)
    warning = next(one for one in page.context["messages"] if one.level_tag == "warning")
    assert str(warning) == (
        "Saved, with 1 clash: Ada &amp; Co.: in two places at once: Oral session “Second”, "
        "and Oral session “First”."
    )


# The command


def run_check_schedule(*args: str) -> tuple[int, str]:
    """Return exit code and output of the command."""
    said = StringIO()
    try:
        call_command("check_schedule", *args, stdout=said)
    except SystemExit as stopped:
        return int(str(stopped.code)), said.getvalue()
    return 0, said.getvalue()


def test_command_lists_clashes_and_fails(pair: Any) -> None:
    make_edition(2020)
    code, said = run_check_schedule()

    assert code == 1
    assert said == (
        "Tue 6 Apr, 08:00 to 09:00 PDT: Person in two places at once. "
        "Ada & Co.: in two places at once: Oral session “First”, and Oral session “Second”.\n"
        "MLSys 2021: 1 clash.\n"
    )
    assert run_check_schedule("2020") == (0, "MLSys 2020: no clashes.\n")


def test_command_writes_json_for_machines(pair: Any) -> None:
    code, said = run_check_schedule("2021", "--format", "json")
    found = json.loads(said)

    assert (code, found["edition"]) == (1, "2021")
    assert found["clashes"] == [
        {
            "kind": "person",
            "severity": "serious",
            "message": "Ada & Co.: in two places at once: Oral session “First”, and Oral session “Second”.",
            "start": "2021-04-06T08:00:00-07:00",
            "end": "2021-04-06T09:00:00-07:00",
            "rows": [
                {"model": "session", "uid": "First", "name": "Oral session “First”"},
                {"model": "session", "uid": "Second", "name": "Oral session “Second”"},
                {"model": "person", "uid": "ada", "name": "Ada & Co."},
            ],
        }
    ]


def test_command_leaves_out_what_may_be_meant(edition: Edition) -> None:
    posters = make_session(edition, kind="poster")
    for _ in range(2):
        make_presentation(posters, kind="poster", speakers=["Ada"])
    ada = posters.presentations.all()[0].speakers.get().person
    posters.presentations.all()[1].speakers.update(person=ada)

    assert run_check_schedule("2021")[0] == 1
    assert run_check_schedule("2021", "--serious") == (0, "MLSys 2021: no clashes.\n")


def test_command_names_the_editions_there_are(edition: Edition) -> None:
    with pytest.raises(CommandError, match=r"There is no edition “1999”. Existing: 2021.") as error:
        run_check_schedule("1999")
    assert error.value.returncode == 2


# The page of all clashes


CLASHES = "/admin/schedule/session/clashes/"


def test_page_lists_all_clashes_and_those_of_a_kind(admin_client: Client, pair: Any) -> None:
    make_presentation(pair[0], title="Late", start=MORNING + timedelta(hours=2))
    both, outside, unknown = (
        admin_client.get(CLASHES, {"kind": kind}).context for kind in ("", "outside_session", "x")
    )

    assert [str(one["clash"].kind.value) for one in both["clashes"]] == ["person", "outside_session"]
    assert [str(one["clash"].kind.value) for one in outside["clashes"]] == ["outside_session"]
    assert (both["total"], outside["total"], len(unknown["clashes"])) == (2, 2, 2)


def test_page_without_clashes_or_editions_says_so(admin_client: Client) -> None:
    assert "No clashes." in admin_client.get(CLASHES).text
    make_edition()
    assert "Clashes of MLSys 2021" in admin_client.get(CLASHES).text


def test_page_is_turned_after_a_hundred(admin_client: Client, edition: Edition) -> None:
    whole = make_session(edition)
    for _ in range(101):
        make_presentation(whole, start=MORNING + timedelta(hours=2), end=MORNING + timedelta(hours=2))
    first, second = (admin_client.get(f"{CLASHES}?kind=outside_session&page={page}") for page in (1, 2))

    assert [len(page.context["clashes"]) for page in (first, second)] == [100, 1]
    assert "Page 1 of 2" in first.text


def test_page_is_for_those_who_may_see_sessions(client: Client, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("helper", is_staff=True))

    assert client.get(CLASHES).status_code == 403
