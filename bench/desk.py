"""Benchmark of admin pages in an edition of 20,000 papers, without and with 500 unreleased changes.

Pages of people are also measured for a member with a role, whose rows the database has to select.

`uv run -m bench.desk [--database URL]`. A filled database is reused: at the end, 6,000 changes are released.
"""

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bench.harness import client, count_queries, measure, parser, program, report

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from conference.models import Edition

UNRELEASED, RELEASED = 500, 6_000
PAGE_MS, RELEASE_MS = 400, 5_000
# Use the fastest of three requests, because the first one of a process loads code.
TIMES = 3
COMMON_WORD = "learning"


def make_changes(edition: "Edition", user: "User", number: int) -> None:
    """Change sessions and presentations, until this many changes are unreleased."""
    from django.utils import timezone

    from content.history import Origin
    from content.history.recording import recording
    from schedule.models import Presentation, Session, UnreleasedChange
    from schedule.unreleased.releasing import let_changes_wait

    let_changes_wait(edition, user, timezone.now())
    waiting = UnreleasedChange.objects.filter(edition=edition)
    with recording(Origin.FORM, user):
        sessions = list(Session.objects.filter(edition=edition, status="published").order_by("pk"))
        sessions = sessions[: UNRELEASED // 10]
        for count, session in enumerate(sessions, start=1):
            session.title = f"{session.title} ({count})"
        Session.objects.bulk_update(sessions, ["title"])
        talks = Presentation.objects.filter(edition=edition, session__isnull=False, status="published")
        changed = list(talks.select_related("session").order_by("pk")[: number - waiting.count()])
        for count, talk in enumerate(changed, start=1):
            talk.start = talk.starts
            talk.end = (talk.ends or talk.start) + timedelta(minutes=count % 9 + 1)
        Presentation.objects.bulk_update(changed, ["start", "end"])
    print(f"{waiting.count()} unreleased changes", flush=True)


def report_release(edition: "Edition", user: "User") -> None:
    """Release everything, with all new clashes, and report the seconds of CPU."""
    from django.utils import timezone

    from schedule.models import ReleasePlan, UnreleasedChange
    from schedule.unreleased.new_clashes import NewClashesError
    from schedule.unreleased.releasing import release

    plan, count = ReleasePlan.objects.get(edition=edition), UnreleasedChange.objects.count()
    try:
        milliseconds = measure(release, plan, user, timezone.now())
    except NewClashesError as error:
        confirmed_release = partial(release, confirmed=error.keys)
        milliseconds = measure(confirmed_release, plan, user, timezone.now())
    report(f"release of {count} changes", milliseconds, "ms", at_most=RELEASE_MS)


def pages(edition: "Edition") -> dict[str, str]:
    """Return the addresses of the pages by name."""
    from django.db.models import Count

    from papers.models import Paper
    from schedule.models import Session

    sessions = Session.objects.filter(edition=edition).annotate(size=Count("presentations"))
    posters = sessions.filter(kind="poster").order_by("-size", "pk")[0]
    talks = sessions.filter(kind="oral").order_by("-size", "pk")[0]
    paper = Paper.objects.filter(edition=edition).order_by("pk")[0]
    admin, query = "/admin/schedule/session/", f"?edition={edition.pk}"
    return {
        "desk": f"/admin/{query}",
        "desk search, a common word": f"/admin/search/?q={COMMON_WORD}",
        "desk search, two letters": "/admin/search/?q=an",
        "unreleased changes": f"/admin/schedule/release/working-copy/{query}",
        "announce a release": f"/admin/schedule/release/add/{query}",
        "timetable": f"{admin}timetable/{query}",
        "clashes": f"{admin}clashes/{query}",
        "papers to sessions": f"{admin}assign/{query}",
        "list of papers": f"/admin/papers/paper/?edition__id__exact={edition.pk}",
        "list of presentations": f"/admin/schedule/presentation/?edition__id__exact={edition.pk}",
        "form of a paper": f"/admin/papers/paper/{paper.pk}/change/",
        "form of a session": f"{admin}{talks.pk}/change/",
        "form of a poster session": f"{admin}{posters.pk}/change/",
        "history of a session": f"{admin}{talks.pk}/history/",
        "talks of a session": f"{admin}{talks.pk}/talks/",
        "boards of a session": f"{admin}{posters.pk}/boards/",
        "labels of boards": f"{admin}{posters.pk}/boards/labels/",
        "announce a change": f"{admin}{talks.pk}/announce/",
        "new edition from an earlier one": f"/admin/conference/edition/new/?source={edition.pk}",
    }


def people_pages() -> dict[str, str]:
    """Return the addresses of pages of people by name."""
    from people.models import Person

    person, admin = Person.objects.order_by("pk")[0], "/admin/people/person/"
    choice = "app_label=papers&model_name=authorship&field_name=person&term=an"
    return {
        "list of people": admin,
        "search of people": f"{admin}?q=an",
        "form of a person": f"{admin}{person.pk}/change/",
        "choice of a person": f"/admin/autocomplete/?{choice}",
    }


def sign_in(name: str, edition: "Edition", role: str = "") -> "tuple[User, Client]":
    """Return an account with a role in an edition, without one a superuser, and its browser."""
    from django.contrib.auth.models import User

    from accounts.models import Membership

    user, _created = User.objects.get_or_create(
        username=name, defaults={"is_staff": True, "is_superuser": not role}
    )
    if role:
        Membership.objects.get_or_create(user=user, edition=edition, role=role)
    browser = client()
    browser.force_login(user)
    return user, browser


def report_page(name: str, browser: "Client", address: str) -> None:
    """Report the milliseconds of a page and its queries."""
    queries = count_queries(browser, address)
    milliseconds = min(measure(browser.get, address) for _ in range(TIMES))
    report(f"{name}, {queries} queries", milliseconds, "ms", at_most=PAGE_MS)


def main() -> None:
    options = parser(__doc__, papers=20_000).parse_args()
    with program("desk", options):
        from conference.models import Edition
        from schedule.models import ReleasePlan

        edition = Edition.objects.order_by("-year")[0]
        user, browser = sign_in("bench", edition)
        _member, members_browser = sign_in("bench-chair", edition, "chair")
        # Update the index, as the first search does.
        browser.get(f"/search/?q={COMMON_WORD}")
        ReleasePlan.objects.filter(edition=edition).update(changes_wait=False)
        for state in ("", f", {UNRELEASED} unreleased changes"):
            if state:
                make_changes(edition, user, UNRELEASED)
            for name, address in pages(edition).items():
                report_page(f"{name}{state}", browser, address)
            for name, address in people_pages().items():
                report_page(f"{name}, as a chair{state}", members_browser, address)
        make_changes(edition, user, RELEASED)
        report_release(edition, user)


if __name__ == "__main__":
    main()
