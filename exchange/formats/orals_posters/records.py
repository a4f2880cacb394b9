"""Convert the events of an `orals-posters.json` file to papers, topics, rooms, sessions and presentations.

All events of a paper become one paper: values of its poster come first, other events fill the gaps. The file
does not list sessions: they derive from their events.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, count
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.files import Context, Source, total_size
from exchange.formats.orals_posters.events import (
    FALLBACK_HOST,
    EventAuthor,
    InputRow,
    materials_of,
    public_host,
    read_event,
    track_of,
)
from exchange.problems import Findings, Where, short
from exchange.reading.papers import PaperParts
from exchange.reading.textfiles import describe_place, read_head, read_object, top_level_names
from exchange.reading.values import check_program, clean_text, program_zone, shorten_key, slug, tidy_each
from exchange.records import (
    UNSTATED,
    AuthorRecord,
    PaperRecord,
    PresentationRecord,
    Program,
    RoomRecord,
    SessionRecord,
    Stated,
    TopicRecord,
    stated,
)

MAX_TOPIC_SLUG_CHARS = 120
UNKNOWN_PLACE = Where()
DECISIONS_BY_RANK = ("oral", "top-5%", "spotlight", "top-25%", "accept")


@dataclass
class TopicTree:
    """Topics by their path. Spellings with the same slug are one topic, with the first name."""

    topics: dict[str, TopicRecord] = field(default_factory=dict)

    def add(self, names: Sequence[str], where: Where = UNKNOWN_PLACE) -> str | None:
        """Add the topics of a path. Return the slug of the lowest level, or None for an empty path."""
        parent, path = None, ""
        for depth, name in enumerate(names, start=1):
            path = f"{path}--{slug(name)}" if path else slug(name)
            key = shorten_key(path, "->".join(map(slug, names[:depth])), MAX_TOPIC_SLUG_CHARS)
            self.topics.setdefault(key, TopicRecord(where=where, slug=key, name=name, parent=parent))
            parent = key
        return parent

    def path(self, key: str | None) -> tuple[str, ...]:
        """Return the names from the top down to this topic; a cycle of parents ends the path."""
        names: dict[str, str] = {}
        while key is not None and key in self.topics and key not in names:
            topic = self.topics[key]
            names[key] = stated(topic.name, "") or key
            key = stated(topic.parent, None)
        return tuple(reversed(names.values()))


def group_by_paper(events: Sequence[InputRow]) -> list[list[InputRow]]:
    """Return each paper's events, the poster first: by uid, else related events, else title and author."""
    groups: dict[int, list[InputRow]] = {event.id: [event] for event in events}
    uids: dict[str, int] = {}
    titles: dict[tuple[str, str], int] = {}
    for event in sorted(events, key=lambda event: not event.uid):
        title = (slug(event.name), event.authors[0].name if event.authors else "")
        related = next((other for other in event.related if other in groups), None)
        target = uids.setdefault(event.uid, event.id) if event.uid else related
        if target is None and event.authors:
            target = titles.get(title)
        titles.setdefault(title, event.id)
        if target is not None and groups[target] is not groups[event.id]:
            small, large = sorted((groups[event.id], groups[target]), key=len)
            large.extend(small)
            groups.update(dict.fromkeys((member.id for member in small), large))
    unique = {id(group): group for group in groups.values()}
    order = {event.id: (event.kind != "poster", index) for index, event in enumerate(events)}
    return [sorted(group, key=lambda event: order[event.id]) for group in unique.values()]


def split_repeated_authors(authors: Iterable[EventAuthor]) -> tuple[list[EventAuthor], list[EventAuthor]]:
    """Return authors and repeated ones, which have the same id."""
    distinct: list[EventAuthor] = []
    repeats: list[EventAuthor] = []
    ids: set[int] = set()
    for author in authors:
        if author.id in ids:
            repeats.append(author)
            continue
        distinct.append(author)
        if author.id is not None:
            ids.add(author.id)
    return distinct, repeats


