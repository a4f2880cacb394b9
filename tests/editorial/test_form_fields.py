"""Choices in rows of forms are written as Django's templates write them."""

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper

from editorial.form_fields import EditionWrapper
from papers.models import Authorship


def test_ways_beside_a_choice_are_those_of_the_template_in_each_row() -> None:
    wrapped = forms.Select(), Authorship._meta.get_field("person").remote_field, admin.site
    theirs = RelatedFieldWidgetWrapper(*wrapped, can_add_related=True, can_change_related=True)
    ours = EditionWrapper.from_wrapper(theirs)

    for name in ("authorships-0-person", "authorships-1-person", "a&b"):
        assert ours.render(name, None, {"id": name}) == theirs.render(name, None, {"id": name})
