"""The rules: each takes what takes place and returns what gets in each other's way. Pure.

Every rule sorts or groups; none compares all with all. Of thousands of rows at one moment each is reported
with a few others.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain

from content import times
from schedule.board_plan import board_key
from schedule.clashes.findings import (
    SIDE,
    Away,
    Clash,
    ClashEvent,
    ClashKind,
    ClashProgram,
    ClashSubject,
    NameList,
    Severity,
    clash_of,
)
from schedule.timetable import instant, overlap, overlapping

# The number of ongoing rows that a row is reported with.
MAX_PARTNERS = 5


def find(plan: ClashProgram) -> list[Clash]:
    rules = (people, papers, rooms, talks, sessions_outside, talks_outside, ends, boards, halls, away)
    return sorted(chain.from_iterable(rule(plan) for rule in rules), key=lambda clash: clash.order)


def people(plan: ClashProgram) -> Iterator[Clash]:
    """Find who has to be in two places. Two people in the same two places are one clash."""
    by_person: dict[int, list[ClashEvent]] = defaultdict(list)
    for event in plan.events:
        for person in event.people:
            by_person[person].append(event)
    caught: dict[tuple[ClashEvent, ClashEvent], list[ClashSubject]] = defaultdict(list)
    for person, events in by_person.items():
        for pair in overlapping(events, MAX_PARTNERS):
            caught[pair].append(plan.people[person])
    for pair, who in caught.items():
        yield both_at_once(plan, pair, tuple(sorted(who, key=lambda person: (person.name, person.uid))))


def both_at_once(
    plan: ClashProgram, pair: tuple[ClashEvent, ClashEvent], who: tuple[ClashSubject, ...]
) -> Clash:
    """Say what somebody is caught between: a poster and a talk, two posters, or any two places."""
    one, other = pair
    facts = {"people": NameList(who), "besides": who}
    if one.stands != other.stands and (one.speaks or other.speaks):
        return clash_of(plan, ClashKind.POSTER, pair if one.stands else (other, one), **facts)
    severity = Severity.LIGHT if one.stands and other.stands else Severity.SERIOUS
    return clash_of(plan, ClashKind.PERSON, pair, severity=severity, **facts)


def papers(plan: ClashProgram) -> Iterator[Clash]:
    """Find papers whose poster hangs while they are presented, where no presenter is marked."""
    by_paper: dict[int, list[ClashEvent]] = defaultdict(list)
    for talk in plan.talks:
        if talk.paper and not talk.people:
            by_paper[talk.paper].append(talk)
    for events in by_paper.values():
        for one, other in overlapping(events, MAX_PARTNERS) if len(events) > 1 else ():
            if one.stands != other.stands:
                yield both_at_once(plan, (one, other), ())


def rooms(plan: ClashProgram) -> Iterator[Clash]:
    """Find rooms used twice: by sessions, and by presentations in a room of their own."""
    by_room: dict[int, list[ClashEvent]] = defaultdict(list)
    for event in plan.sessions:
        if event.room:
            by_room[event.room].append(event)
    for event in elsewhere(plan.talks):
        by_room[event.room or 0].append(event)
    for key, events in by_room.items():
        room = plan.rooms[key]
        for one, other in overlapping(events, MAX_PARTNERS) if not room.virtual else ():
            if one.session is None or one.session is not other.session:
                is_side = one.kind in SIDE or other.kind in SIDE
                severity = Severity.LIGHT if is_side else Severity.SERIOUS
                facts = {"room": room.subject, "besides": [room.subject], "severity": severity}
                yield clash_of(plan, ClashKind.ROOM, (one, other), **facts)


def elsewhere(talks: Iterable[ClashEvent]) -> list[ClashEvent]:
    """Return the presentations in another room than their session; of a hall's posters one for all."""
    rows: dict[object, ClashEvent] = {}
    for talk in talks:
        if talk.room and not (talk.session and talk.session.room == talk.room):
            alone = talk if talk.timed and not talk.stands else talk.session
            rows.setdefault((talk.room, alone or talk, talk.start, talk.end), talk)
    return list(rows.values())


def talks(plan: ClashProgram) -> Iterator[Clash]:
    """Find talks of one session at the same time in the same room."""
    for session, rows in plan.by_session:
        by_place: dict[int | None, list[ClashEvent]] = defaultdict(list)
        for talk in rows:
            if talk.timed and not talk.stands:
                by_place[talk.place].append(talk)
        for pair in chain.from_iterable(overlapping(group, MAX_PARTNERS) for group in by_place.values()):
            yield clash_of(plan, ClashKind.TALKS, pair, session=session.subject, besides=[session.subject])


def sessions_outside(plan: ClashProgram) -> Iterator[Clash]:
    for session in plan.sessions:
        whole = session.parent
        if whole and not inside(session, whole):
            yield misplaced(plan, ClashKind.OUTSIDE_PARENT, session, whole)


def talks_outside(plan: ClashProgram) -> Iterator[Clash]:
    """Find presentations that do not begin in their session. Those that only end later are found by it."""
    for session, rows in plan.by_session:
        yield from (
            misplaced(plan, ClashKind.OUTSIDE_SESSION, talk, session)
            for talk in rows
            if talk.timed and not inside(talk, session) and not outlasts(talk, session)
        )


