"""Permissions to import: not every role that may import may change an edition's settings."""

from typing import Any

from django.utils.translation import gettext

from accounts.access_scope import Access, access_of
from accounts.roles import Role
from conference.models import Edition
from content.actor import User
from content.history.revert import CannotRevertError, RevertPlan
from content.models import Content
from exchange.imports.compare import ImportPlan, RowPlan
from exchange.imports.kinds import CONFERENCE, EDITION, INSTITUTION, PAPER, PERSON, Kind, Values
from exchange.imports.publication import publishes
from exchange.imports.rows import Concealed
from exchange.models import ImportJob
from exchange.problems import Problem, ProgramError
from papers.models import Paper

# Kinds that need a separate permission, since roles that edit the program may not change them.
GUARDED_KINDS = (CONFERENCE, EDITION)


def as_importer(access: Access) -> Access:
    """Return the access for imports: in editions with the permission to import, it is that of editors."""
    importer_access = Access(access.user)
    import_editions = access.editions("add", ImportJob)
    vars(importer_access)["roles"] = {
        edition: roles | {Role.EDITOR} if edition in import_editions else roles
        for edition, roles in access.roles.items()
    }
    return importer_access


def may_import_all(access: Access) -> bool:
    """Return whether Django permissions let the account import into every edition."""
    return access.may_everywhere("add", ImportJob) and access.may_everywhere("change", Edition)


def may_publish(user: object, edition: Edition | None) -> bool:
    """Return whether an import of the account may publish rows: if it decides when the edition goes public.

    Without an edition, the import creates one, which only these accounts may.
    """
    access = access_of(user)
    return edition is None or may_import_all(access) or access.may("change", Edition, edition)


def publication_refusal(
    kind: Kind, row: Content | None, values: Values, user: object, edition: Edition
) -> str:
    """Return why the account may not give a row these values of a file; empty if it may."""
    if row is None or not publishes(kind, row, values) or may_publish(user, edition):
        return ""
    return gettext("It would become public. Your role imports drafts: ask an owner or program chair.")


def concealed_rows(user: object) -> Concealed:
    """Return the rows that appear only in drafts of other editions, by kind: files may not refer to them.

    This includes the papers of these drafts.
    """
    access = as_importer(access_of(user))
    concealed = _inaccessible_rows(access, "view")
    if not may_import_all(access):
        public = Paper.objects.published().order_by().values("pk")
        drafts = Paper._base_manager.exclude(access.scope(Paper)).exclude(pk__in=public)
        concealed[PAPER.name] = frozenset(drafts.order_by().values_list("pk", flat=True))
    return concealed


def protected_rows(user: object) -> Concealed:
    """Return the people and institutions that no file of the account may change, by kind."""
    return _inaccessible_rows(as_importer(access_of(user)), "change")


def _inaccessible_rows(access: Access, action: str) -> dict[str, frozenset[int]]:
    if may_import_all(access):
        return {}
    return {
        kind.name: frozenset(
            kind.model._base_manager.exclude(access.scope(kind.model, action)).values_list("pk", flat=True)
        )
        for kind in (PERSON, INSTITUTION)
    }


def check_permissions(plan: ImportPlan, user: object) -> None:
    """Raise `ProgramError` with all changes to edition and conference that the account may not make."""
    access = access_of(user)
    problems = [
        problem
        for kind in GUARDED_KINDS
        for step in plan.steps[kind.name]
        if (problem := _refusal(step, access)) is not None
    ]
    if problems:
        raise ProgramError(problems)


def _refusal(step: RowPlan, access: Access) -> Problem | None:
    if step.is_new and not access.may("add", type(step.row)):
        message = gettext("The file brings %(row)s, which your role may not add. Ask somebody who may.")
        return Problem(step.where, "", message % {"row": step.row})
    if step.is_new or not step.merge.updates or access.may("change", type(step.row), step.row):
        return None
    message = gettext(
        "The file changes this of %(row)s, which your role may not. "
        "Leave it out of the file, or ask somebody who may."
    )
    return Problem(step.where, ", ".join(step.merge.updates), message % {"row": step.row})


def check_undo_permissions(plan: RevertPlan, user: User) -> None:
    """Raise `CannotRevertError` with changes to edition and conference that the account cannot revert."""
    access = access_of(user)
    message = gettext("The import changed this of %(row)s, which your role may not: %(fields)s.")
    guarded_models: set[Any] = {kind.model for kind in GUARDED_KINDS}
    reasons = [
        message % {"row": step.label, "fields": ", ".join(step.pairs)}
        for step in plan.steps
        for model in guarded_models & {step.model}
        if step.kind != "remove" and not access.may("change", model, step.row or model(pk=step.key))
    ]
    if reasons:
        raise CannotRevertError(reasons)
