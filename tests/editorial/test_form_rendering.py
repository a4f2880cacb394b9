"""Inputs written at once are those that Django's templates write."""

from datetime import date
from typing import Any

import pytest
from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminSplitDateTime, RelatedFieldWidgetWrapper
from django.forms.renderers import DjangoTemplates
from django.forms.utils import ErrorList
from django.utils.safestring import mark_safe

from editorial.form_fields import EditionWrapper
from editorial.form_rendering import WRITERS, QuickRenderer
from papers.models import Authorship

WIDGETS = [
    forms.TextInput,
    forms.NumberInput,
    forms.URLInput,
    forms.EmailInput,
    forms.HiddenInput,
    forms.CheckboxInput,
    forms.DateInput,
    forms.TimeInput,
    forms.Textarea,
    forms.Select,
    AdminSplitDateTime,
]
VALUES = [None, "", "plain", "a \"b\" & <c> 'd'", mark_safe("&amp;"), 0, 1_234, True, False, date(2026, 3, 1)]
ATTRS: list[dict[str, Any]] = [
    {},
    {
        "id": "x",
        "required": True,
        "disabled": False,
        "rows": 3,
        "aria-label": 'The "name" & <more>',
        "a": None,
    },
]


@pytest.mark.parametrize("attrs", ATTRS)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("widget", WIDGETS)
def test_input_is_the_one_of_the_template(widget: Any, value: Any, attrs: dict[str, Any]) -> None:
    made = [
        widget().render("a-0-b", None if widget is AdminSplitDateTime else value, attrs, renderer)
        for renderer in (QuickRenderer(), DjangoTemplates())
    ]

    assert made[0] == made[1]


@pytest.mark.parametrize(
    "choices",
    [
        [("", "---------"), ("a", "A & <b>"), (3, mark_safe("<i>"))],
        [("Group", [("a", "A"), ("b", "B")]), ("c", "C")],
    ],
)
@pytest.mark.parametrize("value", [None, "a", 3])
def test_choice_is_the_one_of_the_template(choices: list[Any], value: Any) -> None:
    made = [
        forms.Select(choices=choices).render("a-0-b", value, {"id": "x"}, renderer)
        for renderer in (QuickRenderer(), DjangoTemplates())
    ]

    assert made[0] == made[1]
    assert "<option" in made[0]


@pytest.mark.parametrize("said", [[], ["Wrong & <b>."]])
def test_errors_are_those_of_the_template(said: list[str]) -> None:
    made = [str(ErrorList(said, renderer=renderer)) for renderer in (QuickRenderer(), DjangoTemplates())]

    assert made[0] == made[1]


def test_every_written_template_is_one_of_djangos() -> None:
    assert [name for name in WRITERS if not DjangoTemplates().get_template(name)] == []


def test_ways_beside_a_choice_are_those_of_the_template_in_each_row() -> None:
    wrapped = forms.Select(), Authorship._meta.get_field("person").remote_field, admin.site
    theirs = RelatedFieldWidgetWrapper(*wrapped, can_add_related=True, can_change_related=True)
    ours = EditionWrapper.around(theirs)

    for name in ("authorships-0-person", "authorships-1-person", "a&b"):
        assert ours.render(name, None, {"id": name}) == theirs.render(name, None, {"id": name})