def ends(plan: ClashProgram) -> Iterator[Clash]:
    """Find sessions that end before their last talk does."""
    for session, rows in plan.by_session:
        late = [talk for talk in rows if outlasts(talk, session)]
        if late:
            last = max(late, key=lambda talk: instant(talk.end))
            yield misplaced(plan, ClashKind.ENDS_EARLY, last, session)


def inside(part: ClashEvent, whole: ClashEvent) -> bool:
    return instant(whole.start) <= instant(part.start) and instant(part.end) <= instant(whole.end)


def outlasts(talk: ClashEvent, session: ClashEvent) -> bool:
    """Whether a talk begins in its session and ends after it."""
    begins_inside = instant(session.start) <= instant(talk.start) < instant(session.end)
    return begins_inside and instant(talk.end) > instant(session.end)


def misplaced(plan: ClashProgram, kind: ClashKind, part: ClashEvent, whole: ClashEvent) -> Clash:
    """Say that a part does not lie in its whole, at the time of the part."""
    one, other = (whole, part) if kind == ClashKind.ENDS_EARLY else (part, whole)
    subjects = (one.subject, other.subject)
    when, span = (times.when(row.start, row.end, plan.zone) for row in (part, whole))
    facts = {"one": one.subject, "other": other.subject, "when": when, "whole": span}
    return Clash(kind, Severity.SERIOUS, part.start, part.end, plan.zone, subjects, facts)


def boards(plan: ClashProgram) -> Iterator[Clash]:
    """Find boards on which two posters of one session hang at the same time."""
    for session, rows in plan.by_session:
        for posters in on_one_board(rows):
            first = posters[0]
            hung = tuple(poster.subject for poster in posters)
            facts = {"board": first.board, "session": session.subject, "posters": NameList(hung)}
            facts["number"] = len(hung)
            subjects = (*hung, session.subject)
            start, end = first.start, max(poster.end for poster in posters)
            yield Clash(ClashKind.BOARD, Severity.SERIOUS, start, end, plan.zone, subjects, facts)


def on_one_board(posters: Iterable[ClashEvent]) -> Iterator[list[ClashEvent]]:
    """Yield the posters of one session that share a board at some moment, board by board."""
    by_board: dict[tuple[int | None, str], list[ClashEvent]] = defaultdict(list)
    for poster in posters:
        if label := board_key(poster.board):
            by_board[poster.place, label].append(poster)
    for group in by_board.values():
        rows = sorted(group, key=lambda poster: instant(poster.start))
        # Who shares with one nearby in time shares; who hangs before or after all others does not.
        shared = {one for pair in overlapping(rows, MAX_PARTNERS) for one in pair} if len(rows) > 1 else set()
        if shared:
            yield [poster for poster in rows if poster in shared]


def halls(plan: ClashProgram) -> Iterator[Clash]:
    """Find poster sessions with more posters at one moment than their room holds."""
    for session, rows in plan.by_session:
        by_room: dict[int, list[ClashEvent]] = defaultdict(list)
        for poster in rows:
            if poster.place and session.kind == "poster":
                by_room[poster.place].append(poster)
        for key, posters in by_room.items():
            room = plan.rooms[key]
            number = peak(posters)
            if room.capacity is not None and not room.virtual and number > room.capacity:
                facts = {"session": session.subject, "room": room.subject, "capacity": room.capacity}
                subjects, span = (session.subject, room.subject), (session.start, session.end)
                named = {**facts, "number": number}
                yield Clash(ClashKind.BOARDS_FULL, Severity.SERIOUS, *span, plan.zone, subjects, named)


def away(plan: ClashProgram) -> Iterator[Clash]:
    """Find who has to be there, and which room is used, at a time when they are not available."""
    gone: dict[tuple[str, int], list[Away]] = defaultdict(list)
    for span in plan.away:
        gone[span.subject.key].append(span)
    if not gone:
        return
    for event in plan.events:
        for person in event.people:
            yield from not_available(plan, ClashKind.PERSON_AWAY, event, gone.get(("person", person), ()))
    for event in (*plan.sessions, *elsewhere(plan.talks)):
        if event.room:
            yield from not_available(plan, ClashKind.ROOM_AWAY, event, gone.get(("room", event.room), ()))


def not_available(
    plan: ClashProgram, kind: ClashKind, event: ClashEvent, spans: Iterable[Away]
) -> Iterator[Clash]:
    """Say that somebody or a room is away during an event: one clash, however often they are."""
    met = [span for span in spans if overlap(event, span)]
    if not met:
        return
    subject = met[0].subject
    first = max(event.start, met[0].start, key=instant)
    last = max(first, min(event.end, met[-1].end, key=instant), key=instant)
    when = tuple(times.when(span.start, span.end, plan.zone) for span in met)
    facts = {"one": event.subject, subject.model: subject, "when": NameList(when)}
    # Who stands at a poster may be away for a while.
    severity = Severity.LIGHT if event.stands else Severity.SERIOUS
    yield Clash(kind, severity, first, last, plan.zone, (event.subject, subject), facts)


def peak(posters: Iterable[ClashEvent]) -> int:
    """Return how many boards are taken at the moment when most are; what only touches follows on."""
    moments = sorted(chain.from_iterable(((instant(p.start), 1), (instant(p.end), -1)) for p in posters))
    return max(accumulate(step for _moment, step in moments), default=0)
