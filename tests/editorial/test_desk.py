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
from schedule import clashes
from schedule.models import ProgramInvitation, Unavailability
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
    for affiliation in ("Basel", "Oslo"):
        add_author(make_complete_paper(edition), namesake, affiliations=[affiliation])
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
    authorship = add_author(
        make_paper(edition, ["Barbara Liskov", "NameError"]), make_person("Liskov, Barbara")
    )
    authorship.institutions.add(make_institution("University of Basel"), make_institution("Univ. Basel"))
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


def count_listed_rows(client: Client, url: str) -> int:
    """Return the number of rows in a list or on the page of clashes."""
    page = client.get(url)
    context: Any = page.context
    assert page.status_code == 200
    return int(context["cl"].result_count if "cl" in context else context["total"])


def todo_lines(page: Any) -> dict[str, tuple[int, str]]:
    """Return the number and URL of each entry of the to-do list, by its label in the plural."""
    matches = re.findall(r'<li><a href="([^"]+)"><b>(\d+)</b> (?:<span>)?([^<]+)', page.text)
    return {unescape(label): (int(number), unescape(url)) for url, number, label in matches}


def test_each_count_matches_the_list_that_it_links_to(admin_client: Client) -> None:
    edition, other = make_edition(2022), make_edition(2021)
    for flawed_edition in (edition, other, other):
        make_flaws(flawed_edition)
    search_all()
    lines = todo_lines(admin_client.get("/admin/"))
    listed_counts = {label: count_listed_rows(admin_client, url) for label, (_, url) in lines.items()}

    assert {label: number for label, (number, _) in lines.items()} == listed_counts
    assert len(lines) == len(ROW_COUNTS) + len(CHECKS)


def test_checks_count_flaws_and_ignore_canceled_rows(admin_client: Client) -> None:
    edition = make_edition()
    make_flaws(edition)
    search_all()
    counts = {str(check.label % {"count": 2}): check.count(edition) for check in CHECKS}

    assert counts == CHECK_COUNTS


@pytest.mark.parametrize("shown_year", [2021, 2022])
def test_desk_shows_the_requested_edition(shown_year: int, admin_client: Client) -> None:
    editions = {year: make_edition(year, city=f"City of {year}") for year in (2021, 2022)}
    unknown = admin_client.get("/admin/", {"edition": "x"}).text
    requested = admin_client.get("/admin/", {"edition": editions[shown_year].pk}).text

    assert f"<h1>MLSys {shown_year}</h1>" in requested
    assert f"City of {shown_year}" in requested
    assert "<h1>MLSys 2022</h1>" in unknown


@pytest.mark.parametrize(
    ("site", "papers", "schedule", "states"),
    [
        (PAST, PAST, FUTURE, ["open", "open", "waiting"]),
        (None, PAST, FUTURE, ["closed", "behind", "behind"]),
        (FUTURE, PAST, None, ["waiting", "behind", "closed"]),
        (FUTURE, FUTURE + timedelta(1), PAST, ["waiting", "waiting", "behind"]),
        (PAST, None, PAST, ["open", "closed", "open"]),
    ],
)
def test_switches_show_what_is_public(site: Any, papers: Any, schedule: Any, states: list[str]) -> None:
    edition = make_edition(
        public_from=site, papers_public_from=papers, schedule_public_from=schedule, timezone="Asia/Kathmandu"
    )

    assert [switch.state for switch in switches(edition, datetime(2026, 1, 1, tzinfo=UTC))] == states


@time_machine.travel(datetime(2026, 1, 15, 9, tzinfo=UTC), tick=False)
def test_switches_show_time_and_zone(admin_client: Client) -> None:
    make_edition(timezone="Asia/Kathmandu", papers_public_from=FUTURE, schedule_public_from=None)
    page = re.sub(r"<[^>]+>|\s+", " ", admin_client.get("/admin/").text)
    page = re.sub(" +", " ", page)

    assert "Site Public since Wed 1 Jan 2020, 05:45 GMT+5:45" in page
    assert "Papers Not yet public until Tue 1 Jan 2030, 17:45 GMT+5:45" in page
    assert "Schedule Not public no date set" in page


def test_desk_without_editions_links_to_adding_one(admin_client: Client) -> None:
    page = admin_client.get("/admin/").text

    assert "There are no editions yet." in page
    assert '<a class="button" href="/admin/conference/edition/add/">Add an edition</a>' in page


def test_empty_edition_shows_first_steps(admin_client: Client) -> None:
    edition = make_edition()
    page = admin_client.get("/admin/").text

    assert "First steps" in page
    assert f'href="/admin/papers/paper/add/?edition={edition.pk}"' in page
    assert f'href="/admin/exchange/importjob/add/?edition={edition.pk}"' in page
    assert "Everything is done" not in page


