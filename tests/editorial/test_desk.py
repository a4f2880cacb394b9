"""The desk: switches, counts and checks; each count matches the list that it links to."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import count, cycle
from string import ascii_lowercase
from typing import Any

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from editorial.desk import CHECKS, ROW_COUNTS, switches
from exchange.models import Conflict, ImportRun, Provenance
from people.duplicates.storage import search_all
from schedule.models import ProgramInvitation
from tests.factories import (
    MORNING,
    PAST,
    add_author,
    add_role,
    make_edition,
    make_institution,
    make_material,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
)

pytestmark = pytest.mark.django_db

FUTURE = datetime(2030, 1, 1, 12, tzinfo=UTC)


numbers = count()


def unique_name() -> str:
    """Return a unique name that no check reports."""
    number = next(numbers)
    letters = ascii_lowercase[number // 26] + ascii_lowercase[number % 26]
    return f"A{letters}da Lovel{letters}ce"


def make_complete_paper(edition: Edition) -> Any:
    """Create a paper in a session, neither of which any check reports."""
    session = make_session(edition, room=make_room(edition))
    add_role(session, unique_name(), "chair")
    paper = make_paper(edition, [unique_name()])
    make_material(paper)
    make_presentation(session, paper)
    return paper


def make_conflict(edition: Edition, **fields: Any) -> Conflict:
    run = ImportRun.objects.create(edition=edition)
    row = Provenance.objects.create(
        edition=edition, kind="paper", object_id=make_complete_paper(edition).pk, run=run
    )
    return Conflict.objects.create(provenance=row, run=run, field="title", label="A paper", **fields)


common_names = cycle(f"{given} {family}" for given in ("Wei", "Lei", "Jun") for family in ("Wang", "Li"))


def make_flaws(edition: Edition) -> None:
    """Create rows that each check reports, and canceled rows that no check counts."""
    for status in ("draft", "withdrawn"):
        make_paper(edition, [unique_name()], abstract="", status=status)
        make_paper(edition, status=status, title="ALL IN CAPITALS")
    twin = make_complete_paper(edition)
    twin.title = "All in Capitals"
    twin.save()
    namesake = make_person(next(common_names))
    for place in ("Basel", "Oslo"):
        add_author(make_complete_paper(edition), namesake, affiliations=[place])
    posters = make_session(edition, kind="poster", room=make_room(edition))
    orals = make_session(edition, start=MORNING + timedelta(hours=5), room=make_room(edition, "B"))
    make_session(edition, kind="panel", status="cancelled")
    for title, board in (("A", "7"), ("B", "7"), ("C", "8")):
        make_presentation(posters, kind="poster", title=title, board=board)
    make_presentation(kind="poster", edition=edition)
    make_presentation(kind="poster", edition=edition, status="cancelled")
    late = MORNING + timedelta(hours=5, minutes=50)
    make_presentation(orals, start=late, end=late + timedelta(minutes=20))
    make_presentation(orals, start=MORNING + timedelta(hours=4))
    twice = add_author(make_paper(edition, ["Barbara Liskov", "NameError"]), make_person("Liskov, Barbara"))
    twice.institutions.add(make_institution("University of Basel"), make_institution("Univ. Basel"))
    make_conflict(edition)
    make_conflict(edition, resolved_at=PAST)
    for state in ("sent", "declined", "confirmed"):
        ProgramInvitation.objects.create(edition=edition, person=namesake, state=state)


CHECK_COUNTS = {
    "papers without authors": 1,
    "papers without abstract": 1,
    "papers without PDF": 3,
    "papers in no session": 3,
    "papers with another one's title": 2,
    "titles and abstracts to check": 1,
    "clashes in the timetable": 3,
    "sessions that end before their last talk": 1,
    "presentations outside their session's time": 1,
    "posters on boards used twice": 2,
    "posters not scheduled yet": 1,
    "sessions without chair": 1,
    "people haven’t answered invitations": 1,
    "invitations declined": 1,
    "doubtful names": 3,
    "likely duplicates to check": 1,
    "people who may be two": 1,
    "institutions possibly listed twice": 1,
    "import conflicts to decide": 1,
}


def count_listed_rows(client: Client, address: str) -> int:
    """Return the number of rows in a list or on the page of clashes."""
    page = client.get(address)
    context: Any = page.context
    assert page.status_code == 200
    return int(context["cl"].result_count if "cl" in context else context["total"])


def todo_lines(page: Any) -> dict[str, tuple[int, str]]:
    """Return the number and URL of each entry of the to-do list, by its label in the plural."""
    found = re.findall(r'<li><a href="([^"]+)"><b>(\d+)</b> (?:<span>)?([^<]+)', page.text)
    return {unescape(words): (int(number), unescape(address)) for address, number, words in found}


def test_every_number_is_that_of_the_list_behind_it(admin_client: Client) -> None:
    edition, other = make_edition(2022), make_edition(2021)
    for one in (edition, other, other):
        make_flaws(one)
    search_all()
    found = todo_lines(admin_client.get("/admin/"))
    shown = {words: count_listed_rows(admin_client, address) for words, (_, address) in found.items()}

    assert {words: number for words, (number, _) in found.items()} == shown
    assert len(found) == len(ROW_COUNTS) + len(CHECKS)


def test_lines_say_what_is_wrong_and_nothing_of_what_is_called_off(admin_client: Client) -> None:
    edition = make_edition()
    make_flaws(edition)
    search_all()
    counts = {str(line.words % {"count": 2}): line.count(edition) for line in CHECKS}

    assert counts == CHECK_COUNTS


@pytest.mark.parametrize("edition", [2021, 2022])
def test_desk_shows_the_edition_asked_for(edition: int, admin_client: Client) -> None:
    editions = {year: make_edition(year, city=f"City of {year}") for year in (2021, 2022)}
    unknown = admin_client.get("/admin/", {"edition": "x"}).text
    asked = admin_client.get("/admin/", {"edition": editions[edition].pk}).text

    assert f"<h1>MLSys {edition}</h1>" in asked
    assert f"City of {edition}" in asked
    assert "<h1>MLSys 2022</h1>" in unknown


@pytest.mark.parametrize(
    ("site", "papers", "schedule", "said"),
    [
        (PAST, PAST, FUTURE, ["open", "open", "waiting"]),
        (None, PAST, FUTURE, ["closed", "behind", "behind"]),
        (FUTURE, PAST, None, ["waiting", "behind", "closed"]),
        (FUTURE, FUTURE + timedelta(1), PAST, ["waiting", "waiting", "behind"]),
        (PAST, None, PAST, ["open", "closed", "open"]),
    ],
)
def test_switches_say_what_is_public(site: Any, papers: Any, schedule: Any, said: list[str]) -> None:
    edition = make_edition(
        public_from=site, papers_public_from=papers, schedule_public_from=schedule, timezone="Asia/Kathmandu"
    )

    assert [switch.state for switch in switches(edition, datetime(2026, 1, 1, tzinfo=UTC))] == said


@time_machine.travel(datetime(2026, 1, 15, 9, tzinfo=UTC), tick=False)
def test_switches_name_moment_and_zone(admin_client: Client) -> None:
    make_edition(timezone="Asia/Kathmandu", papers_public_from=FUTURE, schedule_public_from=None)
    page = re.sub(r"<[^>]+>|\s+", " ", admin_client.get("/admin/").text)
    page = re.sub(" +", " ", page)

    assert "Site Public since Wed 1 Jan 2020, 05:45 GMT+5:45" in page
    assert "Papers Not yet public until Tue 1 Jan 2030, 17:45 GMT+5:45" in page
    assert "Schedule Not public no date set" in page


def test_desk_without_edition_leads_to_the_first_one(admin_client: Client) -> None:
    page = admin_client.get("/admin/").text

    assert "There are no editions yet." in page
    assert '<a class="button" href="/admin/conference/edition/add/">Add an edition</a>' in page


def test_empty_edition_says_how_to_begin_and_does_not_celebrate(admin_client: Client) -> None:
    edition = make_edition()
    page = admin_client.get("/admin/").text

    assert "First steps" in page
    assert f'href="/admin/papers/paper/add/?edition={edition.pk}"' in page
    assert f'href="/admin/exchange/importjob/add/?edition={edition.pk}"' in page
    assert "Everything is done" not in page


@pytest.mark.parametrize(
    ("makers", "done"),
    [
        ([], 0),
        ([make_room], 1),
        ([lambda edition: make_session(edition, kind="break")], 1),
        ([make_room, lambda edition: make_session(edition, kind="break")], 2),
        ([lambda edition: make_paper(edition, ["Ada"])], 1),
    ],
)
def test_edition_without_a_program_is_led_through_first_steps(
    admin_client: Client, makers: list[Callable[[Edition], Any]], done: int
) -> None:
    edition = make_edition(public_from=None)
    for make in makers:
        make(edition)
    page = admin_client.get("/admin/").text

    assert ("First steps" in page, "Everything is done" in page) == (True, False)
    assert page.count("✓ Done:") == done
    assert f'href="/admin/conference/edition/{edition.pk}/publish/"' in page


def test_first_steps_end_with_the_last_or_when_hidden(admin_client: Client) -> None:
    private = make_edition(2022, public_from=None)
    make_complete_paper(private)
    steps = admin_client.get("/admin/").context["steps"]
    hidden = admin_client.post("/admin/first-steps/hide/", {"edition": private.pk}, follow=True)
    other = make_edition(2023)
    begun = admin_client.get("/admin/", {"edition": other.pk})
    make_complete_paper(other)

    assert [step.is_done for step in steps] == [True, True, True, False, False]
    assert "First steps" not in hidden.text
    assert "First steps" in begun.text
    assert "First steps" not in admin_client.get("/admin/", {"edition": other.pk}).text


def test_cookie_of_hidden_steps_can_hold_anything(admin_client: Client) -> None:
    make_edition()
    admin_client.cookies["desk_steps"] = f"{'9' * 5000}.x."

    assert "First steps" in admin_client.get("/admin/").text


def test_desk_celebrates_when_nothing_waits(admin_client: Client) -> None:
    make_complete_paper(make_edition())
    page = admin_client.get("/admin/").text

    assert "Everything is done." in page
    assert f"{len(CHECKS)} checks were run. No problems found." in page
    assert "No papers without abstract</li>" in page


def test_desk_shows_a_role_only_the_lists_it_may_open(client: Client) -> None:
    make_flaws(make_edition())
    user = get_user_model().objects.create_user("helper", is_staff=True)
    allowed = Permission.objects.filter(codename__in=["view_edition", "view_paper"])
    client.force_login(user)
    before = client.get("/admin/")
    user.user_permissions.set(allowed)
    after = client.get("/admin/")

    assert before.context["desk"] is None
    assert {line.area for line in after.context["desk"]["waiting"]} == {"Program"}
    assert "Add an edition" not in before.text


def rename(person: Any, name: str) -> None:
    person.name = name
    person.save()


def count_desk_queries(client: Client) -> int:
    with CaptureQueriesContext(connection) as captured:
        client.get("/admin/")
    return len(captured)


@pytest.mark.parametrize(
    ("make", "queries"), [(make_flaws, (39, 15)), (make_complete_paper, (37, 14))], ids=["flaws", "in order"]
)
def test_desk_asks_as_much_for_one_as_for_three_and_little_until_the_next_change(
    make: Callable[[Edition], Any], queries: tuple[int, int], admin_client: Client
) -> None:
    edition = make_edition()
    # The first request also fills Django's cache of content types.
    admin_client.get("/admin/")
    asked = []
    for rows in (1, 2):
        for _ in range(rows):
            make(edition)
        asked.append((count_desk_queries(admin_client), count_desk_queries(admin_client)))

    assert asked == [queries, queries]


def test_desk_follows_every_change(admin_client: Client) -> None:
    paper = make_complete_paper(make_edition())
    person: Any = paper.presentations.get().session.roles.get().person
    changes: list[Callable[[], Any]] = [
        lambda: paper.authorships.all().delete(),
        lambda: paper.materials.update(visible=False),
        lambda: rename(person, "NameError"),
        lambda: make_conflict(paper.edition),
    ]
    seen = [[line.words for line in admin_client.get("/admin/").context["desk"]["waiting"]]]
    for change in changes:
        change()
        seen.append([line.words for line in admin_client.get("/admin/").context["desk"]["waiting"]])

    lines = ["paper without authors", "paper without PDF", "doubtful name", "import conflict to decide"]
    assert seen == [[], lines[:1], lines[:2], lines[:3], lines]


@pytest.mark.parametrize(
    "path", ["papers/paper", "schedule/session", "schedule/presentation", "people/person"]
)
def test_lists_offer_what_is_to_do_and_ignore_what_they_do_not_know(path: str, admin_client: Client) -> None:
    make_flaws(make_edition())
    everything = count_listed_rows(admin_client, f"/admin/{path}/")

    assert count_listed_rows(admin_client, f"/admin/{path}/?todo=unheard_of") == everything
    assert "By to do" in admin_client.get(f"/admin/{path}/").text


def links(page: Any, path: str) -> list[str]:
    return [unescape(found) for found in re.findall(rf'href="(/admin/{path}[^"]*)"', page.text)]


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("papers/paper", "edition__id__exact"),
        ("papers/authorship", "paper__edition__id__exact"),
        ("people/person", "edition__id__exact"),
        ("schedule/session", "edition__id__exact"),
        ("exchange/importrun", "edition__id__exact"),
    ],
)
def test_edition_chosen_on_the_desk_holds_in_lists_and_sidebar(
    admin_client: Client, path: str, named: str
) -> None:
    old, _new = make_edition(2021), make_edition(2022)
    plain = set(links(admin_client.get("/admin/"), f"{path}/")) & {f"/admin/{path}/"}
    admin_client.get("/admin/", {"edition": old.pk})
    listed = f"/admin/{path}/?{named}={old.pk}"
    pages = [admin_client.get(page) for page in ("/admin/", listed, "/admin/conference/sponsor/")]

    assert plain == {f"/admin/{path}/"}
    assert [listed in links(page, f"{path}/") for page in pages] == [True, True, True]
    assert f'<a href="{listed}" aria-current="page">' in pages[1].text
    assert admin_client.get(listed).status_code == 200


def test_pages_without_an_edition_take_the_one_chosen_on_the_desk(admin_client: Client) -> None:
    old, new = make_edition(2021), make_edition(2022)
    pages = ["/admin/", "/admin/schedule/session/timetable/", "/admin/schedule/session/clashes/"]
    before = [f'<option value="{new.pk}" selected>' in admin_client.get(page).text for page in pages]
    admin_client.get("/admin/", {"edition": old.pk})
    after = [f'<option value="{old.pk}" selected>' in admin_client.get(page).text for page in pages]

    assert (before, after) == ([True] * 3, [True] * 3)
    assert f'<option value="{old.pk}" selected>' in admin_client.get("/admin/papers/paper/add/").text


@pytest.mark.parametrize(
    "page",
    [
        "/admin/",
        "/admin/exchange/importjob/",
        "/admin/exchange/importjob/add/",
        "/admin/exchange/importrun/",
        "/admin/exchange/conflict/",
        "/admin/exchange/provenance/",
        "/admin/schedule/session/timetable/",
        "/admin/papers/paper/add/",
    ],
)
def test_deleted_edition_is_chosen_no_longer(admin_client: Client, page: str) -> None:
    old, new = make_edition(2021), make_edition(2022)
    admin_client.get("/admin/", {"edition": old.pk})
    old.delete()
    response = admin_client.get(page)

    assert response.status_code == 200
    assert f"edition={old.pk}" not in response.text
    assert f"edition__id__exact={old.pk}" not in response.text
    assert f'<option value="{new.pk}"' in response.text or "/add/" not in page


def test_form_leads_back_to_the_list_as_it_was_filtered(admin_client: Client) -> None:
    paper = make_paper(make_edition())
    narrowed = f"edition__id__exact={paper.edition_id}"
    page = admin_client.get(f"/admin/papers/paper/{paper.pk}/change/", {"_changelist_filters": narrowed})

    assert f"/admin/papers/paper/?{narrowed}" in links(page, "papers/paper/")
