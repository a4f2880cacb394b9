"""Store the rows of a plan as displayed text for the preview page, and compute the digest of a plan.

Lists are shown line by line, keys as names, times in the edition's zone.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import batched
from typing import Any

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.history.timeline import RowLabels, field_label, shown_value, word_diff
from exchange.imports.compare import ImportPlan, RowPlan
from exchange.imports.kinds import GRANTS, KINDS, MATERIALS, MENU, Kind, Listing, Values
from exchange.imports.merge import is_empty
from exchange.models import ImportJob, PlannedRow

BATCH_ROWS = 500
TAKEN, KEPT, CONFLICT = "taken", "kept", "conflict"

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


def value_in_words(kind: Kind, name: str, value: object, name_row: Naming, edition: Edition | None) -> str:
    if value is None or value in ("", []):
        return EMPTY_SIGN
    listing = kind.listing(name)
    if isinstance(value, list):
        if listing is MENU:
            return "\n".join(_menu_lines(value, 0))
        if listing:
            return "\n".join(
                f"{number}. {_part_text(listing, part, name_row)}" for number, part in enumerate(value, 1)
            )
        # Identifiers are pairs.
        return "\n".join(": ".join(item) if isinstance(item, list) else str(item) for item in value)
    if name in kind.references:
        return name_row(kind.references[name], str(value))
    return shown_value(kind.model._meta.label_lower, name, value, RowLabels([]), edition)


def _part_text(listing: Listing, part: Values, name_row: Naming) -> str:
    if listing is MATERIALS:
        return _material_text(part)
    if listing is GRANTS:
        paper = name_row("paper", part["paper"]) if part["paper"] and not part["edition"] else part["paper"]
        winner = paper or name_row("person", part["person"])
        winner_and_edition = f"{winner} ({part['edition']})" if part["edition"] else winner
        return ": ".join(filter(None, (winner_and_edition, part["citation"])))
    label = part.get("name") or name_row("person", part["person"])
    if "role" in part:
        label = f"{capfirst(_choice_label(listing, 'role', part['role']))}: {label}"
    affiliations = part.get("affiliations") or [part.get("affiliation", "")]
    affiliation = "; ".join(filter(None, affiliations))
    marks = [gettext("corresponding")] if part.get("corresponding") else []
    marks += [gettext("presenting")] if part.get("presenting") else []
    return ", ".join([f"{label} ({affiliation})" if affiliation else label, *marks])


def _choice_label(listing: Listing, name: str, value: str) -> str:
    field: Any = listing.model._meta.get_field(name)
    return str(dict(field.flatchoices).get(value, value))


def _material_text(part: Values) -> str:
    label = part["label"] or _choice_label(MATERIALS, "kind", part["kind"])
    text = ": ".join(filter(None, (label, part["url"])))
    return text if part["visible"] else f"{text} ({pgettext('material', 'hidden')})"


def _menu_lines(lines: list[Values], depth: int) -> list[str]:
    texts = []
    for line in lines:
        texts.append(f"{'– ' * depth}{line['label']}: {line['target']}")
        texts += _menu_lines(line["children"], depth + 1)
    return texts


def kind_name(name: str) -> str:
    return str(KINDS[name].model._meta.verbose_name_plural)


def row_address(kind: str, key: int) -> str:
    """Return the address of a row's form in the admin."""
    meta = KINDS[kind].model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[key])


# Plans


def plan_digest(plan: ImportPlan) -> str:
    """Return a digest of everything that a plan would write.

    New people get a random uid in each plan, so the digest identifies them by index.
    """
    new_people = {step.row.uid: f"+{index}" for index, step in enumerate(plan.steps["person"]) if step.is_new}  # type: ignore[attr-defined]
    digest = hashlib.sha256(f"{plan.rule.choice} {plan.rule.waits}".encode())
    for name in KINDS:
        for step in plan.steps[name]:
            digest.update(json.dumps(_digest_values(step, new_people), sort_keys=True).encode())
    return digest.hexdigest()


def _digest_values(step: RowPlan, new_people: dict[str, str]) -> list[object]:
    key = getattr(step.row, step.kind.key)
    conflicts = {
        name: [conflict.base, conflict.ours, conflict.theirs]
        for name, conflict in step.merge.conflicts.items()
    }
    return [
        step.kind.name,
        step.row.pk or new_people.get(key, key),
        _without_new_uids(step.merge.updates, new_people),
        _without_new_uids(conflicts, new_people),
        sorted(step.merge.kept_edits),
    ]


def _without_new_uids(value: object, new_people: dict[str, str]) -> object:
    """Return a value with the uids of new people replaced by their index."""
    if isinstance(value, dict):
        return {
            name: new_people.get(item, item)
            if name == "person" and isinstance(item, str)
            else _without_new_uids(item, new_people)
            for name, item in value.items()
        }
    return [_without_new_uids(item, new_people) for item in value] if isinstance(value, list) else value


def store_plan(plan: ImportPlan, job: ImportJob) -> None:
    """Store the rows of a plan, replacing those of an earlier one."""
    PlannedRow.objects.filter(job=job).delete()
    for batch in batched(_planned_rows(plan, job), BATCH_ROWS, strict=False):
        PlannedRow.objects.bulk_create(batch)


def _planned_rows(plan: ImportPlan, job: ImportJob) -> Iterator[PlannedRow]:
    def name_row(kind: str, key: str) -> str:
        return str(plan.rows.row(kind, key) or key)

    for name in KINDS:
        for step in (*plan.steps[name], *plan.idle[name]):
            yield PlannedRow(
                job=job,
                kind=name,
                object_id=step.row.pk,
                label=(str(step.row) or getattr(step.row, step.kind.key))[:300],
                where=str(step.where)[:300],
                fields=list(_fields(step, plan, name_row)),
                **{f"is_{outcome}": True for outcome in step.outcomes if outcome != "skipped"},
            )


def _fields(step: RowPlan, plan: ImportPlan, name_row: Naming) -> Iterator[list[str]]:
    def value_texts(name: str, *values: object) -> list[str]:
        return [value_in_words(step.kind, name, value, name_row, plan.edition) for value in values]

    for name, value in step.merge.updates.items():
        if not (step.is_new and is_empty(value)):
            old_text = "" if step.is_new else value_texts(name, step.old[name])[0]
            yield [record_field_label(step.kind, name), TAKEN, "", old_text, *value_texts(name, value)]
    for outcome, conflicts in ((CONFLICT, step.merge.conflicts), (KEPT, step.merge.kept_edits)):
        for name, conflict in conflicts.items():
            yield [
                record_field_label(step.kind, name),
                outcome,
                *value_texts(name, conflict.base, conflict.ours, conflict.theirs),
            ]


def rows_in_words(rows: Iterable[PlannedRow]) -> Iterator[dict[str, Any]]:
    """Yield rows for a page, with the differences of fields marked word by word."""
    for row in rows:
        yield {
            "row": row,
            "what": KINDS[row.kind].model._meta.verbose_name,
            "address": row_address(row.kind, row.object_id) if row.object_id else "",
            "fields": [_with_word_diff(row, *field) for field in row.fields],
        }


def _with_word_diff(
    row: PlannedRow, name: str, fate: str, base: str, ours: str, theirs: str
) -> dict[str, object]:
    before, after = ("", theirs) if row.is_new else word_diff(ours, theirs)
    return {"name": name, "how": fate, "base": base, "ours": before, "theirs": after}