class PaperReader:
    """Builds papers from groups of events, and collects their topics and institutions."""

    def __init__(self, context: Context, host: str, abstracts: Mapping[str, str], findings: Findings) -> None:
        self.context, self.host, self.abstracts, self.findings = context, host, abstracts, findings
        self.topics = TopicTree()
        self.parts = PaperParts(findings)

    def paper(self, events: Sequence[InputRow]) -> PaperRecord:
        main = events[0]
        field_names = frozenset[str]().union(*(event.field_names for event in events))
        for other in events[1:]:
            if other.name != main.name:
                message = gettext(
                    "Event %(id)s (%(kind)s) has another title: “%(name)s”. "
                    "The title of event %(taken)s (%(taken_kind)s) was taken."
                )
                values = {"id": other.id, "kind": other.kind, "name": other.name}
                values |= {"taken": main.id, "taken_kind": main.kind}
                self.findings.note("warning", other.where, message, **values)
        track = next((event.sourceurl for event in events if event.sourceurl), "")
        topic = next((event.topic for event in events if event.topic), ())
        keywords = next((event.keywords for event in events if event.keywords), ())
        decisions = sorted(filter(None, (event.decision for event in events)), key=decision_rank)
        separate_abstracts = (self.abstracts.get(str(event.id)) for event in events)
        event_abstracts = [event.abstract for event in events if event.abstract is not None]
        return PaperRecord(
            where=main.where,
            uid=next((event.uid for event in events if event.uid), str(min(event.id for event in events))),
            title=main.name,
            abstract=next(
                filter(None, (*separate_abstracts, *event_abstracts)), "" if event_abstracts else UNSTATED
            ),
            track=track_of(track) if track else UNSTATED,
            topic=self.topics.add(topic, main.where) if "topic" in field_names else UNSTATED,
            keywords=keywords if "keywords" in field_names else UNSTATED,
            decision=next(iter(decisions), "") if "decision" in field_names else UNSTATED,
            status="published" if any(event.visible for event in events) else "draft",
            authors=self._authors(events),
            materials=materials_of(events, self.host, self.findings),
        )

    def _authors(self, events: Sequence[InputRow]) -> Stated[tuple[AuthorRecord, ...]]:
        events_with_authors = [event for event in events if event.authors]
        if not events_with_authors:
            return UNSTATED  # every paper has authors, so an empty list states nothing
        main, *others = events_with_authors
        authors = self._distinct_authors(main)
        names = [author.name for author in authors]
        for other in others:
            if [author.name for author in self._distinct_authors(other)] != names:
                message = gettext("Event %(id)s lists other authors. Those of event %(taken)s were taken.")
                self.findings.note("warning", other.where, message, id=other.id, taken=main.id)
        name_counts = Counter(author.name for author in authors if author.id is not None)
        for name in sorted(name for name in name_counts if name_counts[name] > 1):
            message = gettext(
                "Two authors are called %(name)s and have different numbers. They were taken as two people."
            )
            self.findings.note("doubt", main.where, message, name=name)
        return tuple(self._author(author, main) for author in authors)

    def _distinct_authors(self, event: InputRow) -> list[EventAuthor]:
        authors, repeats = split_repeated_authors(event.authors)
        for author in repeats:
            message = gettext("%(name)s is listed twice as an author; taken once.")
            self.findings.note("repeat", event.where, message, name=author.name)
        return authors

    def _author(self, author: EventAuthor, event: InputRow) -> AuthorRecord:
        """Return an author: with the uid from exports of this site, else the number at the author's host."""
        site, uid = self.context.site_url.rstrip("/"), ""
        ids: tuple[tuple[str, str], ...] = ()
        own_page = re.match(re.escape(site) + r"/people/([\w.-]+)/", author.url, re.ASCII)
        if site and own_page:
            uid = own_page[1]
        elif author.id is not None:
            ids = ((public_host(author.url) or FALLBACK_HOST, str(author.id)),)
        affiliations = tidy_each(author.institution.split(";"))
        return self.parts.author(author.name, event.where, affiliations=affiliations, uid=uid, ids=ids)


def decision_rank(decision: str) -> int:
    """Return the rank of a decision among those of a paper; the most specific comes first."""
    ranks = (rank for rank, word in enumerate(DECISIONS_BY_RANK) if word in decision.lower())
    return next(ranks, len(DECISIONS_BY_RANK))


