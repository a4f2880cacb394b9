"""Full text for lists: what the search index finds, the best first. What may be shown the list judges."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from conference.models import Edition
from search.hits import MAX_HITS, find
from search.query import parse


def ranked(words: str, kind: str, edition: str = "") -> list[int]:
    """Return the keys of the things found, the best first; at most 1,000."""
    # Who keeps the index is a floor above: it knows what goes in.
    refresh: Callable[[], Any] = import_string(settings.SEARCH_INDEX_REFRESH)
    refresh()
    key = Edition.objects.published().filter(slug=edition).values_list("pk", flat=True).first()
    hits = find(parse(words), edition=key, kinds=[kind], limit=MAX_HITS)
    return [hit.object_id for hit in hits.page]