@pytest.mark.parametrize(
    ("makers", "done_count"),
    [
        ([], 0),
        ([make_room], 1),
        ([lambda edition: make_session(edition, kind="break")], 1),
        ([make_room, lambda edition: make_session(edition, kind="break")], 2),
        ([lambda edition: make_paper(edition, ["Ada"])], 1),
    ],
)
def test_first_steps_mark_what_is_done(
    admin_client: Client, makers: list[Callable[[Edition], Any]], done_count: int
) -> None:
    edition = make_edition(public_from=None)
    for make in makers:
        make(edition)
    page = admin_client.get("/admin/").text

    assert ("First steps" in page, "Everything is done" in page) == (True, False)
    assert page.count("✓ Done:") == done_count
    assert f'href="/admin/conference/edition/{edition.pk}/publish/"' in page


def test_first_steps_disappear_when_done_or_hidden(admin_client: Client) -> None:
    private = make_edition(2022, public_from=None)
    make_complete_paper(private)
    steps = admin_client.get("/admin/").context["steps"]
    hidden = admin_client.post("/admin/first-steps/hide/", {"edition": private.pk}, follow=True)
    other = make_edition(2023)
    unfinished = admin_client.get("/admin/", {"edition": other.pk})
    make_complete_paper(other)

    assert [step["is_done"] for step in steps] == [True, True, True, False, False]
    assert "First steps" not in hidden.text
    assert "First steps" in unfinished.text
    assert "First steps" not in admin_client.get("/admin/", {"edition": other.pk}).text


def test_invalid_cookie_of_hidden_steps_is_ignored(admin_client: Client) -> None:
    make_edition()
    admin_client.cookies["desk_steps"] = f"{'9' * 5000}.x."

    assert "First steps" in admin_client.get("/admin/").text


def test_desk_without_problems_says_so(admin_client: Client) -> None:
    make_complete_paper(make_edition())
    page = admin_client.get("/admin/").text

    assert "Everything is done." in page
    assert f"{len(CHECKS)} checks were run. No problems found." in page
    assert "No papers without abstract</li>" in page


def test_desk_shows_only_checks_of_rows_that_the_user_may_view(client: Client) -> None:
    make_flaws(make_edition())
    user = get_user_model().objects.create_user("helper", is_staff=True)
    permissions = Permission.objects.filter(codename__in=["view_edition", "view_paper"])
    client.force_login(user)
    before = client.get("/admin/")
    user.user_permissions.set(permissions)
    after = client.get("/admin/")

    assert before.context["desk"] is None
    assert {line.area for line in after.context["desk"]["open_checks"]} == {"Program"}
    assert "Add an edition" not in before.text


def rename_person(person: Any, name: str) -> None:
    person.name = name
    person.save()


def count_desk_queries(client: Client) -> int:
    with CaptureQueriesContext(connection) as captured:
        client.get("/admin/")
    return len(captured)


@pytest.mark.parametrize(
    ("make", "queries"), [(make_flaws, (43, 16)), (make_complete_paper, (40, 15))], ids=["flaws", "in order"]
)
def test_query_count_is_the_same_for_1_and_3_rows_and_drops_when_cached(
    make: Callable[[Edition], Any], queries: tuple[int, int], admin_client: Client
) -> None:
    edition = make_edition()
    # The first request also fills Django's cache of content types.
    admin_client.get("/admin/")
    query_counts = []
    for row_count in (1, 2):
        for _ in range(row_count):
            make(edition)
        query_counts.append((count_desk_queries(admin_client), count_desk_queries(admin_client)))

    assert query_counts == [queries, queries]


def test_only_papers_are_counted_again_after_a_change_of_texts(admin_client: Client) -> None:
    paper = make_complete_paper(make_edition())
    for _ in range(2):
        admin_client.get("/admin/")
    unchanged, queries = count_desk_queries(admin_client), []
    for abstract in ("Another abstract.", ""):
        paper.abstract = abstract
        paper.save()
        queries.append(count_desk_queries(admin_client))
    labels = [line.label for line in admin_client.get("/admin/").context["desk"]["open_checks"]]
    make_presentation(paper.presentations.get().session, uid="t2", title="A talk")

    # The number of papers, the checks of them, and what the change invalidated.
    assert (unchanged, queries, labels) == (15, [19, 19], ["paper without abstract"])
    assert count_desk_queries(admin_client) == 32


