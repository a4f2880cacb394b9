"""Tests of "My agenda", which is stored in the browser, or on the server under a secret link."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conference.models import Edition
from schedule.agenda.agendas import star_of
from schedule.following import MAX_WRITES_PER_MINUTE, Agenda, AgendaStar
from tests import factories as make
from tests.reading import Page, read
from tests.schedule.test_query_counts import add_talks

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


def posted(client: Client, path: str, status: int = 200, **fields: Any) -> Page:
    response = client.post(path, fields)
    assert response.status_code == status, response.content.decode()[-800:]
    return Page(response.content.decode())


def shown(client: Client, *things: Any) -> Page:
    """Return the agenda page of these objects, requested as the script does."""
    return posted(client, "/2021/agenda/", s=" ".join(str(star_of(thing)) for thing in things))


def kept(client: Client, *things: Any) -> str:
    """Star objects without JavaScript; return the secret of the agenda."""
    response = client.post("/2021/agenda/stars/", {"star": [str(star_of(thing)) for thing in things]})
    assert response.status_code == 303
    return client.cookies["agenda"].value


def synced(client: Client, stars: str, status: int = 200) -> dict[str, Any]:
    response = client.post("/2021/agenda/sync/", {"stars": stars}, headers=JSON)
    assert response.status_code == status, response.content
    found: dict[str, Any] = response.json()
    return found


# Display


def test_agenda_stands_by_day_and_time(client: Client, edition: Edition) -> None:
    late = make.make_session(edition, title="Panel", start=make.MORNING + timedelta(hours=30))
    early = make.make_session(edition, title="Keynote", room=make.make_room(edition))
    paper = make.make_paper(edition, ["Ada Lovelace"], title="Notes")
    talk = make.make_presentation(early, paper, start=make.MORNING + timedelta(minutes=20), end=early.end)

    page = shown(client, late, talk, early)

    assert page.outline[1:] == [
        "2 Tuesday 6 April 2021",
        "3 08:00 to 09:00 PDT",
        "4 Keynote",
        "3 08:20 to 09:00 PDT",
        "4 Notes",
        "2 Wednesday 7 April 2021",
        "3 14:00 to 15:00 PDT",
        "4 Panel",
        "2 Other devices",
    ]
    assert "At the same time" not in page.main
    assert "In Keynote" in page.main


def test_clash_is_shown_on_both_sides(client: Client, edition: Edition) -> None:
    one = make.make_session(edition, title="Left", uid="a")
    other = make.make_session(edition, title="Right", uid="b")

    page = shown(client, one, other)

    assert page.texts("p", "clash") == ["At the same time: Right", "At the same time: Left"]
    assert "1 conflict" in page.main


def test_cancelled_is_said_and_clashes_with_nothing(client: Client, edition: Edition) -> None:
    one = make.make_session(edition, status="cancelled", cancellation_reason="The speaker is ill.")
    page = shown(client, one, make.make_session(edition))

    assert page.texts("p", "clash") == []
    assert "Canceled The speaker is ill." in page.main


def test_next_stop_in_another_room_is_said(client: Client, edition: Edition) -> None:
    one = make.make_session(edition, title="First", room=make.make_room(edition, "Hall A"))
    other = make.make_session(edition, title="Then", start=one.end, room=make.make_room(edition, "Hall B"))

    assert "Ends as “Then” begins in Hall B." in shown(client, other, one).main


def test_posters_of_a_session_are_a_route_along_the_boards(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Posters", kind="poster")
    boards = {
        board: make.make_presentation(session, make.make_paper(edition), kind="poster", board=board)
        for board in ("10", "9", "2")
    }

    page = shown(client, *boards.values())

    assert page.texts("p", "board") == ["Board 2", "Board 9", "Board 10"]
    assert "My route: 3 boards" in page.texts("h5")
    assert page.texts("p", "clash") == []


def test_move_is_told_until_it_is_noted(client: Client, edition: Edition) -> None:
    hall, loft = make.make_room(edition, "Hall"), make.make_room(edition, "Loft")
    session = make.make_session(edition, room=hall)
    make.make_session(edition, room=hall)
    star = str(star_of(session))
    session.start, session.end, session.room = (
        session.start + timedelta(hours=2),
        session.end + timedelta(hours=2),
        loft,
    )
    session.save()

    page = posted(client, "/2021/agenda/", s=star)

    assert page.texts("div", "moved") == [
        f"Moved since you starred it. It was Tue 6 Apr, 08:00 PDT, Hall. Dismiss: {session}"
    ]
    noted = next(
        button.attributes["value"] for button in page.all("button") if "data-noted" in button.attributes
    )
    assert posted(client, "/2021/agenda/", s=noted).texts("div", "moved") == []


def test_what_has_no_time_comes_last(client: Client, edition: Edition) -> None:
    talk = make.make_presentation(paper=make.make_paper(edition, title="Someday"))

    assert "2 Time not announced" in shown(client, talk).outline


def test_only_public_things_appear_and_the_others_are_counted(client: Client, edition: Edition) -> None:
    draft = make.make_session(edition, title="Secret", status="draft")
    paper = make.make_paper(edition, title="Gone", status="withdrawn")
    withdrawn = make.make_presentation(make.make_session(edition), paper)

    page = shown(client, draft, withdrawn)

    assert "2 starred sessions or talks are no longer in the program." in page.main
    assert "Secret" not in page.main
    assert "Gone" not in page.main


def test_address_with_stars_shows_them_to_anybody(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Engines")

    page = read(client, f"/2021/agenda/?s=s.{session.uid}+p.unknown")

    assert "4 Engines" in page.outline
    assert "1 starred session or talk is no longer in the program." in page.main
    assert page.all("button", "star", value=str(star_of(session)))


# Storage


def test_nobody_gets_a_cookie_before_the_first_star(client: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    for path in (
        "/",
        "/2021/",
        "/2021/agenda/",
        session.get_absolute_url(),
        f"/2021/agenda/?s=s.{session.uid}",
    ):
        client.get(path)
    client.post("/2021/agenda/", {"s": str(star_of(session))})

    assert dict(client.cookies) == {}
    assert not Agenda.objects.exists()


def test_star_without_javascript_is_kept_under_a_secret_link(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Engines")

    token = kept(client, session)

    cookie = client.cookies["agenda"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/2021/agenda/", True, "Lax")
    page = read(client, "/2021/agenda/")
    assert "4 Engines" in page.outline
    assert f"http://testserver/2021/agenda/{token}/" in [e.attributes.get("value") for e in page.all("input")]
    stored = Agenda.objects.get()
    assert token not in (stored.token_digest, Agenda.digest(stored.token_digest))
    assert stored.token_digest == Agenda.digest(Agenda.reading_token(token))


def test_star_is_taken_away_without_javascript(client: Client, edition: Edition) -> None:
    one, other = make.make_session(edition, uid="a"), make.make_session(edition, uid="b", title="Other")
    kept(client, one, other)
    value = read(client, "/2021/agenda/").all("button", "star")[0].attributes["value"]

    assert value == f"-{star_of(one)}"
    client.post("/2021/agenda/stars/", {"star": value})
    assert [line for line in read(client, "/2021/agenda/").outline if line[0] == "4"] == ["4 Other"]
    assert Agenda.objects.count() == 1


def test_secret_link_opens_elsewhere_and_the_derived_one_only_shows(client: Client, edition: Edition) -> None:
    token, elsewhere = kept(client, make.make_session(edition, title="Engines")), Client()
    reading = Agenda.reading_token(token)
    for secret, can in ((token, True), (reading, False)):
        page = read(elsewhere, f"/2021/agenda/{secret}/")
        assert "4 Engines" in page.outline
        assert bool(page.all("button", value="delete")) is can
        assert token not in page.main.replace(secret, "")
    assert elsewhere.post(f"/2021/agenda/{reading}/", {"action": "delete"}).status_code == 403
    assert elsewhere.post(f"/2021/agenda/{token}/", {"action": "use"}).status_code == 303
    assert "4 Engines" in read(elsewhere, "/2021/agenda/").outline
    elsewhere.cookies["agenda"] = reading
    assert synced(elsewhere, "", 404) == {"error": "This browser has no saved agenda."}


def test_deleting_deletes(client: Client, edition: Edition) -> None:
    token = kept(client, make.make_session(edition))
    other = Client()
    other.post(f"/2021/agenda/{token}/", {"action": "use"})

    response = client.post(f"/2021/agenda/{token}/", {"action": "delete"})

    assert response.status_code == 303
    assert (client.cookies["agenda"].value, client.cookies["agenda"]["max-age"]) == ("", 0)
    assert (Agenda.objects.count(), AgendaStar.objects.count()) == (0, 0)
    for secret in (token, Agenda.reading_token(token)):
        assert "There is no agenda under this link" in read(client, f"/2021/agenda/{secret}/", 404).main
        assert client.get(f"/2021/agenda/{secret}.ics").status_code == 404
    assert "Your saved agenda was deleted." in read(other, "/2021/agenda/").main
    assert other.cookies["agenda"].value == ""


def test_replies_are_private(client: Client, edition: Edition) -> None:
    token = kept(client, make.make_session(edition))
    for path in ("/2021/agenda/", f"/2021/agenda/{token}/", f"/2021/agenda/{token}.ics"):
        headers = client.get(path).headers
        assert headers["Cache-Control"] == "private, no-store"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["X-Robots-Tag"] == "noindex, nofollow"
    page = read(client, f"/2021/agenda/{token}/")
    assert page.all("meta", name="robots")
    assert page.all("link", rel="canonical") == []


# Synchronization


def test_devices_meet_without_loss_and_the_later_word_counts(client: Client, edition: Edition) -> None:
    rows = [make.make_session(edition) for _ in range(3)]
    a, b, c = (str(star_of(row)) for row in rows)
    kept(client)
    synced(client, f"{a}@1000 {b}@1000")

    synced(client, f"{c}@1500 -{b}@2000")
    found = synced(client, f"{a}@1000 {b}@1200")

    assert sorted(found["stars"]) == sorted([f"{a}@1000", f"-{b}@2000", f"{c}@1500"])
    assert f"{b}@3000" in synced(client, f"{b}@3000")["stars"]


def test_browser_learns_whether_its_stars_changed_what_is_saved(client: Client, edition: Edition) -> None:
    star = star_of(make.make_session(edition))
    kept(client)

    answers = [
        synced(client, sent)["changed"] for sent in (f"{star}@1000", f"{star}@1000", f"-{star}@2000", "")
    ]

    assert answers == [True, False, True, False]


def test_fast_clock_is_set_right(client: Client, edition: Edition) -> None:
    star = str(star_of(make.make_session(edition)))
    kept(client)
    synced(client, f"{star}@99999999999999")

    assert AgendaStar.objects.get().starred_at <= timezone.now()


def test_unknown_things_and_foreign_rooms_are_not_taken(client: Client, edition: Edition) -> None:
    other = make.make_edition(2022)
    foreign, room = make.make_session(other, uid="x1"), make.make_room(other)
    own = make.make_session(edition)
    kept(client)

    synced(client, f"{star_of(foreign)}@1 p.none@.@1 s.{own.uid}@1617721200.{room.pk}@1")

    row = AgendaStar.objects.get()
    assert (row.session, row.seen_room) == (own, None)


def test_other_sites_cannot_change_an_agenda(client: Client, edition: Edition) -> None:
    kept(client, make.make_session(edition))
    star = str(star_of(make.make_session(edition)))
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        for path, field in (("stars", "star"), ("sync", "stars")):
            response = client.post(f"/2021/agenda/{path}/", {field: star}, headers=headers)
            assert response.status_code == 403
            assert "only be changed from pages of this site" in response.content.decode()
    assert AgendaStar.objects.count() == 1
    same = {"Sec-Fetch-Site": "same-origin", "Origin": "null"}
    assert client.post("/2021/agenda/sync/", {"stars": star}, headers=same).status_code == 200


def test_writing_is_bounded(client: Client, edition: Edition) -> None:
    kept(client)
    Agenda.objects.update(writes=MAX_WRITES_PER_MINUTE, writes_since=timezone.now())

    response = client.post("/2021/agenda/sync/", {"stars": ""}, headers=JSON)

    assert (response.status_code, response.headers["Retry-After"]) == (429, "60")
    assert response.json() == {"error": "Too many requests. Wait a minute and try again."}
    Agenda.objects.update(writes_since=timezone.now() - timedelta(minutes=1))
    assert synced(client, "") == {"stars": [], "changed": False}


def test_making_agendas_is_bounded(client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedule.agenda.agendas.MAX_NEW_PER_MINUTE", 1)
    kept(client)

    assert Client().post("/2021/agenda/stars/").status_code == 429
    Agenda.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    assert Client().post("/2021/agenda/stars/").status_code == 303


def test_agenda_holds_so_many_stars(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.agenda.agendas.MAX_STARS", 1)
    kept(client, make.make_session(edition))

    other = {"star": str(star_of(make.make_session(edition)))}
    assert "500 stars at most" in posted(client, "/2021/agenda/stars/", 409, **other).main
    assert AgendaStar.objects.count() == 1


# Bad input

JUNK = ["x" * 32, "-", "a" * 300, "%00", "%F0%9F%98%80", "..%2F", "stars'"]


@pytest.mark.parametrize("token", JUNK)
def test_junk_for_a_secret_is_a_page(client: Client, edition: Edition, token: str) -> None:
    assert "<h1>" in client.get(f"/2021/agenda/{token}/").content.decode()
    assert client.get(f"/2021/agenda/{token}/").status_code == 404
    assert client.post(f"/2021/agenda/{token}/", {"action": "delete"}).status_code == 404
    assert client.get(f"/2021/agenda/{token}.ics").status_code == 404
    client.cookies["agenda"] = "\x80junk;" + token
    assert client.get("/2021/agenda/").status_code == 200


@pytest.mark.parametrize("stars", ["p.", "junk", "p.a@1.2@3@4", "\x00", "p.a " * 40_000, "x" * 1_000_000])
def test_junk_for_stars_is_said(client: Client, edition: Edition, stars: str) -> None:
    kept(client)
    for path, field in (("", "s"), ("stars/", "star")):
        page = posted(client, f"/2021/agenda/{path}", 400, **{field: stars})
        assert "starred" in page.main
    assert set(synced(client, stars, 400)) == {"error"}


@pytest.mark.parametrize("path", ["stars/", "sync/"])
def test_wrong_method_is_said(client: Client, edition: Edition, path: str) -> None:
    response = client.get(f"/2021/agenda/{path}")
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert "only accepts requests" in response.content.decode()
    assert client.put("/2021/agenda/").status_code == 405


def test_unknown_action_note_and_edition(client: Client, edition: Edition) -> None:
    token = kept(client)
    assert client.post(f"/2021/agenda/{token}/", {"action": "x"}).status_code == 400
    assert client.get("/2021/agenda/?note=x").status_code == 400
    assert client.get("/1999/agenda/").status_code == 404
    make.make_edition(2022)
    assert client.get(f"/2022/agenda/{token}/").status_code == 404


# Queries


def fill(edition: Edition, rows: int) -> list[Any]:
    room = make.make_room(edition)
    things = []
    for number in range(rows):
        session = make.make_session(edition, start=make.MORNING + timedelta(hours=number), room=room)
        add_talks(session, rows)
        things += [session, *session.presentations.all()]
    return things


def test_queries_do_not_grow(client: Client, edition: Edition, django_assert_num_queries: Any) -> None:
    for rows in (1, 3):
        client.cookies.clear()
        stars = " ".join(str(star_of(thing)) for thing in fill(edition, rows))
        client.post("/2021/agenda/", {"s": stars})
        with django_assert_num_queries(10):
            assert client.post("/2021/agenda/", {"s": stars}).status_code == 200
        kept(client)
        with django_assert_num_queries(13):
            synced(client, stars)
        with django_assert_num_queries(12):
            assert client.get("/2021/agenda/").status_code == 200


def test_header_leads_to_the_agenda(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/")

    assert page.links()["Agenda"] == "/2021/agenda/"
    assert re.fullmatch(r"/2021/agenda/stars/", page.all("form", id="stars")[0].attributes["action"])
