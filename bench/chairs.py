"""Benchmark of ten chairs who edit at once while changes of the schedule wait for a release.

`uv run -m bench.chairs [--database URL]`. Each chair makes a request every five seconds: saves of a session,
lists, autocompletes, and the timetable. Times count from the moment at which a request was due.
"""

import http.client
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import cycle, islice
from statistics import median, quantiles
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from bench.desk import UNRELEASED, make_changes, sign_in
from bench.harness import SITE, Server, granian, parser, program, report

if TYPE_CHECKING:
    from conference.models import Edition
    from schedule.models import Session

CHAIRS, PERIOD_SECONDS, TIMEOUT_SECONDS = 10, 5.0, 30
LIMIT_MS = 400
# What a chair does in turn; a save needs the form, which is requested right before it.
TURN = ("timetable", "save", "list of sessions", "autocomplete", "save", "list of papers")


class FormFields(HTMLParser):
    """Reads the values that a browser posts from the form of a session."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: list[tuple[str, str]] = []
        self.is_inside = False
        self.select = self.textarea = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        name = values.get("name", "")
        if tag == "form":
            self.is_inside = values.get("id") == "session_form"
        elif tag == "select":
            self.select = name
        elif tag == "textarea":
            self.textarea = name
            self.add(name, "")
        elif tag == "option" and "selected" in values and self.select:
            self.add(self.select, values.get("value", ""))
        elif tag == "input" and name and values.get("type") not in ("submit", "button", "file"):
            is_tick = values.get("type") in ("checkbox", "radio")
            if not is_tick or "checked" in values:
                self.add(name, values.get("value", "on" if is_tick else ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.is_inside = False
        elif tag == "select":
            self.select = ""
        elif tag == "textarea":
            self.textarea = ""

    def handle_data(self, data: str) -> None:
        if self.textarea and self.values and self.values[-1][0] == self.textarea:
            # A browser leaves out the first line break.
            self.values[-1] = (self.textarea, self.values[-1][1] + data.removeprefix("\n"))

    def add(self, name: str, value: str) -> None:
        if self.is_inside:
            self.values.append((name, value))


@dataclass(slots=True)
class Morning:
    """The measurements: milliseconds by kind of request, and errors."""

    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Chair:
    """A signed-in chair with a session of their own."""

    number: int
    cookie: str
    addresses: Mapping[str, str]
    morning: Morning
    connection: http.client.HTTPConnection
    saves: int = 0

    def work(self, start: float, seconds: int) -> None:
        """Make a request each period, from a moment of their own within the first one."""
        first = start + self.number * PERIOD_SECONDS / CHAIRS
        kinds = islice(cycle(TURN), self.number, None)
        for turn in range(int(seconds / PERIOD_SECONDS)):
            due = first + turn * PERIOD_SECONDS
            time.sleep(max(0.0, due - time.perf_counter()))
            kind = next(kinds)
            try:
                if kind == "save":
                    self.save(due)
                else:
                    self.request(kind, due)
            except (OSError, ValueError, http.client.HTTPException) as error:
                self.connection.close()
                self.morning.errors.append(f"{kind}: {error!r}")

    def request(self, kind: str, due: float, body: str | None = None) -> str:
        """Send a request and measure it; return the page. Raises `ValueError` for an error."""
        headers = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        address = self.addresses[kind]
        self.connection.request("POST" if body else "GET", address, body, headers)
        response = self.connection.getresponse()
        page = response.read().decode()
        for name, value in response.getheaders():
            if name.lower() == "set-cookie" and value.startswith("csrftoken="):
                session = self.cookie.partition(";")[0]
                self.cookie = f"{session}; {value.partition(';')[0]}"
        self.morning.milliseconds[kind].append((time.perf_counter() - due) * 1000)
        if response.status != (http.client.FOUND if body else http.client.OK):
            raise ValueError(f"{address} answers {response.status}.")
        return page

    def save(self, due: float) -> None:
        """Rename the session in its form."""
        page = self.request("form of a session", due)
        self.saves += 1
        title = f"Session of chair {self.number}, {self.saves}"
        values = [(name, title if name == "title" else value) for name, value in FormFields(page).values]
        self.request("save", time.perf_counter(), urlencode([*values, ("_continue", "1")]))


def sessions_of_chairs(edition: "Edition") -> "list[Session]":
    from schedule.models import Session

    sessions = Session.objects.filter(edition=edition, kind="oral", status="published")
    return list(sessions.order_by("-pk")[:CHAIRS])


def make_chairs(edition: "Edition", server: Server, morning: Morning) -> list[Chair]:
    """Sign ten chairs in."""
    query, admin = f"?edition={edition.pk}", "/admin/schedule/session/"
    chairs = []
    for number, session in enumerate(sessions_of_chairs(edition)):
        _user, browser = sign_in(f"bench-chair-{number}", edition, "chair")
        cookie = f"sessionid={browser.cookies['sessionid'].value}"
        choice = "app_label=papers&model_name=authorship&field_name=person&term=an"
        form = f"{admin}{session.pk}/change/"
        addresses = {
            "timetable": f"{admin}timetable/{query}",
            "list of sessions": f"{admin}?edition__id__exact={edition.pk}",
            "list of papers": f"/admin/papers/paper/?edition__id__exact={edition.pk}",
            "autocomplete": f"/admin/autocomplete/?{choice}",
            "form of a session": form,
            "save": form,
        }
        host = server.address.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=TIMEOUT_SECONDS)
        chairs.append(Chair(number, cookie, addresses, morning, connection))
    return chairs


def work_together(edition: "Edition", server: Server, seconds: int) -> Morning:
    """Let ten chairs work for these seconds."""
    morning = Morning()
    chairs, start = make_chairs(edition, server, morning), time.perf_counter() + 1
    threads = [Thread(target=chair.work, args=(start, seconds), daemon=True) for chair in chairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return morning


def report_all(morning: Morning, seconds: int) -> None:
    for kind, values in sorted(morning.milliseconds.items()):
        report(f"{kind}, {len(values)} requests: median", median(values), "ms")
    measured = [value for values in morning.milliseconds.values() for value in values]
    report("all: median", median(measured), "ms")
    report("all: 95 of 100 within", quantiles(measured, n=20)[18], "ms", at_most=LIMIT_MS)
    turns = CHAIRS * int(seconds / PERIOD_SECONDS)
    done = len(measured) - len(morning.milliseconds["form of a session"])
    report(f"turns of {turns} that were not made", max(0, turns - done), "", at_most=0)
    report("errors", len(morning.errors), "", at_most=0)
    for error in morning.errors[:5]:
        print(error)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--seconds", type=int, default=60)
    options.add_argument("--warm", type=int, default=30, help="seconds of work before")
    arguments = options.parse_args()
    with program("chairs", arguments):
        from conference.models import Edition
        from schedule.models import UnreleasedChange

        edition = Edition.objects.order_by("-year")[0]
        user, _browser = sign_in("bench", edition)
        make_changes(edition, user, UNRELEASED)
        with granian(SITE) as server:
            work_together(edition, server, arguments.warm)
            morning = work_together(edition, server, arguments.seconds)
        report_all(morning, arguments.seconds)
        report("unreleased changes at the end", UnreleasedChange.objects.filter(edition=edition).count(), "")


if __name__ == "__main__":
    main()
