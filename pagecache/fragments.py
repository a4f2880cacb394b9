"""The cache of rendered sessions of a day and papers of a person, whose keys are the values that they show.

After a change, most of these fragments are unchanged and found in the cache. Fragments need no invalidation,
and a preview cannot leak, since only a caller with the same values gets a fragment.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import date, time
from uuid import UUID

from django.conf import settings
from django.db.models import Model
from django.db.models.fields.files import FieldFile
from django.template.loader import get_template
from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from pagecache.lru import LRUCache

MAX_BYTES = 16_000_000
# The memory of a fragment's values in proportion to its markup.
VALUES_FACTOR = 2
# Fields that change with every edit, and are not shown.
REVISION_FIELDS = frozenset(("revision", "changed_at", "site_revision", "site_changed_at", "last_banner"))
PLAIN_TYPES = (str, int, float, bytes, date, time, UUID, type(None))


def fragment_size(markup: bytes) -> int:
    """Return the approximate bytes of a fragment's markup and of its values."""
    return (1 + VALUES_FACTOR) * len(markup)


# Markup in UTF-8: in a `str`, one character beyond Latin-1 doubles the size of all.
fragments = LRUCache[Hashable, bytes](MAX_BYTES, fragment_size)


def render_each_cached(
    template: str, name: str, rows: Iterable[object], values: Mapping[str, object]
) -> SafeString:
    """Render the template for each of the rows, under this name, with the same other values only.

    Values are plain values, tuples and named tuples of them, lists, dictionaries, and model instances with
    their fetched relations. Any other kind is a `TypeError`, since its changes could not be noticed.
    """
    common_key = template, get_language(), *_comparable_items(values)
    parts = []
    for row in rows:
        key = *common_key, (name, comparable_value(row))
        markup = None if settings.DEBUG else fragments.get(key)
        if markup is None:
            markup = get_template(template).render({**values, name: row}).encode()
            fragments.put(key, markup)
        parts.append(markup)
    return mark_safe(b"".join(parts).decode())


def comparable_value(value: object, ancestors: tuple[int, ...] = ()) -> Hashable:
    """Return a value's content for comparison. References back to an enclosing instance are left out."""
    plain: Hashable = value
    if isinstance(value, SafeString):
        # It is equal to the same unescaped text, so that the type is needed.
        return SafeString, str(value)
    if isinstance(value, PLAIN_TYPES) or hasattr(value, "_fields"):
        # Named tuples may contain only plain values and tuples of them.
        return plain
    if isinstance(value, (list, tuple)):
        return tuple(comparable_value(part, ancestors) for part in value)
    if isinstance(value, dict):
        return tuple(_comparable_items(value, ancestors))
    if isinstance(value, (FieldFile, Promise)):
        return str(value)
    if isinstance(value, Model):
        ancestor_ids = (*ancestors, id(value))
        return (
            type(value),
            *_comparable_items(vars(value), ancestor_ids),
            *_comparable_items(value._state.fields_cache, ancestor_ids),
        )
    raise TypeError(f"A fragment cannot depend on {type(value).__name__}.")


def _comparable_items(
    attributes: Mapping[str, object], ancestors: tuple[int, ...] = ()
) -> Iterator[tuple[str, Hashable]]:
    """Yield names and contents of a row's attributes, except its state, revision and ancestors."""
    for name, value in attributes.items():
        if name != "_state" and name not in REVISION_FIELDS and id(value) not in ancestors:
            yield name, comparable_value(value, ancestors)
