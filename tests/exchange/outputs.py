"""Helpers that return the output of formats and the problems that their readers report."""

from collections.abc import Callable

import pytest

from exchange.files import Context, Writer
from exchange.problems import ProgramError
from exchange.records import Program


def written_content(write: Writer, program: Program, context: Context) -> bytes:
    """Return the one file that a format writes."""
    (file,) = write(program, context)
    return b"".join(file.chunks)


def reported_problems[**P](read: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> list[str]:
    """Return the problems for which a reader refuses files."""
    with pytest.raises(ProgramError) as error:
        read(*args, **kwargs)
    return [str(problem) for problem in error.value.problems]
