"""Which columns hold personal data, and which do not: every column that could is in one of the two lists.

`docs/privacy.md` says the same to people; tests hold both to the models.
"""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import models

# Columns of these types can name somebody.
TELLING = (models.CharField, models.TextField, models.JSONField, models.FileField)

# Model -> columns about a person.
PERSONAL: dict[str, tuple[str, ...]] = {
    "people.Person": (
        "uid", "name", "given", "family", "sort_key", "folded", "native_name", "affiliation", "orcid",
        "homepage", "photo", "biography", "biography_html", "email",
    ),
    "people.PersonName": ("name", "folded"),
    "people.PersonIdentifier": ("scheme", "value"),
    "people.CommitteeRole": ("role", "affiliation"),
    "people.PersonPair": ("signs", "reasons"),
    "papers.Authorship": ("name", "affiliations"),
    "papers.AwardGrant": ("citation", "citation_html"),
    "schedule.SessionRole": ("name", "role", "affiliation"),
    "schedule.Speaker": ("name", "affiliation"),
    "search.Document": ("people", "title", "body"),
    "auth.User": ("username", "first_name", "last_name", "email", "password"),
    "admin.LogEntry": ("object_repr", "change_message"),
    "sessions.Session": ("session_key", "session_data"),
    "api.Token": ("name", "digest", "token_key"),
    "people.Invitation": ("role", "name", "email", "digest"),
    "accounts.AccountSession": ("session_key", "session_data", "browser", "address"),
    "accounts.Membership": ("role",),
    "content.ChangeSet": ("user_name", "detail"),
    "content.RowChange": ("label", "values"),
    "exchange.Provenance": ("values",),
    "exchange.Change": ("old", "new", "base"),
    "exchange.Conflict": ("label", "base", "ours", "theirs"),
    "exchange.ImportRun": ("notes", "files"),
    "exchange.ImportJob": ("notes", "problems", "files", "url"),
    "exchange.PlannedRow": ("label", "where", "fields"),
    "django_tasks_database.DBTaskResult": ("args_kwargs", "return_value", "traceback"),
    "schedule.Agenda": ("token_digest",),
}  # fmt: skip

# Models about things, and about people only where somebody writes of them in a free text.
OF_THINGS = frozenset(
    {
        "auth.Group", "auth.Permission", "conference.Announcement", "conference.Conference",
        "conference.Edition", "conference.MenuItem", "conference.Page", "conference.Sponsor",
        "contenttypes.ContentType", "papers.Award", "papers.Material", "papers.Paper", "papers.Topic",
        "people.Comparison", "people.Institution", "people.InstitutionPair", "schedule.Presentation",
        "content.Invalidation", "schedule.Release", "schedule.Room", "schedule.Session", "search.Indexed",
        "search.Word",
    }
)  # fmt: skip

# Of the models above that are about people: columns that say nothing of them.
IMPERSONAL: dict[str, tuple[str, ...]] = {
    "api.Token": ("scope",),
    "admin.LogEntry": ("object_id",),
    "content.ChangeSet": ("origin", "reference"),
    "content.RowChange": ("kind", "model", "owner", "other", "moved_to"),
    "django_tasks_database.DBTaskResult": (
        "status", "task_path", "worker_ids", "queue_name", "backend_name", "exception_class_path",
    ),
    "exchange.Change": ("kind", "field"),
    "exchange.Conflict": ("field",),
    "exchange.ImportJob": ("format", "state", "digest", "counts"),
    "exchange.ImportRun": ("format", "counts", "created"),
    "exchange.PlannedRow": ("kind",),
    "exchange.Provenance": ("kind",),
    "search.Document": ("kind", "key", "topic", "awards", "scope"),
}  # fmt: skip


def telling_columns() -> Iterator[tuple[str, str]]:
    """Walk the columns of all models that could name somebody, as pairs of model and column."""
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.concrete_fields:
            # One of a few fixed words names nobody.
            if isinstance(field, TELLING) and not field.choices:
                yield model._meta.label, field.name


def unlisted() -> list[str]:
    """Return the columns of which nobody has said whether they hold personal data."""
    return [
        f"{label}.{column}"
        for label, column in telling_columns()
        if label not in OF_THINGS and column not in (*PERSONAL.get(label, ()), *IMPERSONAL.get(label, ()))
    ]


def listed_in_vain() -> list[str]:
    """Return what the lists name and no model has."""
    known: dict[str, set[str]] = {}
    for model in apps.get_models():
        known[model._meta.label] = {field.name for field in model._meta.concrete_fields}
    named: list[tuple[str, Any]] = [*PERSONAL.items(), *IMPERSONAL.items()]
    columns = [
        f"{label}.{name}" for label, names in named for name in names if name not in known.get(label, ())
    ]
    return columns + sorted(OF_THINGS - known.keys())
