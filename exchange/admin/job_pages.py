"""What the pages of an import say: how far it is, what it counted, and in words what there is to look at."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy

from exchange.formats import formats
from exchange.imports.kinds import KINDS
from exchange.models import ImportJob
from exchange.wording import kind_name

# Stages that are no kind of rows.
WRITING = "writing "
NOTES_SHOWN = 100
# What became of rows, in words: after a number or above a column.
COUNTED = {
    "new": pgettext_lazy("imported rows", "new"),
    "changed": pgettext_lazy("imported rows", "changed"),
    "kept": pgettext_lazy("imported rows", "kept"),
    "conflicting": pgettext_lazy("imported rows", "conflicting"),
    "skipped": pgettext_lazy("imported rows", "skipped"),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """How far a job is: words, and a number out of a number, or none."""

    words: str
    done: int = 0
    total: int = 0
    is_lost: bool = False
    is_neglected: bool = False

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0


def progress_of(job: ImportJob) -> Stage | None:
    """Return how far a job is; nothing if it is not at work."""
    if not job.is_working:
        return None
    if job.is_neglected():
        return Stage(_("No worker has taken this import."), is_neglected=True)
    if job.progress is None:
        return Stage(_("Waiting for the worker"))
    if job.is_lost():
        return Stage(_("The worker has stopped."), is_lost=True)
    return Stage(_words(job.progress.what, job.state), job.progress.done, job.progress.total)


def _words(what: str, state: str) -> str:
    known = {kind.many or name: name for name, kind in KINDS.items()}
    if what.startswith(WRITING) and what.removeprefix(WRITING) in known:
        return _("Writing: %(rows)s") % {"rows": kind_name(known[what.removeprefix(WRITING)])}
    if what in known:
        return _("Comparing: %(rows)s") % {"rows": kind_name(known[what])}
    if what == "fetched":
        return _("Fetching the program")
    if what == "checking":
        return _("Checking the rows")
    if what == "storing":
        return _("Preparing the preview")
    return _("Reading the files")


def facts(job: ImportJob) -> dict[str, Any]:
    """Return what every page of a job can show of it. No query."""
    fmt = formats().get(job.format)
    counts = [
        {
            "kind": kind,
            "name": kind_name(kind),
            "cells": [(word, counts[word]) for word in COUNTED],
        }
        for kind, counts in job.counts.items()
    ]
    sums = {word: sum(one[word] for one in job.counts.values()) for word in COUNTED}
    return {
        "format": fmt.label if fmt else job.format,
        "counts": counts,
        "sums": sums,
        "changes": sums["new"] + sums["changed"],
        "words": COUNTED,
        "notes": job.notes[:NOTES_SHOWN],
        "more_notes": job.notes[NOTES_SHOWN:],
    }
