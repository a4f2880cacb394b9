"""The kinds of fields that resources are made of: texts in three forms, moments in their zone, files."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.files.storage import default_storage
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

import markup
from api.shapes import Field, Row
from people.querysets import with_shown_names

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# Titles and abstracts are the same in answer after answer.
plain = lru_cache(maxsize=4096)(markup.plain)
slug = lru_cache(maxsize=16384)(markup.slug)


def column(name: str, schema: Any) -> Field:
    """A column as it stands."""
    return Field((name,), lambda row: row[name], schema)


def string(name: str, help: "StrPromise | str") -> Field:
    return column(name, serializers.CharField(help_text=help, allow_blank=True))


def number(name: str, help: "StrPromise | str", *, empty: bool = False) -> Field:
    return column(name, serializers.IntegerField(help_text=help, allow_null=empty))


def yes_or_no(name: str, help: "StrPromise | str") -> Field:
    return column(name, serializers.BooleanField(help_text=help))


def address(name: str, help: "StrPromise | str") -> Field:
    """A web address, empty where there is none."""
    return column(name, serializers.CharField(help_text=help, allow_blank=True))


def day(name: str, help: "StrPromise | str") -> Field:
    return Field((name,), lambda row: row[name].isoformat(), serializers.DateField(help_text=help))


def strings(name: str, help: "StrPromise | str") -> Field:
    return column(name, serializers.ListField(child=serializers.CharField(), help_text=help))


def choice(name: str, choices: Iterable[tuple[str, Any]], help: "StrPromise | str") -> Field:
    known = [(value, str(label)) for value, label in choices]
    return column(name, serializers.ChoiceField(choices=known, help_text=help))


def state() -> Field:
    """The state of a row that has one: everybody sees what is out, staff with a token drafts too."""
    return string("status", _("As published or cancelled; to staff also draft or withdrawn."))


def file(name: str, help: "StrPromise | str") -> Field:
    """The address of an uploaded file, empty where there is none."""

    def make(row: Row) -> str:
        return full(default_storage.url(row[name])) if row[name] else ""

    return Field((name,), make, serializers.CharField(help_text=help, allow_blank=True))


def texts(
    name: str, help: "StrPromise | str", *, source: Callable[[Row], str] | None = None
) -> dict[str, Field]:
    """A text in three forms: as its author wrote it, as HTML, and without markup."""
    html = f"{name}_html"
    read = source or (lambda row: row[name])
    forms = serializers.CharField
    return {
        name: Field(
            (name,),
            read,
            forms(help_text=format_lazy("{} {}", help, _("Markdown with TeX.")), allow_blank=True),
        ),
        html: Field((html,), lambda row: row[html], forms(help_text=_("As safe HTML."), allow_blank=True)),
        f"{name}_plain": Field(
            (name,), lambda row: plain(read(row)), forms(help_text=_("Without markup."), allow_blank=True)
        ),
    }


def moment(name: str, zone: str, help: "StrPromise | str", *, empty: bool = False) -> Field:
    """A moment as ISO 8601 with the offset that its zone has then."""

    def make(row: Row) -> str | None:
        return local(row[name], row[zone])

    return Field((name, zone), make, serializers.DateTimeField(help_text=help, allow_null=empty))


def zone(name: str) -> Field:
    return string(name, _("The IANA name of the zone that times are given in."))


def local(moment: datetime | None, zone: str) -> str | None:
    """Return the moment in a zone, such as 2021-04-06T08:00:00-07:00."""
    return moment.astimezone(ZoneInfo(zone)).isoformat() if moment else None


def page(columns: tuple[str, ...], path: Callable[[Row], str]) -> Field:
    """The address of the page on the site."""
    schema = serializers.URLField(help_text=_("The page on the site."))
    return Field(columns, lambda row: full(path(row)), schema)


def with_names(rows: Any, at: datetime | None) -> Any:
    """Add `shown_name`: the name as printed, unless that is hidden."""
    return with_shown_names(rows)


def full(path: str) -> str:
    return f"{settings.SITE_URL}{path}"
