"""The numbers of rows that an import makes public, leaves as drafts, or hides, by moment and kind."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from content.models import Content
from content.publicity.rules import PublicWhen
from exchange.imports.compare import ImportPlan
from exchange.imports.kinds import KINDS, Kind
from exchange.imports.publication import DRAFT, KINDS_WITH_STATUS, RELEASED_KINDS, public_when

NOW, WITH_RELEASE, LATER, DRAFTS, HIDDEN = "now", "with-release", "later", "drafts", "hidden"


def count_publications(plan: ImportPlan, at: datetime | None = None) -> dict[str, dict[str, int]]:
    """Count the rows that the plan makes public, leaves as drafts, or hides, by moment and kind."""
    counts: dict[str, dict[str, int]] = {}
    now = at or timezone.now()
    for kind in KINDS_WITH_STATUS:
        statuses = public_when(kind).having["status"]
        for step in (*plan.steps[kind.name], *plan.idle[kind.name]):
            row: Any = step.row
            before = None if step.is_new else step.old.get("status", row.status)
            if before in statuses and row.status not in statuses:
                moment = HIDDEN
            elif step.is_kept_draft or (step.is_new and row.status == DRAFT):
                moment = DRAFTS
            elif before not in statuses and _is_public(row):
                moment = _moment(plan, kind, row, now)
            else:
                continue
            numbers = counts.setdefault(moment, {})
            numbers[kind.name] = numbers.get(kind.name, 0) + 1
    return counts


def _moment(plan: ImportPlan, kind: Kind, row: Content, now: datetime) -> str:
    """Return when a row becomes public that has the status for it."""
    rule = public_when(kind)
    opening_times = [getattr(plan.edition, gate) for gate in rule.gates]
    opening_times += [getattr(row, rule.since)] if rule.since else []
    if not plan.rule.is_immediate and kind in RELEASED_KINDS:
        return WITH_RELEASE
    return NOW if all(moment is not None and moment <= now for moment in opening_times) else LATER


def _is_public(row: Any) -> bool:
    """Return whether a row and those that it is part of have a public status."""
    rule: PublicWhen = row.public_when
    containers = (getattr(row, name) for name in rule.within)
    return row.status in rule.having["status"] and all(_is_public(owner) for owner in containers if owner)


def describe_publication(numbers: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the stored numbers as lines, such as "15 become public now: 12 papers, 3 sessions"."""
    if not any(moment in numbers for moment in (NOW, WITH_RELEASE, LATER)):
        yield gettext("Nothing becomes public.")
    for moment in (NOW, WITH_RELEASE, LATER, DRAFTS, HIDDEN):
        if moment in numbers:
            tally = numbers[moment]
            rows = ", ".join(f"{count} {_rows_name(kind, count)}" for kind, count in tally.items())
            yield f"{_sentence(moment, sum(tally.values()))}: {rows}."


def _rows_name(kind: str, count: int) -> str:
    meta = KINDS[kind].model._meta
    return str(meta.verbose_name if count == 1 else meta.verbose_name_plural)


def _sentence(moment: str, count: int) -> str:
    sentences = {
        NOW: ngettext("%(count)d becomes public now", "%(count)d become public now", count),
        WITH_RELEASE: ngettext(
            "%(count)d becomes public with the next release",
            "%(count)d become public with the next release",
            count,
        ),
        LATER: ngettext(
            "%(count)d becomes public when this part of the edition is published",
            "%(count)d become public when this part of the edition is published",
            count,
        ),
        DRAFTS: ngettext("%(count)d stays a draft", "%(count)d stay drafts", count),
        HIDDEN: ngettext("%(count)d is hidden at once", "%(count)d are hidden at once", count),
    }
    return sentences[moment] % {"count": count}
