"""The rules: each takes a program and yields its clashes. Pure.

Every rule sorts or groups; none compares all pairs of rows. If thousands of rows overlap, each is reported
with a few others.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain

from content import times
from schedule.board_plan import board_key
from schedule.clashes.findings import (
    SIDE_KINDS,
    Away,
    Clash,
    ClashEvent,
    ClashKind,
    ClashProgram,
    ClashSubject,
    NameList,
    Severity,
    overlap_clash,
)
from schedule.timetable import instant, overlapping_pairs, overlaps

# The number of ongoing rows that a row is reported with.
MAX_PARTNERS = 5


def apply_rules(program: ClashProgram) -> list[Clash]:
    rules = (
        people_in_two_places,
        posters_during_their_talk,
        double_booked_rooms,
        overlapping_talks,
        sessions_outside_parent,
        talks_outside_session,
        sessions_ending_early,
        shared_boards,
        overfull_rooms,
        unavailable,
    )
    return sorted(chain.from_iterable(rule(program) for rule in rules), key=lambda clash: clash.order)


def people_in_two_places(program: ClashProgram) -> Iterator[Clash]:
    """Find people who must be in two places at once. People with the same two places share a clash."""
    by_person: dict[int, list[ClashEvent]] = defaultdict(list)
    for event in program.events:
        for person in event.people:
            by_person[person].append(event)
    people_by_pair: dict[tuple[ClashEvent, ClashEvent], list[ClashSubject]] = defaultdict(list)
    for person, events in by_person.items():
        for pair in overlapping_pairs(events, MAX_PARTNERS):
            people_by_pair[pair].append(program.people[person])
    for pair, people in people_by_pair.items():
        yield presence_clash(
            program, pair, tuple(sorted(people, key=lambda person: (person.name, person.uid)))
        )


def presence_clash(
    program: ClashProgram, pair: tuple[ClashEvent, ClashEvent], people: tuple[ClashSubject, ...]
) -> Clash:
    """Return the clash of people who must attend both: a poster and a talk, two posters, or two places."""
    first, second = pair
    kind, severity = ClashKind.PERSON, Severity.SERIOUS
    if first.is_poster != second.is_poster and (first.is_talk or second.is_talk):
        kind, pair = ClashKind.POSTER, pair if first.is_poster else (second, first)
    elif first.is_poster and second.is_poster:
        severity = Severity.LIGHT
    return overlap_clash(
        program, kind, pair, severity=severity, other_subjects=people, people=NameList(people)
    )


def posters_during_their_talk(program: ClashProgram) -> Iterator[Clash]:
    """Find papers whose poster is shown while they are presented, if no presenter is marked."""
    by_paper: dict[int, list[ClashEvent]] = defaultdict(list)
    for talk in program.talks:
        if talk.paper and not talk.people:
            by_paper[talk.paper].append(talk)
    for events in by_paper.values():
        for first, second in overlapping_pairs(events, MAX_PARTNERS) if len(events) > 1 else ():
            if first.is_poster != second.is_poster:
                yield presence_clash(program, (first, second), ())


def double_booked_rooms(program: ClashProgram) -> Iterator[Clash]:
    """Find rooms used twice: by sessions, and by presentations in a room of their own."""
    by_room: dict[int, list[ClashEvent]] = defaultdict(list)
    for event in program.sessions:
        if event.room:
            by_room[event.room].append(event)
    for event in talks_in_other_rooms(program.talks):
        by_room[event.room or 0].append(event)
    for key, events in by_room.items():
        room = program.rooms[key]
        for first, second in overlapping_pairs(events, MAX_PARTNERS) if not room.virtual else ():
            if first.session is None or first.session is not second.session:
                is_side = first.kind in SIDE_KINDS or second.kind in SIDE_KINDS
                severity = Severity.LIGHT if is_side else Severity.SERIOUS
                yield overlap_clash(
                    program,
                    ClashKind.ROOM,
                    (first, second),
                    severity=severity,
                    other_subjects=[room.subject],
                    room=room.subject,
                )


def talks_in_other_rooms(talks: Iterable[ClashEvent]) -> list[ClashEvent]:
    """Return the presentations in another room than their session, one for all posters of a session there."""
    rows: dict[object, ClashEvent] = {}
    for talk in talks:
        if talk.room and not (talk.session and talk.session.room == talk.room):
            group = talk if talk.timed and not talk.is_poster else talk.session
            rows.setdefault((talk.room, group or talk, talk.start, talk.end), talk)
    return list(rows.values())


def overlapping_talks(program: ClashProgram) -> Iterator[Clash]:
    """Find talks of one session at the same time in the same room."""
    for session, rows in program.by_session:
        by_room: dict[int | None, list[ClashEvent]] = defaultdict(list)
        for talk in rows:
            if talk.timed and not talk.is_poster:
                by_room[talk.effective_room].append(talk)
        for pair in chain.from_iterable(overlapping_pairs(group, MAX_PARTNERS) for group in by_room.values()):
            yield overlap_clash(
                program, ClashKind.TALKS, pair, other_subjects=[session.subject], session=session.subject
            )


def sessions_outside_parent(program: ClashProgram) -> Iterator[Clash]:
    for session in program.sessions:
        parent = session.parent
        if parent and not is_inside(session, parent):
            yield outside_clash(program, ClashKind.OUTSIDE_PARENT, session, parent)


def talks_outside_session(program: ClashProgram) -> Iterator[Clash]:
    """Find presentations that do not begin in their session, without those that only end after it."""
    for session, rows in program.by_session:
        yield from (
            outside_clash(program, ClashKind.OUTSIDE_SESSION, talk, session)
            for talk in rows
            if talk.timed and not is_inside(talk, session) and not outlasts(talk, session)
        )


def sessions_ending_early(program: ClashProgram) -> Iterator[Clash]:
    """Find sessions that end before their last talk does."""
    for session, rows in program.by_session:
        late_talks = [talk for talk in rows if outlasts(talk, session)]
        if late_talks:
            last = max(late_talks, key=lambda talk: instant(talk.end))
            yield outside_clash(program, ClashKind.ENDS_EARLY, last, session)


def is_inside(part: ClashEvent, container: ClashEvent) -> bool:
    return instant(container.start) <= instant(part.start) and instant(part.end) <= instant(container.end)


def outlasts(talk: ClashEvent, session: ClashEvent) -> bool:
    """Return whether a talk begins in its session and ends after it."""
    begins_inside = instant(session.start) <= instant(talk.start) < instant(session.end)
    return begins_inside and instant(talk.end) > instant(session.end)


def outside_clash(program: ClashProgram, kind: ClashKind, part: ClashEvent, container: ClashEvent) -> Clash:
    """Return the clash of a part that is not within its parent, at the time of the part."""
    first, second = (container, part) if kind == ClashKind.ENDS_EARLY else (part, container)
    subjects = (first.subject, second.subject)
    when, span = (times.day_and_time_range(row.start, row.end, program.zone) for row in (part, container))
    facts = {"one": first.subject, "other": second.subject, "when": when, "whole": span}
    return Clash(kind, Severity.SERIOUS, part.start, part.end, program.zone, subjects, facts)


def shared_boards(program: ClashProgram) -> Iterator[Clash]:
    """Find boards on which two posters of one session hang at the same time."""
    for session, rows in program.by_session:
        for posters in posters_sharing_boards(rows):
            first = posters[0]
            poster_subjects = tuple(poster.subject for poster in posters)
            facts = {
                "board": first.board,
                "number": len(poster_subjects),
                "session": session.subject,
                "posters": NameList(poster_subjects),
            }
            subjects = (*poster_subjects, session.subject)
            start, end = first.start, max(poster.end for poster in posters)
            yield Clash(ClashKind.BOARD, Severity.SERIOUS, start, end, program.zone, subjects, facts)


def posters_sharing_boards(posters: Iterable[ClashEvent]) -> Iterator[list[ClashEvent]]:
    """Yield the posters of one session that share a board at some moment, board by board."""
    by_board: dict[tuple[int | None, str], list[ClashEvent]] = defaultdict(list)
    for poster in posters:
        if label := board_key(poster.board):
            by_board[poster.effective_room, label].append(poster)
    for group in by_board.values():
        if len(group) == 1:
            continue
        rows = sorted(group, key=lambda poster: instant(poster.start))
        # A poster that is up before or after all others of the board shares it with none.
        sharing = {poster for pair in overlapping_pairs(rows, MAX_PARTNERS) for poster in pair}
        if sharing:
            yield [poster for poster in rows if poster in sharing]


def overfull_rooms(program: ClashProgram) -> Iterator[Clash]:
    """Find poster sessions with more posters at one moment than their room holds."""
    for session, rows in program.by_session:
        by_room: dict[int, list[ClashEvent]] = defaultdict(list)
        for poster in rows:
            if poster.effective_room and session.kind == "poster":
                by_room[poster.effective_room].append(poster)
        for key, posters in by_room.items():
            room = program.rooms[key]
            number = peak(posters)
            if room.capacity is not None and not room.virtual and number > room.capacity:
                facts = {
                    "session": session.subject,
                    "number": number,
                    "room": room.subject,
                    "capacity": room.capacity,
                }
                subjects, span = (session.subject, room.subject), (session.start, session.end)
                yield Clash(ClashKind.BOARDS_FULL, Severity.SERIOUS, *span, program.zone, subjects, facts)


def unavailable(program: ClashProgram) -> Iterator[Clash]:
    """Find people and rooms that are needed when they are not available."""
    absences: dict[tuple[str, int], list[Away]] = defaultdict(list)
    for span in program.away:
        absences[span.subject.key].append(span)
    if not absences:
        return
    for event in program.events:
        for person in event.people:
            yield from unavailable_clashes(
                program, ClashKind.PERSON_AWAY, event, absences.get(("person", person), ())
            )
    for event in (*program.sessions, *talks_in_other_rooms(program.talks)):
        if event.room:
            yield from unavailable_clashes(
                program, ClashKind.ROOM_AWAY, event, absences.get(("room", event.room), ())
            )


def unavailable_clashes(
    program: ClashProgram, kind: ClashKind, event: ClashEvent, spans: Iterable[Away]
) -> Iterator[Clash]:
    """Yield one clash if a person or room is unavailable during an event, in one span or several."""
    overlapping = [span for span in spans if overlaps(event, span)]
    if not overlapping:
        return
    subject = overlapping[0].subject
    start = max(event.start, overlapping[0].start, key=instant)
    last_end = max((span.end for span in overlapping), key=instant)
    end = max(start, min(event.end, last_end, key=instant), key=instant)
    when = tuple(times.day_and_time_range(span.start, span.end, program.zone) for span in overlapping)
    facts = {"one": event.subject, subject.model: subject, "when": NameList(when)}
    # A presenter may leave a poster for a while.
    severity = Severity.LIGHT if event.is_poster else Severity.SERIOUS
    yield Clash(kind, severity, start, end, program.zone, (event.subject, subject), facts)


def peak(posters: Iterable[ClashEvent]) -> int:
    """Return the largest number of boards in use at once. A board is free from the end of its poster."""
    moments = sorted(chain.from_iterable(((instant(p.start), 1), (instant(p.end), -1)) for p in posters))
    return max(accumulate(step for _moment, step in moments), default=0)
