"""Roles in an edition, and the actions that each allows with the rows of each model.

Each app registers the actions for its models at startup (`registration.py`). `access_scope` decides on the
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from django.db.models import Model, TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

if TYPE_CHECKING:
    from conference.models import Edition


class Role(TextChoices):
    """Roles in an edition or a series: the general ones first, then those for a task."""

    OWNER = "owner", _("Owner")
    CHAIR = "chair", _("Program chair")
    EDITOR = "editor", pgettext_lazy("role in an edition", "Editor")
    SESSION_CHAIR = "session_chair", _("Session chair")
    VIEWER = "viewer", pgettext_lazy("role in an edition", "Viewer")
    PRIVATE_VIEWER = "private_viewer", _("Viewer with private fields")
    TRACK_CHAIR = "track_chair", _("Track chair")
    AWARDS = "awards", _("Awards editor")
    SPONSORS = "sponsors", _("Sponsors editor")
    IMPORTER = "importer", _("Importer")


DESCRIPTIONS = {
    Role.OWNER: _("Can do everything in the edition and decides who else can."),
    Role.CHAIR: _(
        "Edits the program, decides when it goes public, and invites editors, session chairs, and viewers."
    ),
    Role.EDITOR: _("Edits the program and imports drafts. Can’t decide when it goes public."),
    Role.SESSION_CHAIR: _("Sees only their own sessions and edits their order, times, texts, and links."),
    Role.VIEWER: _("Sees everything in the edition, including drafts, but can’t change anything."),
    Role.PRIVATE_VIEWER: _(
        "Sees what a viewer sees, and e-mail addresses, former names, and the history of people."
    ),
    Role.TRACK_CHAIR: _(
        "Edits the papers of the chosen topics and tracks, and the order and times of their presentations. "
        "Sees their sessions."
    ),
    Role.AWARDS: _("Edits awards and who receives them. Sees papers and people, without private fields."),
    Role.SPONSORS: _("Edits sponsors. Sees the edition’s settings, and nothing else."),
    Role.IMPORTER: _(
        "Imports drafts: uploads files, looks at previews, decides conflicts, and reverts imports."
    ),
}

# Roles that cannot be granted in a series, as the rows to which they are limited belong to one edition.
SINGLE_EDITION_ROLES = frozenset({Role.SESSION_CHAIR, Role.TRACK_CHAIR})
# The parts of an edition to which a role may be limited, registered by upper packages: values and labels.
ROLE_PARTS: dict[str, Callable[[Edition], list[tuple[str, str]]]] = {}

# The roles that each role may grant, change and revoke.
INVITABLE_ROLES: dict[str, frozenset[str]] = {
    Role.OWNER: frozenset(Role),
    Role.CHAIR: frozenset(Role) - {Role.OWNER},
}

VIEW, CHANGE = frozenset({"view"}), frozenset({"view", "change"})
ALL = frozenset({"view", "add", "change", "delete"})
# The actions of reading the private fields of people, and of previewing an edition's drafts on its pages.
PRIVATE, PREVIEW = frozenset({"private"}), frozenset({"preview"})
NONE: frozenset[str] = frozenset()

# By label of a model and role: the allowed actions. By role and label: the only fields it may change.
GRANTS: dict[str, dict[str, frozenset[str]]] = {}
CHANGEABLE_FIELDS: dict[str, dict[str, frozenset[str]]] = {role: {} for role in Role}

GENERAL_ROLES = ("owner", "chair", "editor", "session_chair", "viewer")


def grant(models: Iterable[type[Model]], *columns: frozenset[str], **tasks: frozenset[str]) -> None:
    """Set the actions of each role for these models. `columns`: owner, chair, editor, session chair, viewer.

    `tasks`: the actions of the roles for a task, by role; none by default. A viewer with private fields
    has the actions of a viewer.
    """
    general_actions = dict(zip(GENERAL_ROLES, columns, strict=True))
    task_actions = {"private_viewer": general_actions["viewer"], **tasks}
    for model in models:
        GRANTS[model._meta.label_lower] = dict.fromkeys(Role.values, NONE) | general_actions | task_actions


def restrict(role: Role, model: type[Model], fields: Iterable[str]) -> None:
    """Limit the fields of a row that a role may change to these."""
    CHANGEABLE_FIELDS[role][model._meta.label_lower] = frozenset(fields)


def granted_actions(role: str | None, label: str) -> frozenset[str]:
    """Return the actions that a role allows with the rows of a model."""
    return GRANTS.get(label, {}).get(role, NONE) if role else NONE


def allows(role: str, action: str, label: str) -> bool:
    """Return whether a role may do this with rows of a model; "change" includes "private"."""
    actions = granted_actions(role, label)
    return action in actions or (action == "private" and "change" in actions)


def includes(role: str, other: str) -> bool:
    """Return whether a role allows all that another allows, so that the other is redundant."""
    return (
        role not in ROLE_PARTS
        and role != Role.SESSION_CHAIR
        and all(
            granted_actions(other, label) - PRIVATE <= granted_actions(role, label)
            and (not granted_actions(other, label) & PRIVATE or allows(role, "private", label))
            for label in GRANTS
        )
    )


def permission_names(role: str) -> set[str]:
    """Return the Django permissions that a role grants, such as "papers.change_paper"."""
    return {
        f"{label.partition('.')[0]}.{action}_{label.partition('.')[2]}"
        for label in GRANTS
        for action in granted_actions(role, label) & ALL
    }
