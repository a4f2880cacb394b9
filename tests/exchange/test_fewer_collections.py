"""Garbage collections during an import."""

import gc
import re
from unittest import mock

import pytest
from django.core.management import call_command

from exchange.fewer_collections import NEW_OBJECTS, USUAL_THRESHOLDS, fewer_collections
from exchange.jobs import tasks
from exchange.models import ImportJob

FEWER = (NEW_OBJECTS, *USUAL_THRESHOLDS[1:])


class ReadError(Exception):
    """Raised instead of reading a file."""


def note_thresholds(*_: object) -> None:
    """Raise an error that holds the thresholds."""
    raise ReadError(gc.get_threshold())


def test_collections_are_as_before_after_an_error() -> None:
    with pytest.raises(ReadError, match=re.escape(str(FEWER))):
        fewer_collections()(note_thresholds)()

    assert gc.get_threshold() == USUAL_THRESHOLDS


def test_command_collects_less_often() -> None:
    module = "exchange.management.commands.import_program"
    with (
        mock.patch(f"{module}.find_or_create_edition", note_thresholds),
        pytest.raises(ReadError, match=re.escape(str(FEWER))),
    ):
        call_command("import_program", "bibtex", "papers.bib", edition="2031", no_progress=True)


def test_task_collects_less_often() -> None:
    with (
        mock.patch("exchange.jobs.tasks.readable", note_thresholds),
        pytest.raises(ReadError, match=re.escape(str(FEWER))),
    ):
        tasks._load(ImportJob(format="ris"), mock.Mock())
