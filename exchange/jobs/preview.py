"""Store the rows of a plan as displayed text for the preview page, and compute the digest of a plan.

Lists are shown line by line, keys as names, times in the edition's zone.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import batched
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.history.timeline import RowLabels, field_label, shown_value, word_diff
from exchange.imports.compare import ImportPlan, RowPlan, is_empty
from exchange.imports.kinds import GRANTS, KINDS, MATERIALS, MENU, Kind, Listing, Values
from exchange.models import ImportJob, PlannedRow

BATCH_ROWS = 500
TAKEN, KEPT, CLASH = "taken", "kept", "conflict"

# Values as text

EMPTY_SIGN = "–"
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


# Names a row by its kind and key.
type Naming = Callable[[str, str], str]


def record_field_label(kind: Kind, name: str) -> str:
    return str(LABELS.get(name) or field_label(kind.model._meta.label_lower, name))


def value_in_words(kind: Kind, name: str, value: object, naming: Naming, edition: Edition | None) -> str:
    if value is None or value in ("", []):
        return EMPTY_SIGN
    listing = kind.listing(name)
    if isinstance(value, list):
        if listing is MENU:
            return "\n".join(_menu_lines(value, 0))
        if listing:
            return "\n".join(f"{place}. {_part(listing, one, naming)}" for place, one in enumerate(value, 1))
        # Identifiers are pairs.
        return "\n".join(": ".join(one) if isinstance(one, list) else str(one) for one in value)
    if name in kind.references:
        return naming(kind.references[name], str(value))
    return shown_value(kind.model._meta.label_lower, name, value, RowLabels([]), edition)


def _part(listing: Listing, part: Values, naming: Naming) -> str:
    if listing is MATERIALS:
        return _material(part)
    if listing is GRANTS:
        paper = naming("paper", part["paper"]) if part["paper"] and not part["edition"] else part["paper"]
        winner = paper or naming("person", part["person"])
        whole = f"{winner} ({part['edition']})" if part["edition"] else winner
        return ": ".join(filter(None, (whole, part["citation"])))
    who = part.get("name") or naming("person", part["person"])
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


def _menu_lines(lines: list[Values], depth: int) -> list[str]:
    found = []
    for line in lines:
        found.append(f"{'– ' * depth}{line['label']}: {line['target']}")
        found += _menu_lines(line["children"], depth + 1)
    return found


def kind_name(name: str) -> str:
    return str(KINDS[name].model._meta.verbose_name_plural)


# Plans


def plan_digest(plan: ImportPlan) -> str:
    """Return a digest of everything that a plan would write.

    New people get a random uid in each plan, so the digest identifies them by index.
    """
    fresh = {step.row.uid: f"+{place}" for place, step in enumerate(plan.steps["person"]) if step.is_new}  # type: ignore[attr-defined]
    found = hashlib.sha256()
    for name in KINDS:
        for step in plan.steps[name]:
            found.update(json.dumps(_facts(step, fresh), sort_keys=True).encode())
    return found.hexdigest()


def _facts(step: RowPlan, fresh: dict[str, str]) -> list[object]:
    key = getattr(step.row, step.kind.key)
    clashes = {name: [one.base, one.ours, one.theirs] for name, one in step.merge.clashes.items()}
    return [
        step.kind.name,
        step.row.pk or fresh.get(key, key),
        _without_new_uids(step.merge.taken, fresh),
        _without_new_uids(clashes, fresh),
        sorted(step.merge.kept),
    ]


def _without_new_uids(value: object, fresh: dict[str, str]) -> object:
    """Return a value with the uids of new people replaced by their index."""
    if isinstance(value, dict):
        return {
            name: fresh.get(one, one)
            if name == "person" and isinstance(one, str)
            else _without_new_uids(one, fresh)
            for name, one in value.items()
        }
    return [_without_new_uids(one, fresh) for one in value] if isinstance(value, list) else value


def store_plan(plan: ImportPlan, job: ImportJob) -> None:
    """Store the rows of a plan, replacing those of an earlier one."""
    PlannedRow.objects.filter(job=job).delete()
    for batch in batched(_rows(plan, job), BATCH_ROWS, strict=False):
        PlannedRow.objects.bulk_create(batch)


def _rows(plan: ImportPlan, job: ImportJob) -> Iterator[PlannedRow]:
    def naming(kind: str, key: str) -> str:
        return str(plan.rows.row(kind, key) or key)

    for name in KINDS:
        for step in (*plan.steps[name], *plan.idle[name]):
            yield PlannedRow(
                job=job,
                kind=name,
                object_id=step.row.pk,
                label=(str(step.row) or getattr(step.row, step.kind.key))[:300],
                where=str(step.where)[:300],
                fields=list(_fields(step, plan, naming)),
                **{f"is_{word}": True for word in step.outcomes if word != "skipped"},
            )


def _fields(step: RowPlan, plan: ImportPlan, naming: Naming) -> Iterator[list[str]]:
    def words(name: str, *values: object) -> list[str]:
        return [value_in_words(step.kind, name, value, naming, plan.edition) for value in values]

    for name, value in step.merge.taken.items():
        if not (step.is_new and is_empty(value)):
            old = "" if step.is_new else words(name, step.old[name])[0]
            yield [record_field_label(step.kind, name), TAKEN, "", old, *words(name, value)]
    for how, clashes in ((CLASH, step.merge.clashes), (KEPT, step.merge.kept)):
        for name, one in clashes.items():
            yield [record_field_label(step.kind, name), how, *words(name, one.base, one.ours, one.theirs)]


def rows_in_words(rows: Iterable[PlannedRow]) -> Iterator[dict[str, object]]:
    """Yield rows for a page, with the differences of fields marked word by word."""
    for row in rows:
        meta = KINDS[row.kind].model._meta
        yield {
            "row": row,
            "what": meta.verbose_name,
            "page": f"admin:{meta.app_label}_{meta.model_name}_change" if row.object_id else "",
            "fields": [_with_word_diff(row, *field) for field in row.fields],
        }


def _with_word_diff(
    row: PlannedRow, name: str, how: str, base: str, ours: str, theirs: str
) -> dict[str, object]:
    before, after = ("", theirs) if row.is_new else word_diff(ours, theirs)
    return {"name": name, "how": how, "base": base, "ours": before, "theirs": after}
