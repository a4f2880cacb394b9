"""Catalogues of papers, to be compared."""

from datetime import datetime, timedelta
from typing import Any

from conference.models import Edition
from papers.catalogue import Catalogue, catalogue
from papers.facets import SORTS


def now(edition: Edition) -> Edition:
    """The edition as the next request finds it."""
    return Edition.objects.get(pk=edition.pk)


def made_anew(edition: Edition, at: datetime) -> Catalogue:
    """The catalogue of this state as a process makes it that has seen no other."""
    edition.changed_at += timedelta(microseconds=1)
    return catalogue(edition, at)


def said(found: Catalogue) -> Any:
    """What a catalogue says, whatever the numbers of the papers are."""
    titles, numbers = found.order.titles, found.order.numbers
    choices = {
        name: [
            (one.value, one.label, one.above, numbers.among(titles, one.bits), one.bits.bit_count())
            for one in facet.values()
        ]
        for name, facet in found.facets.items()
    }
    sorts = [found.ordered(found.order.everything, sort, "7", "topic") for sort in SORTS]
    return titles, choices, sorts, found.has_boards
