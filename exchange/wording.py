"""Values of records as chairs read them: lists line by line, names for keys, times in the edition's zone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.timeline import RowLabels, field_label, shown_value
from exchange.imports.kinds import GRANTS, KINDS, MATERIALS, MENU, Kind, Listing, Values

NOTHING = "–"
LABELS = {
    "authors": _("Authors"),
    "materials": _("Material"),
    "grants": _("Winners"),
    "roles": _("People"),
    "speakers": _("Speakers"),
    "committee": _("Committee"),
    "menu": _("Menu"),
    "other_names": _("Other spellings"),
    "ids": _("Identifiers in other systems"),
}


@dataclass(frozen=True, slots=True)
class Naming:
    """Labels of keys: the name of a person by uid, of a row by its kind and key."""

    person: Callable[[str], str]
    row: Callable[[str, str], str]


def label(kind: Kind, name: str) -> str:
    """Return what a field of a record is called."""
    return str(LABELS.get(name) or field_label(kind.model._meta.label_lower, name))


def value_in_words(kind: Kind, name: str, value: object, naming: Naming, edition: Edition | None) -> str:
    """Return a value in words, a list line by line."""
    if value is None or value in ("", []):
        return NOTHING
    listing = kind.listing(name)
    if isinstance(value, list):
        if listing is MENU:
            return "\n".join(_lines(value, 0))
        if listing:
            return "\n".join(f"{place}. {_part(listing, one, naming)}" for place, one in enumerate(value, 1))
        # Identifiers are pairs.
        return "\n".join(": ".join(one) if isinstance(one, list) else str(one) for one in value)
    if name in kind.references:
        return naming.row(kind.references[name], str(value))
    return shown_value(kind.model._meta.label_lower, name, value, RowLabels([]), edition)


def _part(listing: Listing, part: Values, naming: Naming) -> str:
    if listing is MATERIALS:
        return _material(part)
    if listing is GRANTS:
        paper = naming.row("paper", part["paper"]) if part["paper"] and not part["edition"] else part["paper"]
        winner = paper or naming.person(part["person"])
        whole = f"{winner} ({part['edition']})" if part["edition"] else winner
        return ": ".join(filter(None, (whole, part["citation"])))
    who = part.get("name") or naming.person(part["person"])
    if "role" in part:
        role = dict(_choices(listing, "role")).get(part["role"], part["role"])
        who = f"{capfirst(str(role))}: {who}"
    places = part.get("affiliations") or [part.get("affiliation", "")]
    where = "; ".join(filter(None, places))
    marks = [gettext("corresponding")] if part.get("corresponding") else []
    marks += [gettext("presenting")] if part.get("presenting") else []
    return ", ".join([f"{who} ({where})" if where else who, *marks])


def _choices(listing: Listing, name: str) -> list[tuple[str, Any]]:
    field: Any = listing.model._meta.get_field(name)
    return list(field.flatchoices)


def _material(part: Values) -> str:
    kind = dict(_choices(MATERIALS, "kind")).get(part["kind"], part["kind"])
    words = ": ".join(filter(None, (str(part["label"] or kind), part["url"])))
    return words if part["visible"] else f"{words} ({pgettext('material', 'hidden')})"


def _lines(lines: list[Values], depth: int) -> list[str]:
    found = []
    for line in lines:
        found.append(f"{'– ' * depth}{line['label']}: {line['target']}")
        found += _lines(line["children"], depth + 1)
    return found


def kind_name(name: str) -> str:
    """Return what many of a kind are called."""
    return str(KINDS[name].model._meta.verbose_name_plural)
