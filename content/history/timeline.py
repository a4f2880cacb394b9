"""The history for display: change sets in order, with their rows, and the fields before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from django.core.exceptions import FieldDoesNotExist
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from content.history import ChangeSet, RowChange
from content.row_values import content_model, label_relations, many_to_many_fields, recorded_fields

if TYPE_CHECKING:
    from conference.models import Edition

MIN_DIFF_CHARS = 40


class RowLabels:
    """The labels of many rows, fetched together: as they are now, or as they were when deleted."""

    def __init__(self, row_keys: Iterable[tuple[str, int]]) -> None:
        self.labels: dict[tuple[str, int], str] = {}
        keys_by_label: dict[str, set[int]] = defaultdict(set)
        for label, key in row_keys:
            keys_by_label[label].add(key)
        for label, keys in keys_by_label.items():
            model = content_model(label)
            related = label_relations(model)
            rows = model._base_manager.filter(pk__in=keys)
            for row in rows.select_related(*related) if related else rows:
                self.labels[label, row.pk] = str(row)
            missing = [key for key in keys if (label, key) not in self.labels]
            if missing:
                deletions = RowChange.objects.filter(model=label, object_id__in=missing, kind="deleted")
                for change in deletions.order_by("pk"):
                    self.labels.setdefault(change.key, change.label)

    def get_label(self, label: str, key: int) -> str:
        model = content_model(label)
        return self.labels.get((label, key)) or f"{capfirst(model._meta.verbose_name)} {key}"


def target_label(label: str, name: str) -> str:
    """Return the label of a relation's target model; empty for other fields."""
    model = content_model(label)
    if name in recorded_fields(model):
        target = recorded_fields(model)[name].related_model
    elif link := many_to_many_fields(model).get(name):
        target = link.related_model if link.model is model else link.model
    else:
        return ""
    return target._meta.label_lower if target else ""


def change_set_rows(
    change_sets: Iterable[ChangeSet], changes: Iterable[RowChange], edition: Edition | None
) -> list[dict[str, Any]]:
    """Return the change sets with their rows as a page shows them, with times in the edition's zone."""
    rows_by_change_set: dict[int, dict[str, Any]] = {
        change_set.pk: {"change_set": change_set, "rows": []} for change_set in change_sets
    }
    rows = [change for change in changes if change.change_set_id in rows_by_change_set]
    labels = RowLabels(pair for change in rows for pair in _labeled_keys(change))
    for change in sorted(rows, key=lambda change: (change.owner != "", change.model, change.pk)):
        model = content_model(change.model)
        rows_by_change_set[change.change_set_id]["rows"].append({
            "model_name": str(model._meta.verbose_name),
            "label": change.label or labels.get_label(*change.key),
            "kind": change.kind,
            "verb": str(RowChange.Kind(change.kind).label),
            "made_by": change.made_by_name,
            "lines": [
                line
                for shown in model.shown_changes(change)
                for line in field_changes(shown.model, {shown.name: shown.pair}, labels, edition)
            ],
        })  # fmt: skip
    return list(rows_by_change_set.values())


def _labeled_keys(change: RowChange) -> Iterable[tuple[str, int]]:
    yield change.key
    for shown in content_model(change.model).shown_changes(change):
        yield from referenced_keys(*shown)


def referenced_keys(label: str, name: str, values: Iterable[object]) -> Iterator[tuple[str, int]]:
    """Yield label and key of each row to which these values of a relation refer; none for other fields."""
    target = target_label(label, name)
    for value in values if target else ():
        keys = value if isinstance(value, list) else [value]
        yield from ((target, key) for key in keys if isinstance(key, int))


def field_changes(
    label: str, pairs: Mapping[str, Sequence[object]], labels: RowLabels, edition: Edition | None
) -> list[dict[str, str]]:
    """Return the label of each field of a row, and its two values as HTML."""
    changes = []
    for name, (before, after) in pairs.items():
        texts = [shown_value(label, name, value, labels, edition) for value in (before, after)]
        marked_texts = word_diff(*texts) if isinstance(before, str) and isinstance(after, str) else texts
        before_html, after_html = (
            mark_safe(conditional_escape(text).replace("\n", "<br>")) for text in marked_texts
        )
        changes.append({"label": field_label(label, name), "before": before_html, "after": after_html})
    return changes


def field_label(label: str, name: str) -> str:
    try:
        field = content_model(label)._meta.get_field(name)
    except FieldDoesNotExist:
        return capfirst(name.replace("_", " "))
    return capfirst(str(getattr(field, "verbose_name", name)))


def shown_value(label: str, name: str, value: object, labels: RowLabels, edition: Edition | None) -> str:
    """Return a stored value for display: a label for a key, a time in the edition's zone."""
    field = recorded_fields(content_model(label)).get(name)
    target = target_label(label, name)
    if value is None or value == "" or value == []:
        return "–"
    if target:
        keys = value if isinstance(value, list) else [value]
        return "\n".join(labels.get_label(target, key) for key in keys if isinstance(key, int))
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return "\n".join(map(str, value))
    if field is not None and field.get_internal_type() == "DateTimeField" and isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            # Not a stored value, but one of a form that is not a time.
            return value
        if moment.tzinfo is None:
            return value
        zone = edition.zone if edition else moment.tzinfo
        return f"{moment.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    choices: dict[object, object] = dict(field.flatchoices) if field is not None else {}
    return str(choices.get(value, value))


def word_diff(before: str, after: str) -> list[SafeString]:
    """Return two texts as HTML, with differing words marked; short texts are only escaped."""
    if max(len(before), len(after)) < MIN_DIFF_CHARS:
        return [conditional_escape(before), conditional_escape(after)]
    old, new = (text.replace("\r\n", "\n").split(" ") for text in (before, after))
    sides: tuple[list[SafeString], list[SafeString]] = ([], [])
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for side, words, mark in ((sides[0], old[i1:i2], "del"), (sides[1], new[j1:j2], "ins")):
            if words:
                text = conditional_escape(" ".join(words))
                side.append(text if tag == "equal" else format_html("<{0}>{1}</{0}>", mark, text))
    return [mark_safe(" ".join(side)) for side in sides]
