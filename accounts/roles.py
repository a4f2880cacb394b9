"""Roles in an edition, and what each may do with the rows of each model.

Each app says that of its models when the site starts (`registration.py`). Which rows a role reaches is
`access_scope`.
"""

from collections.abc import Iterable

from django.db.models import Model, TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Role(TextChoices):
    """What somebody is in an edition, the strongest first."""

    OWNER = "owner", _("Owner")
    CHAIR = "chair", _("Program chair")
    EDITOR = "editor", pgettext_lazy("role in an edition", "Editor")
    SESSION_CHAIR = "session_chair", _("Session chair")
    VIEWER = "viewer", pgettext_lazy("role in an edition", "Viewer")


# What a role is for, in a sentence.
DESCRIPTIONS = {
    Role.OWNER: _("May do everything in the edition, and decides who else may."),
    Role.CHAIR: _("Keeps the program, decides when it goes public, invites editors, chairs and viewers."),
    Role.EDITOR: _("Enters and corrects the program, and imports it. Does not decide when it goes public."),
    Role.SESSION_CHAIR: _("Sees the own sessions alone, and keeps their order, times, text and links."),
    Role.VIEWER: _("Sees everything of the edition, drafts too, and changes nothing."),
}

# Whom each role may invite, and whose membership it may change or end.
INVITES: dict[str, frozenset[str]] = {
    Role.OWNER: frozenset(Role),
    Role.CHAIR: frozenset({Role.CHAIR, Role.EDITOR, Role.SESSION_CHAIR, Role.VIEWER}),
}

SEE, KEEP = frozenset({"view"}), frozenset({"view", "change"})
ALL = frozenset({"view", "add", "change", "delete"})
NONE: frozenset[str] = frozenset()

# Label of a model -> role -> what it may do there, and the only fields that it may change.
GRANTS: dict[str, dict[str, frozenset[str]]] = {}
FIELDS: dict[str, dict[str, frozenset[str]]] = {role: {} for role in Role}


def grant(models: Iterable[type[Model]], *columns: frozenset[str]) -> None:
    """Say what each role may do with these models: owner, chair, editor, session chair, viewer."""
    for model in models:
        GRANTS[model._meta.label_lower] = dict(zip(Role, columns, strict=True))


def restrict(role: Role, model: type[Model], fields: Iterable[str]) -> None:
    """Name the only fields of a row that a role may change."""
    FIELDS[role][model._meta.label_lower] = frozenset(fields)


def granted(role: str | None, label: str) -> frozenset[str]:
    """Return what a role may do with the rows of a model; changing a row implies seeing it."""
    return GRANTS.get(label, {}).get(role, NONE) if role else NONE


def permissions(role: str) -> set[str]:
    """Return what a role grants somewhere, as Django names permissions: "papers.change_paper"."""
    return {
        f"{label.partition('.')[0]}.{action}_{label.partition('.')[2]}"
        for label in GRANTS
        for action in granted(role, label)
    }
