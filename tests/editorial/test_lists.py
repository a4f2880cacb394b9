"""Columns of the admin's lists."""

from django.contrib.admin.sites import AdminSite
from django.contrib.admin.utils import label_for_field, lookup_field

from conference.admin.models import ConferenceAdmin
from conference.models import Conference


def test_column_shows_the_count_that_the_query_fetched() -> None:
    desk, row = ConferenceAdmin(Conference, AdminSite()), Conference()
    vars(row)["edition_rows"] = 3

    assert lookup_field("edition_count", row, desk)[2] == 3
    assert str(label_for_field("edition_count", Conference, desk)) == "editions"
