"""What both sites are asked for: the same talks and people, at their own addresses."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Talks, and their first authors, spread over the program.
SAMPLES = 50
# Names and titles that every format writes alike.
PLAIN = re.compile(r"[\w ]+(?:[-:][\w ]+)*\Z", re.ASCII)
EXPANDED = "expand=speakers,slots,track"
OWN_EXPANDED = "expand=authors,presentations,awards"

type Check = Callable[[list[bytes]], bool]


@dataclass(frozen=True, slots=True)
class Pages:
    """Addresses of one site, and whether their responses show what they should.

    `is_whole`: together they count as one response. `is_file`: how long one takes is what matters.
    """

    addresses: list[str]
    are_right: Check
    is_whole: bool = False
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line of the tables."""

    name: str
    theirs: Pages
    ours: Pages


def requests(slug: str, codes: dict[str, dict[str, str]]) -> list[Comparison]:
    """Return what is requested of an edition; `codes` are pretalx's for talks and speakers."""
    from conference.models import Edition

    edition = Edition.objects.get(slug=slug)
    authorships = sampled(edition, codes["talks"])
    papers = [row.paper for row in authorships]
    titles, names = [paper.title for paper in papers], [row.person.name for row in authorships]
    root = f"/{slug}/"
    talks = [f"{root}talk/{codes['talks'][paper.uid]}" for paper in papers]
    speakers = [f"{root}speaker/{codes['speakers'][row.person.uid]}/" for row in authorships]
    calendars = [f"{root}papers/{paper.uid}.ics" for paper in papers]
    pages, people = (
        [paper.get_absolute_url() for paper in papers],
        [row.person.get_absolute_url() for row in authorships],
    )
    return [
        *schedules(edition, titles),
        Comparison("a talk's page", each([f"{talk}/" for talk in talks], titles), each(pages, titles)),
        Comparison("a speaker's page", each(speakers, names), each(people, names)),
        Comparison("a talk's .ics", each([f"{talk}.ics" for talk in talks], titles), each(calendars, titles)),
        api(slug, min(SAMPLES, len(codes["talks"]))),
        *files(root, titles),
    ]


def sampled(edition: Any, known: dict[str, str]) -> list[Any]:
    """Return first authorships of papers with a plain title, spread over the program."""
    from papers.models import Authorship

    papers = edition.papers.published().filter(presentations__isnull=False, uid__in=known)
    rows = Authorship.objects.filter(paper__in=papers, position=1).select_related("paper__edition", "person")
    found = [
        row for row in rows.order_by("paper") if PLAIN.match(row.paper.title) and PLAIN.match(row.person.name)
    ]
    return found[:: max(1, len(found) // SAMPLES)][:SAMPLES]


def schedules(edition: Any, titles: list[str]) -> list[Comparison]:
    """Return the schedule in two ways: each talk of it as HTML, and what a browser loads that opens it."""
    root = edition.get_absolute_url()
    sessions = edition.sessions.published().select_related("edition")
    days = [f"{root}schedule/{day}/" for day in sorted(sessions.program_days(edition.day_of))]
    halls = [row.get_absolute_url() for row in sessions.filter(presentations__isnull=False).distinct()]
    shell = [f"{root}schedule/", f"{root}schedule/v/1.0/widgets/schedule.json"]
    return [
        Comparison(
            "the schedule as HTML with every talk",
            Pages([f"{root}schedule/nojs"], holding(titles), is_whole=True),
            Pages([*days, *halls], holding(titles), is_whole=True),
        ),
        Comparison(
            "opening the schedule",
            Pages(shell, holding(titles), is_whole=True),
            Pages(days[1:2] or days, holding(["Coffee"]), is_whole=True),
        ),
    ]


def api(slug: str, number: int) -> Comparison:
    """Return a page of the API: so many talks with all that belongs to them."""
    other = f"/api/events/{slug}/submissions/?page_size={number}&{EXPANDED}"
    own = f"/api/v1/papers/?edition={slug}&page_size={number}&{OWN_EXPANDED}"
    return Comparison(
        f"API, {number} talks with speakers, slots, track",
        Pages([other], expanded(number, "speakers", "slots")),
        Pages([own], expanded(number, "authors", "presentations")),
    )


def files(root: str, titles: list[str]) -> list[Comparison]:
    """Return the files that apps and calendars follow.

    Plenary's schedule.ics leaves out posters, which have no time of their own; that of all papers has them.
    """
    names = {"schedule.xml": "schedule.xml", "schedule.json": "schedule.json", "schedule.ics": "papers.ics"}
    return [
        Comparison(
            other,
            Pages([f"{root}schedule/export/{other}"], holding(titles), is_file=True),
            Pages([f"{root}{own}"], holding(titles), is_file=True),
        )
        for other, own in names.items()
    ]


def entries(body: bytes) -> int:
    """Return how many talks, sessions and breaks a file lists."""
    if not body.startswith(b"{"):
        return max(body.count(b"<event "), body.count(b"BEGIN:VEVENT"))
    days = json.loads(body)["schedule"]["conference"]["days"]
    return sum(len(events) for day in days for events in day["rooms"].values())


def each(addresses: list[str], texts: list[str]) -> Pages:
    """Return pages of which each shows its own text."""

    def shows(bodies: list[bytes]) -> bool:
        return all(text in plain(body) for text, body in zip(texts, bodies, strict=True))

    return Pages(addresses, shows)


def holding(texts: list[str]) -> Check:
    """Return whether responses show all texts together."""

    def shows(bodies: list[bytes]) -> bool:
        everything = "".join(plain(body) for body in bodies)
        return all(text in everything for text in texts)

    return shows


def expanded(number: int, people: str, places: str) -> Check:
    """Return whether a response of an API has so many talks, with people and places as objects."""

    def shows(bodies: list[bytes]) -> bool:
        rows = json.loads(bodies[0])["results"]
        parts = [part for row in rows for part in (*row[people], *row[places])]
        return len(rows) == number and bool(parts) and all(isinstance(part, dict) for part in parts)

    return shows


def plain(body: bytes) -> str:
    """Return a response as text: lines of calendars unfolded, characters as they are read."""
    return html.unescape(body.decode().replace("\r\n ", ""))
