"""All texts of models, of the admin and of forms go through gettext.

In a pseudolocale, which puts translations in brackets, no text is outside of brackets.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets, label_for_field
from django.core.validators import RegexValidator
from django.db import models
from django.test import RequestFactory

from tests.pseudolocale import bare, pseudolocale

FLOORS = ["website", "api", "exchange", "schedule", "papers", "people", "conference"]
# No page shows the texts of the search index, and the site's revision is a number.
UNSEEN = {"content.siterevision"}
CONFIGS = [config for config in apps.get_app_configs() if config.name in FLOORS]
MODELS = [
    model for config in CONFIGS for model in config.get_models() if model._meta.label_lower not in UNSEEN
]
ADMINS = [one for model, one in admin.site._registry.items() if model._meta.app_label in FLOORS]


def outside(said: Iterable[tuple[str, Any]]) -> list[str]:
    """Return the texts outside of brackets, each after its source. The pseudolocale must be active."""
    return [f"{where}: {words}" for where, text in said if text and (words := bare(str(text)))]


def said_by_field(field: Any) -> Iterator[tuple[str, Any]]:
    where = f"{field.model._meta.label}.{field.name}"
    yield where, field.verbose_name
    yield where, field.help_text
    yield from ((where, label) for _, label in field.flatchoices)
    yield from ((where, rule.message) for rule in field.validators if isinstance(rule, RegexValidator))


def said_by_model(model: type[models.Model]) -> Iterator[tuple[str, Any]]:
    meta = model._meta
    yield from ((meta.label, name) for name in (meta.verbose_name, meta.verbose_name_plural))
    for field in [*meta.fields, *meta.many_to_many]:
        if field.editable and not field.auto_created:
            yield from said_by_field(field)
    for rule in meta.constraints:
        if rule.violation_error_message != rule.default_violation_error_message:
            yield rule.name, rule.violation_error_message


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_what_a_model_says_is_translatable(model: type[models.Model]) -> None:
    with pseudolocale():
        assert outside(said_by_model(model)) == []


def said_by_fieldsets(desk: Any) -> Iterator[tuple[str, Any]]:
    request = RequestFactory().get("/")
    fieldsets = desk.get_fieldsets(request) if desk.fields or desk.fieldsets else []
    for name, options in fieldsets:
        yield "fieldset", name
        yield "fieldset", options.get("description")
    for name in flatten_fieldsets(fieldsets):
        yield name, label_for_field(name, desk.model, desk)


def said_by_admin(desk: Any) -> Iterator[tuple[str, Any]]:
    yield "search", desk.search_help_text
    yield from said_by_fieldsets(desk)
    yield from ((name, label_for_field(name, desk.model, desk)) for name in desk.list_display)
    filters: list[Any] = [one for one in desk.list_filter if isinstance(one, type)]
    yield from (("filter", one.title) for one in filters)
    yield from ((action.name, action.description) for action in desk._get_base_actions())
    for inline in desk.inlines:
        rows = inline(desk.model, desk.admin_site)
        yield from ((inline.__name__, name) for name in (rows.verbose_name, rows.verbose_name_plural))
        yield from said_by_fieldsets(rows)


@pytest.mark.parametrize("desk", ADMINS, ids=lambda desk: type(desk).__name__)
def test_what_the_admin_says_is_translatable(desk: Any) -> None:
    with pseudolocale():
        assert outside(said_by_admin(desk)) == []
        assert outside([("app", apps.get_app_config(desk.opts.app_label).verbose_name)]) == []


def own_forms() -> list[Any]:
    """Return the form classes that the apps define."""
    for floor in {config.name for config in CONFIGS}:
        package = import_module(floor)
        for module in walk_packages(package.__path__, f"{floor}."):
            if not {"migrations", "commands"} & {*module.name.split(".")}:
                import_module(module.name)
    waiting: list[Any] = [forms.Form, forms.ModelForm]
    found: list[Any] = []
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        found += [form for form in below if form.__module__.partition(".")[0] in FLOORS]
    return found


def test_what_forms_say_is_translatable() -> None:
    with pseudolocale():
        said = [
            (f"{form.__name__}.{name}", text)
            for form in own_forms()
            for name, field in form.base_fields.items()
            if not field.widget.is_hidden
            for text in (field.label or name, field.help_text)
        ]
        assert said
        assert outside(said) == []
