"""The resource `unreleased-changes`: listing, taking back, releasing, and who may."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from jsonschema import Draft202012Validator

from accounts.roles import Role
from api.schema import schema
from conference.models import Edition
from content.unreleased.plan import publishing
from schedule.models import Presentation, Room, Session, UnreleasedChange
from tests import factories as make
from tests.access.world import add_member
from tests.api.writing import Writer, bearer, make_staff, make_token
from tests.schedule.unreleased.waiting import open_plan

pytestmark = pytest.mark.django_db

LIST = "unreleased-changes/"


@pytest.fixture
def program(edition: Edition) -> Edition:
    make.make_room(edition, "Annex", slug="annex")
    for number in (1, 2):
        room = make.make_room(edition, f"Hall {number}", slug=f"hall-{number}")
        session = make.make_session(edition, uid=f"s{number}", title=f"Session {number}", room=room)
        make.make_presentation(session, uid=f"t{number}", title=f"Talk {number}")
    open_plan(edition)
    return edition


@pytest.fixture
def writer(program: Edition) -> Writer:
    return Writer()


def member(program: Edition, role: str, **options: Any) -> Writer:
    return Writer(make_token(add_member(role, program, role), **options))


def results(writer: Writer, query: str = "?edition=2021") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = writer.get(f"{LIST}{query}").json()["results"]
    return rows


def titles() -> list[str]:
    return [*Session.objects.order_by("uid").values_list("title", flat=True)]


def test_list_says_what_changes_who_changed_it_and_when(writer: Writer) -> None:
    writer.patch("sessions/2021/s1/", 202, title="New title", room="annex")
    (change,) = results(writer)
    stored = UnreleasedChange.objects.get()
    url = "http://127.0.0.1:8000/api/v1"

    assert change == {
        "id": stored.pk,
        "edition": "2021",
        "row": {
            "kind": "sessions",
            "id": "s1",
            "url": f"{url}/sessions/2021/s1/",
            "name": "Session 1",
        },
        "on_release": None,
        "fields": {
            "title": {"before": "Session 1", "after": "New title"},
            "room": {
                "before": {"id": "hall-1", "url": f"{url}/rooms/2021/hall-1/"},
                "after": {"id": "annex", "url": f"{url}/rooms/2021/annex/"},
            },
        },
        "by": "chair",
        "at": stored.at.isoformat().replace("+00:00", "Z"),
    }
    one = writer.get(f"{LIST}{stored.pk}/").json()
    assert one == change
    for name, content in (("UnreleasedChange", one), ("UnreleasedChangeList", writer.get(LIST).json())):
        known = {"$ref": f"#/components/schemas/{name}", "components": schema()["components"]}
        Draft202012Validator(known).validate(content)


def test_rows_that_come_and_go_and_people_are_listed(writer: Writer, program: Edition) -> None:
    make.add_role(Session.objects.get(uid="s1"), "Ada Chair", "chair")
    make.make_session(program, uid="s3", title="Late", kind="panel", room=None)
    writer.delete("presentations/2021/t1/", 202)
    found = [(row["row"]["kind"], row["row"]["name"], row["on_release"]) for row in results(writer)]

    assert found == [
        ("sessions", "Ada Chair (Chair)", "added"),
        ("sessions", "Late", "published"),
        ("presentations", "Talk 1", "removed"),
    ]
    assert results(writer)[1]["fields"]["title"] == {"before": None, "after": "Late"}


@pytest.mark.parametrize(
    ("path", "people"),
    [
        ("sessions/2021/s1/", {"people": [{"person": "ada", "role": "chair"}]}),
        ("presentations/2021/t1/", {"speakers": [{"person": "ada"}]}),
    ],
)
def test_changed_people_wait_as_other_changes_do(writer: Writer, path: str, people: dict[str, Any]) -> None:
    make.make_person("Ada Speaker", uid="ada")
    title, fields = writer.get(path).json()["title"], {"title": "New title", **people}
    added = writer.patch(path, 202, **people)["unreleased"]
    (listed,) = results(writer)
    removed = writer.patch(path, 200, **{name: [] for name in people})
    both = writer.patch(path, 202, **fields)["unreleased"]
    at_once = writer.patch(path, 200, recording_url="https://e.org/")

    assert (added["id"], added["on_release"]) == (listed["id"], "added")
    assert both["fields"] == {"title": {"before": title, "after": "New title"}}
    assert not {"unreleased"} & {*removed, *at_once}


def test_change_is_taken_back(writer: Writer) -> None:
    writer.patch("sessions/2021/s1/", 202, title="New title")
    writer.patch("sessions/2021/s2/", 202, title="Stays")
    path = f"{LIST}{results(writer)[0]['id']}/"
    writer.request("delete", path, None, 428)
    version = writer.get(path)["ETag"]
    writer.patch("sessions/2021/s1/", 202, title="Newer title")
    outdated = writer.request("delete", path, None, 412, HTTP_IF_MATCH=version).json()
    writer.delete(path)

    assert outdated["current"]["fields"]["title"]["after"] == "Newer title"
    assert [row["row"]["id"] for row in results(writer)] == ["s2"]
    assert titles() == ["Session 1", "Session 2"]
    writer.get(path, 404)


def test_changes_are_released_all_or_some(writer: Writer) -> None:
    writer.patch("sessions/2021/s1/", 202, title="Urgent")
    writer.patch("sessions/2021/s2/", 202, title="Later")
    ids = [results(writer)[0]["id"]]
    some = writer.request("post", f"{LIST}release/", {"edition": "2021", "ids": ids}).json()
    titles_then = titles()
    rest = writer.request("post", f"{LIST}release/", {"edition": "2021"}).json()

    assert (some, titles_then) == ({"released": 1}, ["Urgent", "Session 2"])
    assert (rest, titles()) == ({"released": 1}, ["Urgent", "Later"])
    nothing = writer.request("post", f"{LIST}release/", {"edition": "2021"}, 409).json()
    assert nothing["detail"] == "Nothing was chosen that could be released."


def test_release_of_what_changed_since_it_was_read_is_refused(writer: Writer) -> None:
    writer.patch("sessions/2021/s1/", 202, title="Read")
    version = writer.get(f"{LIST}?edition=2021").json()["version"]
    writer.patch("sessions/2021/s1/", 202, title="Not read")
    body = {"edition": "2021", "version": version}
    refused = writer.request("post", f"{LIST}release/", body, 409).json()

    assert "Changes were made after you opened this page" in refused["detail"]
    assert titles() == ["Session 1", "Session 2"]


@pytest.mark.parametrize(("choice", "title"), [("mine", "Mine"), ("theirs", "Theirs")])
def test_conflict_is_shown_and_chosen(writer: Writer, choice: str, title: str) -> None:
    writer.patch("sessions/2021/s1/", 202, title="Mine")
    with publishing():
        Session.objects.filter(uid="s1").update(title="Theirs")
    (change,) = results(writer)
    refused = writer.request("post", f"{LIST}release/", {"edition": "2021"}, 409).json()
    choices = {f"{change['id']}:title": choice}
    writer.request("post", f"{LIST}release/", {"edition": "2021", "choices": choices})

    assert change["fields"]["title"] == {"before": "Session 1", "after": "Mine", "public": "Theirs"}
    assert refused["reasons"] == [
        "The public program was changed meanwhile. Choose what holds where both differ."
    ]
    assert titles()[0] == title


def test_new_clashes_are_named_and_accepted(writer: Writer) -> None:
    writer.patch("sessions/2021/s2/", 202, room="hall-1")
    refused = writer.request("post", f"{LIST}release/", {"edition": "2021"}, 409).json()
    room_then = Session.objects.get(uid="s2").room
    body = {"edition": "2021", "confirmed_clashes": refused["clashes"]}
    writer.request("post", f"{LIST}release/", body)

    assert "Hall 1" in refused["reasons"][0]
    assert room_then == Room.objects.get(slug="hall-2")
    assert Session.objects.get(uid="s2").room == Room.objects.get(slug="hall-1")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "edition"),
        ({"edition": "2021", "ids": ["x"]}, "ids.0"),
        ({"edition": "2021", "choices": {"1:title": "?"}}, "choices.1:title"),
    ],
)
def test_invalid_body_names_the_field(writer: Writer, body: dict[str, Any], field: str) -> None:
    error = writer.request("post", f"{LIST}release/", body, 400).json()

    assert [*error["errors"]] == [field]


# Access


def test_only_staff_who_see_unreleased_changes_read_them(
    client: Client, writer: Writer, program: Edition
) -> None:
    writer.patch("sessions/2021/s1/", 202, title="Secret")
    key = UnreleasedChange.objects.get().pk
    paths = [f"/api/v1/{LIST}", f"/api/v1/{LIST}?edition=2021", f"/api/v1/{LIST}{key}/"]
    other_chair = make_token(add_member("other", make.make_edition(2022), "chair"))
    narrow = make_token(make_staff(name="narrow"), edition=Edition.objects.get(slug="2022"))
    leader = make_token(add_member("leader", program, "session_chair"))

    def statuses(token: str) -> list[int]:
        headers = bearer(token) if token else {}
        responses = [client.get(path, **headers) for path in paths]
        assert not any("Secret" in response.text for response in responses)
        return [response.status_code for response in responses]

    assert statuses("") == [401, 401, 401]
    assert statuses(leader) == [403, 403, 403]
    assert [statuses(other_chair), statuses(narrow)] == [[200, 404, 404]] * 2


@pytest.mark.parametrize("role", [*Role])
def test_roles_do_what_they_do_on_the_desk(
    writer: Writer, program: Edition, role: str, client: Client
) -> None:
    writer.patch("sessions/2021/s1/", 202, title="New title")
    user = add_member(f"a-{role}", program, role)
    client.force_login(user)
    page = client.get("/admin/schedule/release/working-copy/")
    may_see, may_release = page.status_code == 200, "Release all now" in page.text
    path = f"/api/v1/{LIST}{UnreleasedChange.objects.get().pk}/"
    version = writer.get(path.removeprefix("/api/v1/"))["ETag"]
    options: Any = {"content_type": "application/json", **bearer(make_token(user))}
    seen = client.get(f"/api/v1/{LIST}?edition=2021", **options).status_code
    taken_back = client.delete(path, HTTP_IF_MATCH=version, **options).status_code
    released = client.post(f"/api/v1/{LIST}release/", {"edition": "2021"}, **options).status_code

    assert seen == (200 if may_see else 403)
    # What was taken back can no longer be released.
    assert (taken_back, released) == ((204, 409) if may_release else (403, 403))


def test_authors_take_back_their_own_changes(program: Edition) -> None:
    editor, chair = member(program, "editor"), member(program, "chair")
    editor.patch("sessions/2021/s1/", 202, title="Editor’s")
    chair.patch("sessions/2021/s2/", 202, title="Chair’s")
    own, others = (f"{LIST}{row['id']}/" for row in results(editor))
    editor.delete(others, 403)
    editor.delete(own)
    editor.request("post", f"{LIST}release/", {"edition": "2021"}, 403)

    assert [row["by"] for row in results(editor)] == ["chair"]
    chair.request("post", f"{LIST}release/", {"edition": "2021"})
    assert titles() == ["Session 1", "Chair’s"]


def test_tokens_that_read_neither_take_back_nor_release(program: Edition, writer: Writer) -> None:
    writer.patch("sessions/2021/s1/", 202, title="New title")
    reader = Writer(make_token(make_staff(name="reader"), scope="read"))
    path = f"{LIST}{results(reader)[0]['id']}/"
    reader.delete(path, 403)
    reader.request("post", f"{LIST}release/", {"edition": "2021"}, 403)

    assert len(results(reader)) == 1


def test_query_count_is_the_same_for_1_and_3_changes(program: Edition, writer: Writer) -> None:
    counts = []
    for uid in ("s1", "s2"):
        session = Session.objects.get(uid=uid)
        session.title, session.room = "Changed", Room.objects.get(slug="annex")
        session.save()
        Presentation.objects.filter(uid=f"t{uid[1]}").update(board="7")
        writer.get(LIST)
        with CaptureQueriesContext(connection) as queries:
            writer.get(f"{LIST}?edition=2021")
        counts.append(len(queries))

    assert counts[0] == counts[1]
