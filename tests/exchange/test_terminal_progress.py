"""Progress of commands: a bar on a terminal, and a line for each stage elsewhere."""

from io import StringIO

import pytest

from exchange.terminal_progress import TerminalProgress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def show(stream: StringIO, *, is_shown: bool = True) -> str:
    with TerminalProgress(stream, is_shown=is_shown) as progress:
        for count in range(3):
            progress("papers", count, 2)
        progress("people", 1, 1)
    return stream.getvalue()


def test_terminal_has_a_bar_for_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    lines = show(Terminal()).replace("\r", "\n").splitlines()
    last_lines = [line for line in lines if "2/2" in line or "1/1" in line]

    assert any("papers" in line for line in last_lines)
    assert any("people" in line for line in last_lines)


def test_lines_elsewhere_name_the_stages_that_are_done() -> None:
    assert show(StringIO()) == "papers: 2\npeople: 1\n"


@pytest.mark.parametrize("stream", [StringIO(), Terminal()])
def test_nothing_is_shown_where_it_is_switched_off(stream: StringIO) -> None:
    assert show(stream, is_shown=False) == ""


def test_terminal_is_left_in_order_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()

    def fail() -> None:
        with TerminalProgress(stream) as progress:
            progress("papers", 1, 2)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    # The cursor is shown again.
    assert stream.getvalue().rindex("\x1b[?25h") > stream.getvalue().rindex("\x1b[?25l")
