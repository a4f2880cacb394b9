"""Cached fragments of pages: equal values share a fragment, and any other value has its own."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import override

from conference.models import Edition
from pagecache.fragments import comparable_value, fragments, render_each_cached
from tests import factories as make

MARK = "_award_mark.html"


class Row(NamedTuple):
    """A row that is not a model instance."""

    name: str


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    fragments.clear()
    yield
    fragments.clear()


def test_fragment_of_equal_values_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = render_each_cached(MARK, "name", [Row("Best – 最佳")], {"url": ""})
    monkeypatch.setattr("pagecache.fragments.get_template", lambda name: pytest.fail("written again"))

    again = render_each_cached(MARK, "name", [Row("Best – 最佳")], {"url": ""})
    assert (again, type(again)) == (first, SafeString)
    assert "Best – 最佳" in again


def test_other_values_and_languages_have_their_own_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded_names: list[str] = []

    def load_template(name: str) -> Any:
        loaded_names.append(name)
        return get_template(name)

    monkeypatch.setattr("pagecache.fragments.get_template", load_template)
    for language in ("en", "de", "de"):
        with override(language):
            render_each_cached(MARK, "name", ["Best"], {"url": ""})

    assert loaded_names == [MARK, MARK]
    assert render_each_cached(MARK, "name", ["Best"], {"url": "/best/"}).count("/best/") == 1


def test_safe_and_unsafe_strings_have_their_own_fragments() -> None:
    assert render_each_cached(MARK, "name", [mark_safe("a<b")], {"url": ""}).count("a<b") == 1
    assert render_each_cached(MARK, "name", ["a<b"], {"url": ""}).count("a&lt;b") == 1


@pytest.mark.django_db
def test_model_instances_are_compared_by_content(edition: Edition) -> None:
    session = make.make_session(edition, title="Morning")
    before = comparable_value(session)
    session.title = "Evening"

    assert comparable_value(session) != before
    assert comparable_value(session) == comparable_value(session)


@pytest.mark.django_db
def test_revision_is_no_part_of_the_comparable_value(edition: Edition) -> None:
    before = comparable_value(edition)
    edition.revision += 1

    assert comparable_value(edition) == before


@pytest.mark.django_db
def test_rows_that_refer_to_each_other_are_hashable(edition: Edition) -> None:
    session: Any = make.make_session(edition)
    role = make.add_role(session, "Ada", "chair")
    role.session = session
    session.shown_roles = [role]

    assert hash(comparable_value(session)) == hash(comparable_value(session))


def test_mutable_values_are_refused() -> None:
    with pytest.raises(TypeError, match="cannot depend on set"):
        render_each_cached(MARK, "name", [{"Best"}], {"url": ""})


def test_fragments_of_rows_are_in_their_order() -> None:
    rows = [Row("Best"), Row("Best <b>")]
    single_fragments = [render_each_cached(MARK, "name", [row], {"url": "/a/"}) for row in rows]

    assert render_each_cached(MARK, "name", reversed(rows), {"url": "/a/"}) == "".join(single_fragments[::-1])
    assert render_each_cached(MARK, "name", [], {"url": "/a/"}) == ""


def test_rows_under_other_names_have_their_own_fragments() -> None:
    assert "Best" in render_each_cached(MARK, "name", ["Best"], {"url": ""})
    assert "Best" not in render_each_cached(MARK, "label", ["Best"], {"url": ""})
