"""The later layout of Mini-Conf sites, one `conference.json`: papers, sessions, and the events in them by id.

A session is a block of the timetable. Its events of papers, such as the posters of one track, are sessions
in it; a plenary, tutorial or workshop is the session itself, with people and text.
"""

import re
from collections import Counter, defaultdict

from django.utils.translation import gettext

from exchange.formats.miniconf.events import ROLE_BY_KIND
from exchange.formats.miniconf.papers import PaperReader
from exchange.formats.miniconf.rows import PLACEHOLDER, SiteRow
from exchange.formats.miniconf.sessions import SessionReader
from exchange.problems import Where, short
from exchange.reading.links import is_web_address, keep_link
from exchange.reading.papers import (
    PAPER_KINDS,
    escape_markdown,
    guess_session_kind,
    make_uid,
    parse_authors,
    person_ref,
)
from exchange.reading.person_names import is_placeholder
from exchange.reading.values import slug, tidy, tidy_each
from exchange.records import (
    UNSTATED,
    AuthorRecord,
    MaterialRecord,
    PaperRecord,
    PersonRef,
    RoleRecord,
    SessionRecord,
)

# Fields of a paper with links -> kind of the material.
MATERIAL_BY_FIELD = {
    "paper_pdf": "pdf",
    "slides_pdf": "slides",
    "poster_pdf": "poster",
    "video_url": "video",
    "underline_url": "video",
    "demo_url": "project",
    "anthology_url": "other",
}
DESCRIBED_EVENT_LISTS = ("plenaries", "tutorials", "workshops")
KIND_BY_TYPE = {"socials": "social", "tutorials": "tutorial", "workshops": "workshop"}
# The lists of events in a session that describe the session itself.
SESSION_EVENT_LISTS = ("plenary_events", "tutorial_events", "workshop_events")
# Presenters of plenaries that are not people.
NOT_A_PERSON = re.compile(
    r"\b(board|chairs?|committee|team|organi[sz]ers|session|awards?)\b|\d|&", re.IGNORECASE
)


def is_conference(content: dict[str, object]) -> bool:
    return all(isinstance(content.get(name), dict) for name in ("papers", "sessions"))


