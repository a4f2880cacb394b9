"""A table that describes the permissions of each role, derived from `roles` and `access_scope`."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.apps import apps
from django.db.models import Model
from django.utils.translation import gettext as _

from accounts.access_scope import OWN_ROWS
from accounts.roles import (
    CHANGEABLE_FIELDS,
    DESCRIPTIONS,
    GRANTS,
    INVITABLE_ROLES,
    ROLE_PARTS,
    SINGLE_EDITION_ROLES,
    Role,
    allows,
    granted_actions,
)


@dataclass(frozen=True, slots=True)
class RoleLine:
    """The permissions of a role. Each model's label, such as "papers.paper", is in one of three tuples."""

    role: Role
    edits: tuple[str, ...]
    changes: tuple[str, ...]
    sees: tuple[str, ...]

    @property
    def description(self) -> str:
        return str(DESCRIPTIONS[self.role])

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Name and content of each column."""
        return [
            (_("Adds, changes, and deletes"), plurals(self.edits)),
            (_("Changes"), plurals(self.changes)),
            (_("Only sees"), plurals(self.sees)),
            (_("Limits"), " ".join(self.limits)),
        ]

    @property
    def limits(self) -> list[str]:
        """Sentences about rows, fields, private data and invitations."""
        return [*self._row_limits(), *self._field_limits(), *self._other_limits()]

    def _row_limits(self) -> Iterable[str]:
        own_labels = [
            label
            for model in OWN_ROWS.get(self.role, ())
            if (label := model._meta.label_lower) in self.labels
        ]
        values = {"rows": plurals(own_labels)}
        if self.role in ROLE_PARTS:
            yield _("Only those of the chosen topics and tracks: %(rows)s.") % values
        elif own_labels:
            yield _("Only those of the sessions that they lead: %(rows)s.") % values
        if self.role in SINGLE_EDITION_ROLES:
            yield _("In one edition, not in a series.")

    def _field_limits(self) -> Iterable[str]:
        for label, names in CHANGEABLE_FIELDS[self.role].items():
            model = apps.get_model(label)
            fields = [str(field.verbose_name) for field in model._meta.fields if field.name in names]
            values = {"rows": plurals([label]), "fields": ", ".join(fields)}
            yield _("%(rows)s: changes only %(fields)s.") % values

    def _other_limits(self) -> Iterable[str]:
        private = {
            label for label in self.labels if any("private" in granted_actions(role, label) for role in Role)
        }
        if any(allows(self.role, "private", label) for label in private):
            yield _("Reads e-mail addresses and former names.")
        elif private:
            yield _("Sees no e-mail addresses or former names.")
        if any(allows(self.role, "preview", label) for label in self.labels):
            yield _("Previews drafts on the site’s pages.")
        if invitable := INVITABLE_ROLES.get(self.role):
            names = ", ".join(str(role.label) for role in Role if role in invitable)
            yield _("Invites, changes, and removes: %(roles)s.") % {"roles": names}

    @property
    def labels(self) -> tuple[str, ...]:
        return (*self.edits, *self.changes, *self.sees)


def role_line(role: Role) -> RoleLine:
    edits, changes, sees = [], [], []
    for label in GRANTS:
        actions = granted_actions(role, label)
        if {"add", "delete"} <= actions:
            edits.append(label)
        elif "change" in actions:
            changes.append(label)
        elif "view" in actions:
            sees.append(label)
    return RoleLine(role, tuple(edits), tuple(changes), tuple(sees))


def role_table() -> list[RoleLine]:
    """Return a line for each role, in their order."""
    return [role_line(role) for role in Role]


def plurals(labels: Iterable[str]) -> str:
    """Return the names of models: "Papers, authorships, topics"."""
    models: list[type[Model]] = [apps.get_model(label) for label in labels]
    text = ", ".join(str(model._meta.verbose_name_plural) for model in models)
    return text[:1].upper() + text[1:]
