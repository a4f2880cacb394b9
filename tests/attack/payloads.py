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
WORD = "xq7"
PAYLOADS = (
    f"<script>{WORD}()</script>",
    f'"><img src={WORD} onerror={WORD}()>',
    f"' onmouseover='{WORD}()' {WORD}='",
    f"<svg onload={WORD}()><{WORD}>",
    f'<math><mtext href="javascript:{WORD}()">',
    f"[{WORD}](javascript:{WORD}())",
    f"[{WORD}](data:text/html,{WORD})",
    f'<a href="javascript:{WORD}()">{WORD}',
    f"$\\href{{javascript:{WORD}()}}{{x}}$",
    f"javascript:{WORD}()",
    f"{{{{7*7}}}}{WORD}{{% debug %}}${{7*7}}{WORD}",
    f"a\r\n{WORD}: 1\r\nEND:VEVENT\r\n{WORD}  - 1",
    f"\u202e{WORD}\u2066",
    f"=cmd|'/C {WORD}'!A0",
    f"@{WORD}{{",
    f"}},\n@article{{{WORD},\n",
    f"]]></title></script></style></textarea><{WORD}>-->",
)
# Models whose text is not entered: it is computed, or never shown.
MADE = {
    "accounts.accountsession", "content.changeset", "people.comparison", "contenttypes.contenttype",
    "django_tasks_database.dbtaskresult", "search.document", "search.indexed", "people.invitation",
    "auth.permission", "content.rowchange", "exchange.provenance", "sessions.session",
    "content.invalidation", "content.siterevision", "search.word", "people.likelynamesake",
    "schedule.pendingchanges", "schedule.workingcopy",
}  # fmt: skip
OWN = {
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
OWN |= {"field", "format", "object_id", "change_message", "counts", "signs"}
# Structured fields that the program writes. Texts in them are copied from other fields.
SHAPED = {
    "notes", "problems", "fields", "created", "changes", "snapshot", "reasons", "values",
    "old", "new", "base",
}  # fmt: skip


@cache
def is_typed(field: Any) -> bool:
    """Return whether users or imported files determine the text of a field."""
    is_text = isinstance(field, models.CharField | models.TextField | models.JSONField)
    is_derived = field.name.endswith("_html") or field.name in OWN | SHAPED
    return is_text and not is_derived and field.model._meta.label_lower not in MADE


@cache
def holds(field: Any, payload: str) -> bool:
    """Return whether a field accepts a payload unchanged."""
    value = [payload] if isinstance(field, models.JSONField) else payload
    if not issubclass(field.model, Content) and DIRECTION_MARKS.search(payload):
        # Only the admin shows names of accounts and files, each on its own line.
        return False
    row = field.model(**{field.name: value})
    try:
        row.clean_fields(exclude={one.name for one in field.model._meta.fields} - {field.name})
    except ValidationError:
        return False
    return bool(getattr(row, field.name) == value)


def fields(model: type[models.Model]) -> Iterator[Any]:
    """Yield the fields of a model that accept at least one payload."""
    for field in model._meta.concrete_fields:
        if is_typed(field) and any(holds(field, fitted(field, one)) for one in PAYLOADS):
            yield field


def fitted(field: Any, payload: str) -> str:
    return payload[: field.max_length or None]


def refused() -> set[str]:
    """Return the names of the fields that accept no payload."""
    return {
        f"{model._meta.label_lower}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if is_typed(field) and field not in [*fields(model)]
    }


def filling(field: Any, number: int) -> Any:
    """Return as many payloads as fit into a field; `number` chooses the first one."""
    line = islice(cycle(PAYLOADS), number % len(PAYLOADS), number % len(PAYLOADS) + len(PAYLOADS))
    ours = [one for one in line if holds(field, fitted(field, one))]
    if isinstance(field, models.JSONField):
        return ours
    text, most = "", field.max_length or 10_000
    for one in ours:
        between = "\n\n" if isinstance(field, models.TextField) else " "
        if not text or len(text) + len(one) + len(between) <= most:
            text += (between if text else "") + one
    return fitted(field, text)
