"""Form data of the admin, and requests that post it."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Model
from django.test import Client
from django.urls import reverse

from conference.models import Edition


def admin_url(row: Model | type[Model], page: str) -> str:
    """Return the URL of a page of a row (change, delete, history) or of a model (changelist, add)."""
    args = [row.pk] if isinstance(row, Model) else []
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{page}", args=args)


def formset(
    prefix: str, stored: Iterable[dict[str, Any]] = (), added: Iterable[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the form data of an inline: existing rows first, then new ones."""
    existing, new_rows = list(stored), list(added)
    data: dict[str, Any] = {
        f"{prefix}-TOTAL_FORMS": len(existing) + len(new_rows),
        f"{prefix}-INITIAL_FORMS": len(existing),
    }
    for index, row in enumerate([*existing, *new_rows]):
        data |= {f"{prefix}-{index}-{name}": value for name, value in row.items()}
    return data


def date_and_time(name: str, day: str, time: str) -> dict[str, str]:
    """Return the form data of a date and a time, as two inputs."""
    return {f"{name}_0": day, f"{name}_1": time}


def autocomplete_choices(
    client: Client, model: type[Model], field: str, edition: Edition | None, term: str = ""
) -> list[str]:
    """Return the options of an autocomplete field on a form of this edition."""
    query: dict[str, Any] = {
        "app_label": model._meta.app_label,
        "model_name": model._meta.model_name,
        "field_name": field,
        "edition": edition.pk if edition else "",
        "term": term,
    }
    response = client.get("/admin/autocomplete/", query)
    return [row["text"] for row in response.json()["results"]]


def listed_rows(client: Client, path: str, **query: Any) -> list[str]:
    """Return the rows of a list in the admin, as text."""
    return [str(row) for row in client.get(path, query).context["cl"].result_list]


def run_action(client: Client, action: str, rows: Sequence[Model], **fields: Any) -> str:
    """Run an action over rows of a list and confirm its preview; return the page that follows."""
    page = post_action(client, action, rows, **fields)
    digest = confirmation_digest(page)
    return post_action(client, action, rows, _confirmed=digest, **fields) if digest else page


def confirmation_digest(page: str) -> str:
    """Return the digest in the preview of an action, or "" if the page is none."""
    match = re.search(r'name="_confirmed" value="(\w+)"', page)
    return match[1] if match else ""


def post_action(client: Client, action: str, rows: Sequence[Model], **fields: Any) -> str:
    """Post an action over rows of a list, with further fields of its page; return the page that follows."""
    data = {"action": action, "_selected_action": [row.pk for row in rows], **fields}
    page_marker = {"_asked": "1"} if fields.keys() - {"_confirmed", "select_across"} else {}
    return client.post(admin_url(type(rows[0]), "changelist"), {**data, **page_marker}, follow=True).text
