"""Tests of a session's page: complete content at one stable address."""

from datetime import timedelta

import pytest
from django.test import Client

from conference.models import Edition
from tests import factories as make
from tests.schedule.page_text import fetch, headings, main_text, read_text, time_values

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def test_header_shows_kind_title_time_room_and_people(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="ML Compilers", room=make.make_room(edition, "Hall A"))
    make.add_role(session, "Gennady Pekhimenko")
    expected = "Oral session ML Compilers Tue 6 Apr, 08:00 to 09:00 PDT Hall A Moderator Gennady Pekhimenko"

    assert read_text(client, session.get_absolute_url()).startswith(f"Schedule Tue 6 Apr {expected}")


@pytest.mark.parametrize(
    ("tag", "expected"), [("de", "In German"), ("pt-BR", "In Brazilian Portuguese"), ("tlh", "In tlh")]
)
def test_language_is_shown_by_name_if_known_or_by_its_tag(
    client: Client, edition: Edition, tag: str, expected: str
) -> None:
    session = make.make_session(edition, title="ML Compilers", language=tag)

    assert f"08:00 to 09:00 PDT {expected} " in read_text(client, session.get_absolute_url())


def test_missing_chat_and_recording_are_stated(client: Client, edition: Edition) -> None:
    session = make.make_session(edition)

    assert "Chat is not available. No recording was published." in read_text(
        client, session.get_absolute_url()
    )


@pytest.mark.parametrize(("kind", "days"), [("break", 0), ("oral", 9000)])
def test_missing_links_are_not_stated_for_breaks_or_before_the_end(
    client: Client, edition: Edition, kind: str, days: int
) -> None:
    session = make.make_session(edition, kind=kind)
    Edition.objects.update(end_date=edition.end_date + timedelta(days=days))
    page = fetch(client, session.get_absolute_url())

    assert "Chat is" not in page
    assert "No recording" not in page


def test_page_links_to_stream_chat_and_recording(client: Client, edition: Edition) -> None:
    room = make.make_room(edition, stream_url="https://example.org/room")
    chat_url, recording_url = "https://example.org/chat", "https://example.org/again"
    session = make.make_session(edition, room=room, chat_url=chat_url, recording_url=recording_url)
    page = fetch(client, session.get_absolute_url())

    assert all(f'href="{url}"' in page for url in [chat_url, recording_url, room.stream_url])
    assert "not available" not in page
    assert "no live stream" not in page


def test_talk_shows_day_time_zone_title_authors_abstract_awards_materials(
    client: Client, edition: Edition
) -> None:
    session = make.make_session(edition)
    paper = make.make_paper(edition, ["Pratik Fegade", "Tianqi Chen"], title="CoRa", abstract="A\n\nB $x^2$")
    make.make_award(edition, [paper], name="Best Paper")
    make.make_material(paper, "code")
    make.make_presentation(session, paper, start=make.MORNING, end=make.MORNING + HOUR / 2)
    expected = "Tue 6 Apr, 08:00 to 08:30 PDT Best Paper CoRa Pratik Fegade · Tianqi Chen A B"
    page = fetch(client, session.get_absolute_url())

    assert expected in main_text(page)
    assert "<math" in page
    assert 'href="https://example.org/paper.pdf"' in page
    assert time_values(page)[1:] == ["2021-04-06T08:00:00-07:00", "2021-04-06T08:30:00-07:00"]
    assert headings(page)[1] == (2, "CoRa")


def test_talk_without_a_paper_shows_its_speakers(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, kind="workshop")
    make.make_presentation(session, title="Demo hour", abstract="We show.", speakers=["Ada", "Grace"])

    assert "Demo hour Ada · Grace We show." in read_text(client, session.get_absolute_url())


def test_posters_are_in_board_order_with_collapsed_abstracts(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, kind="poster")
    for board in (10, 9):
        paper = make.make_paper(edition, title=f"On {board}")
        make.make_presentation(session, paper, kind="poster", board=f"Ballroom B - Position {board}")
    page = fetch(client, session.get_absolute_url())

    assert [title for level, title in headings(page) if level == 2] == ["On 9", "On 10"]
    assert page.count("<summary>Abstract</summary>") == 2
    assert "Ballroom B - Position 9 On 9" in main_text(page)


