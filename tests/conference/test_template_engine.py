"""What a page was made of, and what is known of it afterwards."""

import gc
import weakref

import pytest
from django.template import TemplateDoesNotExist, engines
from django.template.loader import get_template
from django.test import RequestFactory

from conference.template_engine import Template, Templates


class Row:
    name = "Ada"


@pytest.mark.django_db
def test_what_a_page_was_made_of_is_gone_with_it() -> None:
    row = Row()
    known = weakref.ref(row)
    gc.disable()
    try:
        page = engines["django"].from_string("{% with a=row %}{{ a.name }}{% endwith %}")
        said = page.render({"row": row, "rows": [row]}, RequestFactory().get("/"))
        del row
        assert (said, known()) == ("Ada", None)
    finally:
        gc.enable()


def test_templates_of_files_are_such_too() -> None:
    assert isinstance(engines["django"], Templates)
    assert isinstance(get_template("404.html"), Template)


def test_missing_part_is_told_with_the_backend_that_looked_for_it() -> None:
    with pytest.raises(TemplateDoesNotExist, match=r"nothing\.html") as raised:
        engines["django"].from_string("{% include 'nothing.html' %}").render()
    assert raised.value.backend is engines["django"]
