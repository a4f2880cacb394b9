"""Addresses as the conference's own files have them: made whole where they lead somewhere, else left out."""

import pytest

from exchange.formats.orals_posters.links import absolute, public_host, track_of

LONG = "https://example.org/" + "x" * 5_000


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://example.org/a", "https://example.org/a"),
        ("//example.org/a", "https://example.org/a"),
        ("www.example.org/a", "https://www.example.org/a"),
        ("/media/a b.pdf", "https://mlsys.org/media/a%20b.pdf"),
        ("mailto:ada@example.org", ""),
        ("javascript:alert(1)", ""),
        ("?page=2", ""),
        ("#top", ""),
        ("", ""),
        (LONG, ""),
    ],
)
def test_address_is_whole_or_none(address: str, expected: str) -> None:
    assert absolute(address, "mlsys.org") == expected


def test_path_without_a_site_leads_nowhere() -> None:
    assert absolute("/media/a.pdf", "") == ""


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://www.MLSys.org/a", "mlsys.org"),
        ("/virtual/2021", ""),
        ("http://localhost/a", ""),
        ("http://[::1", ""),
        (LONG, ""),
    ],
)
def test_host_is_that_of_a_public_site(address: str, expected: str) -> None:
    assert public_host(address) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://openreview.net/group?id=MLSys.org/2024/Conference", ""),
        ("https://openreview.net/group?id=MLSys.org/2024/Position_Paper_Track", "Position Paper Track"),
        ("https://example.org/?track=Industry", "Industry"),
        ("http://[::1", ""),
        ("", ""),
    ],
)
def test_track_is_that_of_the_venue_group(address: str, expected: str) -> None:
    assert track_of(address) == expected
