"""Columns of the admin's lists."""

from django.contrib.admin.sites import AdminSite
from django.contrib.admin.utils import label_for_field, lookup_field

from conference.admin.models import ConferenceAdmin
from conference.models import Conference


def test_count_column_shows_the_annotated_count() -> None:
    model_admin, row = ConferenceAdmin(Conference, AdminSite()), Conference()
    vars(row)["edition_rows"] = 3

    assert lookup_field("edition_count", row, model_admin)[2] == 3
    assert str(label_for_field("edition_count", Conference, model_admin)) == "editions"
