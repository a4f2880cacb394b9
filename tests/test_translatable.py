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

from tests.pseudolocale import pseudolocale, text_outside_brackets

PACKAGES = ["website", "api", "exchange", "schedule", "papers", "people", "conference"]
# No page shows the texts of the search index, and the site's revision is a number.
HIDDEN_MODELS = {"content.siterevision"}
CONFIGS = [config for config in apps.get_app_configs() if config.name in PACKAGES]
MODELS = [
    model
    for config in CONFIGS
    for model in config.get_models()
    if model._meta.label_lower not in HIDDEN_MODELS
]
ADMINS = [one for model, one in admin.site._registry.items() if model._meta.app_label in PACKAGES]


def untranslated_texts(texts: Iterable[tuple[str, Any]]) -> list[str]:
    """Return the texts outside of brackets, each after its source. The pseudolocale must be active."""
    return [
        f"{source}: {untranslated}"
        for source, text in texts
        if text and (untranslated := text_outside_brackets(str(text)))
    ]


def field_texts(field: Any) -> Iterator[tuple[str, Any]]:
    source = f"{field.model._meta.label}.{field.name}"
    yield source, field.verbose_name
    yield source, field.help_text
    yield from ((source, label) for _, label in field.flatchoices)
    yield from ((source, rule.message) for rule in field.validators if isinstance(rule, RegexValidator))


def model_texts(model: type[models.Model]) -> Iterator[tuple[str, Any]]:
    meta = model._meta
    yield from ((meta.label, name) for name in (meta.verbose_name, meta.verbose_name_plural))
    for field in [*meta.fields, *meta.many_to_many]:
        if field.editable and not field.auto_created:
            yield from field_texts(field)
    for rule in meta.constraints:
        if rule.violation_error_message != rule.default_violation_error_message:
            yield rule.name, rule.violation_error_message


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_texts_of_a_model_are_translatable(model: type[models.Model]) -> None:
    with pseudolocale():
        assert untranslated_texts(model_texts(model)) == []


def fieldset_texts(model_admin: Any) -> Iterator[tuple[str, Any]]:
    request = RequestFactory().get("/")
    fieldsets = model_admin.get_fieldsets(request) if model_admin.fields or model_admin.fieldsets else []
    for name, options in fieldsets:
        yield "fieldset", name
        yield "fieldset", options.get("description")
    for name in flatten_fieldsets(fieldsets):
        yield name, label_for_field(name, model_admin.model, model_admin)


def admin_texts(model_admin: Any) -> Iterator[tuple[str, Any]]:
    yield "search", model_admin.search_help_text
    yield from fieldset_texts(model_admin)
    yield from (
        (name, label_for_field(name, model_admin.model, model_admin)) for name in model_admin.list_display
    )
    filters: list[Any] = [
        filter_class for filter_class in model_admin.list_filter if isinstance(filter_class, type)
    ]
    yield from (("filter", filter_class.title) for filter_class in filters)
    yield from ((action.name, action.description) for action in model_admin._get_base_actions())
    for inline in model_admin.inlines:
        inline_admin = inline(model_admin.model, model_admin.admin_site)
        yield from (
            (inline.__name__, name) for name in (inline_admin.verbose_name, inline_admin.verbose_name_plural)
        )
        yield from fieldset_texts(inline_admin)


@pytest.mark.parametrize("model_admin", ADMINS, ids=lambda desk: type(desk).__name__)
def test_texts_of_the_admin_are_translatable(model_admin: Any) -> None:
    with pseudolocale():
        assert untranslated_texts(admin_texts(model_admin)) == []
        assert (
            untranslated_texts([("app", apps.get_app_config(model_admin.opts.app_label).verbose_name)]) == []
        )


def own_forms() -> list[Any]:
    """Return the form classes that the apps define."""
    for package_name in {config.name for config in CONFIGS}:
        package = import_module(package_name)
        for module in walk_packages(package.__path__, f"{package_name}."):
            if not {"migrations", "commands"} & {*module.name.split(".")}:
                import_module(module.name)
    pending: list[Any] = [forms.Form, forms.ModelForm]
    form_classes: list[Any] = []
    while pending:
        subclasses = pending.pop().__subclasses__()
        pending += subclasses
        form_classes += [form for form in subclasses if form.__module__.partition(".")[0] in PACKAGES]
    return form_classes


def test_texts_of_forms_are_translatable() -> None:
    with pseudolocale():
        texts = [
            (f"{form.__name__}.{name}", text)
            for form in own_forms()
            for name, field in form.base_fields.items()
            if not field.widget.is_hidden
            for text in (field.label or name, field.help_text)
        ]
        assert texts
        assert untranslated_texts(texts) == []
