"""Licenses: well-known ones by their SPDX identifiers, custom ones, and invalid ones."""

import pytest
from django.core.exceptions import ValidationError

from content.fields import validate_license
from content.licenses import KNOWN_LICENSES, License, find_license


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        (
            "CC-BY-4.0",
            License(
                "CC-BY-4.0",
                "Creative Commons Attribution 4.0",
                "https://creativecommons.org/licenses/by/4.0/",
            ),
        ),
        ("MIT", License("MIT", "MIT License", "https://spdx.org/licenses/MIT.html")),
        ("MIT OR Apache-2.0", License("MIT OR Apache-2.0", "MIT OR Apache-2.0", "")),
        (
            "https://a.test/terms",
            License("https://a.test/terms", "https://a.test/terms", "https://a.test/terms"),
        ),
    ],
)
def test_license_has_name_and_url(text: str, expected: License | None) -> None:
    assert find_license(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(known.name for known in KNOWN_LICENSES),
        "LicenseRef-Ours",
        "GPL-2.0+ WITH Classpath-exception-2.0",
        "https://a.test/x",
    ],
)
def test_identifiers_and_urls_are_valid(text: str) -> None:
    validate_license(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cc by 4.0", "Write “cc by 4.0” as CC-BY-4.0."),
        ("mit", "Write “mit” as MIT."),
        ("All rights reserved", "is neither an SPDX identifier"),
        ("javascript:alert(1)//", "is neither an SPDX identifier"),
        ("https://", "Enter a valid URL."),
    ],
)
def test_invalid_license_is_rejected_with_a_message(text: str, message: str) -> None:
    with pytest.raises(ValidationError) as error:
        validate_license(text)
    assert message in error.value.messages[0]
