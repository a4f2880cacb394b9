"""Comparison of our JSON renderer with that of Django REST framework."""

import gc
import json
import uuid
import weakref
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import RequestFactory
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.renderers import JSONRenderer

from api.media_types import OrjsonRenderer
from api.views import Root

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda values: (
        st.lists(values) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values)
    ),
)


@given(VALUES)
def test_renderer_matches_rest_framework(value: Any) -> None:
    assert OrjsonRenderer().render(value) == JSONRenderer().render(value)


@pytest.mark.parametrize(
    "value",
    [
        datetime(2021, 4, 6, 8, 0, 1, 123456, tzinfo=UTC),
        date(2021, 4, 6),
        timedelta(minutes=5),
        Decimal("1.50"),
        uuid.UUID(int=7),
        gettext_lazy("Papers"),
        mark_safe("<p>safe</p>"),
        {1: "one", None: "nothing"},
        ("one", "two"),
        "line\u2028paragraph\u2029end",
        0.1,
    ],
)
def test_renderer_matches_rest_framework_for_special_values(value: Any) -> None:
    assert OrjsonRenderer().render({"value": value}) == JSONRenderer().render({"value": value})


def test_none_is_rendered_as_an_empty_body() -> None:
    assert OrjsonRenderer().render(None) == b""


def test_object_that_json_does_not_support_is_refused() -> None:
    with pytest.raises(TypeError):
        OrjsonRenderer().render({"value": object()})


@pytest.mark.django_db
def test_response_is_freed_without_garbage_collection() -> None:
    gc.disable()
    try:
        response = Root.as_view()(RequestFactory().get("/api/v1/")).render()
        assert json.loads(response.content)["papers"].endswith("/api/v1/papers/")
        reference = weakref.ref(response)
        del response

        assert reference() is None
    finally:
        gc.enable()
