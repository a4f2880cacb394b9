"""Apply the validation of forms to many rows at once, and report problems by their place in the file."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.translation import gettext

from conference.models import MenuItem
from content.array_lookup import AnyOf
from content.models import Content
from exchange.imports.compare import ImportPlan, ProgressCallback, RowPlan
from exchange.imports.kinds import (
    GRANTS,
    INSTITUTION,
    KINDS,
    MATERIALS,
    PAPER,
    PERSON,
    SESSION,
    TOPIC,
    Kind,
    Listing,
)
from exchange.imports.rows import PartRow, report_concealed
from exchange.problems import Findings, Where, short
from markup import fold, plain
from papers.models import Paper, Topic
from papers.querysets import TOPIC_LEVELS
from schedule.models import Presentation, Session

TITLES_SHOWN = 5
MISSING_CODES = frozenset(("blank", "null"))


def validate(plan: ImportPlan, findings: Findings, progress: ProgressCallback) -> None:
    """Validate all rows and parts that the plan would write, and report the problems."""
    steps = [step for name in KINDS for step in plan.steps[name] if step.is_new or step.merge.updates]
    for done, step in enumerate(steps, start=1):
        for listing in step.kind.listings:
            _check_parts(listing, step.parts.get(listing.name, []), step.where, findings)
        _check_row(step, findings)
        progress("checking", done, len(steps))
    for kind, field in ((INSTITUTION, "ror"), (PERSON, "orcid")):
        concealed_keys = plan.rows.concealed.get(kind.name, frozenset())
        _check_unique(plan.steps[kind.name], kind, field, findings, concealed_keys)
    _note_same_titles(plan, findings)
    for kind in (TOPIC, SESSION):
        if steps := plan.steps[kind.name]:
            _check_nesting(steps, plan.rows[kind.name].rows.values(), findings)


def _note_same_titles(plan: ImportPlan, findings: Findings) -> None:
    """Note new titles that another paper of the edition has, as `same_title()` does for the desk."""
    steps = (step for step in plan.steps[PAPER.name] if step.is_new or "title" in step.merge.updates)
    steps_by_row = {id(step.row): step for step in steps}
    papers: dict[str, list[Paper]] = defaultdict(list)
    for row in plan.rows[PAPER.name].rows.values() if steps_by_row else ():
        if isinstance(row, Paper) and row.status != "withdrawn":
            papers[fold(plain(row.title))].append(row)
    for title, same_titled in papers.items():
        step = next((steps_by_row[id(paper)] for paper in same_titled if id(paper) in steps_by_row), None)
        if step and title and len(same_titled) > 1:
            message = gettext("“%(title)s” is the title of %(count)d papers: %(uids)s. Is one there twice?")
            values = {"title": short(str(step.row)), "count": len(same_titled)}
            uids = ", ".join(paper.uid for paper in same_titled[:TITLES_SHOWN])
            more = ", …" if len(same_titled) > TITLES_SHOWN else ""
            findings.note("doubt", step.where, message, uids=uids + more, **values)


def _check_row(step: RowPlan, findings: Findings) -> None:
    row: Any = step.row
    parent = _parent(row)
    # A row cannot distinguish an unsaved parent from itself; `_check_nesting` checks it.
    if parent is not None:
        row.parent = None
    _report(row, step.where, "", findings)
    if parent is not None:
        row.parent = parent
    if isinstance(row, Presentation) and not (row.paper or row.title or step.is_broken):
        findings.problem(step.where, "title", gettext("Choose a paper, or enter a title."))


def _check_parts(listing: Listing, parts: list[PartRow], where: Where, findings: Findings) -> None:
    for index, part in enumerate(parts):
        path = f"{listing.name}[{index}]"
        _report(part.row, where, path, findings)
        if listing is MATERIALS and not (part.row.url or part.row.file):
            findings.problem(where, f"{path}.url", gettext("The address is missing."))
        if listing is GRANTS and (part.row.paper is None) == (part.row.person is None):
            findings.problem(where, path, gettext("Choose either a paper or a person, not both."))


@cache
def _relations(model: type[Content]) -> frozenset[str]:
    return frozenset(field.name for field in model._meta.concrete_fields if field.is_relation)


def _clean(row: Content) -> None:
    """Do as `clean_in_memory`, but skip deferred fields, since loading them makes a query per row."""
    row.clean_fields(exclude=_relations(type(row)) | row.get_deferred_fields())
    # `MenuItem.clean()` counts targets by primary key, which a new page of the same file does not have yet.
    if not isinstance(row, MenuItem):
        row.clean()


def _report(row: Content, where: Where, path: str, findings: Findings) -> None:
    try:
        _clean(row)
    except ValidationError as error:
        for name, errors in error.update_error_dict({}).items():
            field = "" if name == NON_FIELD_ERRORS else name
            for field_error in errors:
                field_path = ".".join(filter(None, (path, field)))
                findings.problem(where, field_path, _error_message(row, field, field_error))


def _error_message(row: Content, field: str, error: ValidationError) -> str:
    if error.code in MISSING_CODES:
        return gettext("The %(replace)s is missing. Add it.") % {"replace": field.replace("_", " ")}
    if error.code == "invalid_choice":
        choices = getattr(row._meta.get_field(field), "choices", None) or ()
        value = short(str(getattr(row, field)))
        allowed_values = ", ".join(str(key) for key, _ in choices)
        return gettext("“%(value)s” is not one of %(choices)s.") % {"value": value, "choices": allowed_values}
    return " ".join(error.messages)


def _check_nesting(steps: Sequence[RowPlan], rows: Iterable[Content], findings: Findings) -> None:
    """Report topics and sessions nested in themselves or too deep. `rows`: all rows, changed or not."""
    changed_ids = {id(step.row) for step in steps}
    parent_ids = {id(_parent(row)) for row in rows if _parent(row) is not None and id(row) not in changed_ids}
    for step in steps:
        row = step.row
        ancestor, visited = _parent(row), {id(row)}
        if ancestor is None:
            continue
        while ancestor is not None and id(ancestor) not in visited:
            visited.add(id(ancestor))
            ancestor = _parent(ancestor)
        if ancestor is not None:
            message = gettext("A %(name)s can’t be its own parent. Correct the parent.")
            findings.problem(step.where, "parent", message, name=step.kind.name)
        elif step.kind.name == "topic" and len(visited) > TOPIC_LEVELS:
            message = gettext("Topics have at most %(topic_levels)s levels. Choose a higher parent.")
            findings.problem(step.where, "parent", message, topic_levels=TOPIC_LEVELS)
        elif step.kind.name == "session" and len(visited) > 2:
            message = gettext("Sessions have two levels: choose one that isn’t part of another session.")
            findings.problem(step.where, "parent", message)
        elif step.kind.name == "session" and id(row) in parent_ids:
            message = gettext(
                "Sessions have two levels, and this one already has parts. Leave its parent empty."
            )
            findings.problem(step.where, "parent", message)


def _parent(row: Content) -> Content | None:
    return row.parent if isinstance(row, Topic | Session) else None


def _check_unique(
    steps: Iterable[RowPlan], kind: Kind, field: str, findings: Findings, concealed: Collection[int]
) -> None:
    """Report duplicate values of a unique field. Makes one query."""
    claims: dict[str, RowPlan] = {}
    for step in steps:
        value = getattr(step.row, field)
        if not value or field not in step.merge.updates:
            continue
        if value in claims:
            other, message = claims[value], gettext("“%(value)s” belongs to %(row)s too (%(where)s).")
            findings.problem(step.where, field, message, value=value, row=other.row, where=other.where)
        claims.setdefault(value, step)
    for row in kind.model._default_manager.filter(AnyOf(field, claims)).defer(*kind.model.derived_fields):
        step = claims[getattr(row, field)]
        if row.pk in concealed:
            report_concealed(step.where, field, getattr(row, field), findings)
        elif row.pk != step.row.pk:
            message = gettext("“%(value)s” belongs to %(row)s here already.")
            findings.problem(step.where, field, message, value=getattr(row, field), row=row)