class ConferenceReader:
    """Reader of one file. Adds its papers and sessions to the readers of both."""

    def __init__(self, document: SiteRow, papers: PaperReader, sessions: SessionReader) -> None:
        self.document, self.papers, self.sessions = document, papers, sessions
        # The keys of papers by the event to which they belong.
        self.papers_by_event: dict[str, list[str]] = defaultdict(list)
        # Events, and the descriptions of plenaries, tutorials and workshops, by key.
        self.events = {key: row.content for key, row in self._rows_by_key("events")}
        self.descriptions = {
            key: row.content for name in DESCRIBED_EVENT_LISTS for key, row in self._rows_by_key(name)
        }

    def read(self) -> None:
        self.papers.has_table = True
        for key, row in self._rows_by_key("papers"):
            self._add_paper(key, row)
        for key, row in self._rows_by_key("sessions"):
            if row.start:
                self._add_session(key, row)
            else:
                message = gettext("The session “%(name)s” was left out: it has no time.")
                name = short(row.text("name") or key)
                self.sessions.findings.note("warning", row.where, message, name=name)

    def _rows_by_key(self, name: str) -> list[tuple[str, SiteRow]]:
        value = self.document.content.get(name)
        pairs = value.items() if isinstance(value, dict) else ()
        file = self.document.where.file
        return [
            (str(key), SiteRow(item, Where(file, f"{name}.{short(str(key))}")))
            for key, item in pairs
            if isinstance(item, dict)
        ]

    def _add_paper(self, key: str, row: SiteRow) -> None:
        uid = make_uid(row.text("id") or key)
        for event_id in row.texts("event_ids"):
            self.papers_by_event[event_id].append(uid)
        links = [
            (kind, row.text(name))
            for name, kind in MATERIAL_BY_FIELD.items()
            if keep_link(row.text(name), row.where, self.papers.parts.findings)
        ]
        abstract, summary = row.text("abstract").strip(), row.text("tldr").strip()
        is_beginning = abstract.startswith(summary.removesuffix("..."))
        paper = PaperRecord(
            where=row.where,
            uid=uid,
            title=escape_markdown(tidy(row.text("title"))),
            abstract=escape_markdown(abstract) if abstract else UNSTATED,
            lay_summary=UNSTATED if is_beginning else escape_markdown(summary),
            status="published",
            authors=self._authors(row),
            keywords=tidy_each(row.texts("keywords")) or UNSTATED,
            topic=self.papers.parts.topic(row.text("track"), row.where),
            track=tidy(row.text("program")),
            decision=tidy(row.text("category", "paper_type")),
            materials=tuple(_material(kind, url, row) for kind, url in dict.fromkeys(links)) or UNSTATED,
        )
        self.papers.add_paper(paper)

    def _authors(self, row: SiteRow) -> tuple[AuthorRecord, ...]:
        names = row.texts("authors") or [author.text("full_name", "name") for author in row.rows("authors")]
        return self.papers.parts.authors(names, row.where)

    def _add_session(self, key: str, row: SiteRow) -> None:
        events = self._merged_events(row, "events")
        paper_events = [(name, event) for name, event in events if self._papers_of(name, event)]
        # The plenary, tutorial or workshop that the session is, if any.
        main_event = next(
            (event for name in SESSION_EVENT_LISTS for _, event in self._merged_events(row, name)), row
        )
        people = self._people(main_event)
        name = tidy(row.text("name", "display_name") or key)
        kind = self._kind_of_session(name, row, main_event, [event for _, event in paper_events])
        if kind == "social" and slug(key) not in slug(name):
            # The key contains the type, such as "Birds of a Feather 2".
            name = f"{tidy(key)}: {name}"
        event_room = events[0][1].text("room") if len(events) == 1 else ""
        role, affiliation = ROLE_BY_KIND.get(kind, "speaker"), tidy(main_event.text("institution"))
        span = self.sessions.read_span(row, row.where)
        if span is None:
            return
        session = self.sessions.add_session(
            span,
            row.where,
            uid=make_uid(row.text("id") or key),
            title=escape_markdown(name),
            kind=kind,
            room=self._room(main_event.text("room") or event_room),
            abstract=_description(main_event),
            recording_url=_web_url_or_empty(main_event.text("video_url")) or UNSTATED,
            roles=tuple(
                RoleRecord(where=row.where, person=person, role=role, affiliation=affiliation)
                for person in people
            ),
        )
        for name, event in paper_events:
            self._add_event(name, event, row, session)

    def _add_event(self, name: str, event: SiteRow, block: SiteRow, parent: SessionRecord) -> None:
        """Add the session of one track in a block, in one room."""
        track = tidy(event.text("track"))
        span = self.sessions.read_span(event if event.start else block, event.where)
        if span is None:
            return
        session = self.sessions.add_session(
            span,
            event.where,
            uid=make_uid(event.text("id") or name),
            title=escape_markdown(f"{tidy(event.text('session'))}: {track}" if track else name),
            kind=guess_session_kind(f"{event.text('type')} {name}", "oral", PAPER_KINDS),
            room=self._room(event.text("room")),
            parent=parent.uid,
            roles=tuple(
                RoleRecord(where=event.where, person=person_ref(chair, event.where), role="chair")
                for chair in _names(event, "chairs")
            ),
        )
        self.sessions.add_presentations(self._papers_of(name, event), session, event.where)

    def _merged_events(self, row: SiteRow, name: str) -> list[tuple[str, SiteRow]]:
        """Return the events of a session by key, merged with their descriptions elsewhere in the file."""
        value = row.content.get(name)
        if isinstance(value, list):
            value = {str(key): self.events[str(key)] for key in value if str(key) in self.events}
        pairs = value.items() if isinstance(value, dict) else ()
        return [
            (
                str(key),
                SiteRow({**self.descriptions.get(str(key), {}), **_without_empty_values(event)}, row.where),
            )
            for key, event in pairs
            if isinstance(event, dict)
        ]

    def _papers_of(self, name: str, event: SiteRow) -> list[str]:
        keys = dict.fromkeys(
            [*event.texts("paper_ids"), *self.papers_by_event.get(event.text("id") or name, ())]
        )
        return list(keys)

    def _kind_of_session(
        self, name: str, row: SiteRow, main_event: SiteRow, paper_events: list[SiteRow]
    ) -> str:
        kinds = Counter(guess_session_kind(event.text("type"), "oral", PAPER_KINDS) for event in paper_events)
        type_name = row.text("type").casefold()
        if kinds:
            return kinds.most_common(1)[0][0]
        if type_name in KIND_BY_TYPE:
            return KIND_BY_TYPE[type_name]
        default = "invited_talk" if main_event is not row and self._people(main_event) else "other"
        return guess_session_kind(
            f"{name} {main_event.text('presenter')}", "break" if type_name == "breaks" else default
        )

    def _people(self, row: SiteRow) -> list[PersonRef]:
        """Return presenters and organizers; add the biography if there is one person."""
        names = [name for field in ("presenter", "organizers", "committee") for name in _names(row, field)]
        people = [person_ref(name, row.where) for name in dict.fromkeys(names)]
        biography = row.text("bio").strip()
        if len(people) == 1 and not PLACEHOLDER.match(biography):
            self.sessions.add_biography(people[0], biography)
        return people

    def _room(self, name: str) -> str | None:
        return self.sessions.add_room(name, virtual=name.casefold().startswith("virtual"))


def _without_empty_values(row: dict[str, object]) -> dict[str, object]:
    """Return an object without its empty values."""
    return {name: value for name, value in row.items() if value not in ("", [], {})}


def _names(row: SiteRow, field: str) -> list[str]:
    """Return the people in a field: a name, or a list of names or objects. Boards and teams are skipped."""
    texts = [
        row.text(field),
        *row.texts(field),
        *(person.text("full_name", "name") for person in row.rows(field)),
    ]
    author_names = [
        author.name
        for text in texts
        if text and not NOT_A_PERSON.search(text)
        for author in parse_authors(text)
    ]
    cleaned_names = (name.removeprefix("and ") for name in author_names)
    return [name for name in cleaned_names if name and not is_placeholder(name)]


def _description(row: SiteRow) -> str:
    """Return the description of a session with its links."""
    text = row.text("abstract", "description").strip()
    pages = (_web_url_or_empty(row.text(name)) for name in ("workshop_site_url", "tutorial_pdf"))
    return "\n\n".join(
        ["" if PLACEHOLDER.match(text) else text, *(f"<{page}>" for page in pages if page)]
    ).strip()


def _web_url_or_empty(address: str) -> str:
    return address if is_web_address(address) else ""


def _material(kind: str, url: str, row: SiteRow) -> MaterialRecord:
    label = "ACL Anthology" if kind == "other" else ""
    return MaterialRecord(where=row.where, kind=kind, url=url, label=label)
