"""What the pages of a preview and of a refusal show: counts, rows, publication, problems."""

from collections import defaultdict
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils.translation import pgettext_lazy

from content.models import Content
from editorial.access import access_for
from exchange.admin.columns import can_leave_out
from exchange.imports.kinds import KINDS
from exchange.imports.publication import choices_for, rule_for
from exchange.imports.publication_counts import describe_publication
from exchange.jobs.import_permissions import may_publish
from exchange.jobs.preview import kind_name, rows_in_words
from exchange.models import ImportJob

PER_PAGE = 50
# Labels of outcomes, after a number or as a column heading.
OUTCOME_LABELS = {
    "new": pgettext_lazy("imported rows", "new"),
    "changed": pgettext_lazy("imported rows", "changed"),
    "kept": pgettext_lazy("imported rows", "kept"),
    "conflicting": pgettext_lazy("imported rows", "conflicting"),
    "skipped": pgettext_lazy("imported rows", "skipped"),
}


def count_table(counts: dict[str, dict[str, int]]) -> dict[str, object]:
    """Return the context of the table of rows by kind and outcome."""
    rows = [
        {"kind": kind, "name": kind_name(kind), "cells": [(name, tally[name]) for name in OUTCOME_LABELS]}
        for kind, tally in counts.items()
    ]
    return {"counts": rows, "outcome_labels": OUTCOME_LABELS}


def total_counts(counts: dict[str, dict[str, int]]) -> dict[str, int]:
    """Return the number of rows of all kinds by outcome."""
    return {outcome: sum(tally[outcome] for tally in counts.values()) for outcome in OUTCOME_LABELS}


def page_context(request: HttpRequest, job: ImportJob) -> dict[str, object]:
    """Return the context of a page of the preview: rows of a kind, or with one outcome."""
    what, kind = request.GET.get("what", ""), request.GET.get("kind", "")
    rows = job.rows.all() if what == "all" else job.rows.not_skipped()
    rows = job.rows.with_outcome(what) if what in OUTCOME_LABELS else rows
    rows = rows.filter(kind=kind) if kind in KINDS else rows
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("p"))
    can_publish = may_publish(request.user, job.edition)
    rule = rule_for(job.edition, job.publication, may_publish=can_publish)
    return {
        "publications": list(describe_publication(job.publications)),
        "can_publish": can_publish,
        "publication_choices": choices_for(waits=rule.waits, may_publish=can_publish),
        "publication": rule.choice,
        "what": what,
        "kind": kind,
        "page_obj": page,
        "planned_rows": [
            {**row, "can_leave_out": can_leave_out(job, row["row"].where)}
            for row in without_closed_links(request, [*rows_in_words(page.object_list)])
        ],
    }


def without_closed_links(request: HttpRequest, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Empty the addresses of rows that the user may not see. At most two queries for each model."""
    access, keys_by_model = access_for(request), defaultdict[type[Content], list[int]](list)
    for row in rows:
        if row["address"]:
            keys_by_model[KINDS[row["row"].kind].model].append(row["row"].object_id)
    visible_keys = {
        model: {*access.rows(model._default_manager.filter(pk__in=keys)).values_list("pk", flat=True)}
        for model, keys in keys_by_model.items()
        if access.may("view", model)
    }
    for row in rows:
        if row["row"].object_id not in visible_keys.get(KINDS[row["row"].kind].model, ()):
            row["address"] = ""
    return rows


def problems_context(job: ImportJob) -> dict[str, object]:
    """Return the problems of a refused job, each row that can be left out once."""
    seen: set[str] = set()
    problems = []
    for place, field, message in job.problems:
        is_row = can_leave_out(job, place) and place not in seen
        seen.add(place)
        problems.append({"place": place, "field": field, "message": message, "can_leave_out": is_row})
    return {"problems": problems}
