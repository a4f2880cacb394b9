"""Order of siblings, and derived text after every way to write a row."""

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction

from content.models import Content
from content.ordering import reorder
from content.row_values import recorded_fields
from papers.models import Authorship, Paper
from tests import factories

pytestmark = pytest.mark.django_db


def author_list(paper: Paper) -> list[tuple[int, str]]:
    return list(paper.authorships.order_by("position").values_list("position", "name"))


@pytest.mark.parametrize("order", [["Mia", "Zed", "Abe"], ["Mia"]], ids=["every row", "first row only"])
def test_reorder_appends_omitted_rows_in_their_old_order(order: list[str]) -> None:
    paper = factories.make_paper(factories.make_edition(), ["Zed", "Abe", "Mia"])
    reorder(paper.authorships.all(), [paper.authorships.get(name=name).pk for name in order])
    assert author_list(paper) == [(1, "Mia"), (2, "Zed"), (3, "Abe")]


def test_reorder_closes_gaps_after_a_removal() -> None:
    paper = factories.make_paper(factories.make_edition(), ["Zed", "Abe", "Mia"])
    paper.authorships.get(name="Abe").delete()
    reorder(paper.authorships.all(), [])
    assert author_list(paper) == [(1, "Zed"), (2, "Mia")]


def test_two_authors_at_one_position_are_rejected_by_the_database() -> None:
    paper = factories.make_paper(factories.make_edition(), ["Zed"])
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.add_author(paper, "Abe", position=1)
    assert author_list(paper) == [(1, "Zed")]


def test_one_author_twice_on_a_paper_is_rejected_by_the_database() -> None:
    paper = factories.make_paper(factories.make_edition(), ["Zed"])
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.add_author(paper, paper.authorships.get().person)


def test_printed_name_defaults_to_the_name_of_the_person() -> None:
    paper = factories.make_paper(factories.make_edition())
    person = factories.make_person("Colby Banbury")
    factories.add_author(paper, person)
    factories.add_author(paper, "Karima Benatchba", name="Karima BENATCHBA")
    assert author_list(paper) == [(1, "Colby Banbury"), (2, "Karima BENATCHBA")]


def text_fields(model: type[Content]) -> list[str]:
    """Return the fields of a model that contain texts, including lists of texts."""
    field_types = (models.CharField, models.TextField, models.JSONField)
    return [name for name, field in recorded_fields(model).items() if isinstance(field, field_types)]


@pytest.mark.parametrize(
    "model",
    [model for model in apps.get_models() if issubclass(model, Content) and model.derived_fields],
    ids=lambda model: model.__name__,
)
def test_derived_fields_depend_on_the_declared_fields(model: type[Content]) -> None:
    source_fields = set()
    for name in text_fields(model):
        row = model(**{field: "word" for field in ("name", "family") if field in text_fields(model)})
        row.derive()
        before = [getattr(row, field) for field in model.derived_fields]
        setattr(row, name, [*row.aliases, "Ünlike"] if name == "aliases" else "Ünlike, 1")  # type: ignore[attr-defined]
        row.derive()
        if [getattr(row, field) for field in model.derived_fields] != before:
            source_fields.add(name)

    assert source_fields == {*model.derived_from}


@pytest.mark.parametrize("method", ["save", "update_fields", "bulk_create", "bulk_update"])
def test_text_is_derived_on_every_kind_of_write(method: str) -> None:
    edition = factories.make_edition()
    paper = factories.make_paper(edition, title="Old")
    paper.title = "On $x^2$"
    match method:
        case "save":
            paper.save()
        case "update_fields":
            paper.save(update_fields=["title"])
        case "bulk_create":
            paper = Paper.objects.bulk_create([Paper(edition=edition, title="On $x^2$")])[0]
        case _:
            Paper.objects.bulk_update([paper], ["title"])
    paper = Paper.objects.get(pk=paper.pk)
    assert "<math" in paper.title_html
    assert paper.sort_title == "on x2"


def test_clean_in_memory_takes_no_query(django_assert_num_queries: pytest.FixtureRequest) -> None:
    paper = factories.make_paper(factories.make_edition(), ["Zed"])
    authorship = Authorship.objects.select_related("paper", "person").get(paper=paper)
    with django_assert_num_queries(0):  # type: ignore[operator]
        authorship.clean_in_memory()


def test_direction_marks_are_removed_from_text() -> None:
    text = "\u202eTitle\u2066"
    paper = factories.make_paper(factories.make_edition(), title=text, keywords=[text, "Chips"])
    paper.full_clean()

    assert (paper.title, paper.keywords) == ("Title", ["Title", "Chips"])
