"""What the admin's lists of imports share: rows that imports write and people read; links to such rows."""

import json
from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from editorial.access import ScopedAdmin
from exchange.imports.kinds import KINDS


class ReadOnlyAdmin(ScopedAdmin):
    """Rows that imports write and people read."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def row_address(kind: str, key: int) -> str:
    """Return the address of the form of an imported row."""
    meta = KINDS[kind].model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[key])


def row_link(kind: str, key: int, words: str) -> SafeString:
    """Return a link to the form of an imported row."""
    return format_html('<a href="{}">{}</a>', row_address(kind, key), words)


def in_words(value: object) -> str:
    """Return a remembered value as it can be read: text as text, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