def test_large_poster_session_omits_abstracts(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.views.MAX_LISTED_TALKS", 2)
    session = make.make_session(edition, kind="poster")
    papers = [make.make_paper(edition, abstract="Long text.") for _ in range(3)]
    for paper in papers:
        make.make_presentation(session, paper, kind="poster")
    page = fetch(client, session.get_absolute_url())

    assert "Go to board" in page
    assert "Long text." not in page
    assert [page.count(f'href="{paper.get_absolute_url()}"') for paper in papers] == [1, 1, 1]


def test_presentation_in_another_room_shows_its_room(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, room=make.make_room(edition, "Hall"))
    demo = make.make_paper(edition, ["Ada"], title="Robots")
    make.make_presentation(session, demo, kind="demo", room=make.make_room(edition, "Lobby"))

    assert "Robots Ada Demo Lobby" in read_text(client, session.get_absolute_url())


def test_parts_are_listed_by_time_with_their_talks(client: Client, edition: Edition) -> None:
    workshop = make.make_session(edition, kind="workshop", title="Workshop", minutes=180)
    part = make.make_session(edition, title="Part", parent=workshop)
    make.make_presentation(part, make.make_paper(edition, title="Inside"))
    page_headings = headings(fetch(client, workshop.get_absolute_url()))

    assert page_headings == [(1, "Workshop"), (2, "Program"), (3, "08:00"), (4, "Part"), (5, "Inside")]
    assert "Part of Workshop" in read_text(client, part.get_absolute_url())


def test_biography_of_an_invited_speaker_is_shown(client: Client, edition: Edition) -> None:
    talk = make.make_session(edition, kind="invited_talk", title="Hardware", abstract="Ahead.")
    make.add_role(talk, make.make_person("William Dally", biography="Built machines."), "speaker")

    assert "Ahead. About William Dally Built machines." in read_text(client, talk.get_absolute_url())


def test_neighbor_links_skip_breaks_and_other_days(client: Client, edition: Edition) -> None:
    first = make.make_session(edition, title="First")
    make.make_session(edition, title="Coffee", kind="break", start=make.MORNING + HOUR)
    last = make.make_session(edition, title="Last", start=make.MORNING + 2 * HOUR)
    make.make_session(edition, title="Tomorrow", start=make.MORNING + 24 * HOUR)

    assert read_text(client, first.get_absolute_url()).endswith("Next: 10:00 PDT, Last")
    assert read_text(client, last.get_absolute_url()).endswith("Previous: 08:00 PDT, First")


def test_cancelled_session_is_marked(client: Client, edition: Edition) -> None:
    page = fetch(client, make.make_session(edition, title="Off", status="cancelled").get_absolute_url())

    assert '<span class="status">Canceled</span>' in page
    assert "<s>Off</s></h1>" in page


@pytest.mark.parametrize("ending", ["", "another-title/"])
def test_other_addresses_of_a_session_redirect(client: Client, edition: Edition, ending: str) -> None:
    session = make.make_session(edition, uid="2180", title="Outstanding Papers")
    response = client.get(f"/2021/sessions/2180/{ending}")

    assert (response.status_code, response["Location"]) == (301, session.get_absolute_url())
    assert session.get_absolute_url() == "/2021/sessions/2180/outstanding-papers/"


@pytest.mark.parametrize("path", ["sessions/none/x/", "rooms/none/", "sessions/%00/x/", "sessions/a b/"])
def test_unknown_sessions_and_rooms_are_404(client: Client, edition: Edition, path: str) -> None:
    assert "Page not found" in read_text(client, f"/2021/{path}", 404)


def test_head_has_title_description_and_canonical_link(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="A & B", abstract="What *this* is.")
    page = fetch(client, f"{session.get_absolute_url()}?from=mail")

    assert "<title>A &amp; B · MLSys 2021</title>" in page
    assert 'content="Oral session, Tuesday 6 April 2021. What this is."' in page
    assert f'{session.get_absolute_url()}">' in page.partition('rel="canonical" href="')[2][:120]
