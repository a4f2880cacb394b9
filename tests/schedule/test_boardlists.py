"""Lists of poster boards as chairs write them, and who gets which."""

import pytest

from schedule.admin.boards import BoardsError, assign, expand


@pytest.mark.parametrize(
    ("written", "boards"),
    [
        ("1-4, A1-A3", ["1", "2", "3", "4", "A1", "A2", "A3"]),
        ("9-11", ["9", "10", "11"]),
        ("A8-10", ["A8", "A9", "A10"]),
        ("08-10", ["08", "09", "10"]),
        ("3-1", ["3", "2", "1"]),
        ("Hall 1\nP-12\n\nHall  2; X", ["Hall 1", "P-12", "Hall 2", "X"]),
        ("P-1–3", ["P-1", "P-2", "P-3"]),
        ("A1-B2", ["A1-B2"]),
        (" , ", []),
    ],
)
def test_list_is_written_out_in_walking_order(written: str, boards: list[str]) -> None:
    assert expand(written) == boards


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("1-4, 3", "Board 3 is listed twice."),
        ("a1, A1", "Board A1 is listed twice."),
        ("1-4000000", "“1-4000000” is more than 5000 boards."),
        ("1-4000, 5001-9000", "These are more than 5000 boards."),
        (f"1-{'9' * 5000}", f"“1-{'9' * 58}” is too long for a board."),
        ("x" * 61, f"“{'x' * 60}” is too long for a board."),
    ],
)
def test_list_that_cannot_be_meant_is_refused(written: str, problem: str) -> None:
    with pytest.raises(BoardsError) as error:
        expand(written)
    assert str(error.value) == problem


def test_posters_get_boards_in_order_and_fixed_ones_stay() -> None:
    posters = {"a": "", "b": "2", "c": "", "d": "Foyer", "e": ""}
    assert assign(["1", "2", "3", "4"], posters) == {"a": "1", "b": "2", "c": "3", "d": "Foyer", "e": "4"}


def test_fixed_board_is_known_however_it_is_written() -> None:
    assert assign(["A1", "A2"], {"a": " a1 ", "b": ""}) == {
        "a": " a1 ",
        "b": "A2",
    }


def test_too_few_boards_are_told_with_numbers() -> None:
    with pytest.raises(BoardsError) as error:
        assign(["1", "2"], {"a": "", "b": "2", "c": "", "d": ""})
    assert str(error.value) == (
        "1 board is free and 3 posters need one: 2 are missing. Add boards to the list. Nothing was assigned."
    )
