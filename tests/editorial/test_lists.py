"""Columns of the admin's lists, and their search."""

import pytest
from django.contrib.admin.sites import AdminSite
from django.contrib.admin.utils import label_for_field, lookup_field
from django.test import Client

from conference.admin.models import ConferenceAdmin
from conference.models import Conference
from tests.factories import make_edition, make_paper


def test_count_column_shows_the_annotated_count() -> None:
    model_admin, row = ConferenceAdmin(Conference, AdminSite()), Conference()
    vars(row)["edition_rows"] = 3

    assert lookup_field("edition_count", row, model_admin)[2] == 3
    assert str(label_for_field("edition_count", Conference, model_admin)) == "editions"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("deep graphs", ["Deep graphs", "Graphs go deep"]),
        ('"deep graphs"', ["Deep graphs"]),
        ("'Déep graphs'", ["Deep graphs"]),
        ('"" graphs', ["Deep graphs", "Graphs go deep"]),
        ('"deep', []),
    ],
)
def test_search_takes_a_quoted_phrase_as_one_word(text: str, titles: list[str], admin_client: Client) -> None:
    edition = make_edition()
    for title in ("Deep graphs", "Graphs go deep"):
        make_paper(edition, title=title)
    page = admin_client.get("/admin/papers/paper/", {"q": text})

    assert sorted(paper.title for paper in page.context["cl"].result_list) == titles
