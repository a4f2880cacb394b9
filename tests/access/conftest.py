"""Fixtures of one world for all tests of a module, because creating it takes longer than most tests."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.access.world import World, make_world


@pytest.fixture(scope="module")
def module_world(made_once: Callable[..., Any]) -> Any:
    return made_once(make_world)


@pytest.fixture
def world(module_world: World) -> World:
    """Return both editions with their rows and accounts. Changes of a test are rolled back."""
    return deepcopy(module_world)
