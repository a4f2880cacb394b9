"""Which appearances of a paper take place: as its page and its lists say it."""

import pytest

from papers.models import Paper
from papers.querysets import is_cancelled
from schedule.models import Presentation
from tests import factories as make

pytestmark = pytest.mark.django_db


def test_appearance_is_off_with_the_whole_that_its_session_is_part_of() -> None:
    edition = make.make_edition()
    paper = make.make_paper(edition)
    off = make.make_session(edition, kind="workshop", status="cancelled")
    on = make.make_session(edition, kind="workshop")
    for session in (off, on, make.make_session(edition, parent=off), make.make_session(edition, parent=on)):
        make.make_presentation(session, paper)
    make.make_presentation(None, paper, edition=edition)

    found = Paper.objects.with_appearances().get().appearances

    assert [row.called_off for row in sorted(found, key=lambda row: row.pk)] == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert [row.called_off for row in found] == [row.cancelled for row in found]
    assert {*Presentation.objects.filter(~is_cancelled())} == {row for row in found if not row.called_off}
