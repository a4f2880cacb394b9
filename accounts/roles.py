"""Roles in an edition, and what each may do with the rows of each model: the one table that says so.

Upper floors stand here by the labels of their models. Which rows a role reaches is `access`.
"""

from collections.abc import Iterable

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Role(models.TextChoices):
    """What somebody is in an edition, the strongest first."""

    OWNER = "owner", _("Owner")
    CHAIR = "chair", _("Program chair")
    EDITOR = "editor", pgettext_lazy("role in an edition", "Editor")
    SESSION_CHAIR = "session_chair", _("Session chair")
    VIEWER = "viewer", pgettext_lazy("role in an edition", "Viewer")


# What a role is for, in a sentence beside its name.
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

type Grants = dict[str, frozenset[str]]

# A column for each role, in the order owner, chair, editor, session chair, viewer.
ROWS: list[tuple[Iterable[str], tuple[frozenset[str], ...]]] = [
    (["conference.edition"], (KEEP, KEEP, SEE, NONE, SEE)),
    # Of all its editions: whoever owns only some of them looks on.
    (["conference.conference"], (KEEP, SEE, SEE, NONE, SEE)),
    (["conference.announcement", "conference.page", "conference.menuitem"], (ALL, ALL, ALL, NONE, SEE)),
    (["conference.sponsor", "people.committeerole"], (ALL, ALL, ALL, NONE, SEE)),
    (["papers.award", "papers.awardgrant"], (ALL, ALL, ALL, NONE, SEE)),
    (["papers.paper", "papers.authorship", "papers.material"], (ALL, ALL, ALL, SEE, SEE)),
    (["papers.topic", "schedule.room"], (ALL, ALL, ALL, SEE, SEE)),
    (["schedule.session", "schedule.presentation"], (ALL, ALL, ALL, KEEP, SEE)),
    (["schedule.sessionrole", "schedule.speaker"], (ALL, ALL, ALL, SEE, SEE)),
    (["schedule.release"], (ALL, ALL, SEE, NONE, SEE)),
    (["people.person"], (ALL, ALL, ALL, SEE, SEE)),
    (["people.institution", "people.personidentifier"], (ALL, ALL, ALL, NONE, SEE)),
    # Former names are among them.
    (["people.personname"], (ALL, ALL, ALL, NONE, NONE)),
    (["people.persondistinction", "people.institutiondistinction"], (ALL, ALL, ALL, NONE, NONE)),
    # To add is to import, to delete is to take back.
    (["exchange.importrun", "exchange.importjob"], (ALL, ALL, ALL, NONE, NONE)),
    (["exchange.conflict", "exchange.provenance"], (ALL, ALL, ALL, NONE, NONE)),
    (["accounts.membership"], (ALL, ALL, NONE, NONE, NONE)),
    # One's own, which never do more than oneself.
    (["api.token"], (ALL, ALL, ALL, ALL, ALL)),
]

GRANTS: dict[str, Grants] = {
    label: dict(zip(Role, columns, strict=True)) for labels, columns in ROWS for label in labels
}

# What a role may change of a row where that is not everything.
FIELDS: dict[str, dict[str, frozenset[str]]] = {
    Role.SESSION_CHAIR: {
        "schedule.session": frozenset({"abstract", "stream_url", "chat_url", "recording_url"}),
        "schedule.presentation": frozenset({"position", "start", "end", "recording_url"}),
    }
}


def granted(role: str | None, label: str) -> frozenset[str]:
    """Return what a role may do with the rows of a model; whoever may change a row may see it."""
    return GRANTS.get(label, {}).get(role, NONE) if role else NONE


def permissions(role: str) -> set[str]:
    """Return what a role grants somewhere, as Django names permissions: "papers.change_paper"."""
    return {
        f"{label.partition('.')[0]}.{action}_{label.partition('.')[2]}"
        for label in GRANTS
        for action in granted(role, label)
    }
