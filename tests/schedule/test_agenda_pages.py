"""Tests of "My agenda", which is stored in the browser, or on the server under a secret link."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conference.models import Edition
from content.revision import lock
from schedule.agenda import agendas
from schedule.agenda.agendas import SavedAgenda, find_agenda, star_of
from schedule.following import MAX_WRITES_PER_MINUTE, Agenda, AgendaStar
from tests import factories as make
from tests.html_pages import Page, read
from tests.schedule.test_query_counts import add_talks

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


def post_page(client: Client, path: str, status: int = 200, **fields: Any) -> Page:
    response = client.post(path, fields)
    assert response.status_code == status, response.content.decode()[-800:]
    return Page(response.content.decode())


def agenda_page(client: Client, *rows: Any) -> Page:
    """Return the agenda page of these objects, requested as the script does."""
    return post_page(client, "/2021/agenda/", s=" ".join(str(star_of(row)) for row in rows))


def save_agenda(client: Client, *rows: Any) -> str:
    """Star objects without JavaScript; return the secret of the agenda."""
    response = client.post("/2021/agenda/stars/", {"star": [str(star_of(row)) for row in rows]})
    assert response.status_code == 303
    return client.cookies["agenda"].value


def sync_stars(client: Client, stars: str, status: int = 200) -> dict[str, Any]:
    response = client.post("/2021/agenda/sync/", {"stars": stars}, headers=JSON)
    assert response.status_code == status, response.content
    data: dict[str, Any] = response.json()
    return data


# Display


def test_agenda_is_ordered_by_day_and_time(client: Client, edition: Edition) -> None:
    late = make.make_session(edition, title="Panel", start=make.MORNING + timedelta(hours=30))
    early = make.make_session(edition, title="Keynote", room=make.make_room(edition))
    paper = make.make_paper(edition, ["Ada Lovelace"], title="Notes")
    talk = make.make_presentation(early, paper, start=make.MORNING + timedelta(minutes=20), end=early.end)

    page = agenda_page(client, late, talk, early)

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


def test_conflict_is_shown_at_both_sessions(client: Client, edition: Edition) -> None:
    left = make.make_session(edition, title="Left", uid="a")
    right = make.make_session(edition, title="Right", uid="b")

    page = agenda_page(client, left, right)

    assert page.texts("p", "clash") == ["At the same time: Right", "At the same time: Left"]
    assert "1 conflict" in page.main


def test_cancelled_session_is_marked_and_has_no_conflicts(client: Client, edition: Edition) -> None:
    cancelled = make.make_session(edition, status="cancelled", cancellation_reason="The speaker is ill.")
    page = agenda_page(client, cancelled, make.make_session(edition))

    assert page.texts("p", "clash") == []
    assert "Canceled The speaker is ill." in page.main


def test_back_to_back_sessions_in_different_rooms_are_pointed_out(client: Client, edition: Edition) -> None:
    first = make.make_session(edition, title="First", room=make.make_room(edition, "Hall A"))
    second = make.make_session(edition, title="Then", start=first.end, room=make.make_room(edition, "Hall B"))

    assert "Ends as “Then” begins in Hall B." in agenda_page(client, second, first).main


def test_posters_of_a_session_are_listed_as_a_route_by_board(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Posters", kind="poster")
    posters_by_board = {
        board: make.make_presentation(session, make.make_paper(edition), kind="poster", board=board)
        for board in ("10", "9", "2")
    }

    page = agenda_page(client, *posters_by_board.values())

    assert page.texts("p", "board") == ["Board 2", "Board 9", "Board 10"]
    assert "My route: 3 boards" in page.texts("h5")
    assert page.texts("p", "clash") == []


def test_move_is_shown_until_it_is_dismissed(client: Client, edition: Edition) -> None:
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

    page = post_page(client, "/2021/agenda/", s=star)

    assert page.texts("div", "moved") == [
        f"Moved since you starred it. It was Tue 6 Apr, 08:00 PDT, Hall. Dismiss: {session}"
    ]
    updated_star = next(
        button.attributes["value"] for button in page.all("button") if "data-noted" in button.attributes
    )
    assert post_page(client, "/2021/agenda/", s=updated_star).texts("div", "moved") == []


def test_unscheduled_talk_is_listed_under_time_not_announced(client: Client, edition: Edition) -> None:
    talk = make.make_presentation(paper=make.make_paper(edition, title="Someday"))

    assert "2 Time not announced" in agenda_page(client, talk).outline


def test_talk_with_a_start_alone_is_listed_at_its_time(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="Notes")
    talk = make.make_presentation(paper=paper, start=make.MORNING)

    page = agenda_page(client, talk, make.make_session(edition, title="Keynote"))

    assert {"3 08:00 PDT", "4 Notes"} <= {*page.outline}
    assert client.post("/2021/agenda.csv", {"s": str(star_of(talk))}).status_code == 200


def test_talk_after_its_session_does_not_end_before_it_starts(client: Client, edition: Edition) -> None:
    late = make.make_presentation(make.make_session(edition), start=make.MORNING + timedelta(hours=5))

    assert "3 13:00 PDT" in agenda_page(client, late).outline


def test_agenda_lists_only_public_rows_and_counts_the_others(client: Client, edition: Edition) -> None:
    draft = make.make_session(edition, title="Secret", status="draft")
    paper = make.make_paper(edition, title="Gone", status="withdrawn")
    withdrawn = make.make_presentation(make.make_session(edition), paper)

    page = agenda_page(client, draft, withdrawn)

    assert "2 starred sessions or talks are no longer in the program." in page.main
    assert "Secret" not in page.main
    assert "Gone" not in page.main


def test_address_with_stars_shows_them_without_a_saved_agenda(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Engines")

    page = read(client, f"/2021/agenda/?s=s.{session.uid}+p.unknown")

    assert "4 Engines" in page.outline
    assert "1 starred session or talk is no longer in the program." in page.main
    assert page.all("button", "star", value=str(star_of(session)))


# Storage


def test_no_cookie_is_set_before_the_first_star(client: Client, edition: Edition) -> None:
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


def test_star_without_javascript_is_saved_under_a_secret_link(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Engines")

    token = save_agenda(client, session)

    cookie = client.cookies["agenda"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/2021/agenda/", True, "Lax")
    page = read(client, "/2021/agenda/")
    assert "4 Engines" in page.outline
    assert page.all("input", value=f"http://testserver/2021/agenda/{token}/")
    agenda = Agenda.objects.get()
    assert token not in (agenda.token_digest, Agenda.digest(agenda.token_digest))
    assert agenda.token_digest == Agenda.digest(Agenda.reading_token(token))


def test_star_is_removed_without_javascript(client: Client, edition: Edition) -> None:
    first, second = make.make_session(edition, uid="a"), make.make_session(edition, uid="b", title="Other")
    save_agenda(client, first, second)
    value = read(client, "/2021/agenda/").all("button", "star")[0].attributes["value"]

    assert value == f"-{star_of(first)}"
    client.post("/2021/agenda/stars/", {"star": value})
    assert [line for line in read(client, "/2021/agenda/").outline if line[0] == "4"] == ["4 Other"]
    assert Agenda.objects.count() == 1


def test_secret_link_allows_changes_and_read_only_link_does_not(client: Client, edition: Edition) -> None:
    token, other_client = save_agenda(client, make.make_session(edition, title="Engines")), Client()
    read_only_token = Agenda.reading_token(token)
    for secret, can_edit in ((token, True), (read_only_token, False)):
        page = read(other_client, f"/2021/agenda/{secret}/")
        assert "4 Engines" in page.outline
        assert bool(page.all("button", value="delete")) is can_edit
        assert token not in page.main.replace(secret, "")
    assert other_client.post(f"/2021/agenda/{read_only_token}/", {"action": "delete"}).status_code == 403
    assert other_client.post(f"/2021/agenda/{token}/", {"action": "use"}).status_code == 303
    assert "4 Engines" in read(other_client, "/2021/agenda/").outline
    other_client.cookies["agenda"] = read_only_token
    assert sync_stars(other_client, "", 404) == {"error": "This browser has no saved agenda."}


def test_deleted_agenda_is_gone_under_all_its_links(client: Client, edition: Edition) -> None:
    token = save_agenda(client, make.make_session(edition))
    other_client = Client()
    other_client.post(f"/2021/agenda/{token}/", {"action": "use"})

    response = client.post(f"/2021/agenda/{token}/", {"action": "delete"})

    assert response.status_code == 303
    assert (client.cookies["agenda"].value, client.cookies["agenda"]["max-age"]) == ("", 0)
    assert (Agenda.objects.count(), AgendaStar.objects.count()) == (0, 0)
    for secret in (token, Agenda.reading_token(token)):
        assert "There is no agenda under this link" in read(client, f"/2021/agenda/{secret}/", 404).main
        assert client.get(f"/2021/agenda/{secret}.ics").status_code == 404
    assert "Your saved agenda was deleted." in read(other_client, "/2021/agenda/").main
    assert other_client.cookies["agenda"].value == ""


def test_star_for_an_agenda_that_is_deleted_meanwhile_is_refused(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make.make_session(edition)
    save_agenda(client, session)

    def find_and_delete(edition: Edition, token: str) -> SavedAgenda | None:
        saved = find_agenda(edition, token)
        Agenda.objects.all().delete()
        return saved

    monkeypatch.setattr(agendas, "find_agenda", find_and_delete)
    response = client.post("/2021/agenda/stars/", {"star": str(star_of(session))})

    assert response.status_code == 404
    assert "This browser has no saved agenda." in response.text


def test_other_sites_can_neither_switch_nor_delete_an_agenda(client: Client, edition: Edition) -> None:
    token = save_agenda(client, make.make_session(edition))
    visitor = Client()
    for action in ("use", "delete"):
        response = visitor.post(
            f"/2021/agenda/{token}/", {"action": action}, headers={"Sec-Fetch-Site": "cross-site"}
        )
        assert (response.status_code, Agenda.objects.count()) == (403, 1)
    assert "agenda" not in visitor.cookies


def test_agenda_responses_are_not_cached_or_indexed(client: Client, edition: Edition) -> None:
    token = save_agenda(client, make.make_session(edition))
    for path in ("/2021/agenda/", f"/2021/agenda/{token}/", f"/2021/agenda/{token}.ics"):
        headers = client.get(path).headers
        assert headers["Cache-Control"] == "private, no-store"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["X-Robots-Tag"] == "noindex, nofollow"
    page = read(client, f"/2021/agenda/{token}/")
    assert page.all("meta", name="robots")
    assert page.all("link", rel="canonical") == []


# Synchronization


def test_sync_merges_stars_and_the_later_change_wins(client: Client, edition: Edition) -> None:
    rows = [make.make_session(edition) for _ in range(3)]
    a, b, c = (str(star_of(row)) for row in rows)
    save_agenda(client)
    sync_stars(client, f"{a}@1000 {b}@1000")

    sync_stars(client, f"{c}@1500 -{b}@2000")
    merged = sync_stars(client, f"{a}@1000 {b}@1200")

    assert sorted(merged["stars"]) == sorted([f"{a}@1000", f"-{b}@2000", f"{c}@1500"])
    assert f"{b}@3000" in sync_stars(client, f"{b}@3000")["stars"]


def test_sync_reports_whether_the_saved_stars_changed(client: Client, edition: Edition) -> None:
    star = star_of(make.make_session(edition))
    save_agenda(client)

    changed = [
        sync_stars(client, stars)["changed"]
        for stars in (f"{star}@1000", f"{star}@1000", f"-{star}@2000", "")
    ]

    assert changed == [True, False, True, False]


def test_star_time_in_the_future_is_replaced_by_now(client: Client, edition: Edition) -> None:
    star = str(star_of(make.make_session(edition)))
    save_agenda(client)
    sync_stars(client, f"{star}@99999999999999")

    assert AgendaStar.objects.get().starred_at <= timezone.now()


def test_sync_ignores_unknown_rows_and_rooms_of_other_editions(client: Client, edition: Edition) -> None:
    other_edition = make.make_edition(2022)
    foreign, foreign_room = make.make_session(other_edition, uid="x1"), make.make_room(other_edition)
    session = make.make_session(edition)
    save_agenda(client)

    sync_stars(client, f"{star_of(foreign)}@1 p.none@.@1 s.{session.uid}@1617721200.{foreign_room.pk}@1")

    row = AgendaStar.objects.get()
    assert (row.session, row.seen_room) == (session, None)


def test_cross_site_requests_cannot_change_an_agenda(client: Client, edition: Edition) -> None:
    save_agenda(client, make.make_session(edition))
    star = str(star_of(make.make_session(edition)))
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        for path, field in (("stars", "star"), ("sync", "stars")):
            response = client.post(f"/2021/agenda/{path}/", {field: star}, headers=headers)
            assert response.status_code == 403
            assert "only be changed from pages of this site" in response.content.decode()
    assert AgendaStar.objects.count() == 1
    same_site = {"Sec-Fetch-Site": "same-origin", "Origin": "null"}
    assert client.post("/2021/agenda/sync/", {"stars": star}, headers=same_site).status_code == 200


def test_writes_per_minute_are_limited(client: Client, edition: Edition) -> None:
    save_agenda(client)
    Agenda.objects.update(writes=MAX_WRITES_PER_MINUTE, writes_since=timezone.now())

    response = client.post("/2021/agenda/sync/", {"stars": ""}, headers=JSON)

    assert (response.status_code, response.headers["Retry-After"]) == (429, "60")
    assert response.json() == {"error": "Too many requests. Wait a minute and try again."}
    Agenda.objects.update(writes_since=timezone.now() - timedelta(minutes=1))
    assert sync_stars(client, "") == {"stars": [], "changed": False}


def test_too_many_stars_are_refused(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.agenda.agendas.MAX_STARS", 1)
    save_agenda(client, make.make_session(edition))

    second_star = {"star": str(star_of(make.make_session(edition)))}
    assert "500 stars at most" in post_page(client, "/2021/agenda/stars/", 409, **second_star).main
    assert AgendaStar.objects.count() == 1


# Bad input

INVALID_TOKENS = ["x" * 32, "-", "a" * 300, "%00", "%F0%9F%98%80", "..%2F", "stars'"]


@pytest.mark.parametrize("token", INVALID_TOKENS)
def test_invalid_token_is_404(client: Client, edition: Edition, token: str) -> None:
    response = client.get(f"/2021/agenda/{token}/")
    assert response.status_code == 404
    assert "<h1>" in response.text
    assert client.post(f"/2021/agenda/{token}/", {"action": "delete"}).status_code == 404
    assert client.get(f"/2021/agenda/{token}.ics").status_code == 404
    client.cookies["agenda"] = "\x80junk;" + token
    assert client.get("/2021/agenda/").status_code == 200


INVALID_STARS = [
    *("p.", "junk", "p.a@1.2@3@4", "\x00", "p.a " * 40_000, "x" * 1_000_000),
    *('{"version": 9, "stars": []}', '{"stars": [1, null]}', "[]", "null"),
]


@pytest.mark.parametrize("stars", INVALID_STARS)
def test_invalid_stars_are_reported(client: Client, edition: Edition, stars: str) -> None:
    save_agenda(client)
    for path, field in (("", "s"), ("stars/", "star")):
        page = post_page(client, f"/2021/agenda/{path}", 400, **{field: stars})
        assert "starred" in page.main
    assert set(sync_stars(client, stars, 400)) == {"error"}


@pytest.mark.parametrize("path", ["stars/", "sync/"])
def test_wrong_method_is_405_with_a_message(client: Client, edition: Edition, path: str) -> None:
    response = client.get(f"/2021/agenda/{path}")
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert "only accepts requests" in response.content.decode()
    assert client.put("/2021/agenda/").status_code == 405


def test_unknown_action_note_and_edition_are_refused(client: Client, edition: Edition) -> None:
    token = save_agenda(client)
    assert client.post(f"/2021/agenda/{token}/", {"action": "x"}).status_code == 400
    assert client.get("/2021/agenda/?note=x").status_code == 400
    assert client.get("/1999/agenda/").status_code == 404
    make.make_edition(2022)
    assert client.get(f"/2022/agenda/{token}/").status_code == 404


# Queries


def create_program(edition: Edition, count: int) -> list[Any]:
    """Create so many sessions with talks; return the sessions and talks."""
    room = make.make_room(edition)
    rows: list[Any] = []
    for number in range(count):
        session = make.make_session(edition, start=make.MORNING + timedelta(hours=number), room=room)
        add_talks(session, count)
        rows += [session, *session.presentations.all()]
    return rows


def test_query_counts_are_the_same_for_1_and_3_rows(
    client: Client, edition: Edition, django_assert_num_queries: Any
) -> None:
    for count in (1, 3):
        client.cookies.clear()
        with lock():
            rows = create_program(edition, count)
        stars = " ".join(str(star_of(row)) for row in rows)
        client.post("/2021/agenda/", {"s": stars})
        with django_assert_num_queries(10):
            assert client.post("/2021/agenda/", {"s": stars}).status_code == 200
        save_agenda(client)
        with django_assert_num_queries(13):
            sync_stars(client, stars)
        with django_assert_num_queries(12):
            assert client.get("/2021/agenda/").status_code == 200


def test_header_links_to_the_agenda(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/")

    assert page.links()["Agenda"] == "/2021/agenda/"
    assert page.all("form", id="stars")[0].attributes["action"] == "/2021/agenda/stars/"
