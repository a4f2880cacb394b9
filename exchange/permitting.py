"""Whether an account may do what a file would: the switches and dates of an edition are not everybody's."""

from typing import Any

from django.utils.translation import gettext

from conference.access import Access, access_of
from exchange.loading.kinds import CONFERENCE, EDITION
from exchange.loading.planning import Plan
from exchange.loading.steps import Step
from exchange.problems import Problem, ProgramError

# Kinds that a role which keeps the program may not keep.
GUARDED = (CONFERENCE, EDITION)


def permit(plan: Plan, user: Any) -> None:
    """Raise `ProgramError` with every row of edition and conference that the account may not write so."""
    access = access_of(user)
    refused = [
        problem
        for kind in GUARDED
        for step in plan.steps[kind.name]
        if (problem := _refusal(step, access)) is not None
    ]
    if refused:
        raise ProgramError(refused)


def _refusal(step: Step, access: Access) -> Problem | None:
    if step.is_new and not access.may("add", type(step.row)):
        said = gettext("The file brings %(row)s, which your role may not add. Ask somebody who may.")
        return Problem(step.where, "", said % {"row": step.row})
    if step.is_new or not step.merge.taken or access.may("change", type(step.row), step.row):
        return None
    said = gettext(
        "The file changes this of %(row)s, which your role may not. "
        "Leave it out of the file, or ask somebody who may."
    )
    return Problem(step.where, ", ".join(step.merge.taken), said % {"row": step.row})
