"""Tests of the changes that are reported between two states of a program, and of implied ones."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from schedule.releases import ProgramChange, Snapshot, SnapshotRow, TimeAndRoom, find_changes

TEN = datetime(2026, 3, 28, 9, tzinfo=UTC)  # 10:00 in Berlin, the day before the clocks change
HOUR = timedelta(hours=1)
SESSION = SnapshotRow("Compilers", TEN, TEN + HOUR, "hall")
PAPER = SnapshotRow("Cortex")
TALK = SnapshotRow(within="session:s", paper="paper:p")
PROGRAM = {"session:s": SESSION, "paper:p": PAPER, "presentation:a": TALK}


def change_lines(before: dict[str, SnapshotRow], after: dict[str, SnapshotRow]) -> list[str]:
    return [change.line for change in find_changes(Snapshot(before), Snapshot(after))]


def program_with(**parts: Any) -> dict[str, SnapshotRow]:
    """Return the program with other fields: `s={"room": "aula"}`; a part that is None is left out."""
    keys = {key[-1]: key for key in PROGRAM}
    rows = {key: _row_with(PROGRAM[key], parts.get(name, {})) for name, key in keys.items()}
    return {key: row for key, row in rows.items() if row is not None}


def _row_with(row: SnapshotRow, fields: dict[str, Any] | None) -> SnapshotRow | None:
    values = {name: getattr(row, name) for name in SnapshotRow.__slots__}
    return None if fields is None else SnapshotRow(**{**values, **fields})


LATER = {"start": TEN + HOUR, "end": TEN + 2 * HOUR}
CANCELLED = {"cancelled": True}


def change_cases() -> Iterator[Any]:
    yield "nothing", {}, {}, []
    yield "a session moves with its talks", {}, {"s": LATER}, ["moved:session:s"]
    yield "it gets another room", {}, {"s": {"room": "aula"}}, ["room:session:s"]
    yield "it moves into another room", {}, {"s": {**LATER, "room": "aula"}}, ["moved:session:s"]
    yield "it lasts longer", {}, {"s": {"end": TEN + 2 * HOUR}}, ["moved:session:s"]
    yield "it is cancelled with its talks", {}, {"s": CANCELLED}, ["cancelled:session:s"]
    yield "it is cancelled and moves", {}, {"s": {**CANCELLED, **LATER}}, ["cancelled:session:s"]
    yield "it takes place after all", {"s": CANCELLED}, {}, ["reinstated:session:s"]
    yield "a cancelled one moves", {"s": CANCELLED}, {"s": {**CANCELLED, **LATER}}, []
    yield "it has another title", {}, {"s": {"title": "Engines"}}, ["retitled:session:s"]
    yield "it is taken out with its talks", {}, {"s": None, "a": None}, ["withdrawn:session:s"]
    yield "it is new with its talks", {"s": None, "a": None}, {}, ["new:session:s"]
    yield "a talk is cancelled", {}, {"a": CANCELLED}, ["cancelled:presentation:a"]
    both = {"a": CANCELLED, "s": CANCELLED}
    yield "a cancelled talk loses its session", {"a": CANCELLED}, both, ["cancelled:session:s"]
    yield "a paper has another title", {}, {"p": {"title": "Vortex"}}, ["retitled:paper:p"]
    yield "a paper is withdrawn", {}, {"p": None, "a": None}, ["withdrawn:paper:p"]
    yield "a talk is taken out", {}, {"a": None}, ["withdrawn:presentation:a"]
    yield "a paper is new without a time", {"p": None, "a": None}, {"a": None}, ["new:paper:p"]
    yield "a paper is new with a talk", {"p": None, "a": None}, {}, ["new:presentation:a"]
    yield "a talk gets a time inside", {}, {"a": {"start": TEN, "end": TEN + HOUR / 4}}, []
    yield "a talk is scheduled", {"a": {"within": ""}}, {}, ["moved:presentation:a"]
    yield "a talk gets a room of its own", {}, {"a": {"room": "aula"}}, ["room:presentation:a"]
    yield "a talk is no longer scheduled", {}, {"a": {"within": ""}}, ["moved:presentation:a"]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [case[1:] for case in change_cases()],
    ids=[case[0] for case in change_cases()],
)
def test_changes_are_reported_once(before: Any, after: Any, lines: list[str]) -> None:
    assert change_lines(program_with(**before), program_with(**after)) == lines


def test_talk_with_its_own_time_moves_with_its_session_or_alone() -> None:
    own_time = {"start": TEN, "end": TEN + HOUR / 4}
    shifted_time = {"start": TEN + HOUR, "end": TEN + HOUR * 5 / 4}
    before = program_with(a=own_time)

    assert change_lines(before, program_with(a=shifted_time, s=LATER)) == ["moved:session:s"]
    assert change_lines(before, program_with(a=shifted_time)) == ["moved:presentation:a"]
    longer = program_with(a={**own_time, "end": TEN + HOUR / 2})
    assert change_lines(before, longer) == ["moved:presentation:a"]


def test_move_over_a_dst_change_is_reported_even_at_the_same_wall_time() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    sunday = {
        "start": datetime(2026, 3, 29, 10, tzinfo=berlin),
        "end": datetime(2026, 3, 29, 11, tzinfo=berlin),
    }
    own_time = {"start": TEN + HOUR / 4, "end": TEN + HOUR / 2}
    moved_time = {name: moment + 23 * HOUR for name, moment in own_time.items()}

    assert change_lines(program_with(a=own_time), program_with(a=moved_time, s=sunday)) == ["moved:session:s"]
    ambiguous = datetime(2026, 10, 25, 2, 30, tzinfo=berlin)
    first, second = (
        program_with(s={"start": ambiguous.replace(fold=fold), "end": ambiguous.replace(hour=4)})
        for fold in (0, 1)
    )
    assert change_lines(first, second) == ["moved:session:s"]


def test_same_moment_in_another_zone_is_no_change() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    tokyo_time = {"start": TEN.astimezone(tokyo), "end": (TEN + HOUR).astimezone(tokyo)}

    assert change_lines(program_with(), program_with(s=tokyo_time)) == []


def test_change_holds_placement_before_and_after() -> None:
    (change,) = find_changes(Snapshot(program_with()), Snapshot(program_with(s={**LATER, "room": ""})))

    before, after = TimeAndRoom(TEN, TEN + HOUR, "hall"), TimeAndRoom(TEN + HOUR, TEN + 2 * HOUR)
    assert change == ProgramChange("moved", "session:s", "Compilers", before, after)
    assert change.label == "Moved"


def test_cancellations_come_first_then_changes_by_time() -> None:
    before = {f"session:{n}": SnapshotRow(f"S{n}", TEN + n * HOUR, TEN + (n + 1) * HOUR) for n in range(4)}
    after = {key: _row_with(row, {"room": "aula"}) or row for key, row in reversed(before.items())}
    after["session:3"] = _row_with(before["session:3"], CANCELLED) or SESSION

    assert change_lines(before, after) == ["cancelled:session:3", *(f"room:session:{n}" for n in range(3))]


@pytest.mark.parametrize("row", [SESSION, PAPER, TALK, SnapshotRow(), SnapshotRow("x", cancelled=True)])
def test_snapshot_row_round_trips_through_json(row: SnapshotRow) -> None:
    assert SnapshotRow.read(row.to_json()) == row
    assert len(TALK.to_json()) == 6
