"""The numbers of rows that an import makes public, leaves as drafts, or hides, by moment and kind."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from content.history.public_past import PublicWhen
from content.models import Content
from exchange.imports.compare import ImportPlan
from exchange.imports.kinds import KINDS, Kind
from exchange.imports.publication import DRAFT, KINDS_WITH_STATUS, RELEASED_KINDS, public_when

NOW, WITH_RELEASE, LATER, DRAFTS, HIDDEN = "now", "with-release", "later", "drafts", "hidden"


@dataclass(slots=True)
class PublicationCounts:
    """The numbers of rows by kind that become public or are hidden, by moment."""

    numbers: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, moment: str, kind: str) -> None:
        self.numbers.setdefault(moment, Counter())[kind] += 1

    @property
    def stored(self) -> dict[str, dict[str, int]]:
        return {moment: dict(tally) for moment, tally in self.numbers.items()}


def count_publications(plan: ImportPlan, at: datetime | None = None) -> PublicationCounts:
    """Count the rows that the plan makes public, leaves as drafts, or hides."""
    counts, now = PublicationCounts(), at or timezone.now()
    for kind in KINDS_WITH_STATUS:
        rule = public_when(kind)
        for step in (*plan.steps[kind.name], *plan.idle[kind.name]):
            row: Any = step.row
            before = None if step.is_new else step.old.get("status", row.status)
            was_public, is_public = before in rule.having["status"], _is_public(row)
            if was_public and row.status not in rule.having["status"]:
                counts.add(HIDDEN, kind.name)
            elif step.is_kept_draft or (step.is_new and row.status == DRAFT):
                counts.add(DRAFTS, kind.name)
            elif is_public and not was_public:
                counts.add(_moment(plan, kind, row, now), kind.name)
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
