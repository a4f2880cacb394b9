"""Fixtures of tests of the API."""

from typing import Any

import pytest
from django.core.cache import cache
from pytest_django import Settings

from tests.website.sample_program import make_program_with_hidden_rows


@pytest.fixture(autouse=True)
def _high_request_limit(settings: Settings) -> None:
    """Raise the limit of requests per minute, which tests would exceed, and reset its counts."""
    cache.clear()
    settings.API_REQUESTS_PER_MINUTE = 100_000


@pytest.fixture
def program(db: None) -> dict[str, Any]:
    """Create one public row of every model, and hidden rows that contain a marker."""
    return make_program_with_hidden_rows()