# Sessions


class SessionReader:
    """Builds the sessions of all events (`add`), then presentations event by event."""

    def __init__(self, zone: ZoneInfo, findings: Findings) -> None:
        self.zone, self.findings = zone, findings
        self.rooms: dict[str, str] = {}
        self.sessions: dict[str, SessionRecord] = {}
        self._session_by_event: dict[int, SessionRecord] = {}

    def add(self, events: Iterable[InputRow]) -> None:
        groups: dict[tuple[object, ...], list[InputRow]] = {}
        for event in events:
            if event.room:
                self.rooms.setdefault(slug(event.room), event.room)
            # Sessions are grouped by number, else by title, room and the posters' start or the talks' day.
            key: tuple[object, ...] = (event.parent_id,)
            if event.parent_id is None:
                start = event.start and event.start.astimezone(self.zone)
                key = event.session, event.room, start if event.kind == "poster" else start and start.date()
            if event.session:
                groups.setdefault(key, []).append(event)
        names = Counter(self._session_name(group) for group in groups.values())
        for group in groups.values():
            name = self._session_name(group)
            # Distinguish sessions of one title and time by room, independent of the order in the file.
            uid = slug(f"{name} {group[0].room}") if names[name] > 1 else name
            numbered = (f"{uid}-{number}" for number in count(2))
            self._add_session(group, next(key for key in chain([uid], numbered) if key not in self.sessions))

    def _session_name(self, events: Sequence[InputRow]) -> str:
        """Return the key of a session: its number, else its title and day, of posters also the time."""
        first, starts = events[0], [event.start for event in events if event.start]
        if first.parent_id is not None or not starts:
            return str(first.parent_id)
        # Talks are grouped by day, so that adding an earlier one does not change the key.
        form = "%Y-%m-%d %H%M" if first.kind == "poster" else "%Y-%m-%d"
        return slug(f"{first.session} {min(starts).astimezone(self.zone):{form}}")

    def _add_session(self, events: Sequence[InputRow], uid: str) -> None:
        first = events[0]
        starts = [event.start for event in events if event.start]
        if not starts:
            message = gettext(
                "The session “%(session)s” has no times; its papers were taken as not scheduled."
            )
            self.findings.note("warning", first.where, message, session=first.session)
            return
        for other in {event.session for event in events} - {first.session}:
            message = gettext("Session %(uid)s has a second title: “%(other)s”. “%(session)s” was taken.")
            values = {"uid": first.parent_id, "other": other, "session": first.session}
            self.findings.note("warning", first.where, message, **values)
        start, end = _session_times(events)
        rooms = {slug(event.room) if event.room else None for event in events}
        session = SessionRecord(
            where=first.where,
            uid=uid,
            kind=Counter(event.kind for event in events).most_common(1)[0][0],
            title=first.session,
            start=start,
            end=end,
            room=rooms.pop() if len(rooms) == 1 else None,
            status="published" if any(event.visible for event in events) else "draft",
        )
        self.sessions[uid] = session
        self._session_by_event.update(dict.fromkeys((event.id for event in events), session))

    def presentations(self, event: InputRow, paper: str) -> list[PresentationRecord]:
        """Return one presentation for an event, or two if it has a second slot."""
        session = self._session_by_event.get(event.id)
        room = slug(event.room) if event.room else None
        inherits_times = session and (event.start, event.end) in ((session.start, session.end), (None, None))
        first = PresentationRecord(
            where=event.where,
            uid=str(event.id),
            kind=event.kind,
            paper=paper,
            session=session.uid if session else None,
            start=None if inherits_times else event.start,
            end=None if inherits_times else event.end,
            board=event.board,
            room=None if session and room == session.room else room,
            status="published" if event.visible else "draft",
        )
        if event.start2 is None:
            return [first]
        return [first, replace(first, uid=f"{first.uid}-2", start=event.start2, end=event.end2)]


def _session_times(events: Sequence[InputRow]) -> tuple[datetime, datetime]:
    """Return the times of most events, as of posters; else the times that span all events.

    So one event at another time does not change the others, which have the times of their session.
    """
    slots = [(event.start, event.end) for event in events if event.start and event.end]
    starts = [event.start for event in events if event.start]
    for slot, slot_count in Counter(slots).most_common(1):
        if 2 * slot_count > len(starts):
            return slot
    return min(starts), max([event.end for event in events if event.end] + starts)


