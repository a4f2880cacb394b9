"""One world for all tests of a module: making it takes longer than most of what they ask."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.access.world import World, make_world


@pytest.fixture(scope="module")
def made_world(made_once: Callable[..., Any]) -> Any:
    return made_once(make_world)


@pytest.fixture
def world(made_world: World) -> World:
    """Both editions with their rows and accounts; what a test changes in them is its own."""
    return deepcopy(made_world)
