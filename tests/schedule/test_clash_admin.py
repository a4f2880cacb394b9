"""Tests of clashes on forms, after saving, on their page and in the command `check_schedule`."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from conference.models import Edition
from content.revision import lock
from schedule import clashes
from schedule.admin.clashes import saved_with_clashes
from schedule.models import Session
from tests.admin_forms import admin_url, date_and_time, formset
from tests.factories import MORNING, add_role, make_edition, make_person, make_presentation, make_session
from tests.html_pages import Page

pytestmark = pytest.mark.django_db


@pytest.fixture
def clashing_sessions(edition: Edition) -> tuple[Session, Session]:
    """Create two sessions at the same time with the same chair."""
    ada = make_person("Ada & Co.", uid="ada")
    first, second = (make_session(edition, title=title, uid=title) for title in ("First", "Second"))
    for session in (first, second):
        add_role(session, ada, "chair")
    return first, second


def test_form_shows_the_clashes_of_its_session(admin_client: Client, clashing_sessions: Any) -> None:
    chaired, _other = clashing_sessions
    page = admin_client.get(admin_url(chaired, "change")).text
    person, first, second = (
        f'<a href="{admin_url(row, "change")}">' for row in (chaired.roles.get().person, *clashing_sessions)
    )

    assert "1 clash</h2>" in page
    assert (
        f"<p>{person}Ada &amp; Co.</a>: in two places at once: {first}Oral session “First”</a>, "
        f"and {second}Oral session “Second”</a>.</p>"
    ) in page


def test_form_lists_the_first_clashes_and_links_to_all(
    admin_client: Client, clashing_sessions: tuple[Session, Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.admin.clashes.MAX_FORM_CLASHES", 1)
    first, second = clashing_sessions
    late = make_presentation(second, title="Late", start=MORNING + timedelta(hours=2))
    list_url = f"{reverse('admin:schedule_session_clashes')}?edition={first.edition_id}"
    form = Page(admin_client.get(admin_url(second, "change")).text)
    links = {element.text: element.attributes.get("href", "") for element in form.all("a")}

    assert len(form.all("ul", "clash-list")[0].inside("li")) == 1
    assert "2 clashes" in form.texts("h2")
    assert links["All 2 clashes"] == f"{list_url}&session={second.pk}"
    assert clash_count(admin_client, links["All 2 clashes"]) == 2
    assert clash_count(admin_client, f"{list_url}&session={first.pk}") == 1
    assert clash_count(admin_client, f"{list_url}&presentation={late.pk}") == 1
    assert clash_count(admin_client, f"{list_url}&session=999") == 2
    assert "All 1 clash" not in admin_client.get(admin_url(first, "change")).text


def clash_count(client: Client, address: str) -> int:
    return len(Page(client.get(address).text).all("ul", "clash-list")[0].inside("li"))


def test_session_and_presentation_forms_show_a_talk_outside_its_session(
    admin_client: Client, clashing_sessions: tuple[Session, Session]
) -> None:
    outside = make_presentation(clashing_sessions[1], title="Late", start=MORNING + timedelta(hours=2))
    for row in (clashing_sessions[1], outside):
        assert "is outside its session" in admin_client.get(admin_url(row, "change")).text


def test_form_without_clashes_does_not_mention_them(admin_client: Client, edition: Edition) -> None:
    assert "clash" not in admin_client.get(admin_url(make_session(edition), "change")).text
    assert "clash" not in admin_client.get(admin_url(Session, "add")).text


@pytest.mark.parametrize(
    ("count", "ending"), [(4, "1 more is listed on its form."), (5, "2 more are listed on its form.")]
)
def test_warning_counts_the_clashes_that_it_leaves_out(
    clashing_sessions: tuple[Session, Session], count: int, ending: str
) -> None:
    (clash,) = clashes.find_clashes_about(clashing_sessions)

    assert str(saved_with_clashes([clash] * count)).endswith(f" {ending}")


def test_saving_with_a_clash_succeeds_with_a_warning(
    admin_client: Client, clashing_sessions: tuple[Session, Session]
) -> None:
    values = {"kind": "oral", "status": "published", "title": "First", "uid": "First"}
    values |= date_and_time("start", "2021-04-06", "08:30") | date_and_time("end", "2021-04-06", "09:30")
    session, _other = clashing_sessions
    role = session.roles.get()
    row = {"id": role.pk, "session": session.pk, "role": "chair", "person": role.person_id, "position": 1}
    values |= formset("roles", [row]) | formset("presentations")
    page = admin_client.post(admin_url(session, "change"), values, follow=True)
    session.refresh_from_db()

    assert session.start == MORNING + timedelta(minutes=30)
    warning = next(message for message in page.context["messages"] if message.level_tag == "warning")
    assert str(warning) == (
        "Saved, with 1 clash: Ada &amp; Co.: in two places at once: Oral session “Second”, "
        "and Oral session “First”."
    )


# The command


def run_check_schedule(*args: str) -> tuple[int, str]:
    """Return exit code and output of the command."""
    output = StringIO()
    try:
        call_command("check_schedule", *args, stdout=output)
    except SystemExit as error:
        return int(str(error.code)), output.getvalue()
    return 0, output.getvalue()


def test_command_lists_clashes_and_exits_with_1(clashing_sessions: Any) -> None:
    make_edition(2020)
    code, output = run_check_schedule()

    assert code == 1
    assert output == (
        "Tue 6 Apr, 08:00 to 09:00 PDT: Person in two places at once. "
        "Ada & Co.: in two places at once: Oral session “First”, and Oral session “Second”.\n"
        "MLSys 2021: 1 clash.\n"
    )
    assert run_check_schedule("2020") == (0, "MLSys 2020: no clashes.\n")


def test_command_writes_json(clashing_sessions: Any) -> None:
    code, output = run_check_schedule("2021", "--format", "json")
    report = json.loads(output)

    assert (code, report["edition"]) == (1, "2021")
    assert report["clashes"] == [
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


def test_command_with_serious_option_omits_light_clashes(edition: Edition) -> None:
    posters = make_session(edition, kind="poster")
    for _ in range(2):
        make_presentation(posters, kind="poster", speakers=["Ada"])
    ada = posters.presentations.all()[0].speakers.get().person
    posters.presentations.all()[1].speakers.update(person=ada)

    assert run_check_schedule("2021")[0] == 1
    assert run_check_schedule("2021", "--serious") == (0, "MLSys 2021: no clashes.\n")


def test_command_with_unknown_edition_lists_existing_ones(edition: Edition) -> None:
    with pytest.raises(CommandError, match=r"There is no edition “1999”. Existing: 2021.") as error:
        run_check_schedule("1999")
    assert error.value.returncode == 2


# The page of all clashes


CLASHES = "/admin/schedule/session/clashes/"


def test_page_filters_clashes_by_kind(admin_client: Client, clashing_sessions: Any) -> None:
    make_presentation(clashing_sessions[0], title="Late", start=MORNING + timedelta(hours=2))
    unfiltered, outside, unknown = (
        admin_client.get(CLASHES, {"kind": kind}).context for kind in ("", "outside_session", "x")
    )

    assert [str(row["clash"].kind.value) for row in unfiltered["clashes"]] == ["person", "outside_session"]
    assert [str(row["clash"].kind.value) for row in outside["clashes"]] == ["outside_session"]
    assert (unfiltered["total"], outside["total"], len(unknown["clashes"])) == (2, 2, 2)


def test_page_without_clashes_or_editions_says_so(admin_client: Client) -> None:
    assert "No clashes." in admin_client.get(CLASHES).text
    make_edition()
    assert "Clashes of MLSys 2021" in admin_client.get(CLASHES).text


def test_page_lists_100_clashes(admin_client: Client, edition: Edition) -> None:
    session = make_session(edition)
    with lock():
        for _ in range(101):
            make_presentation(session, start=MORNING + timedelta(hours=2), end=MORNING + timedelta(hours=2))
    first, second = (admin_client.get(f"{CLASHES}?kind=outside_session&page={page}") for page in (1, 2))

    assert [len(page.context["clashes"]) for page in (first, second)] == [100, 1]
    assert "Page 1 of 2" in first.text


def test_page_requires_permission_to_view_sessions(client: Client, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("helper", is_staff=True))

    assert client.get(CLASHES).status_code == 403
