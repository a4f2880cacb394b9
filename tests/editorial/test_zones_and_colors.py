"""Time zones by name or city, colors with their contrast."""

import re
from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.test import Client

from editorial.colors import DARK_PAGE, LIGHT_PAGE, contrast, contrast_note, normalize_color
from editorial.zones import offered_zones, parse_zone
from tests.factories import make_edition

SUMMER = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.anywhere
@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Asia/Seoul", "Asia/Seoul"),
        ("  asia/seoul ", "Asia/Seoul"),
        ("Seoul", "Asia/Seoul"),
        ("new york", "America/New_York"),
        ("utc", "UTC"),
        ("Pacific time", "Pacific time"),
    ],
)
def test_zone_is_parsed_from_its_name_or_city(text: str, zone: str) -> None:
    assert parse_zone(text) == zone


@pytest.mark.anywhere
@pytest.mark.parametrize(("text", "suggestion"), [("Europe/Berln", "Europe/Berlin"), ("Tokio", "Asia/Tokyo")])
def test_error_of_a_misspelled_zone_suggests_the_likely_one(text: str, suggestion: str) -> None:
    with pytest.raises(ValidationError, match=suggestion):
        parse_zone(text)


@pytest.mark.anywhere
def test_zones_are_offered_with_their_current_offset() -> None:
    offsets = {zone.name: zone.offset for zone in offered_zones(SUMMER)}

    assert (offsets["UTC"], offsets["Asia/Kolkata"]) == ("UTC+00:00", "UTC+05:30")
    assert (offsets["America/New_York"], offsets["Europe/Berlin"]) == ("UTC-04:00", "UTC+02:00")


@pytest.mark.anywhere
def test_contrast_uses_the_background_colors_of_the_stylesheet() -> None:
    tokens = (settings.BASE_DIR / "static/css/plenary/tokens.css").read_text()
    light, dark = re.findall(r"--paper: light-dark\((\S+), (\S+)\)", tokens)[0]

    assert (normalize_color(light), dark) == (LIGHT_PAGE, DARK_PAGE)


@pytest.mark.anywhere
def test_contrast_is_computed_as_in_wcag() -> None:
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48
    assert contrast_note("#ffff00") == (
        "Contrast: 1.1 : 1 on white, 17.3 : 1 on dark pages. "
        "Below 4.5 : 1 text is hard to read: there the site takes a darker or lighter shade."
    )
    assert contrast_note("") == contrast_note("red") == ""


@pytest.mark.anywhere
@pytest.mark.parametrize(
    ("text", "color"),
    [("#0B6B62", "#0b6b62"), ("0b6b62", "#0b6b62"), ("#abc", "#aabbcc"), ("", ""), ("red", "red")],
)
def test_color_is_normalized(text: str, color: str) -> None:
    assert normalize_color(text) == color


@pytest.mark.django_db
def test_edition_form_offers_zones_and_reports_invalid_values(admin_client: Client) -> None:
    edition = make_edition()
    url = f"/admin/conference/edition/{edition.pk}/change/"
    page = admin_client.get(url)
    rejected = admin_client.post(url, {"timezone": "Europe/Berln", "accent": "blue"})

    assert page.text.count('list="zones"') == 2
    assert re.search(r'<option value="Asia/Seoul">UTC\+09:00</option>', page.text)
    assert 'type="color"' in page.text
    assert "Contrast: 6.4 : 1 on white" in page.text
    assert "“Europe/Berln” is not a time zone. Did you mean Europe/Berlin?" in rejected.text
    assert "Write the color as #" in rejected.text
