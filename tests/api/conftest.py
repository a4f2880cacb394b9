"""What tests of the API share."""

from typing import Any

import pytest
from django.core.cache import cache
from pytest_django import Settings

from tests.website.marked import make_marked_program


@pytest.fixture(autouse=True)
def _plenty(settings: Settings) -> None:
    """Tests ask more often than visitors may; what was counted before does not count."""
    cache.clear()
    settings.API_REQUESTS_PER_MINUTE = 100_000


@pytest.fixture
def program(db: None) -> dict[str, Any]:
    """One public row of every kind, each with a hidden twin that holds a marker."""
    return make_marked_program()
