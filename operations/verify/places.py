"""Places among siblings: 1 to n."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from content.ordering import close_gaps, has_places
from operations.verify.rows import content_models, named

PARENT = "parent"


def is_counted(places: Iterable[int]) -> bool:
    """Whether the places are 1 to n, each once."""
    taken = sorted(places)
    return taken == [*range(1, len(taken) + 1)]


def is_ordered(rows: list[tuple[int, int | None]]) -> bool:
    """Whether siblings, as pairs of place and parent, stand at 1 to n: all in one, or level by level."""
    levels: dict[int | None, list[int]] = defaultdict(list)
    for place, parent in rows:
        levels[parent].append(place)
    return is_counted(place for place, _ in rows) or all(map(is_counted, levels.values()))


def disordered() -> dict[Any, set[int]]:
    """Return the owners whose rows do not stand at 1 to n, by model. One query a model."""
    found: dict[Any, set[int]] = {}
    for model in filter(has_places, content_models()):
        owner = f"{model.siblings_of}_id"
        nested = any(field.name == PARENT for field in model._meta.concrete_fields)
        places: dict[int, list[tuple[int, int | None]]] = defaultdict(list)
        rows = model._base_manager.exclude(**{owner: None}).order_by()
        columns = (owner, "position", f"{PARENT}_id" if nested else owner)
        for key, place, parent in rows.values_list(*columns):
            places[key].append((place, parent))
        wrong = {key for key, siblings in places.items() if not is_ordered(siblings)}
        if wrong:
            found[model] = wrong
    return found


def gaps() -> Iterator[str]:
    for model, owners in disordered().items():
        above = model._meta.get_field(model.siblings_of).related_model
        for key in sorted(owners):
            yield f"{named(above, key)}: the order of {model._meta.verbose_name_plural} has gaps or doubles"


def mend() -> None:
    close_gaps(disordered())