# Files


class EventFiles:
    """The content of all files: events by number, abstracts by event, and the host of relative links."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.events: dict[int, InputRow] = {}
        self.abstracts: dict[str, str] = {}
        self.host = ""
        self.has_events = False

    def add(self, source: Source) -> None:
        """Read a page of events, or an object of event number -> abstract."""
        content = read_object(source, self.findings)
        if content is None:
            return
        rows = content.get("results")
        if isinstance(rows, list):
            self._add_page(rows, content, source.name)
        elif all(isinstance(text, str) for text in content.values()):
            for key, text in content.items():
                where = Where(source.name, short(key))
                abstract = clean_text(str(text), where, "", self.findings)
                earlier = self.abstracts.get(key)
                self.abstracts[key] = earlier or abstract
                if earlier and abstract and earlier != abstract:
                    message = gettext("Another file has another abstract of this event. Keep one of them.")
                    self.findings.problem(where, "", message)
        else:
            message = gettext(
                'This is neither a page with "results" nor an object of event number -> abstract.'
            )
            self.findings.problem(Where(source.name), "", message)

    def _add_page(self, rows: list[object], content: dict[str, object], name: str) -> None:
        self.has_events = True
        for index, row in enumerate(rows):
            number = row.get("id") if isinstance(row, dict) else None
            event = read_event(row, Where(name, describe_place("results", index, number)), self.findings)
            if event and event.id in self.events:
                message = gettext("Another event has this number: %(place)s.")
                self.findings.problem(event.where, "id", message, place=self.events[event.id].where.place)
            elif event:
                self.events[event.id] = event
        count = content.get("count")
        if isinstance(count, int) and count > len(rows):
            message = gettext(
                "The file says that there are %(count)s events and holds %(rows)s. Get the rest too."
            )
            self.findings.note("warning", Where(name), message, count=count, rows=len(rows))
        following = content.get("next")
        self.host = self.host or (public_host(following) if isinstance(following, str) else "")


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read the events, and the abstracts if their file is given."""
    findings = Findings(total_size(sources))
    files = EventFiles(findings)
    for source in sources:
        files.add(source)
    if not (files.has_events or findings.has_problems):
        findings.problem(Where(), "", gettext('Give the file with the events: the one that holds "results".'))
    events = list(files.events.values())
    # The host of relative links is the file's own, else that of the authors' pages.
    addresses = (author.url for event in events for author in event.authors)
    host = files.host or next(filter(None, map(public_host, addresses)), "")
    papers = PaperReader(context, host, files.abstracts, findings)
    sessions = SessionReader(program_zone(Program(), context), findings)
    sessions.add(events)
    groups = group_by_paper(events)
    records = tuple(papers.paper(group) for group in groups)
    uid_by_event: dict[int, str] = {}
    for group, record in zip(groups, records, strict=True):
        uid_by_event.update(dict.fromkeys((event.id for event in group), record.uid))
    presentations = [
        presentation
        for event in events
        for presentation in sessions.presentations(event, uid_by_event[event.id])
    ]
    unmatched_keys = [
        key for key in files.abstracts if not (key.isdecimal() and int(key[:18]) in files.events)
    ]
    if unmatched_keys:
        message = gettext("%(count)s abstracts belong to no event of these files, such as %(first)s.")
        findings.note("warning", Where(), message, count=len(unmatched_keys), first=short(unmatched_keys[0]))
    program = Program(
        institutions=tuple(papers.parts.institutions.values()),
        topics=tuple(papers.topics.topics.values()),
        rooms=tuple(RoomRecord(slug=key, name=name) for key, name in sessions.rooms.items()),
        papers=records,
        sessions=tuple(sessions.sessions.values()),
        presentations=tuple(presentations),
    )
    return check_program(program, findings)


def recognizes(sources: Sequence[Source]) -> bool:
    name_sets = [top_level_names(read_head(source)) for source in sources]
    return all(name_sets) and any("results" in names for names in name_sets)