def test_clashes_are_counted_again_after_a_change_of_times_but_not_of_titles(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    session: Any = make_complete_paper(make_edition()).presentations.get().session
    searches: list[Edition] = []

    def find(edition: Edition) -> clashes.EditionClashes:
        searches.append(edition)
        return find_clashes(edition)

    find_clashes = clashes.find_clashes
    monkeypatch.setattr(clashes, "find_clashes", find)
    admin_client.get("/admin/")
    for _ in range(2):
        session.title += " again"
        session.save()
        admin_client.get("/admin/")
    assert len(searches) == 1

    session.end += timedelta(minutes=1)
    session.save()
    admin_client.get("/admin/")
    assert len(searches) == 2


def test_clash_with_a_time_when_a_person_is_away_is_counted_at_once(admin_client: Client) -> None:
    paper = make_complete_paper(make_edition())
    session: Any = paper.presentations.get().session
    counts = []
    for _ in range(2):
        checks = admin_client.get("/admin/").context["desk"]["open_checks"]
        counts.append([(line.count, line.label) for line in checks])
        Unavailability.objects.create(
            edition=paper.edition, person=session.roles.get().person, start=session.start, end=session.end
        )

    assert counts == [[], [(1, "clash in the timetable")]]


def test_desk_updates_after_every_change(admin_client: Client) -> None:
    paper = make_complete_paper(make_edition())
    person: Any = paper.presentations.get().session.roles.get().person
    changes: list[Callable[[], Any]] = [
        lambda: paper.authorships.all().delete(),
        lambda: paper.materials.update(visible=False),
        lambda: rename_person(person, "NameError"),
        lambda: make_conflict(paper.edition),
    ]
    labels = [[line.label for line in admin_client.get("/admin/").context["desk"]["open_checks"]]]
    for change in changes:
        change()
        labels.append([line.label for line in admin_client.get("/admin/").context["desk"]["open_checks"]])

    expected = ["paper without authors", "paper without PDF", "doubtful name", "import conflict to decide"]
    assert labels == [[], expected[:1], expected[:2], expected[:3], expected]


@pytest.mark.parametrize(
    "path", ["papers/paper", "schedule/session", "schedule/presentation", "people/person"]
)
def test_lists_have_a_to_do_filter_and_ignore_unknown_values(path: str, admin_client: Client) -> None:
    make_flaws(make_edition())
    total = count_listed_rows(admin_client, f"/admin/{path}/")

    assert count_listed_rows(admin_client, f"/admin/{path}/?todo=unheard_of") == total
    assert "By to do" in admin_client.get(f"/admin/{path}/").text


def links(page: Any, path: str) -> list[str]:
    return [unescape(href) for href in re.findall(rf'href="(/admin/{path}[^"]*)"', page.text)]


@pytest.mark.parametrize(
    ("path", "lookup"),
    [
        ("papers/paper", "edition__id__exact"),
        ("papers/authorship", "paper__edition__id__exact"),
        ("people/person", "edition__id__exact"),
        ("schedule/session", "edition__id__exact"),
        ("exchange/importrun", "edition__id__exact"),
    ],
)
def test_edition_chosen_on_the_desk_filters_lists_and_sidebar_links(
    admin_client: Client, path: str, lookup: str
) -> None:
    old, _new = make_edition(2021), make_edition(2022)
    unfiltered_links = set(links(admin_client.get("/admin/"), f"{path}/")) & {f"/admin/{path}/"}
    admin_client.get("/admin/", {"edition": old.pk})
    list_url = f"/admin/{path}/?{lookup}={old.pk}"
    pages = [admin_client.get(page) for page in ("/admin/", list_url, "/admin/conference/sponsor/")]

    assert unfiltered_links == {f"/admin/{path}/"}
    assert [list_url in links(page, f"{path}/") for page in pages] == [True, True, True]
    assert f'<a href="{list_url}" aria-current="page">' in pages[1].text
    assert admin_client.get(list_url).status_code == 200


def test_pages_default_to_the_edition_chosen_on_the_desk(admin_client: Client) -> None:
    old, new = make_edition(2021), make_edition(2022)
    pages = ["/admin/", "/admin/schedule/session/timetable/", "/admin/schedule/session/clashes/"]
    before = [f'<option value="{new.pk}" selected>' in admin_client.get(page).text for page in pages]
    admin_client.get("/admin/", {"edition": old.pk})
    after = [f'<option value="{old.pk}" selected>' in admin_client.get(page).text for page in pages]

    assert (before, after) == ([True] * 3, [True] * 3)
    assert f'<option value="{old.pk}" selected>' in admin_client.get("/admin/papers/paper/add/").text


@pytest.mark.parametrize(
    "url",
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
def test_deleted_edition_is_no_longer_chosen(admin_client: Client, url: str) -> None:
    old, new = make_edition(2021), make_edition(2022)
    admin_client.get("/admin/", {"edition": old.pk})
    old.delete()
    response = admin_client.get(url)

    assert response.status_code == 200
    assert f"edition={old.pk}" not in response.text
    assert f"edition__id__exact={old.pk}" not in response.text
    assert f'<option value="{new.pk}"' in response.text or "/add/" not in url


def test_form_links_back_to_the_filtered_list(admin_client: Client) -> None:
    paper = make_paper(make_edition())
    list_filter = f"edition__id__exact={paper.edition_id}"
    page = admin_client.get(f"/admin/papers/paper/{paper.pk}/change/", {"_changelist_filters": list_filter})

    assert f"/admin/papers/paper/?{list_filter}" in links(page, "papers/paper/")
