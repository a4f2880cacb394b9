"""Helpers that return what formats and downloads contain, what readers report, and what imports store."""

from collections.abc import Callable

import pytest
from django.test import Client

from exchange.files import Context, Writer
from exchange.problems import ProgramError
from exchange.records import Program
from papers.models import Authorship


def written_content(write: Writer, program: Program, context: Context) -> bytes:
    """Return the one file that a format writes."""
    (file,) = write(program, context)
    return b"".join(file.chunks)


def reported_problems[**P](read: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> list[str]:
    """Return the problems for which a reader refuses files."""
    with pytest.raises(ProgramError) as error:
        read(*args, **kwargs)
    return [str(problem) for problem in error.value.problems]


def get_text(client: Client, path: str, **headers: str) -> str:
    """Return the text of a download, which must exist."""
    response = client.get(path, headers=headers)
    assert response.status_code == 200, path
    content: str = response.getvalue().decode()
    return content


def printed_authors(uid: str = "p1") -> list[tuple[int, str]]:
    """Return positions and names of a paper's authors as printed."""
    rows = Authorship.objects.filter(paper__uid=uid).order_by("position")
    return list(rows.values_list("position", "name"))
