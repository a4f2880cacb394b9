"""Tests of parsing lists of poster boards, and of assigning boards to posters."""

import pytest
from django.core.exceptions import ValidationError

from schedule.board_plan import Poster, assign_boards, back_and_forth, board_rows


@pytest.mark.parametrize(
    ("text", "boards"),
    [
        ("1-4, A1-A3", [["1", "2", "3", "4", "A1", "A2", "A3"]]),
        ("9-11", [["9", "10", "11"]]),
        ("A8-10", [["A8", "A9", "A10"]]),
        ("08-10", [["08", "09", "10"]]),
        ("3-1", [["3", "2", "1"]]),
        ("Hall 1\nP-12\n\nHall  2; X", [["Hall 1"], ["P-12"], ["Hall 2", "X"]]),
        ("P-1–3", [["P-1", "P-2", "P-3"]]),
        ("A1-B2", [["A1-B2"]]),
        (" , ", []),
    ],
)
def test_board_list_is_expanded_into_rows(text: str, boards: list[list[str]]) -> None:
    assert board_rows(text) == boards


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1-4, 3", "Board 3 is listed twice."),
        ("a1\nA1", "Board A1 is listed twice."),
        ("1-4000000", "“1-4000000” is more than 5000 boards."),
        ("1-4000, 5001-9000", "At most 5000 boards are allowed."),
        (f"1-{'9' * 5000}", f"“1-{'9' * 58}” is too long for a board."),
        ("x" * 61, f"“{'x' * 60}” is too long for a board."),
    ],
)
def test_invalid_board_list_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValidationError) as error:
        board_rows(text)
    assert error.value.messages[0] == message


def test_back_and_forth_reverses_every_second_row() -> None:
    assert back_and_forth(board_rows("A1-3\nB1-3\nC1-2")) == [
        ["A1", "A2", "A3"],
        ["B3", "B2", "B1"],
        ["C1", "C2"],
    ]


def posters_on_boards(**boards: str) -> list[Poster[str]]:
    return [Poster(key, board) for key, board in boards.items()]


def test_posters_get_free_boards_in_order_and_keep_fixed_ones() -> None:
    assigned = assign_boards([["1", "2"], ["3", "4"]], posters_on_boards(a="", b="2", c="", d="Foyer", e=""))
    assert assigned == {"a": "1", "b": "2", "c": "3", "d": "Foyer", "e": "4"}


def test_fixed_board_is_matched_ignoring_case_and_spaces() -> None:
    assert assign_boards([["A1", "A2"]], posters_on_boards(a=" a1 ", b="")) == {"a": " a1 ", "b": "A2"}


def test_too_few_boards_are_reported_with_numbers() -> None:
    with pytest.raises(ValidationError) as error:
        assign_boards([["1", "2"]], posters_on_boards(a="", b="2", c="", d=""))
    assert error.value.messages[0] == (
        "1 board is free and 3 posters need a board: 2 are missing. "
        "Add boards to the list. Nothing was assigned."
    )


def poster_by(*presenters: int, key: str, board: str = "", topic: int = 0) -> Poster[str]:
    return Poster(key, board, frozenset(presenters), topic)


def test_posters_of_one_presenter_are_next_to_each_other() -> None:
    presenters = {"a": [1], "b": [2], "c": [3], "d": [1], "e": [2, 1]}
    posters = [poster_by(*people, key=key) for key, people in presenters.items()]
    assert assign_boards([["1", "2", "3", "4", "5"]], posters) == {
        "a": "1",
        "d": "2",
        "b": "3",
        "e": "4",
        "c": "5",
    }


def test_posters_are_next_to_the_fixed_one_of_their_presenter() -> None:
    free = [poster_by(person, key=key) for key, person in (("x", 2), ("a", 1), ("y", 3))]
    posters = [*free, poster_by(1, key="fixed", board="A3")]
    assert assign_boards([["A1", "A2", "A3", "A4"]], posters) == {
        "fixed": "A3",
        "a": "A2",
        "x": "A1",
        "y": "A4",
    }


def test_each_topic_starts_in_a_new_row() -> None:
    topics = {"a": 0, "b": 1, "c": 1, "d": 2}
    posters = [poster_by(key=key, topic=topic) for key, topic in topics.items()]
    rows = [["A1", "A2"], ["B1", "B2"], ["C1", "C2"]]
    assert assign_boards(rows, posters, new_rows=True) == {"a": "A1", "b": "B1", "c": "B2", "d": "C1"}
    with pytest.raises(ValidationError) as error:
        assign_boards(rows[:2], posters, new_rows=True)
    assert error.value.messages[0] == (
        "There are too few rows to start each topic in a new one. "
        "Add rows, or let topics share rows. Nothing was assigned."
    )
