"""Payloads that an attacker might enter, and the fields that accept them."""

from collections.abc import Iterator
from functools import cache
from itertools import cycle, islice
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models

from content.models import DIRECTION_MARKS, Content

# Every payload contains it as the name of an element, attribute, function, header or property.
MARKER = "xq7"
PAYLOADS = (
    f"<script>{MARKER}()</script>",
    f'"><img src={MARKER} onerror={MARKER}()>',
    f"' onmouseover='{MARKER}()' {MARKER}='",
    f"<svg onload={MARKER}()><{MARKER}>",
    f'<math><mtext href="javascript:{MARKER}()">',
    f"[{MARKER}](javascript:{MARKER}())",
    f"[{MARKER}](data:text/html,{MARKER})",
    f'<a href="javascript:{MARKER}()">{MARKER}',
    f"$\\href{{javascript:{MARKER}()}}{{x}}$",
    f"javascript:{MARKER}()",
    f"{{{{7*7}}}}{MARKER}{{% debug %}}${{7*7}}{MARKER}",
    f"a\r\n{MARKER}: 1\r\nEND:VEVENT\r\n{MARKER}  - 1",
    f"\u202e{MARKER}\u2066",
    f"=cmd|'/C {MARKER}'!A0",
    f"@{MARKER}{{",
    f"}},\n@article{{{MARKER},\n",
    f"]]></title></script></style></textarea><{MARKER}>-->",
)
# Models whose text is not entered: it is computed, or never shown.
COMPUTED_MODELS = {
    "accounts.accountsession", "content.changeset", "people.comparison", "contenttypes.contenttype",
    "django_tasks_database.dbtaskresult", "search.document", "search.indexed", "people.invitation",
    "operations.derivedtextversion",
    "auth.permission", "content.rowchange", "exchange.provenance", "sessions.session",
    "content.invalidation", "content.siterevision", "search.word", "people.likelynamesake",
    "content.tombstone", "content.workerreport",
}  # fmt: skip
COMPUTED_FIELDS = {
    "model",
    "state",
    "digest",
    "folded",
    "sort_key",
    "sort_title",
    "token_key",
    "token_digest",
    "password",
}
COMPUTED_FIELDS |= {"field", "format", "object_id", "change_message", "counts", "signs"}
# Structured fields that the program writes. Texts in them are copied from other fields.
STRUCTURED_FIELDS = {
    "notes", "problems", "fields", "created", "changes", "snapshot", "reasons", "values",
    "old", "new", "base",
}  # fmt: skip


@cache
def is_entered(field: Any) -> bool:
    """Return whether users or imported files determine the text of a field."""
    is_text = isinstance(field, models.CharField | models.TextField | models.JSONField)
    is_derived = field.name.endswith("_html") or field.name in COMPUTED_FIELDS | STRUCTURED_FIELDS
    return is_text and not is_derived and field.model._meta.label_lower not in COMPUTED_MODELS


@cache
def accepts(field: Any, payload: str) -> bool:
    """Return whether a field accepts a payload unchanged."""
    value = [payload] if isinstance(field, models.JSONField) else payload
    if not issubclass(field.model, Content) and DIRECTION_MARKS.search(payload):
        # Only the admin shows names of accounts and files, each on its own line.
        return False
    row = field.model(**{field.name: value})
    try:
        row.clean_fields(
            exclude={other_field.name for other_field in field.model._meta.fields} - {field.name}
        )
    except ValidationError:
        return False
    return bool(getattr(row, field.name) == value)


def fields(model: type[models.Model]) -> Iterator[Any]:
    """Yield the fields of a model that accept at least one payload."""
    for field in model._meta.concrete_fields:
        if is_entered(field) and any(accepts(field, truncate(field, payload)) for payload in PAYLOADS):
            yield field


def truncate(field: Any, payload: str) -> str:
    return payload[: field.max_length or None]


def rejecting_fields() -> set[str]:
    """Return the names of the fields that accept no payload."""
    return {
        f"{model._meta.label_lower}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if is_entered(field) and field not in [*fields(model)]
    }


def fill(field: Any, number: int) -> Any:
    """Return as many payloads as fit into a field; `number` chooses the first one."""
    payloads = islice(cycle(PAYLOADS), number % len(PAYLOADS), number % len(PAYLOADS) + len(PAYLOADS))
    accepted = [payload for payload in payloads if accepts(field, truncate(field, payload))]
    if isinstance(field, models.JSONField):
        return accepted
    text, max_chars = "", field.max_length or 10_000
    for payload in accepted:
        separator = "\n\n" if isinstance(field, models.TextField) else " "
        if not text or len(text) + len(payload) + len(separator) <= max_chars:
            text += (separator if text else "") + payload
    return truncate(field, text)
